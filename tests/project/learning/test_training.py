"""The background worker with a real, tiny model: read, train, save, take over."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from corefine.annotation.question import Answer, Reply
from corefine.corpora import stories
from corefine.document import Document, Span
from corefine.models.committee import committee_members, save_committee
from corefine.models.load import load
from corefine.models.training import jobs
from corefine.project import Project
from corefine.project.learning import training
from corefine.project.learning.worker import Worker, _load
from corefine.project.results.adjudication import OwnerDecision, decide
from corefine.project.results.export import export
from corefine.project.store import documents, predictions, settings
from corefine.project.store.settings import ProjectConfig
from corefine.project.work import edits
from corefine.project.work.workspaces import Workspaces
from helpers.learning import answer_enough, give_answer, link_tokens, trained_version
from helpers.projects import new_id

pytest.importorskip("torch", reason="the extra 'model' is not installed")


def test_the_worker_uses_the_device_that_there_is(
    starter: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COREFINE_DEVICE", "cpu:0")
    with Project(tmp_path / "project") as project:
        predict: Any = _load(project, starter)
    assert str(predict.args[0].__self__.device) == "cpu:0"  # the model whose method it is


@pytest.mark.usefixtures("starter")
def test_read_answer_train_and_take_over(tmp_path: Path) -> None:
    with Project(tmp_path / "project") as project:
        every = stories.load()[:4]

        def job(connection: Any) -> None:
            for number, story in enumerate(every):
                documents.add(connection, story, held_out=number == 3)

        project.writer.write(job)
        project.change_settings(ProjectConfig(retrain_every=4))  # but not before there are ten answers
        lowered: list[bool] = []
        worker = Worker(project, lower_priority=lambda: lowered.append(True))
        worker.step()  # the model is loaded,
        assert not lowered, "somebody may be waiting"
        worker.step()  # and reads a document: nobody is asked by rules
        assert lowered
        workspaces, person = Workspaces(project), project.owner().id
        with workspaces.of(person) as workspace:
            shown = workspace.show()
            assert shown.question is not None
            assert shown.opened is not None
            assert shown.opened.version == 2
        worker.settle()
        assert lowered == [True], "once is enough"
        with project.database.read() as connection:
            found = predictions.all_versions(connection)
        assert [(version.kind, version.state) for version in found] == [("rules", "ready"), ("starter", "ready")]
        assert found[1].f1 is not None
        for _ in range(9):
            give_answer(workspaces, person)
        assert not training.is_due(project)
        give_answer(workspaces, person)
        worker.settle()
        with project.database.read() as connection:
            trained = predictions.all_versions(connection)[-1]
        assert (trained.kind, trained.state, trained.answers) == ("trained", "ready", 10), trained.message
        assert trained.f1 is not None
        assert not training.is_due(project)
        expected = [chance for labels in training.Lesson.of(project).labels for _, chance in labels.expected]
        assert expected, "training knows what the model expected when it asked"
        assert (project.models / "v3").is_dir()
        workspaces._looked_at = -10.0
        with workspaces.of(person) as workspace:
            workspace.preload_newer_model(1)
        give_answer(workspaces, person)
        with workspaces.of(person) as workspace:
            opened = workspace.open(1)
            assert opened.version == 3
            assert len(opened.session.answers) == 11
        export(project, tmp_path / "model", "model")
        again = load(tmp_path / "model", device="cpu")
        assert again.predict(every[0]).prediction.spans == project.predictions.load(3, 1).spans


@pytest.mark.usefixtures("starter")
def test_two_documents_in_full_are_trained_on_at_once(tmp_path: Path) -> None:
    """However short they are: nobody waits for the usual number of answers."""
    sentences = ["Anna kocht een fiets .".split(), "Zij lachte .".split()]
    with Project(tmp_path / "project") as project:

        def add(connection: Any) -> None:
            for name in "abc":
                documents.add(connection, Document.from_sentences(name, sentences, language="nl"))

        project.writer.write(add)
        worker = Worker(project)
        worker.settle()
        workspaces = Workspaces(project)
        with workspaces.of(project.owner().id) as workspace:
            for document in (1, 2):
                workspace.open(document)
                workspace.edit(new_id(), document, edits.Mark(Span(0, 0)))
                workspace.edit(new_id(), document, edits.Mark(Span(5, 5), Span(0, 0)))
                workspace.edit(new_id(), document, edits.Complete((0,)))
                workspace.finish(document)
                assert not training.is_due(project), "a sentence is not ticked off"
                workspace.edit(new_id(), document, edits.Complete((1,)))
                workspace.finish(document)
                assert training.is_due(project) is (document == 2)
        worker.settle()
        with project.database.read() as connection:
            trained = predictions.all_versions(connection)[-1]
        assert (trained.kind, trained.state) == ("trained", "ready"), trained.message
        assert project.predictions.exists(trained.id, 3), "it reads the others, to ask about them"
        project.change_settings(ProjectConfig(retrain_every=0))
        with Workspaces(project).of(project.owner().id) as workspace:
            workspace.finish(2)
        assert not training.is_due(project), "this project trains only on demand"


def test_answers_that_say_nothing_train_nothing(begun: tuple[Project, Worker]) -> None:
    project, worker = begun
    workspaces = Workspaces(project)
    for _ in range(5):
        give_answer(workspaces, project.owner().id, Answer(reply=Reply.UNSURE))
    made, in_use = trained_version(project, worker)
    assert (made.state, in_use.kind) == ("failed", "starter")
    assert made.message == "there is nothing to train on: no answer says anything yet"


@pytest.mark.parametrize(
    ("answers", "said"), [(1, "one answer is too little"), (9, "9 answers that say something are too few")]
)
def test_a_few_answers_change_nothing(begun: tuple[Project, Worker], answers: int, said: str) -> None:
    project, worker = begun
    for _ in range(answers):
        give_answer(Workspaces(project), project.owner().id)
    made, in_use = trained_version(project, worker)
    assert (made.state, in_use.kind) == ("failed", "starter")
    assert made.message == f"{said} to learn from: the model learns from 10 on"
    give_answer(Workspaces(project), project.owner().id)
    if answers == 9:
        made, in_use = trained_version(project, worker)
        assert made.state == "ready", made.message
        assert in_use == made


@pytest.mark.parametrize("cores", [2, 3])
def test_members_of_a_committee_train_side_by_side_where_there_are_cores(
    begun: tuple[Project, Worker], starter: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cores: int
) -> None:
    """A core is left to the page: with three cores two members train at a time, with two cores one."""
    project, worker = begun
    together = tmp_path / "committee"
    for name in ("member-0", "member-1"):
        shutil.copytree(starter, together / name)
    save_committee(together, ["member-0", "member-1"])
    project.change_settings(replace(project.settings, model=str(together)))
    worker.settle()
    workers: list[int | None] = []
    usual = jobs.run

    def noted(job: jobs.TrainingJob) -> Iterator[jobs.MemberEvent]:
        workers.append(job.workers)
        return usual(job)

    monkeypatch.setattr("corefine.models.devices.cores", lambda: cores)
    monkeypatch.setattr(jobs, "run", noted)
    answer_enough(project)
    made, in_use = trained_version(project, worker)
    assert made.state == "ready", made.message
    assert in_use == made
    assert workers == [cores - 1]
    assert len(committee_members(project.models / f"v{made.id}")) == 2


def _denies(project: Project, person: int, tokens: int) -> None:
    """Let a person say that none of the first tokens is a mention."""
    with Workspaces(project).of(person) as workspace:
        workspace.open(1)
        for place in range(tokens):
            workspace.edit(new_id(), 1, edits.Mark(Span(place, place)))
            workspace.edit(new_id(), 1, edits.Unmark(Span(place, place)))


def test_what_was_said_first_is_learnt(begun: tuple[Project, Worker]) -> None:
    """A single answer that contradicts many others is left out."""
    project, worker = begun
    link_tokens(project, project.owner().id, [(2 * place, 2 * place + 1) for place in range(8)])
    other = project.invite("Ada")[0]
    with Workspaces(project).of(other.id) as workspace:
        workspace.open(1)
        workspace.edit(new_id(), 1, edits.Mark(Span(0, 0)))
        workspace.edit(new_id(), 1, edits.Unmark(Span(1, 1)))
    lesson = training.Lesson.of(project)
    assert lesson.contradicted == 1
    assert [labels.no_mentions for labels in lesson.labels] == [()]
    made, in_use = trained_version(project, worker)
    assert made.state == "ready", made.message
    assert in_use == made


def test_people_who_contradict_each_other_teach_nothing(begun: tuple[Project, Worker]) -> None:
    project, worker = begun
    link_tokens(project, project.owner().id, [(2 * place, 2 * place + 1) for place in range(8)])
    _denies(project, project.invite("Ada")[0].id, 16)
    made, in_use = trained_version(project, worker)
    assert (made.state, in_use.kind) == ("failed", "starter")
    assert made.message is not None
    assert made.message.endswith(
        "answers contradict others: the owner can settle them by adjudication, and then train again"
    )


@pytest.mark.parametrize("are_mentions", [True, False])
def test_what_the_owner_has_settled_is_no_contradiction(begun: tuple[Project, Worker], are_mentions: bool) -> None:
    """Two people differ, the owner says that both are wrong, or that one is right, and the model learns that."""
    project, worker = begun
    link_tokens(project, project.owner().id, [(2 * place, 2 * place + 1) for place in range(8)])
    _denies(project, project.invite("Ada")[0].id, 16)
    assert training.Lesson.of(project).contradicted >= 16
    for place in range(16):
        span = Span(place, place)
        first = Span(0, 0) if are_mentions else None
        decide(project, OwnerDecision(1, span, are_mentions, first, project.owner().id, 1.0))
    lesson = training.Lesson.of(project)
    assert lesson.contradicted == 0
    made, in_use = trained_version(project, worker)
    assert made.state == "ready", made.message
    assert in_use == made


def test_a_sentence_in_full_does_not_hide_contradictions(begun: tuple[Project, Worker]) -> None:
    project, worker = begun
    link_tokens(project, project.owner().id, [(2 * place, 2 * place + 1) for place in range(8)])
    _denies(project, project.invite("Ada")[0].id, 16)
    with Workspaces(project).of(project.owner().id) as workspace:
        workspace.open(1)
        workspace.edit(new_id(), 1, edits.Complete((3,)))
    made, in_use = trained_version(project, worker)
    assert (made.state, in_use.kind) == ("failed", "starter")
    assert made.message is not None
    assert "contradict others" in made.message


@pytest.mark.usefixtures("starter")
def test_only_the_first_model_and_those_from_it_say_what_the_network_expects(tmp_path: Path) -> None:
    def expected() -> int:
        return sum(len(labels.expected) for labels in training.Lesson.of(project).labels)

    with Project(tmp_path / "project") as project:
        worker = _with_story(project, "rules")
        worker.settle()
        answer_enough(project)
        assert expected() == 0, "rules expect other links than a network"
        project.change_settings(ProjectConfig(retrain_every=0, hold_back=False))
        worker.settle()
        workspaces, person = Workspaces(project), project.owner().id
        with workspaces.of(person) as workspace:
            workspace.show(1)
            workspace.preload_newer_model(1)
        for _ in range(3):
            give_answer(workspaces, person)
        assert expected() == 2, "the first question was still asked by rules"
        project.writer.write(lambda connection: settings.put(connection, "annotations:1", {"use": "suggestions"}))
        assert expected() == 0, "it knew the suggestions"


def test_answers_about_suggestions_are_not_held_back(begun: tuple[Project, Worker]) -> None:
    """The first model knew the suggestions, and a new one does not: it would look much worse."""
    project, _ = begun
    link_tokens(project, project.owner().id, [(2 * place, 2 * place + 1) for place in range(40)])
    assert training.Lesson.of(project).held_back
    project.writer.write(lambda connection: settings.put(connection, "annotations:1", {"use": "suggestions"}))
    assert not training.Lesson.of(project).held_back


def test_a_recipe_that_diverges_changes_nothing(begun: tuple[Project, Worker], monkeypatch: pytest.MonkeyPatch) -> None:
    project, worker = begun
    answer_enough(project)
    wild = {"learning_rate": 1e30, "encoder_learning_rate": 1e30, "clip": 0.0, "warmup": 0.0, "epochs": 50}
    usual = training.recipe_for([])
    monkeypatch.setattr(training, "recipe_for", lambda _: replace(usual, training=replace(usual.training, **wild)))
    made, in_use = trained_version(project, worker)
    assert (made.state, in_use.kind) == ("failed", "starter")
    assert made.message is not None
    assert "lower the learning rate" in made.message
    assert not (project.models / f"v{made.id}").exists()


def _versions(project: Project) -> list[tuple[str, str]]:
    with project.database.read() as connection:
        return [(version.kind, version.name) for version in predictions.all_versions(connection)]


def _with_story(project: Project, model: str) -> Worker:
    project.writer.write(lambda connection: documents.add(connection, stories.load()[0]))
    project.change_settings(ProjectConfig(model=model))
    return Worker(project)


def test_a_project_begins_with_the_model_it_names(starter: Path, tmp_path: Path) -> None:
    mine = starter.rename(tmp_path / "mine")  # and there is no starter
    with Project(tmp_path / "project") as project:
        worker = _with_story(project, str(mine))
        worker.settle()
        assert _versions(project) == [("rules", "rules"), ("starter", str(mine))]
        project.change_settings(ProjectConfig(model="corefine.models.rules:predict"))  # a function that needs arguments
        worker.settle()
        assert _versions(project)[2:] == []  # it cannot be used, so the one before stays


def test_the_first_model_can_be_chosen_again(starter: Path, tmp_path: Path) -> None:
    other = shutil.copytree(starter, tmp_path / "other")
    with Project(tmp_path / "project") as project:
        worker = _with_story(project, "starter")
        worker.settle()
        for name in (str(other), "starter", "rules", "starter"):
            project.change_settings(ProjectConfig(model=name))
            worker.settle()
            assert _versions(project)[-1] == ("rules" if name == "rules" else "starter", name)
        assert len(_versions(project)) == 6, "each once"


@pytest.mark.usefixtures("starter")
def test_a_project_can_stay_with_rules(tmp_path: Path) -> None:
    with Project(tmp_path / "project") as project:
        worker = _with_story(project, "rules")
        worker.settle()
        assert _versions(project) == [("rules", "rules")]
        project.change_settings(ProjectConfig())
        worker.settle()
        assert _versions(project) == [("rules", "rules"), ("starter", "starter")]
