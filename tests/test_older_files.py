"""Projects, models and run folders made by an earlier version still open, and work on them goes on.

`fixtures/older` was written by the last version before the packages were laid out anew (0.1.0, November 2026).
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from corefine.formats import read_all
from corefine.project import Project
from corefine.simulation.runs import read_info
from corefine.simulation.summary import load_records, read_record
from helpers import small
from helpers.projects import Browser, golds, new_id, serve

OLDER = Path(__file__).parent / "fixtures" / "older"
ROWS = Path(__file__).parents[1] / "docs" / "reproduction" / "rows"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy, since opening a project brings its database up to date."""
    return Path(shutil.copytree(OLDER, tmp_path / "older"))


def test_a_project_opens_with_its_history_and_goes_on(folder: Path) -> None:
    with Project(folder / "project") as project, serve(project) as client:
        browser = Browser(client)
        before = json.loads((folder / "history.json").read_text("utf-8"))
        for entry in before["entries"]:
            entry["said"] = entry["said"].replace(" 's", "'s")  # words are quoted as the text has them now
        assert browser.get("history") == before
        assert browser.get("settings")["retrain_every"] == 7
        exported = client.get("/api/export", params={"format": "jsonl"}).content
        (folder / "now.jsonl").write_bytes(exported)
        now, then = (read_all(folder / f"{name}.jsonl") for name in ("now", "export"))
        assert [each.without_singletons() for each in now] == [each.without_singletons() for each in then]
        # a mention that was said to be the first of its entity is exported as a singleton now
        assert all(set(one.clusters) >= set(other.clusters) for one, other in zip(now, then, strict=True))
        browser.annotate(golds(project), most=3)
        browser.post("withdraw", {"client_id": new_id(), "document": 1, "number": 3})
        stands = {(entry["document"], entry["number"]): entry["stands"] for entry in browser.get("history")["entries"]}
        assert len(stands) == len(before["entries"]) + 3
        assert stands[1, 3] is False


@pytest.mark.parametrize("name", ["model", "committee"])
def test_a_model_predicts_what_it_did(name: str) -> None:
    pytest.importorskip("torch", reason="the extra 'model' is not installed")
    from corefine.models.load import load
    from helpers import tiny

    expected = json.loads((OLDER / "predictions.json").read_text("utf-8"))[name]
    prediction = load(OLDER / name, device="cpu").predict(tiny.document(50)).prediction
    assert [list(span) for span in prediction.spans] == expected["spans"]
    np.testing.assert_allclose(prediction.probabilities, expected["probabilities"], atol=2e-5)


def test_a_finished_run_is_left_as_it_is_and_can_be_reported(folder: Path) -> None:
    run = folder / "run-finished"
    before = small.contents(run)
    assert small.finish(read_info(run).simulation, run, small.short_stories(), resume=True) == []
    assert small.contents(run) == before
    [record] = load_records([run])
    assert record.rounds


def test_a_stopped_run_goes_on_from_where_it_was(folder: Path) -> None:
    """What was there stays; what follows is as the rules of today have it, so that its figures may differ."""
    run = folder / "run-stopped"
    before = small.contents(run)["rounds.jsonl"]
    small.finish(read_info(run).simulation, run, small.short_stories(), resume=True)
    after, finished = (small.contents(place)["rounds.jsonl"] for place in (run, folder / "run-finished"))
    assert after.startswith(before)
    assert len(after.splitlines()) == len(finished.splitlines()) > len(before.splitlines())


def test_the_rows_of_the_reproduction_are_read_and_written_unchanged() -> None:
    paths = sorted(ROWS.rglob("*.json"))
    assert paths
    for path in paths:
        old, new = json.loads(path.read_bytes()), read_record(path).to_json()
        settings = new["config"]["simulation"]
        for name in settings.keys() - old["config"]["simulation"].keys():
            del settings[name]  # added since
        settings["equal_time"] = {"pairwise": True, "off": False}[settings["equal_time"]]  # there were two ways
        assert new == old, path
