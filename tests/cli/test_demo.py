from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from corefine.corpora.stories import load
from corefine.models.storage.checkpoint import save_model
from corefine.simulation.demo import new_field, play
from helpers import tiny
from helpers.small import short_stories


def corefine(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "corefine", *arguments], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("story", [story.name for story in load()])
def test_answers_are_worth_something(story: str) -> None:
    document = next(each for each in load() if each.name == story)
    turns, result = play(document, questions=30)
    assert len(turns) == 30
    assert result.f1_after > result.f1_before
    assert result.seconds == pytest.approx(30 * 15.96 + (30 - result.yes) * 15.57)


def test_the_command_shows_questions_cost_and_f1() -> None:
    shown = corefine("demo", "harbour", "--questions", "3")
    assert shown.returncode == 0, shown.stderr
    assert "What was asked about “harbour”" in shown.stdout
    assert "F1 before" in shown.stdout


def test_for_programs() -> None:
    (result,) = json.loads(corefine("demo", "harbour", "--questions", "3", "--json").stdout)
    assert result["questions"] == 3
    assert set(result) == {"document", "questions", "yes", "seconds", "f1_before", "f1_after"}


def test_a_wrong_name_is_a_message_and_exit_code_2() -> None:
    failed = corefine("demo", "nowhere")
    assert failed.returncode == 2
    assert failed.stderr.startswith("corefine: there is no story 'nowhere'; choose one of harbour")
    assert "Traceback" not in failed.stderr


def test_version_and_help() -> None:
    assert corefine("--version").stdout.startswith("corefine 0.")
    assert corefine("--help").returncode == 0
    assert corefine("no-such-command").returncode == 2


def test_a_new_field_is_asked_about_and_learned_from(tmp_path: Path) -> None:
    """Documents of the corpus are asked about in four rounds; each trains the model anew from the first one."""
    save_model(tmp_path / "model", tiny.model(0))
    rows = list(new_field(short_stories(), tmp_path / "run", starter=str(tmp_path / "model"), questions=10, seed=0))
    asked = rows[-1].documents
    assert [row.documents for row in rows] == [0, asked, asked, asked, asked]  # all of them in every round
    assert asked > 0
    assert rows[-1].hours > 0
    assert rows[-1].scores_on("dev").conll_f1 != rows[0].scores_on("dev").conll_f1


def test_a_new_field_whose_corpus_is_not_there() -> None:
    shown = corefine("demo", "new-field", "--corpus", "nowhere.jsonl")
    assert shown.returncode == 2
    assert "nowhere.jsonl" in shown.stderr
    assert "Traceback" not in shown.stderr
