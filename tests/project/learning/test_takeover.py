"""Which versions take over: compared on gold, on held-back answers, and on what was deleted meanwhile."""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from corefine.corpora import stories
from corefine.models.load import SHIPPED
from corefine.project import Project
from corefine.project.learning import takeover, training
from corefine.project.learning.held_back import Fit
from corefine.project.learning.worker import Worker
from corefine.project.results.statistics import statistics
from corefine.project.store import document_notes, documents, predictions
from corefine.project.store.settings import ProjectConfig
from corefine.project.work import edits
from corefine.project.work.workspaces import Workspaces
from helpers.learning import answer_enough, link_tokens, trained_version
from helpers.projects import new_id

pytest.importorskip("torch", reason="the extra 'model' is not installed")


def _scored(monkeypatch: pytest.MonkeyPatch, new: float, *present: float) -> None:
    """Let held-out documents give these F1: the new model is scored first, then those before, the best first."""
    found = iter((new, *present))
    monkeypatch.setattr(takeover, "held_out_f1", lambda *_: next(found))


@pytest.mark.parametrize("switch", [True, False])
def test_a_model_that_loses_f1_on_gold_does_not_take_over(
    begun: tuple[Project, Worker], monkeypatch: pytest.MonkeyPatch, switch: bool
) -> None:
    """As after many wrong answers: those that are held back are wrong too, so only gold labels show it."""
    project, worker = begun
    answer_enough(project)
    project.change_settings(replace(project.settings, hold_back=switch))
    project.writer.write(lambda connection: predictions.finish_version(connection, 2, "ready", f1=90.0))
    _scored(monkeypatch, 50.0, 90.0)
    made, in_use = trained_version(project, worker)
    assert in_use.kind == ("starter" if switch else "trained")
    assert made.state == ("failed" if switch else "ready")
    if switch:
        assert made.message is not None
        assert made.message.endswith("on the held-out documents, and the best one so far 90.0; the one in use stays")


def test_small_losses_do_not_add_up(begun: tuple[Project, Worker], monkeypatch: pytest.MonkeyPatch) -> None:
    """The second model loses 1.5 to the first and takes over; the third loses as much again and does not."""
    project, worker = begun
    answer_enough(project)
    project.writer.write(lambda connection: predictions.finish_version(connection, 2, "ready", f1=90.0))
    _scored(monkeypatch, 88.5, 90.0)
    assert trained_version(project, worker)[0].state == "ready"
    _scored(monkeypatch, 87.0, 90.0)
    made, in_use = trained_version(project, worker)
    assert (made.state, in_use.f1) == ("failed", 88.5)


def test_models_are_compared_on_the_same_gold(begun: tuple[Project, Worker]) -> None:
    """The version in use had 90 F1 on documents that were easier: that is no reason to reject every later model."""
    project, worker = begun
    answer_enough(project)
    project.writer.write(lambda connection: predictions.finish_version(connection, 2, "ready", f1=90.0))
    made, in_use = trained_version(project, worker)
    assert made.state == "ready", made.message
    assert in_use == made


@pytest.mark.parametrize("kept", [None, 30.0])
def test_the_version_in_use_is_scored_on_the_gold_that_there_is_now(
    begun: tuple[Project, Worker], monkeypatch: pytest.MonkeyPatch, kept: float | None
) -> None:
    """It was not scored yet, as gold was added later, or it was scored on documents that were harder."""
    project, worker = begun
    answer_enough(project)
    project.writer.write(lambda connection: predictions.finish_version(connection, 2, "ready", f1=kept))
    _scored(monkeypatch, 50.0, 90.0)
    made, in_use = trained_version(project, worker)
    assert (made.state, in_use.kind, in_use.f1) == ("failed", "starter", 90.0)


def test_a_better_version_counts_even_if_another_was_once_the_best(
    begun: tuple[Project, Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The starter had 90 on easy documents and has 41 now; the one in use still has 50, and the new one 42."""
    project, worker = begun
    answer_enough(project)
    project.writer.write(lambda connection: predictions.finish_version(connection, 2, "ready", f1=90.0))
    _scored(monkeypatch, 89.0, 90.0)
    assert trained_version(project, worker)[0].state == "ready"
    project.writer.write(lambda connection: predictions.finish_version(connection, 3, "ready", f1=50.0))
    _scored(monkeypatch, 42.0, 41.0, 50.0)
    made, in_use = trained_version(project, worker)
    assert (made.state, in_use.id) == ("failed", 3)


def test_a_version_that_is_gone_keeps_no_other_from_taking_over(begun: tuple[Project, Worker]) -> None:
    """As after a backup without models."""
    project, worker = begun
    answer_enough(project)
    assert trained_version(project, worker)[0].state == "ready"
    shutil.rmtree(project.models / "v3")
    project.writer.write(lambda connection: predictions.finish_version(connection, 3, "ready", f1=90.0))
    made, in_use = trained_version(project, Worker(project))
    assert in_use == made, made.message


@pytest.fixture
def eight_stories(tmp_path: Path) -> Iterator[tuple[Project, Worker]]:
    """A project with the shipped starter, six stories to annotate, and two held-out ones."""
    if not (SHIPPED["starter"] / "model.json").is_file():
        pytest.skip("no starter model is packed yet")
    with Project(tmp_path / "project") as project:

        def add(connection: Any) -> None:
            for number, story in enumerate(stories.load()[:8]):
                documents.add(connection, story, held_out=number >= 6)

        project.writer.write(add)
        project.change_settings(ProjectConfig(retrain_every=0))
        worker = Worker(project)
        worker.settle()
        yield project, worker


def _link(project: Project, *, right: bool) -> None:
    """Link each mention of the six stories to the one before it of its entity; if not `right`, of another entity."""
    with Workspaces(project).of(project.owner().id) as workspace:
        for number, story in enumerate(stories.load()[:6], 1):
            workspace.open(number)
            entity_of = {mention: entity for entity, cluster in enumerate(story.clusters) for mention in cluster}
            mentions = sorted(entity_of)
            for at, mention in enumerate(mentions):
                fitting = [each for each in mentions[:at] if (entity_of[each] == entity_of[mention]) is right]
                workspace.edit(new_id(), number, edits.Mark(mention, fitting[-1] if fitting else None))


def test_a_model_that_learnt_from_wrong_answers_does_not_take_over(eight_stories: tuple[Project, Worker]) -> None:
    """All answers are wrong, those that are held back too. The gold labels of the held-out stories show it."""
    project, worker = eight_stories
    _link(project, right=False)
    made, in_use = trained_version(project, worker)
    assert (made.state, in_use.kind) == ("failed", "starter"), made.f1
    assert made.message is not None
    assert "on the held-out documents, and the best one so far" in made.message


def test_a_model_that_explains_held_back_answers_worse_does_not_take_over(
    eight_stories: tuple[Project, Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answers are right, but the rate is far too high. Without gold labels the held-back answers show it."""
    project, worker = eight_stories
    trash = document_notes.DocumentChange(trashed=True)
    owner = project.owner().id
    project.writer.write(lambda connection: document_notes.change(connection, [7, 8], trash, person_id=owner, now=1.0))
    _link(project, right=True)
    made, in_use = trained_version(project, worker)
    assert in_use == made, made.message
    usual = training.recipe_for([])
    rash = replace(usual, training=replace(usual.training, learning_rate=0.03))
    monkeypatch.setattr(training, "recipe_for", lambda _: rash)
    rejected, in_use = trained_version(project, worker)
    assert (rejected.state, in_use) == ("failed", made), rejected.f1
    assert rejected.message is not None
    assert "held-back answers much less probable than the one in use" in rejected.message


def test_versions_are_compared_on_the_held_back_answers_that_there_are_now(
    begun: tuple[Project, Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The third model loses a sixth to the second, as that did to the starter. Together that is too much."""
    project, worker = begun
    chances: list[float] = []

    def fits(held_back: Any, predict: Any) -> Any:
        predict(held_back[0].document_id)  # which each version must have read
        chance = chances.pop(0)
        return Fit(chance, chance, chance, len(held_back)), [math.log(chance)] * len(held_back)

    monkeypatch.setattr(takeover, "fit", fits)
    link_tokens(project, project.owner().id, [(2 * place, 2 * place + 1) for place in range(30)])
    chances[:] = [0.75, 0.9]  # the new one, then those before
    assert trained_version(project, worker)[0].state == "ready"
    link_tokens(project, project.owner().id, [(2 * place, 2 * place + 1) for place in range(30, 60)])
    chances[:] = [0.6, 0.88, 0.72]
    made, in_use = trained_version(project, worker)
    assert (made.state, in_use.id, chances) == ("failed", 3, [])
    assert made.message is not None
    assert made.message.endswith("much less probable than version 2 (60% against 88%); the one in use stays")
    with project.database.read() as connection:
        shown = {point.version: point for point in statistics(connection).curve}
    assert [shown[version].explained for version in (2, 3)] == [0.88, 0.72]
    assert shown[2].held_back == shown[3].held_back


@pytest.mark.parametrize("during", ["recipe_for", "held_out_f1"])
def test_a_document_deleted_during_training_is_not_learnt_from(
    begun: tuple[Project, Worker], monkeypatch: pytest.MonkeyPatch, during: str
) -> None:
    """Once the labels are made, before the first step; or while the new model is scored."""
    project, worker = begun
    answer_enough(project)
    place = training if during == "recipe_for" else takeover
    owner, usual = project.owner().id, getattr(place, during)

    def delete(*given: Any) -> Any:
        trash = document_notes.DocumentChange(trashed=True)
        project.writer.write(lambda connection: document_notes.change(connection, [1], trash, person_id=owner, now=1.0))
        return usual(*given)

    monkeypatch.setattr(place, during, delete)
    made, in_use = trained_version(project, worker)
    assert (made.state, in_use.kind) == ("failed", "starter")
    assert made.message is not None
    assert made.message.startswith("the new model learnt from documents that were deleted meanwhile (harbour")
    assert not (project.models / f"v{made.id}").exists()
