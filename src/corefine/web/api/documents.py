"""Documents for annotators: the list, the text, and the entities."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import pairwise
from typing import Literal
from unicodedata import bidirectional

from fastapi import APIRouter, Depends, Response
from pydantic import BaseModel

from corefine.annotation import wording
from corefine.annotation.session import Session
from corefine.document import Document, Span, document_order
from corefine.errors import DamagedDocumentError, DocumentTakenError
from corefine.project.store import log
from corefine.project.store.document_notes import DocumentChange
from corefine.project.work.assignments import Assignments
from corefine.project.work.edits import is_confirmed
from corefine.project.work.workspace import Workspace
from corefine.web.api.context import InContext, Somebody, check_document, respond, somebody
from corefine.web.api.state import State, settled_share
from corefine.web.api.types import Id, RequestModel, SpanJson, timestamp

RIGHT_TO_LEFT = frozenset({"ar", "arc", "ckb", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi"})
LOOKED_AT = 500
"""How many tokens are examined for the direction of a text whose language is unknown."""
WITHOUT_SPACES = frozenset({"ja", "zh", "zh-hans", "zh-hant", "th", "lo", "km", "my"})
CLOSING = frozenset(".,;:!?)]}»”’%…") | {"''", "n't", "'s", "'re", "'ve", "'ll", "'d", "'m", "’s", "n’t", "..."}
OPENING = frozenset("([{«“‘$#") | {"``"}

routes = APIRouter(prefix="/api/documents", dependencies=[Depends(somebody)])


class DocumentRow(BaseModel):
    """`state` is this person's: new, open (has answers or edits), done, or taken (somebody else has it).

    assigned             the people it is assigned to; empty for anybody
    begun_by, done_by    the people who work on it, and those who have finished it
    """

    id: int
    name: str
    tokens: int
    language: str
    state: Literal["new", "open", "done", "taken"]
    ready: bool
    answers: int
    budget: int | None
    settled: float | None
    overlap: bool
    has_gold: bool
    added: str
    tags: list[str]
    assigned: list[int]
    reviewed: str | None
    begun_by: list[int]
    done_by: list[int]


class Sentence(BaseModel):
    """`start` is the index of the first token.

    spaces    whether a space follows, for each token
    breaks    the places of the tokens that a line ends with, where the text has lines of its own
    """

    start: int
    tokens: list[str]
    spaces: list[bool]
    breaks: list[int]
    speaker: str | None
    paragraph: bool


class DocumentText(BaseModel):
    """`reviewed` says whether somebody has marked the document as reviewed."""

    id: int
    name: str
    language: str | None
    tokens: int
    rtl: bool
    reviewed: bool
    sentences: list[Sentence]

    @classmethod
    def of(cls, document_id: int, document: Document, *, reviewed: bool = False) -> DocumentText:
        spaces = _spaces(document)
        ends = line_ends(document)
        sentences = []
        for number, span in enumerate(document.sentence_spans):
            tokens = slice(span.start, span.end + 1)
            sentences.append(
                Sentence(
                    start=span.start,
                    tokens=list(document.tokens[tokens]),
                    spaces=spaces[tokens],
                    breaks=[token - span.start for token in range(span.start, span.end + 1) if token in ends],
                    speaker=None if document.speakers is None else document.speakers[span.start],
                    paragraph=number == 0 or _new_paragraph(document, span.start),
                )
            )
        return cls(
            id=document_id,
            name=document.key,
            language=document.language,
            tokens=len(document),
            rtl=_right_to_left(document),
            reviewed=reviewed,
            sentences=sentences,
        )


SHORT_LINES, LONG_LINES = 60, 120
"""If no line of a text is longer than the first number (verse, forms), or one is longer than the second (each paragraph
is a line), its line breaks mean something. In between, most of them are there because a line was full."""


def line_ends(document: Document) -> frozenset[int]:
    """The tokens that end a line which was ended on purpose, and not because it was full."""
    text, offsets = document.text, document.offsets
    if text is None or offsets is None or "\n" not in text:
        return frozenset()
    longest = max(map(len, text.split("\n")))
    wrapped = SHORT_LINES < longest <= LONG_LINES
    found = []
    for token, ((_, end), (start, after)) in enumerate(pairwise(offsets)):
        if text.count("\n", end, start) != 1:
            continue
        line = end - text.rfind("\n", 0, end) - 1
        if not wrapped or line + 1 + after - start < 0.7 * longest:  # the next word would have fitted
            found.append(token)
    return frozenset(found)


def _right_to_left(document: Document) -> bool:
    """Whether the text runs from right to left, by its language or, if unknown, by its first letters."""
    if document.language is not None:
        return document.language.lower().partition("-")[0] in RIGHT_TO_LEFT
    kinds = [bidirectional(letter) for token in document.tokens[:LOOKED_AT] for letter in token[:1]]
    return 2 * sum(kind in ("R", "AL") for kind in kinds) > sum(kind in ("R", "AL", "L") for kind in kinds)


def _spaces(document: Document) -> list[bool]:
    """Whether a space follows each token: as in the source text, or by the usual rules of typing."""
    if document.text is not None and document.offsets is not None:
        starts = [start for start, _ in document.offsets[1:]] + [len(document.text)]
        return [start > end for (_, end), start in zip(document.offsets, starts, strict=True)]
    if (document.language or "").lower() in WITHOUT_SPACES:
        return [False] * len(document)
    following = (*document.tokens[1:], "")
    return [
        token not in OPENING and after.lower() not in CLOSING
        for token, after in zip(document.tokens, following, strict=True)
    ]


def _new_paragraph(document: Document, token: int) -> bool:
    if document.text is not None and document.offsets is not None:
        return "\n" in document.text[document.offsets[token - 1][1] : document.offsets[token][0]]
    speakers = document.speakers
    return speakers is not None and speakers[token] != speakers[token - 1]


class MentionView(BaseModel):
    """`source` says whether people's answers or only the model put the mention in its entity."""

    span: SpanJson
    text: str
    sentence: int
    source: Literal["human", "model"]
    probability: float | None


class EntityView(BaseModel):
    """`id` is the entity's first mention as text ("3-4"); it changes when the first mention does.

    name         the mention that names the entity best
    confirmed    whether answers alone, without the model, make this entity
    """

    id: str
    first: str
    name: SpanJson
    mentions: list[MentionView]
    confirmed: bool


class EntitiesView(BaseModel):
    """`mentions` are all spans that can be clicked as candidates, including those in no entity.

    unlikely    the other spans that the model considered
    """

    document: int
    entities: list[EntityView]
    mentions: list[SpanJson]
    unlikely: list[SpanJson]

    @classmethod
    def of(cls, document_id: int, session: Session) -> EntitiesView:
        document, revision, links = session.document, session.revision, session.links
        clusters = session.annotated().clusters
        entities = []
        for cluster in clusters:
            members = []
            for span in cluster:
                row = revision.nodes.row(span)
                known = links.entity_of(span)
                human = (known is not None and len(known) > 1) or row is None or bool(revision.settled[row])
                members.append(
                    MentionView(
                        span=span,
                        text=document.words(span),
                        sentence=document.sentence_of(span),
                        source="human" if human else "model",
                        probability=None if row is None or human else float(revision.rows[row].max()),
                    )
                )
            first, name = document.words(cluster[0]), wording.best_name(document, cluster)
            confirmed = is_confirmed(links, cluster)
            view = EntityView(id=str(cluster[0]), first=first, name=name, mentions=members, confirmed=confirmed)
            entities.append(view)
        scores = revision.prediction.mention_scores
        likely = {span for cluster in clusters for span in cluster}
        unlikely = []
        for row, span in enumerate(revision.prediction.spans):
            if links.is_mention(span) and span not in likely:
                likely.add(span) if scores is None or scores[row] > 0 else unlikely.append(span)
        # Plain spans sort without a key, which is much faster for the tens of thousands in a novel.
        plain = all(type(span) is Span for span in likely)
        mentions = sorted(likely) if plain else sorted(likely, key=document_order)
        return cls(document=document_id, entities=entities, mentions=mentions, unlikely=unlikely)


class DoneRequest(RequestModel):
    done: bool


class ReviewedRequest(RequestModel):
    reviewed: bool


@routes.get("")
def documents(person: Somebody, here: InContext) -> list[DocumentRow]:
    """All documents in project order, each with its state for this person."""
    workspaces = here.workspaces
    with here.project.database.read() as connection:
        assignments = Assignments(connection, workspaces.documents(), workspaces.settings, time.time())
        counts = log.answers_by_document(connection, person.id)
        worked_on = log.worked_on(connection, person.id)
        taken_back = log.documents_with_withdrawals(connection, person.id)
    if taken_back:
        with workspaces.of(person.id) as workspace:
            counts.update(_standing(workspace, taken_back))
    languages = here.project.documents.languages()
    rows = []
    for info in assignments.documents:
        assigned = assignments.find(info.id, person.id)
        live = workspaces.cached(person.id, info.id)
        state: Literal["new", "open", "done", "taken"] = "new"
        if assigned is not None and assigned.done:
            state = "done"
        elif not assignments.has_room(info.id, person.id):
            state = "taken"
        elif counts.get(info.id) or (person.id, info.id) in worked_on:
            state = "open"
        rows.append(
            DocumentRow(
                id=info.id,
                name=info.key,
                tokens=info.tokens,
                language=languages.get(info.id, "English"),
                state=state,
                ready=workspaces.newest(info.id) is not None,
                answers=counts.get(info.id, 0),
                budget=workspaces.settings.questions(info.tokens),
                settled=None if live is None else settled_share(live.session),
                overlap=info.id in assignments.overlap,
                has_gold=info.has_gold,
                added=timestamp(info.added_at),
                tags=list(info.tags),
                assigned=list(info.assigned),
                reviewed=None if info.reviewed_at is None else timestamp(info.reviewed_at),
                begun_by=[each.person_id for each in assignments.of(info.id) if not each.done],
                done_by=[each.person_id for each in assignments.of(info.id) if each.done],
            )
        )
    return rows


def _standing(workspace: Workspace, documents: Iterable[int]) -> Iterator[tuple[int, int]]:
    """How many standing answers each of these documents has."""
    for document_id in documents:
        with suppress(DamagedDocumentError):
            yield document_id, len(workspace.open(document_id, needs_model=False).session.answers)


@routes.get("/{document_id}")
def document(document_id: Id, here: InContext) -> DocumentText:
    check_document(here, document_id)
    info = here.workspaces.document(document_id)
    reviewed = info is not None and info.reviewed_at is not None
    return DocumentText.of(document_id, here.project.documents.get(document_id), reviewed=reviewed)


@routes.get("/{document_id}/entities", response_model=EntitiesView)
def entities(document_id: Id, person: Somebody, here: InContext) -> Response:
    """The entities under the model and this person's answers."""
    check_document(here, document_id)
    with here.workspaces.of(person.id) as workspace:
        workspace.preload_newer_model(document_id)  # the page asks for these while the person reads the question
        return respond(EntitiesView.of(document_id, workspace.open(document_id, lease="never").session))


@routes.post("/{document_id}/done")
def done(document_id: Id, body: DoneRequest, person: Somebody, here: InContext) -> State:
    """Leave a document, or go back to it."""
    check_document(here, document_id)
    with here.workspaces.of(person.id) as workspace:
        workspace.finish(document_id, done=body.done)
        return State.after(workspace, document_id)


@routes.post("/{document_id}/more")
def more(document_id: Id, person: Somebody, here: InContext) -> State:
    """Ask more questions about a document that is done, beyond its budget."""
    check_document(here, document_id)
    with here.workspaces.of(person.id) as workspace:
        workspace.ask_more(document_id)
        return State.after(workspace, document_id)


@routes.post("/{document_id}/reviewed")
def reviewed(document_id: Id, body: ReviewedRequest, person: Somebody, here: InContext) -> ReviewedRequest:
    """Mark a document as reviewed, or not. Allowed for the owner and for people who can work on it."""
    check_document(here, document_id)
    workspaces = here.workspaces
    with here.project.database.read() as connection:
        assigned = Assignments(connection, workspaces.documents(), workspaces.settings, time.time())
    if not person.is_owner and not assigned.has_room(document_id, person.id):
        raise DocumentTakenError("somebody else is working on this document: it is theirs to review")
    with workspaces.of(person.id) as workspace:
        opened = workspace.open(document_id, lease="never")
        shown = opened.preloaded_version or opened.version
    workspaces.change_documents({document_id}, DocumentChange(reviewed=body.reviewed), person.id, shown=shown)
    return body
