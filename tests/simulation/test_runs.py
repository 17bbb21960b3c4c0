"""Runs on disk: killed anywhere, resumed to the same bytes; what stands in their way is said by name."""

from __future__ import annotations

import errno
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from corefine.errors import ConfigError, CorefineError, InputError
from corefine.models.network.model import Model
from corefine.models.storage.checkpoint import save_model
from corefine.simulation import runs
from corefine.simulation.learners import resolve_recipe
from corefine.simulation.loop import Annotated, Learned, RoundDone, RoundStart
from corefine.simulation.rows import RoundRow
from corefine.simulation.runs import is_finished, read_info, read_rows, read_timing, run
from helpers.small import TINY_RECIPE, contents, finish, rules, short_stories, stories, tiny


def test_a_run_is_a_folder(tmp_path: Path) -> None:
    rows = finish(rules(), tmp_path / "run", stories())
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert config["simulation"]["questions"] == 60
    assert config["corpus"]["name"] == "stories"
    assert read_info(tmp_path / "run").simulation == rules()
    assert read_rows(tmp_path / "run" / "rounds.jsonl", RoundRow.from_json) == rows
    questions = read_rows(tmp_path / "run" / "questions.jsonl", dict)
    assert len(questions) == sum(row.asked.questions for row in rows if row.asked)
    assert questions[0].keys() >= {"round", "document", "mention", "antecedent", "same", "seconds", "score", "settled"}
    assert all(len(row["inferred"]) == row["settled"] for row in questions)
    assert is_finished(tmp_path / "run")
    assert 0 < read_timing(tmp_path / "run").choosing < 1


def test_what_the_closure_inferred_stands_with_the_question(tmp_path: Path) -> None:
    finish(rules(questions=400, documents=3, infer_first=True), tmp_path, stories())
    questions = read_rows(tmp_path / "questions.jsonl", dict)
    assert any(row["inferred"] for row in questions)
    asked: set[tuple[str, tuple[int, ...]]] = set()
    for row in reversed(questions):  # what was settled is not asked about afterwards
        assert not asked & {(row["document"], tuple(span)) for span in row["inferred"]}
        asked.add((row["document"], tuple(row["mention"])))


def test_the_same_settings_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        finish(rules(selector="random"), tmp_path / name, stories())
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    finish(rules(selector="random", seed=1), tmp_path / "three", stories())
    assert contents(tmp_path / "three")["questions.jsonl"] != contents(tmp_path / "one")["questions.jsonl"]


def test_a_run_stopped_at_any_event_resumes_to_the_same_bytes(tmp_path: Path) -> None:
    config, corpus = rules(documents=4, documents_per_round=2), short_stories()
    events = len(list(run(config, tmp_path / "whole", corpus)))
    for stop in range(events):
        folder = tmp_path / f"stopped-{stop}"
        for _, _event in zip(range(stop + 1), run(config, folder, corpus), strict=False):
            pass
        finish(config, folder, corpus, resume=True)
        assert contents(folder) == contents(tmp_path / "whole")


@pytest.mark.parametrize("file", ["questions.jsonl", "lessons.jsonl", "timings.jsonl", "rounds.jsonl"])
def test_half_a_line_is_dropped_on_resuming(tmp_path: Path, file: str) -> None:
    finish(rules(), tmp_path / "whole", stories())
    folder = tmp_path / "cut"
    for event in run(rules(), folder, stories()):
        if isinstance(event, RoundDone):
            break
    with (folder / file).open("ab") as opened:
        opened.write(b'{"round":1,"docu')
    finish(rules(), folder, stories(), resume=True)
    assert contents(folder) == contents(tmp_path / "whole")


def test_a_finished_run_is_left_alone(tmp_path: Path) -> None:
    finish(rules(), tmp_path / "run", stories())
    before = contents(tmp_path / "run")
    assert finish(rules(), tmp_path / "run", stories(), resume=True) == []
    assert contents(tmp_path / "run") == before


def test_a_folder_with_a_run_is_not_overwritten(tmp_path: Path) -> None:
    finish(rules(), tmp_path / "run", stories())
    with pytest.raises(InputError, match="already holds a run"):
        finish(rules(), tmp_path / "run", stories())


def test_a_changed_corpus_is_not_resumed(tmp_path: Path) -> None:
    next(iter(run(rules(), tmp_path / "run", stories())))
    corpus = stories()
    changed = replace(corpus, train=(corpus.train[0].with_clusters(corpus.train[0].clusters[1:]), *corpus.train[1:]))
    with pytest.raises(InputError, match="the corpus has changed"):
        finish(rules(), tmp_path / "run", changed, resume=True)


def test_changed_settings_are_not_resumed(tmp_path: Path) -> None:
    next(iter(run(rules(), tmp_path / "run", stories())))
    with pytest.raises(ConfigError, match="started with simulation seed = 0, not 5"):
        finish(rules(seed=5), tmp_path / "run", stories(), resume=True)


def test_a_run_of_another_version_is_not_resumed(tmp_path: Path) -> None:
    next(iter(run(rules(), tmp_path / "run", stories())))
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    (tmp_path / "run" / "config.json").write_text(json.dumps({**config, "corefine": "0.0.1"}))
    with pytest.raises(InputError, match=r"started with corefine 0\.0\.1"):
        finish(rules(), tmp_path / "run", stories(), resume=True)


def test_an_unfinished_run_of_other_source_is_not_resumed(tmp_path: Path) -> None:
    events = run(rules(), tmp_path, stories())
    next(event for event in events if isinstance(event, RoundDone))
    events.close()
    config = json.loads((tmp_path / "config.json").read_bytes())
    (tmp_path / "config.json").write_text(json.dumps(config | {"code": "ast-other"}))
    with pytest.raises(InputError, match="other source code of corefine"):
        finish(rules(), tmp_path, stories(), resume=True)


def test_two_processes_do_not_share_a_run(tmp_path: Path) -> None:
    events = run(rules(), tmp_path, stories())
    next(events)
    with pytest.raises(InputError, match="another process is running into"):
        finish(rules(), tmp_path, stories(), resume=True)
    events.close()
    assert finish(rules(), tmp_path, stories(), resume=True)


def test_settings_that_came_later_are_at_their_defaults(tmp_path: Path) -> None:
    finish(rules(), tmp_path, stories())
    config = json.loads((tmp_path / "config.json").read_bytes())
    del config["simulation"]["read_at_most"]
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert finish(rules(), tmp_path, stories(), resume=True) == []


def test_another_starter_is_not_resumed(tmp_path: Path) -> None:
    for seed, name in ((1, "one"), (2, "two")):
        save_model(tmp_path / name, Model.create(resolve_recipe(str(TINY_RECIPE)).model, seed=seed))
    shutil.copytree(tmp_path / "one", tmp_path / "starter")
    config = tiny(documents=3, starter=str(tmp_path / "starter"))
    events = run(config, tmp_path / "run", short_stories())
    next(event for event in events if isinstance(event, RoundDone))
    events.close()
    shutil.rmtree(tmp_path / "starter")
    shutil.copytree(tmp_path / "two", tmp_path / "starter")
    with pytest.raises(InputError, match="began with a different starter"):
        finish(config, tmp_path / "run", short_stories(), resume=True)


def test_a_full_disk_is_said_and_loses_no_finished_round(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    finish(rules(), tmp_path / "whole", stories())
    folder = tmp_path / "full"
    append = runs._append

    def full(path: Path, rows: Any) -> None:
        if path.name == "rounds.jsonl" and is_written(folder):
            monkeypatch.setattr(Path, "open", no_space)
        append(path, rows)

    def no_space(*_: Any, **__: Any) -> Any:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(runs, "_append", full)
    with pytest.raises(InputError, match=r"No space left on device.*what is finished is kept.*--resume"):
        finish(rules(), folder, stories())
    monkeypatch.undo()
    assert len(read_rows(folder / "rounds.jsonl", dict)) == 1
    finish(rules(), folder, stories(), resume=True)
    assert contents(folder) == contents(tmp_path / "whole")


def is_written(folder: Path) -> bool:
    return bool(read_rows(folder / "rounds.jsonl", dict))


def test_a_damaged_run_is_said_by_name(tmp_path: Path) -> None:
    finish(rules(), tmp_path / "run", stories())
    (tmp_path / "run" / "rounds.jsonl").write_text("{broken}\n")
    with pytest.raises(InputError, match=r"rounds.jsonl is damaged"):
        is_finished(tmp_path / "run")
    (tmp_path / "run" / "rounds.jsonl").write_text('{"round":0}\n')
    with pytest.raises(InputError, match=r"rounds.jsonl is damaged"):
        is_finished(tmp_path / "run")
    with pytest.raises(InputError, match="holds no run"):
        read_info(tmp_path)
    (tmp_path / "config.json").write_text("[]")
    with pytest.raises(InputError, match="does not describe a run"):
        read_info(tmp_path)


def test_a_starter_that_is_not_there_is_an_error_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(CorefineError, match="holds no model"):
        finish(tiny(starter=str(tmp_path / "nowhere")), tmp_path / "run", short_stories())


def test_a_model_killed_in_any_round_resumes_to_the_same_bytes(tmp_path: Path) -> None:
    """The network too: stopped before training, after it, and in the middle of the questions."""
    corpus = short_stories()
    finish(tiny(), tmp_path / "whole", corpus)
    stops = [(1, RoundStart), (1, Annotated), (2, Learned)]
    for number, (round, kind) in enumerate(stops):
        folder = tmp_path / f"stopped-{number}"
        for event in run(tiny(), folder, corpus):
            if isinstance(event, kind) and event.round == round:
                break
        if kind is Learned:  # the killed process leaves its unfinished files behind, too
            shutil.copyfile(folder / "rounds.jsonl", folder / "rounds.jsonl.part")
        finish(tiny(), folder, corpus, resume=True)
        assert contents(folder) == contents(tmp_path / "whole")
    assert {path.name for path in (tmp_path / "whole" / "checkpoints").iterdir()} == {"round-02"}
