"""What a person is shown: the question and why it is asked, progress, the model, and errors."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Literal

import numpy as np
from pydantic import BaseModel

from corefine.annotation import wording
from corefine.annotation.question import Protocol, Question
from corefine.annotation.revision import EPSILON, Revision
from corefine.annotation.session import Session
from corefine.document import Document, Span, document_order
from corefine.project.store.predictions import READY, TRAINING
from corefine.project.work.actions import Shown
from corefine.project.work.open_document import OpenDocument
from corefine.project.work.workspace import Workspace, question_id_of
from corefine.project.work.workspaces import Workspaces
from corefine.web.api.types import HistoryEntry, SpanJson

MOST_CHANCES = 8
"""How many entities the reason for a question lists."""

MOST_NAMES = 30
"""How many mentions of an entity are searched for its best name. More would make people wait."""

MOST_EQUAL = 500
"""For at most this many mentions with the same words can a correction be repeated at once."""


# Questions


class EntityChance(BaseModel):
    """The probability that the mention belongs to one entity; `entity` None is "starts a new entity".

    span, first    the entity's first mention, and its words
    name           the mention that names the entity best
    mentions       how many it has
    asked          whether the proposed antecedent is one of them
    """

    entity: str | None
    first: str | None
    span: SpanJson | None
    name: SpanJson | None = None
    mentions: int = 0
    probability: float
    asked: bool = False


class Why(BaseModel):
    """Why this question was chosen: the selector, its score, and the most probable entities, best first."""

    selector: str
    score: float
    entropy: float
    entities: list[EntityChance] = []

    @classmethod
    def of(cls, session: Session, question: Question) -> Why:
        revision = session.revision
        row = revision.nodes.row(question.mention)
        why = cls(selector=session.selector.name, score=question.score, entropy=0.0)
        if row is None:
            return why
        masses = revision.masses(np.array([row]))
        why.entropy = float(masses.entropy()[0])
        order = np.argsort(-masses.mass, kind="stable")[:MOST_CHANCES]
        for label, mass in zip(masses.label[order].tolist(), masses.mass[order].tolist(), strict=True):
            if label == EPSILON:
                why.entities.append(EntityChance(entity=None, first=None, span=None, probability=mass))
            else:
                why.entities.append(_chance(session, question, _mentions(revision, label - 1), mass))
        return why


def _chance(session: Session, question: Question, mentions: list[Span], probability: float) -> EntityChance:
    first = mentions[0]
    return EntityChance(
        entity=str(first),
        first=session.document.words(first),
        span=first,
        name=wording.best_name(session.document, mentions[:MOST_NAMES]),
        mentions=len(mentions),
        probability=probability,
        asked=question.antecedent in mentions,
    )


def _mentions(revision: Revision, label: int) -> list[Span]:
    """The mentions of a cluster in document order."""
    nodes = np.flatnonzero(revision.labels == label).tolist()
    mentions = [revision.nodes.spans[node] for node in nodes]
    # Top spans are in document order; only other spans that people named must be inserted.
    return mentions if nodes[-1] < revision.nodes.rows else sorted(mentions, key=document_order)


class QuestionView(BaseModel):
    """The answer refers to the question by `id`. `antecedent` is None if nothing is proposed.

    apart    the first mention of each entity that earlier answers say the mention is not in
    group    the mentions that a question about a group asks about
    equal    other open mentions with the same words, for which a correction can be repeated
    """

    id: str
    number: int
    document: int
    protocol: Protocol
    mention: SpanJson
    mention_text: str
    antecedent: SpanJson | None
    antecedent_text: str | None
    probability: float
    apart: list[SpanJson] = []
    group: list[SpanJson] = []
    equal: list[SpanJson] = []
    why: Why

    @classmethod
    def of(
        cls,
        question_id: str,
        document_id: int,
        document: Document,
        question: Question,
        why: Why,
        apart: Sequence[Span] = (),
        equal: Sequence[Span] = (),
    ) -> QuestionView:
        antecedent = question.antecedent
        return cls(
            id=question_id,
            number=question.number,
            document=document_id,
            protocol=question.protocol,
            mention=question.mention,
            mention_text=document.words(question.mention),
            antecedent=antecedent,
            antecedent_text=None if antecedent is None else document.words(antecedent),
            probability=question.probability,
            apart=list(apart),
            group=list(question.group),
            equal=list(equal),
            why=why,
        )


def _apart(session: Session, mention: Span) -> list[Span]:
    links = session.links
    entity = links.entity_id(mention)
    return [] if entity is None else [links.first(other) for other in links.cannot_entities(entity)]


class ProgressView(BaseModel):
    """Progress in this document, then in all of them.

    questions       answers that stand
    settled         share of mentions that need no question
    seconds_left    what is left of a budget in seconds, or an estimate from the person's own median time
    """

    questions: int
    budget: int | None
    seconds: float
    seconds_left: float | None
    settled: float
    open_mentions: int
    documents_done: int
    documents: int
    total_questions: int
    total_seconds: float
    can_undo: bool
    can_redo: bool

    @classmethod
    def of(cls, workspace: Workspace, opened: OpenDocument) -> ProgressView:
        session = opened.session
        questions, budget, open_mentions = len(session.answers), session.budget, session.open_mentions
        left: float | None = None
        if budget.seconds is not None:
            left = max(0.0, budget.seconds - session.seconds)
        elif budget.questions is not None:
            each = workspace.steps.pace.seconds_each(session.cost.discrete(1, 1) / 2)
            left = max(0, min(budget.questions - questions, open_mentions)) * each
        return cls(
            questions=questions,
            budget=budget.questions,
            seconds=session.seconds,
            seconds_left=left,
            settled=settled_share(session),
            open_mentions=open_mentions,
            documents_done=sum(workspace.workspaces.document(each) is not None for each in workspace.finished),
            documents=len(workspace.workspaces.documents()),
            total_questions=workspace.steps.questions,
            total_seconds=workspace.steps.seconds,
            can_undo=workspace.steps.last("undo") is not None,
            can_redo=workspace.steps.last("redo") is not None,
        )


def settled_share(session: Session) -> float:
    return 1.0 - session.open_mentions / max(1, len(session.revision.prediction))


class ModelStatus(BaseModel):
    """`version` asks the open question. `latest` may be newer. It takes over after one or two more answers."""

    version: int
    name: str
    latest: int
    training: bool
    share_done: float | None
    error: str | None

    @classmethod
    def of(cls, workspaces: Workspaces, opened: OpenDocument | None, *, known: bool = False) -> ModelStatus:
        """With `known`, the database is not asked."""
        versions = workspaces.known_versions if known else workspaces.versions()
        latest = max((version.id for version in versions if version.state == READY), default=0)
        used = latest if opened is None else opened.version
        return cls(
            version=used,
            name=next((version.name for version in versions if version.id == used), ""),
            latest=latest,
            training=any(version.state == TRAINING for version in versions),
            share_done=workspaces.share_done(),
            error=versions[-1].message if versions and versions[-1].state not in (READY, TRAINING) else None,
        )


class Preparing(BaseModel):
    """Why there is no question yet.

    doing    what the background process does: loading (the model), predicting, training, failed, idle, or ""
    read     how many documents the newest model has read, of `documents`
    """

    doing: str
    read: int
    documents: int

    @classmethod
    def of(cls, workspaces: Workspaces) -> Preparing:
        every = workspaces.documents()
        read = sum(workspaces.newest(document.id) is not None for document in every)
        return cls(doing=workspaces.worker_state(), read=read, documents=len(every))


class State(BaseModel):
    """What to show now.

    question         `question` is open
    preparing        the model is being loaded or reads the document (see `preparing`); ask again in a second
    document-done    no question is left (see `ended`); `upcoming` is the document to go on with
    all-done         nothing is left for this person
    paused           the owner has paused the project
    empty            the project has no documents

    `ended` says why a document is done: its budget is used up, the model is sure of the rest, it knows too little
    of the text to ask more (unfamiliar), nothing is left to ask, or the person has finished it.
    """

    state: Literal["question", "preparing", "document-done", "all-done", "paused", "empty"]
    document: int | None
    question: QuestionView | None
    upcoming: int | None
    ended: Literal["budget", "sure", "unfamiliar", "nothing", "finished"] | None = None
    progress: ProgressView | None
    preparing: Preparing | None = None
    model: ModelStatus

    @classmethod
    def of(cls, workspace: Workspace, shown: Shown) -> State:
        opened, asked, question = shown.opened, shown.question, None
        if opened is not None and asked is not None:
            session, why = opened.session, Why.of(opened.session, asked)
            question = QuestionView.of(
                question_id_of(asked),
                opened.document_id,
                session.document,
                asked,
                why,
                _apart(session, asked.mention),
                session.equal_to(asked.mention)[:MOST_EQUAL],
            )
        return cls(
            state=shown.state,  # type: ignore[arg-type]  # the same words
            document=shown.document_id,
            question=question,
            upcoming=shown.upcoming,
            ended=shown.ended,  # type: ignore[arg-type]  # the same words
            progress=None if opened is None else ProgressView.of(workspace, opened),
            preparing=Preparing.of(workspace.workspaces) if shown.state == "preparing" else None,
            model=ModelStatus.of(workspace.workspaces, opened),
        )

    @classmethod
    def after(cls, workspace: Workspace, document_id: int) -> State:
        """What to show after an action that is on disk.

        The action is acknowledged in any case. If the state cannot be found out, the client asks again.
        """
        try:
            return cls.of(workspace, workspace.show_after(document_id))
        except Exception:
            logging.getLogger(__name__).exception("an action was recorded, but what comes next cannot be told")
            model = ModelStatus.of(workspace.workspaces, None, known=True)
            return cls(
                state="preparing", document=document_id, question=None, upcoming=None, progress=None, model=model
            )


# Errors


class Problem(BaseModel):
    """What went wrong; `kind` is for programs, `message` for people. `new` contradicts `answers`."""

    kind: str
    message: str
    answers: list[HistoryEntry] | None = None
    new: HistoryEntry | None = None
    next: State | None = None


class ErrorBody(BaseModel):
    error: Problem
