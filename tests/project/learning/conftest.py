"""Projects that train a tiny model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from corefine.corpora import stories
from corefine.models.load import SHIPPED
from corefine.project import Project
from corefine.project.learning.worker import Worker
from corefine.project.store import documents
from corefine.project.store.settings import ProjectConfig


@pytest.fixture
def starter(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A tiny model in place of the one that ships."""
    from corefine.models.network.config import EncoderConfig, HeadConfig, ModelConfig
    from corefine.models.network.model import Model
    from corefine.models.storage.checkpoint import save_model

    encoder = EncoderConfig(
        kind="bilstm", fine_tune=True, word_width=8, char_width=4, char_filters=4, hidden=8, vocabulary=50
    )
    head = HeadConfig(max_span_width=3, spans_per_word=0.4, candidates=10, hidden=16, pair_width=8, feature_width=4)
    save_model(tmp_path / "starter", Model.create(ModelConfig(encoder, head), seed=1))
    monkeypatch.setitem(SHIPPED, "starter", tmp_path / "starter")
    return tmp_path / "starter"


@pytest.fixture
def begun(starter: Path, tmp_path: Path) -> Iterator[tuple[Project, Worker]]:
    """A project with a story, a held-out story and a first model, which is asked to train only on demand."""
    with Project(tmp_path / "project") as project:

        def add(connection: Any) -> None:
            documents.add(connection, stories.load()[0])
            documents.add(connection, stories.load()[1], held_out=True)

        project.writer.write(add)
        project.change_settings(ProjectConfig(retrain_every=0, model=str(starter), overlap=1.0))
        worker = Worker(project)
        worker.settle()
        yield project, worker
