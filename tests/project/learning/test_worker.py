"""The background process: whatever a model does, and however it ends."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import select
from sqlalchemy.exc import OperationalError

from corefine.document import Document
from corefine.errors import InputError, WeightsError
from corefine.models import rules
from corefine.prediction import Prediction
from corefine.project import Project
from corefine.project.learning import worker as background
from corefine.project.learning.worker import Worker, run_safely
from corefine.project.store import predictions, schema


@pytest.mark.parametrize("error", [KeyError("x"), ValueError("y"), RuntimeError("CUDA"), AttributeError("z")])
def test_a_text_that_a_model_cannot_read_is_read_by_rules(
    sqlite_project: Project, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def predict(document: Document) -> Prediction:
        if document.name == sqlite_project.documents.get(1).name:
            raise error
        return rules.predict(document)

    number = sqlite_project.writer.write(lambda c: predictions.add_version(c, "mine", predictions.STARTER))
    monkeypatch.setattr(Worker, "predictor", lambda *_: predict)
    reader = Worker(sqlite_project)
    reader._unusable = sqlite_project.settings.model
    reader.settle()
    assert all(sqlite_project.predictions.exists(number, document) for document in (1, 2, 3))


@pytest.mark.parametrize(
    "error", [WeightsError("install mpnet"), OSError(28, "install mpnet"), RuntimeError("install mpnet")]
)
def test_why_the_first_model_cannot_be_used_is_said_while_rules_take_its_place(
    sqlite_project: Project, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """A full disk while weights were unpacked ended the process again and again, and nothing was ever predicted."""

    def load(*_: object) -> None:
        raise error

    def said() -> str | None:
        with sqlite_project.database.read() as connection:
            message: str | None = connection.execute(select(schema.worker.c.message)).scalar_one()
        return message

    monkeypatch.setattr(background, "_load", load)
    sqlite_project.change_settings(replace(sqlite_project.settings, model="strong"))
    reader = Worker(sqlite_project)
    reader.settle()
    reader.report("idle")
    assert all(sqlite_project.predictions.exists(1, document) for document in (1, 2, 3))
    assert "the model strong cannot be used" in (said() or "")
    assert "install mpnet" in (said() or "")
    sqlite_project.change_settings(replace(sqlite_project.settings, model="rules"))
    reader.report("predicting")
    assert said() is None


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (InputError("no such model"), "no such model"),
        (OperationalError("SELECT secret", {}, Exception("database or disk is full")), "database or disk is full"),
        (OSError(28, "No space left on device", "v1"), "No space left on device"),
        (ZeroDivisionError("what"), "Details, to report it with"),
    ],
)
def test_it_ends_with_one_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: Exception, said: str
) -> None:
    def end() -> None:
        raise error

    monkeypatch.setenv("COREFINE_HOME", str(tmp_path))
    monkeypatch.setattr(background, "main", end)
    assert run_safely() == 2
    shown = capsys.readouterr().err
    assert said in shown
    assert len(shown.splitlines()) == 1
    assert "secret" not in shown
