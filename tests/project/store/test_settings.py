"""Settings and the cost model of a project."""

from __future__ import annotations

from corefine.annotation.cost import CostModel
from corefine.annotation.question import Answer, Protocol
from corefine.document import Span
from corefine.project import Project
from corefine.project.results import times
from corefine.project.store import log
from corefine.project.store.settings import ProjectConfig
from corefine.project.work.workspace import question_id_of
from corefine.project.work.workspaces import Workspaces
from helpers.projects import golds, new_id


def test_settings_are_kept(project: Project) -> None:
    new = ProjectConfig(protocol=Protocol.PAIRWISE, budget_questions=7, overlap=0.25)
    project.change_settings(new)
    assert project.settings == new
    assert new.questions(5000) == 7
    assert ProjectConfig().questions(465) == 20  # the paper's
    assert ProjectConfig(budget_per_1000_tokens=None).questions(10) is None


def test_times_become_the_cost_model(project: Project) -> None:
    workspaces = Workspaces(project)
    person = project.owner().id
    with workspaces.of(person) as workspace:
        for _ in range(25):
            shown = workspace.show()
            while shown.state == "document-done":
                shown = workspace.show()
            assert shown.question is not None
            assert shown.document_id is not None
            gold = golds(project)[shown.document_id]
            same = shown.question.antecedent in next(
                (c for c in gold.clusters if shown.question.mention in c), (Span(0, 0),)
            )
            reply = Answer.yes() if same else Answer.unsure()
            timing = log.Timing(reading=1.0, initial=10.0)
            workspace.answer(new_id(), shown.document_id, question_id_of(shown.question), reply, timing=timing)
    with project.database.read() as connection:
        rows = {row.name: row for row in times.measure(connection)}
    assert (rows[times.INITIAL].answers, rows[times.INITIAL].mean) == (25, 10.0)
    cost = times.cost_model(list(rows.values()))
    assert cost == CostModel(initial=10.0)  # the paper's where nothing was timed
    project.writer.write(lambda connection: times.keep(connection, cost))
    assert project.cost == cost
