"""The JSON that requests and responses share. `docs/api.md` explains it; OpenAPI is generated from it."""

from __future__ import annotations

import operator
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, PlainValidator, WithJsonSchema
from pydantic.dataclasses import dataclass as pydantic_dataclass

from corefine.annotation import wording
from corefine.annotation.log import AnswerEntry, LogEntry
from corefine.annotation.question import Answer, Protocol, Reply, span_from_json, span_to_json
from corefine.annotation.session import Session
from corefine.document import Span
from corefine.errors import InvalidSpanError
from corefine.project.store.log import LoggedEvent, Timing

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

Time = Annotated[float, PlainSerializer(timestamp, return_type=str)]
"""Seconds since 1970, written as a date and time."""
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


# Answers


class AnswerJson(RequestModel):
    """Yes is `same: true`; no with its follow-up is `same: false, reply, span`. See docs/api.md."""

    model_config = ConfigDict(from_attributes=True)

    same: bool | None = None
    reply: Reply | None = None
    span: SpanJson | None = None
    struck: Annotated[tuple[SpanJson, ...], Field(max_length=100, exclude_if=operator.not_)] = ()
    also: Annotated[tuple[SpanJson, ...], Field(max_length=1000, exclude_if=operator.not_)] = ()

    def to_answer(self) -> Answer:
        return Answer(self.same, self.reply, self.span, self.struck, self.also)


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
