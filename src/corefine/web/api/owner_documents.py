"""The API for the owner's notes about documents (names, tags, assignments, reviews, the trash), and for the stories."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends
from pydantic import BaseModel, Field
from sqlalchemy import Connection

from corefine.corpora import stories
from corefine.errors import InputError
from corefine.project.store import documents, log
from corefine.project.store.document_notes import LONGEST_TAG, DocumentChange
from corefine.project.store.documents import LONGEST_NAME
from corefine.project.store.settings import checked_language
from corefine.web.api.context import InContext, Owner, check_document, owner
from corefine.web.api.types import Id, RequestModel, timestamp

MOST_AT_ONCE = 100_000

routes = APIRouter(prefix="/api", dependencies=[Depends(owner)])

Tag = Annotated[str, Field(min_length=1, max_length=LONGEST_TAG)]
Tags = Annotated[tuple[Tag, ...], Field(max_length=50)]


class DocumentsRequest(RequestModel):
    """What to change in documents. Fields left out change nothing.

    name        a new name; for a single document only
    assigned    ids of the people who annotate them; empty for anybody
    trashed     true moves them to the trash, false restores them
    """

    documents: Annotated[tuple[Id, ...], Field(min_length=1, max_length=MOST_AT_ONCE)]
    name: Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)] | None = None
    add_tags: Tags = ()
    remove_tags: Tags = ()
    assigned: Annotated[tuple[Id, ...], Field(max_length=1000)] | None = None
    reviewed: bool | None = None
    trashed: bool | None = None


class LanguageRequest(RequestModel):
    """Documents, and the code of the language whose rules their texts are to be split by."""

    documents: Annotated[tuple[Id, ...], Field(min_length=1, max_length=MOST_AT_ONCE)]
    language: Annotated[str, Field(min_length=1, max_length=20)]


class Changed(BaseModel):
    documents: int


class TrashRow(BaseModel):
    """A document in the trash, and how many answers it has."""

    id: int
    name: str
    tokens: int
    answers: int
    trashed: str


class Added(BaseModel):
    added: list[int]


@routes.patch("/documents")
def change_documents(body: DocumentsRequest, person: Owner, here: InContext) -> Changed:
    """Rename, tag, assign, mark as reviewed, delete or restore documents: all of them, or none."""
    change = DocumentChange(**body.model_dump(exclude={"documents"}))
    here.workspaces.change_documents(frozenset(body.documents), change, person.id)
    return Changed(documents=len(set(body.documents)))


@routes.put("/documents/language")
def change_language(body: LanguageRequest, person: Owner, here: InContext) -> Changed:
    """Split documents again, by the rules of another language: all of them, or none.

    New documents take their places, and they go to the trash with their answers.
    """
    language = checked_language(body.language)
    if language is None:
        raise InputError("choose a language: the documents have the one that was detected")
    for document_id in body.documents:
        check_document(here, document_id)
    here.workspaces.change_language(frozenset(body.documents), language, person.id)
    return Changed(documents=len(set(body.documents)))


@routes.get("/trash")
def trash(here: InContext) -> list[TrashRow]:
    """The documents in the trash, most recently deleted first."""
    with here.project.database.read() as connection:
        answers = log.answers_by_document(connection)
    found = sorted(here.project.documents.all(trashed=True), key=lambda info: -(info.trashed_at or 0.0))
    return [
        TrashRow(
            id=info.id,
            name=info.key,
            tokens=info.tokens,
            answers=answers.get(info.id, 0),
            trashed=timestamp(info.trashed_at or 0.0),
        )
        for info in found
    ]


@routes.post("/stories")
def add_stories(here: InContext) -> Added:
    """Add the stories that ship with corefine, to try it."""

    def job(connection: Connection) -> list[int]:
        return documents.add_all(connection, stories.load(), held_out=stories.HELD_OUT)

    added = here.project.writer.write(job)
    here.workspaces.documents_changed()
    return Added(added=added)
