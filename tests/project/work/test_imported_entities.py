"""Annotations that come with documents: as answers, as suggestions, as gold, or not used."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from corefine import formats
from corefine.annotation.proposals import said_clusters
from corefine.annotation.revision import decode
from corefine.corpora import stories
from corefine.document import Span
from corefine.errors import InputError, UnknownAnswerError
from corefine.models import rules
from corefine.project import Project
from corefine.project.learning.training import Lesson
from corefine.project.learning.worker import Worker
from corefine.project.results.export import export
from corefine.project.store.predictions import EMPTY
from corefine.project.work.edits import Mark
from corefine.project.work.imported_entities import Use, checked_use, import_and_use, with_suggestions
from corefine.project.work.workspaces import Workspaces
from helpers.projects import change

STORY = stories.load()[0]


@pytest.fixture
def annotated(tmp_path: Path) -> Path:
    path = tmp_path / "done.jsonl"
    formats.write([STORY], path)
    return path


def test_answers(tmp_path: Path, annotated: Path) -> None:
    """An export that people had finished started from scratch, silently."""
    with Project(tmp_path / "project") as project:
        change(project, model="rules", retrain_every=0, hold_back=False, overlap=1.0)
        project.writer.write(partial(import_and_use, paths=[annotated], chosen=Use.ANSWERS))
        Worker(project).settle()
        export(project, tmp_path / "out.jsonl")
        (again,) = formats.read(tmp_path / "out.jsonl")
        marked = set(STORY.mentions)  # the model may find more
        kept = [tuple(span for span in cluster if span in marked) for cluster in again.clusters]
        assert tuple(cluster for cluster in kept if cluster) == STORY.clusters
        export(project, tmp_path / "out.json")
        (described,) = json.loads((tmp_path / "out.json").read_text())["documents"]
        assert {answer["from"] for answer in described["answers"]} == {"done.jsonl"}
        links = [link for entity in described["entities"] for link in entity["links"]]
        assert {link["source"] for link in links if Span(*link["mention"]) in marked} <= {"said", "inferred"}
        (labels,) = Lesson.of(project).labels
        assert {frozenset(group) for group in labels.together} == {frozenset(c) for c in STORY.clusters if len(c) > 1}
        person, _ = project.invite("Anna")
        workspaces = Workspaces(project)
        for person_id in (project.owner().id, person.id):
            with workspaces.of(person_id) as workspace:
                session = workspace.open(1, lease="renew").session
                assert len(session.entries) == len(STORY.clusters)
                assert said_clusters(session) == STORY.clusters
                assert all(entry.source == "done.jsonl" for entry in session.entries)


def test_what_came_with_a_document_is_no_step_of_a_person(tmp_path: Path, annotated: Path) -> None:
    """After a restart, an undo took back what nobody had done here."""
    with Project(tmp_path / "project") as project:
        change(project, model="rules", retrain_every=0, hold_back=False)
        project.writer.write(partial(import_and_use, paths=[annotated], chosen=Use.ANSWERS))
        Worker(project).settle()
        person, _ = project.invite("Anna")
        workspaces = Workspaces(project)
        with workspaces.of(person.id) as workspace:
            workspace.open(1, lease="renew")
            workspace.edit("one", 1, Mark(Span(0, 0)))
            before = workspace.steps._done
        with Workspaces(project).of(person.id) as workspace:
            assert workspace.steps._done == before == [1]
            workspace.undo("two")
            with pytest.raises(UnknownAnswerError):
                workspace.undo("three")
            assert said_clusters(workspace.open(1).session) == STORY.clusters


def test_suggestions_and_gold(tmp_path: Path, annotated: Path) -> None:
    with Project(tmp_path / "project") as project:
        change(project, model="rules", retrain_every=0)
        project.writer.write(partial(import_and_use, paths=[annotated], chosen=Use.SUGGESTIONS))
        Worker(project).settle()
        found = decode(project.predictions.load(1, 1))
        assert found == tuple(cluster for cluster in STORY.clusters if len(cluster) > 1)
    with Project(tmp_path / "other") as project:
        project.writer.write(partial(import_and_use, paths=[annotated], chosen=Use.GOLD))
        assert [info.held_out for info in project.documents.all()] == [True]


def test_suggestions_are_probable_and_still_asked_about() -> None:
    for prediction in (rules.predict(STORY), EMPTY):
        found = with_suggestions(STORY, prediction)
        assert decode(found) == tuple(cluster for cluster in STORY.clusters if len(cluster) > 1)
        assert np.allclose(found.probabilities.sum(axis=1), 1.0)
    with pytest.raises(InputError, match="answers, suggestions, gold, ignore"):
        checked_use("truth")
