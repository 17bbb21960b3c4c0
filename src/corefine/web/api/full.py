"""The API for annotating a document in full: marking mentions, and ticking sentences off."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response
from pydantic import BaseModel, Field
from pydantic.dataclasses import dataclass as pydantic_dataclass

from corefine.annotation import wording
from corefine.annotation.proposals import Proposal, proposals, said_clusters
from corefine.annotation.session import Session
from corefine.document import Span
from corefine.errors import ContradictionError, InvalidSpanError
from corefine.project.learning.familiarity import warning
from corefine.project.work import edits
from corefine.web.api.annotator import contradiction
from corefine.web.api.context import InContext, Somebody, check_document, respond, somebody
from corefine.web.api.types import STRICT, ClientId, Id, RequestModel, Seconds, SpanJson

routes = APIRouter(prefix="/api/full", dependencies=[Depends(somebody)])


class MarkedEntity(BaseModel):
    """An entity that people made; `name` is the mention that names it best."""

    name: SpanJson
    mentions: list[SpanJson]


@pydantic_dataclass(frozen=True)
class ProposalView(Proposal):
    span: SpanJson
    to: SpanJson | None


class FullView(BaseModel):
    """A document that is annotated in full.

    entities     what people marked, without the model
    done         the sentences that are ticked off, each with the number of its entry
    sentence     the sentence that `proposals` is about
    last         the mention that was marked last
    """

    document: int
    entities: list[MarkedEntity]
    done: list[tuple[int, int]]
    sentence: int
    proposals: list[ProposalView]
    last: SpanJson | None

    @classmethod
    def of(cls, document_id: int, session: Session, sentence: int) -> FullView:
        document = session.document
        clusters = said_clusters(session)
        numbers = {start: number for number, start in enumerate(document.sentence_starts)}
        done: dict[int, int] = {}
        last: Span | None = None
        for entry in session.entries:
            done |= {numbers[part.start]: entry.number for part in entry.complete if part.start in numbers}
            last = entry.mentions[0] if entry.mentions and entry.source is None else last
        found = [] if sentence in done else proposals(session, sentence)
        return cls(
            document=document_id,
            entities=[MarkedEntity(name=wording.best_name(document, each), mentions=list(each)) for each in clusters],
            done=sorted(done.items()),
            sentence=sentence,
            proposals=[ProposalView(each.span, each.to, each.why) for each in found],
            last=last,
        )


@pydantic_dataclass(frozen=True, config=STRICT)
class MarkJson(edits.Mark):
    mention: SpanJson
    to: SpanJson | None = None


@pydantic_dataclass(frozen=True, config=STRICT)
class UnmarkJson(edits.Unmark):
    mention: SpanJson


@pydantic_dataclass(frozen=True, config=STRICT)
class CompleteJson(edits.Complete):
    sentences: Annotated[tuple[Id, ...], Field(min_length=1, max_length=100_000)]


class FullRequest(RequestModel):
    """`sentence` is the one to propose mentions for in the response."""

    client_id: ClientId
    document: Id
    edit: Annotated[MarkJson | UnmarkJson | CompleteJson, Field(discriminator="kind")]
    sentence: Id = 0
    seconds: Seconds | None = None
    withdraw: Annotated[tuple[Id, ...], Field(max_length=1000)] = ()


class FullResult(BaseModel):
    number: int
    repeated: bool
    view: FullView


def _check_sentence(session: Session, sentence: int) -> None:
    if sentence >= len(session.document.sentence_starts):
        raise InvalidSpanError(
            f"the document has no sentence {sentence}: it has {len(session.document.sentence_starts)}"
        )


@routes.get("/{document_id}", response_model=FullView)
def full(document_id: Id, person: Somebody, here: InContext, sentence: Annotated[int, Query(ge=0)] = 0) -> Response:
    """What this person marked in a document, and proposals for a sentence."""
    check_document(here, document_id)
    with here.workspaces.of(person.id) as workspace:
        session = workspace.open(document_id, lease="never").session
        _check_sentence(session, sentence)
        return respond(FullView.of(document_id, session, sentence))


class Familiarity(BaseModel):
    """How well the model knows a document, and how far it is annotated in full.

    warning                why questions about it may be poor, or None
    ticked, sentences      how many sentences this person has ticked off, of how many
    """

    warning: str | None
    ticked: int
    sentences: int


@routes.get("/{document_id}/familiarity")
def familiar(document_id: Id, person: Somebody, here: InContext) -> Familiarity:
    check_document(here, document_id)
    with here.workspaces.of(person.id) as workspace:
        session = workspace.open(document_id, lease="never").session
        ticked = sum(len(entry.complete) for entry in session.entries)
    document = here.project.documents.get(document_id)
    size = len(document.sentence_starts)
    workspaces = here.workspaces
    newest = workspaces.newest(document_id)
    version = next((each for each in workspaces.known_versions if each.id == newest), None)
    if newest is None or version is None:
        return Familiarity(warning=None, ticked=ticked, sentences=size)
    said = warning(version, document, here.project.predictions.load(newest, document_id))
    return Familiarity(warning=said, ticked=ticked, sentences=size)


@routes.post("", response_model=FullResult)
def mark(body: FullRequest, person: Somebody, here: InContext) -> Response:
    """Mark a mention, remove a mark, or tick sentences off. Each becomes an entry of the log."""
    check_document(here, body.document)
    with here.workspaces.of(person.id) as workspace:
        _check_sentence(workspace.open(body.document).session, body.sentence)
        try:
            done = workspace.edit(
                body.client_id, body.document, body.edit, seconds=body.seconds or 0.0, withdrawing=body.withdraw
            )
        except ContradictionError as error:
            raise contradiction(workspace, body.document, error) from error
        view = FullView.of(done.document_id, done.session, body.sentence)
        return respond(FullResult(number=done.number or 0, repeated=done.repeated, view=view))
