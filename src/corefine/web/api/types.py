"""The JSON that requests and responses share. `docs/api.md` explains it; OpenAPI is generated from it."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, PlainValidator, WithJsonSchema
from pydantic.dataclasses import dataclass as pydantic_dataclass

from corefine.annotation import wording
from corefine.annotation.log import AnswerEntry, LogEntry
from corefine.annotation.question import Answer, Protocol, Question, Reply, span_from_json, span_to_json
from corefine.annotation.revision import EPSILON, Revision
from corefine.annotation.session import Session
from corefine.document import Document, Span, document_order
from corefine.errors import InvalidSpanError
from corefine.project.store.log import LoggedEvent, Timing
from corefine.project.store.predictions import READY, TRAINING
from corefine.project.work.actions import Shown
from corefine.project.work.open_document import OpenDocument
from corefine.project.work.workspace import Workspace, question_id_of
from corefine.project.work.workspaces import Workspaces

MOST_CHANCES = 8
"""Entities that the reason for a question names."""

STRICT = ConfigDict(extra="forbid", allow_inf_nan=False)


class RequestModel(BaseModel):
    """A request's body. An unknown field is an error."""

    model_config = STRICT


class ResponseModel(BaseModel):
    """A response, which can be made from an object with attributes of the same names."""

    model_config = ConfigDict(from_attributes=True)


# Values


def _read_span(value: Any) -> Span:
    if isinstance(value, Span):
        return value
    parts = value if isinstance(value, list) and value and isinstance(value[0], list) else [value]
    for part in parts:
        numbers = isinstance(part, list) and len(part) == 2 and all(type(token) is int for token in part)
        if not numbers or not 0 <= part[0] <= part[1]:
            raise InvalidSpanError(f"{value!r} is not a span: give [first, last], two token numbers in this order")
    return span_from_json(value)


def timestamp(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


_PAIR = {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 2, "maxItems": 2}
SpanJson = Annotated[
    Span,
    PlainValidator(_read_span),
    PlainSerializer(span_to_json),
    WithJsonSchema({"anyOf": [_PAIR, {"type": "array", "items": _PAIR, "minItems": 1}]}),
]
"""[first, last] token, both inclusive; [[first, last], ...] where a span has gaps."""

Time = Annotated[str, BeforeValidator(timestamp)]
Role = Literal["owner", "annotator"]
Seconds = Annotated[float, Field(ge=0, le=86_400, allow_inf_nan=False)]
Id = Annotated[int, Field(ge=0, lt=2**31)]
"""The number of a document, a person or an answer."""
LogId = Annotated[int, Field(ge=0, lt=2**63)]
"""The number of a row in the log."""
ClientId = Annotated[str, Field(min_length=8, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]


class PersonView(ResponseModel):
    id: int
    name: str
    role: Role


class Guidelines(RequestModel):
    markdown: Annotated[str, Field(max_length=200_000)]


# Questions


class EntityChance(BaseModel):
    """The probability that the mention belongs to one entity; `entity` None is "starts a new entity"."""

    entity: str | None
    first: str | None
    span: SpanJson | None
    probability: float


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
            first = None if label == EPSILON else _first_mention(revision, label - 1)
            words = None if first is None else session.document.words(first)
            entity = None if first is None else str(first)
            why.entities.append(EntityChance(entity=entity, first=words, span=first, probability=mass))
        return why


def _first_mention(revision: Revision, label: int) -> Span:
    nodes = np.flatnonzero(revision.labels == label).tolist()
    # Top spans are in document order, so only the first of them can be the first mention.
    first = [revision.nodes.spans[node] for node in nodes if node == nodes[0] or node >= revision.nodes.rows]
    return min(first, key=document_order)


class QuestionView(BaseModel):
    """The answer names the question by `id`. `antecedent` is None where the protocol proposes none."""

    id: str
    number: int
    document: int
    protocol: Protocol
    mention: SpanJson
    mention_text: str
    antecedent: SpanJson | None
    antecedent_text: str | None
    probability: float
    why: Why

    @classmethod
    def of(cls, question_id: str, document_id: int, document: Document, question: Question, why: Why) -> QuestionView:
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
            why=why,
        )


class ProgressView(BaseModel):
    """Progress in this document, then in all of them.

    questions       answers that stand
    settled         share of mentions that need no question
    seconds_left    of the budget in seconds, or an estimate for the remaining questions
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
            each = session.seconds / questions if questions else session.cost.discrete(1, 1) / 2
            left = max(0, min(budget.questions - questions, open_mentions)) * each
        return cls(
            questions=questions,
            budget=budget.questions,
            seconds=session.seconds,
            seconds_left=left,
            settled=settled_share(session),
            open_mentions=open_mentions,
            documents_done=len(workspace.finished),
            documents=len(workspace.workspaces.documents()),
            total_questions=workspace.total_questions,
            total_seconds=workspace.total_seconds,
            can_undo=workspace.can_undo,
            can_redo=workspace.can_redo,
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
        """With `known`, from what is known without asking the database."""
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


class State(BaseModel):
    """What to show now.

    question         `question` is open
    preparing        the model is still reading the document; ask again in a second
    document-done    its budget is used or nothing is left to ask; `upcoming` is the document to go on with
    all-done         nothing is left for this person
    empty            the project has no documents
    """

    state: Literal["question", "preparing", "document-done", "all-done", "empty"]
    document: int | None
    question: QuestionView | None
    upcoming: int | None
    progress: ProgressView | None
    model: ModelStatus

    @classmethod
    def of(cls, workspace: Workspace, shown: Shown) -> State:
        opened, asked, question = shown.opened, shown.question, None
        if opened is not None and asked is not None:
            session, why = opened.session, Why.of(opened.session, asked)
            question = QuestionView.of(question_id_of(asked), opened.document_id, session.document, asked, why)
        return cls(
            state=shown.state,  # type: ignore[arg-type]  # the same words
            document=shown.document_id,
            question=question,
            upcoming=shown.upcoming,
            progress=None if opened is None else ProgressView.of(workspace, opened),
            model=ModelStatus.of(workspace.workspaces, opened),
        )

    @classmethod
    def after(cls, workspace: Workspace, document_id: int) -> State:
        """What to show after an action that is on disk.

        The action is acknowledged whatever happens now. If the state cannot be told, the client is to ask again.
        """
        try:
            return cls.of(workspace, workspace.show_after(document_id))
        except Exception:
            logging.getLogger(__name__).exception("an action was recorded, but what comes next cannot be told")
            model = ModelStatus.of(workspace.workspaces, None, known=True)
            return cls(
                state="preparing", document=document_id, question=None, upcoming=None, progress=None, model=model
            )


# Answers


class AnswerJson(RequestModel):
    """Yes is `same: true`; no with its follow-up is `same: false, reply, span`. See docs/api.md."""

    model_config = ConfigDict(from_attributes=True)

    same: bool | None = None
    reply: Reply | None = None
    span: SpanJson | None = None

    def to_answer(self) -> Answer:
        return Answer(self.same, self.reply, self.span)


@pydantic_dataclass(frozen=True, config=STRICT)
class TimingJson(Timing):
    """Seconds measured in the browser, without idle time and hidden tabs; None where a step did not occur."""

    reading: Seconds | None = None
    initial: Seconds | None = None
    follow_up: Seconds | None = None


class HistoryEntry(BaseModel):
    """One of a person's own answers or edits.

    said              the answer or edit in words
    spans, texts      the spans it is about, the mention first, and their words
    sentences         the number of each span's sentence
    """

    document: int
    number: int
    kind: Literal["answer", "edit"]
    protocol: Protocol | None
    answer: AnswerJson | None
    said: str
    spans: list[SpanJson]
    texts: list[str]
    sentences: list[int]
    stands: bool
    seconds: float
    at: str
    model_version: int

    @classmethod
    def of(cls, document_id: int, session: Session, entry: LogEntry, row: LoggedEvent | None = None) -> HistoryEntry:
        document = session.document
        spans = wording.spans_in_order(entry)
        answered = entry if isinstance(entry, AnswerEntry) else None
        return cls(
            document=document_id,
            number=entry.number,
            kind="edit" if answered is None else "answer",
            protocol=None if answered is None else answered.question.protocol,
            answer=None if answered is None else AnswerJson.model_validate(answered.answer),
            said=wording.entry_text(entry, document),
            spans=spans,
            texts=[document.words(span) for span in spans],
            sentences=[document.sentence_of(span) for span in spans],
            stands=entry in session.entries,
            seconds=entry.seconds,
            at="" if row is None else timestamp(row.at),
            model_version=0 if row is None else row.model_version,
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
