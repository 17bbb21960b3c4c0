"""A project whose people have answered, and what a training makes of it."""

from __future__ import annotations

from corefine.annotation.question import Answer, Reply
from corefine.document import Span
from corefine.project import Project
from corefine.project.learning import training
from corefine.project.learning.worker import Worker
from corefine.project.store import predictions
from corefine.project.work import edits
from corefine.project.work.workspace import question_id_of
from corefine.project.work.workspaces import Workspaces
from helpers.projects import new_id


def trained_version(project: Project, worker: Worker) -> tuple[predictions.ModelVersion, predictions.ModelVersion]:
    """The version that a training makes, and the one that is in use after it."""
    training.request(project)
    worker.settle()
    with project.database.read() as connection:
        in_use = predictions.latest_version(connection)
        assert in_use is not None
        return predictions.all_versions(connection)[-1], in_use


def give_answer(workspaces: Workspaces, person: int, answer: Answer | None = None) -> None:
    """Give this answer to the next question; yes if there is none, or that the mention is the first."""
    with workspaces.of(person) as workspace:
        shown = workspace.show(1)
        assert shown.question is not None
        question = shown.question
        proposed = question.antecedent is not None or question.group
        usual = Answer.yes() if proposed else Answer(reply=Reply.FIRST, span=question.mention)
        workspace.answer(new_id(), 1, question_id_of(shown.question), answer or usual)


def answer_enough(project: Project) -> None:
    """As many answers as a training needs."""
    workspaces = Workspaces(project)
    for _ in range(training.FEWEST_ANSWERS):
        give_answer(workspaces, project.owner().id)


def link_tokens(project: Project, person: int, pairs: list[tuple[int, int]]) -> None:
    """Let a person link these pairs of tokens, each a mention."""
    with Workspaces(project).of(person) as workspace:
        workspace.open(1)
        for earlier, later in pairs:
            workspace.edit(new_id(), 1, edits.Mark(Span(earlier, earlier)))
            workspace.edit(new_id(), 1, edits.Mark(Span(later, later), Span(earlier, earlier)))
