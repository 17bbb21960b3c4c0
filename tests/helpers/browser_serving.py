"""A server for browser tests, as a process of its own: a fresh project with rules for a model, and no background work.

    python serving.py FOLDER DOCUMENTS.jsonl SETTINGS.json [PORT]

DOCUMENTS.jsonl is read by `corefine.formats`. The address is printed once requests are answered.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from sqlalchemy import Connection

from corefine import formats
from corefine.models import rules
from corefine.models.load import load
from corefine.prediction import NONE, Prediction
from corefine.project import Project
from corefine.project.store import documents, predictions
from corefine.project.store.settings import ProjectConfig
from corefine.web.server import Address, bind, check_open, serve

UNFAMILIAR, SURE, UNREAD = "unfamiliar", "sure", "unread"
"""Of documents with such names the model knows nothing, is sure of everything, or has not read them yet."""


def fill(project: Project, path: Path, asked_by: str) -> None:
    """Import the documents, and what the rules or another model say about them."""
    predict = rules.predict if asked_by == "rules" else load(asked_by).model.predict

    def job(connection: Connection) -> tuple[int, list[int]]:
        number = predictions.add_version(connection, "rules", predictions.RULES)
        return number, [documents.add(connection, document) for document in formats.read(path)]

    number, ids = project.writer.write(job)
    for document in ids:
        text = project.documents.get(document)
        prediction = predict(text.with_clusters([]))
        if text.name.startswith(UNFAMILIAR):
            prediction = unsure(prediction)
        elif text.name.startswith(SURE):
            prediction = sure(prediction)
        if not text.name.startswith(UNREAD):
            project.predictions.save(number, document, prediction)


def unsure(prediction: Prediction) -> Prediction:
    """What a model says that knows nothing of the language: it takes nothing for a mention, and links nothing."""
    rows = np.zeros_like(prediction.probabilities)
    rows[:, 0] = 1.0
    return replace(prediction, probabilities=rows, mention_scores=np.full(len(prediction), -1.0))


def sure(prediction: Prediction) -> Prediction:
    """What a model says that has learnt enough: its best guess, nearly always."""
    rows = np.full_like(prediction.probabilities, 0.02 / max(1, prediction.width))
    rows[:, 1:][prediction.candidates == NONE] = 0.0
    best = prediction.probabilities.argmax(axis=1)
    rows[np.arange(len(rows)), best] = 0.0
    rows[np.arange(len(rows)), best] = 1.0 - rows.sum(axis=1)
    return replace(prediction, probabilities=rows)


def main(folder: str, documents_path: str, settings_path: str, port: str = "0") -> None:
    with Project(Path(folder)) as project:
        project.lock()
        given = json.loads(Path(settings_path).read_text("utf-8"))
        asked_by = given.pop("asked_by", "rules")
        if not project.documents.all():
            fill(project, Path(documents_path), asked_by)
        usual = {"sample": 0.0, "least_proposal": 0.0}  # every question can be answered by yes or no
        fields = {**project.settings.to_dict(), **usual, **given}
        project.change_settings(ProjectConfig(**fields))
        address = Address(port=int(port))
        listener = bind(address)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        is_open = check_open(project, address)
        serve(project, listener, address, open=is_open, worker=False, ready=lambda: _tell(url))


def _tell(url: str) -> None:
    sys.stdout.write(url + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
