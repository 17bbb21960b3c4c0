from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest

from corefine.annotation.cost import CostModel
from corefine.annotation.question import Answer
from corefine.project import Project
from corefine.project.results.outlook import extrapolate, outlook
from corefine.project.store import settings
from corefine.project.work.workspace import question_id_of
from corefine.project.work.workspaces import Workspaces
from helpers.projects import change, new_id


def test_what_more_hours_would_bring_follows_from_the_questions_left(sqlite_project: Project) -> None:
    change(sqlite_project, least_gain=0.05)
    found = outlook(sqlite_project)
    assert found.documents == found.sampled == 3
    assert 0 < found.corrections <= found.questions
    assert found.hours == pytest.approx(found.questions * found.seconds_each / 3600)
    with Workspaces(sqlite_project).of(sqlite_project.owner().id) as workspace:
        for document in (1, 2, 3):
            workspace.show(document)
            workspace.finish(document)
    assert outlook(sqlite_project).questions == 0


def test_what_is_worth_an_hour_depends_on_the_projects_own_times(sqlite_project: Project) -> None:
    """Quick people correct more in an hour, so more is worth asking. Documents end by the same times."""
    change(sqlite_project, least_per_hour=100.0)
    slow = outlook(sqlite_project).questions
    quick = asdict(CostModel(initial=1.0, follow_up=1.0))
    sqlite_project.writer.write(lambda connection: settings.put(connection, "cost", quick))
    assert outlook(sqlite_project).questions > slow


def test_each_kind_of_question_has_its_time(sqlite_project: Project) -> None:
    seconds = []
    for protocol in ("discrete", "pairwise", "mentions"):
        for budget in (43.0, None):  # None: without a budget there is no estimate to take it from
            change(sqlite_project, protocol=protocol, budget_per_1000_tokens=budget)
            seconds.append(outlook(sqlite_project).seconds_each)
    assert seconds == pytest.approx([23.745, 23.745, 15.96, 15.96, 8.0, 8.0])


def test_why_nothing_is_worth_asking(sqlite_project: Project) -> None:
    change(sqlite_project, least_gain=0.05, budget_questions=1)
    with Workspaces(sqlite_project).of(sqlite_project.owner().id) as workspace:
        question = workspace.show(1).question
        assert question is not None
        workspace.answer(new_id(), 1, question_id_of(question), Answer.unsure())
        workspace.ask_more(1)
    found = outlook(sqlite_project)
    assert (found.documents, found.used_up, found.unfamiliar) == (3, 1, 0)


def test_a_sample_stands_for_all_and_the_next_hour_brings_most() -> None:
    gains = [np.array([0.1, 0.5]), np.array([0.3])]
    found = extrapolate(gains, 0.5, documents=4, seconds_each=1800.0)
    assert (found.questions, found.documents, found.sampled) == (6, 4, 2)
    assert found.corrections == pytest.approx(1.8)
    assert found.next_hour == pytest.approx(1.0)  # two questions: one of the sample, counted twice
    assert found.last_hour == pytest.approx(0.2)
    assert extrapolate([], 0.0, documents=0, seconds_each=10.0).questions == 0
