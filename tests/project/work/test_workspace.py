"""Workspaces: what memory holds is what the log says."""

from __future__ import annotations

import numpy as np
import pytest
from sqlalchemy.exc import OperationalError

from corefine.annotation.question import Answer
from corefine.document import Span
from corefine.errors import DocumentTakenError, ModelError
from corefine.prediction import Prediction
from corefine.project import Project
from corefine.project.store import log, predictions
from corefine.project.work import assignments, edits
from corefine.project.work.assignments import overlap
from corefine.project.work.workspace import Workspace, question_id_of
from corefine.project.work.workspaces import Workspaces
from helpers.projects import change, new_id


def test_if_the_log_cannot_be_written_memory_forgets(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    workspaces = Workspaces(project)
    person = project.owner().id
    with workspaces.of(person) as workspace:
        answer(workspace)
        shown = workspace.show().question
        monkeypatch.setattr(log, "append", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            answer(workspace)
    monkeypatch.undo()
    with workspaces.of(person) as workspace:
        assert workspace.show().question == shown
        answer(workspace)
        assert len(workspace.open(1).session.answers) == 2


def test_a_document_about_which_the_model_can_ask_nothing_is_not_done(project: Project) -> None:
    unknown = Prediction(
        (Span(0, 0), Span(1, 1)), np.array([[-1], [0]]), np.full((2, 2), [1.0, 0.0]), mention_scores=np.full(2, -1.0)
    )
    project.predictions.save(1, 1, unknown)
    change(project, least_gain=0.05)
    workspaces = Workspaces(project)
    with workspaces.of(project.owner().id) as workspace:
        shown = workspace.show(1)
        assert (shown.state, shown.ended, shown.upcoming) == ("document-done", "unfamiliar", 2)
        assert workspace.finished == set()
        assert workspace.show().document_id == 2, "others come first"
        for other in {info.id for info in workspaces.documents()} - {1}:
            workspace.open(other)
            workspace.finish(other)
        assert workspace.show().document_id == 1, "but it is not forgotten"
        workspace.finish(1)
        assert workspace.show(1).ended == "finished"
        assert workspace.show().state == "all-done"


def answer(workspace: Workspace) -> None:
    shown = workspace.show()
    assert shown.question is not None
    assert shown.document_id is not None
    workspace.answer(new_id(), shown.document_id, question_id_of(shown.question), Answer.unsure())


@pytest.mark.parametrize("call", [1, 2])
def test_a_failing_look_for_a_newer_model_leaves_memory_and_log_equal(
    project: Project, monkeypatch: pytest.MonkeyPatch, call: int
) -> None:
    """Before the write it refuses the answer, which is then nowhere. After the write nothing is read any more."""
    workspaces = Workspaces(project)
    person = project.owner().id
    calls = iter(range(1, 100))
    newest = workspaces.newest

    def failing(document_id: int) -> int | None:
        if next(calls) == call:
            raise OperationalError("SELECT", {}, OSError("the database is gone"))
        return newest(document_id)

    with workspaces.of(person) as workspace:
        answer(workspace)
        shown = workspace.show()
        assert shown.question is not None
        assert shown.document_id is not None
        request = (new_id(), shown.document_id, question_id_of(shown.question), Answer.unsure())
        monkeypatch.setattr(workspaces, "newest", failing)
        refused = False
        try:
            workspace.answer(*request)
        except OperationalError:
            refused = True
        monkeypatch.undo()
    assert refused == (call == 1)
    with workspaces.of(person) as workspace, Workspaces(project).of(person) as replayed:
        assert workspace.open(1).session.log == replayed.open(1).session.log
        assert workspace.answer(*request).repeated != refused
        answer(workspace)
        assert len(workspace.open(1).session.answers) == 3


@pytest.mark.parametrize("step", ["undo", "withdraw", "edit", "finish"])
def test_a_step_after_the_lease_has_ended_takes_the_document_from_nobody(project: Project, step: str) -> None:
    workspaces = Workspaces(project)
    first, second = project.owner().id, project.invite("second")[0].id
    with workspaces.of(first) as workspace:
        answer(workspace)
        workspace.open(1).lease_until = 0.0
        project.writer.write(lambda connection: assignments.change(connection, first, 1, lease_until=0.0))
    with workspaces.of(second) as workspace:
        assert workspace.show(1).document_id == 1
        answer(workspace)
    with workspaces.of(first) as workspace:
        if step == "undo":
            done = workspace.undo(new_id())
        elif step == "withdraw":
            done = workspace.withdraw(new_id(), 1, 1)
        elif step == "edit":
            done = workspace.edit(new_id(), 1, edits.Add(Span(0, 4)))
        else:
            with pytest.raises(DocumentTakenError):
                workspace.finish(1)
        assert step == "finish" or done.document_id == 1
        assert workspace.show_after(1).document_id == 2  # the first is not theirs any more
    with workspaces.of(second) as workspace:
        workspace.open(1).lease_until = 0.0  # so that the lease is looked up
        answer(workspace)
        assert len(workspace.open(1).session.answers) == 2


def test_more_sessions_than_fit_in_memory(project: Project) -> None:
    workspaces = Workspaces(project, most_open=1)
    person = project.owner().id
    with workspaces.of(person) as workspace:
        for document in (1, 2, 3, 1, 2, 3):
            shown = workspace.show(document)
            assert shown.question is not None
            workspace.answer(new_id(), document, question_id_of(shown.question), Answer.unsure())
    fresh = Workspaces(project)
    with workspaces.of(person) as one, fresh.of(person) as other:
        for document in (1, 2, 3):
            assert one.open(document).session.log == other.open(document).session.log
            assert len(one.open(document).session.answers) == 2


def test_a_damaged_prediction_is_told_and_not_swapped_in(sqlite_project: Project) -> None:
    workspaces = Workspaces(sqlite_project)
    person = sqlite_project.owner().id
    with workspaces.of(person) as workspace:
        answer(workspace)
        number = sqlite_project.writer.write(lambda c: predictions.add_version(c, "bad", predictions.TRAINED))
        path = sqlite_project.predictions.path(number, 1)
        path.parent.mkdir()
        path.write_bytes(b"PK\3\4 nonsense")
        with pytest.raises(ModelError, match="made again") as told:
            sqlite_project.predictions.load(number, 1)
        assert str(sqlite_project.folder) not in str(told.value)
        assert not path.exists()
        path.write_bytes(b"PK\3\4 nonsense")
        workspaces._looked_at = -10.0
        answer(workspace)
        assert workspace.open(1).version == 1


def test_overlap_is_spread_evenly() -> None:
    documents = list(range(100))
    quarter = overlap(documents, 0.25)
    assert len(quarter) == 25
    assert all(len(quarter.intersection(range(start, start + 4))) == 1 for start in range(0, 100, 4))
    assert not overlap(documents, 0.0)
    assert overlap(documents, 1.0) == set(documents)
