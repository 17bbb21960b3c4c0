"""The owner's notes about documents: names, tags, assignments, reviews, languages and the trash.

Nothing here changes answers. A document in the trash keeps its answers.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from sqlalchemy import Connection, insert, select, update

from corefine.document import Document
from corefine.errors import InputError
from corefine.formats import jsonl
from corefine.formats.languages import language_name
from corefine.project.store import documents, people, schema
from corefine.project.store.documents import DOCUMENTS, LONGEST_NAME, noted_list, parsed

NOTES = schema.document_notes.c
LONGEST_TAG, MOST_TAGS = 60, 50


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentChange:
    """What to change. None, and empty lists of tags, change nothing. An empty `assigned` means anybody."""

    name: str | None = None
    add_tags: tuple[str, ...] = ()
    remove_tags: tuple[str, ...] = ()
    assigned: tuple[int, ...] | None = None
    reviewed: bool | None = None
    trashed: bool | None = None


def change(
    connection: Connection,
    document_ids: Collection[int],
    wanted: DocumentChange,
    *,
    person_id: int,
    now: float,
    versions: Mapping[int, int | None] | None = None,
) -> None:
    """Change documents, all or none. `versions` are the model versions whose entities were reviewed, by document."""
    if wanted.name is not None:
        _rename(connection, document_ids, wanted.name)
    if wanted.assigned:
        active = {person.id for person in people.everybody(connection) if person.active}
        if not set(wanted.assigned) <= active:
            raise InputError("somebody to assign it to is not in the project, or their access is revoked")
    for document_id in sorted(set(document_ids)):
        _change_one(connection, document_id, wanted, person_id, now, (versions or {}).get(document_id))


def _change_one(
    connection: Connection,
    document_id: int,
    wanted: DocumentChange,
    person_id: int,
    now: float,
    version: int | None = None,
) -> None:
    if connection.execute(select(DOCUMENTS.id).where(DOCUMENTS.id == document_id)).first() is None:
        raise InputError(f"there is no document {document_id}")
    row = connection.execute(select(schema.document_notes).where(NOTES.document_id == document_id)).first()
    if row is None:
        connection.execute(insert(schema.document_notes).values(document_id=document_id, tags="[]", assigned="[]"))
    values: dict[str, str | float | None] = {}
    if wanted.add_tags or wanted.remove_tags:
        values["tags"] = json.dumps(_tags([] if row is None else noted_list(row.tags), wanted), ensure_ascii=False)
    if wanted.assigned is not None:
        values["assigned"] = json.dumps(sorted(set(wanted.assigned)))
    if wanted.reviewed is not None:
        said = (now, person_id, version) if wanted.reviewed else (None, None, None)
        values["reviewed_at"], values["reviewed_by"], values["reviewed_version"] = said
    if wanted.trashed is not None:
        values["trashed_at"] = now if wanted.trashed else None
    if values:
        connection.execute(update(schema.document_notes).where(NOTES.document_id == document_id).values(**values))


def split_again(document: Document, language: str) -> Document:
    """The same text, split by the rules of a language. Raises if the document has entities."""
    if document.clusters:
        raise InputError(
            f"{document.name} came with entities, which are about its words, so its language cannot be changed; delete "
            "it, and add its file again with the right language"
        )
    if document.text is None or document.layers:  # it was split by the tool it comes from
        return replace(document, language=language)
    return replace(Document.from_text(document.text, document.name, language=language), part=document.part)


def put_in_place(connection: Connection, document_id: int, again: Document, *, person_id: int, now: float) -> None:
    """Add a document under the name of another, which goes to the trash under a name that has its language."""
    row = connection.execute(select(schema.documents).where(DOCUMENTS.id == document_id)).one()
    notes = connection.execute(select(schema.document_notes).where(NOTES.document_id == document_id)).first()
    if notes is not None and notes.trashed_at is not None:
        raise InputError(f"{row.name} is in the trash; restore it first")
    before = parsed(document_id, row.content)
    kept = f"{row.name} ({language_name(before.language or 'en')})"
    kept = documents.free_name(connection, kept, row.part)
    content = jsonl.render(replace(before, name=kept))
    connection.execute(update(schema.documents).where(DOCUMENTS.id == document_id).values(name=kept, content=content))
    named = replace(again, name=row.name)
    new_id = documents.add(connection, named, source=row.source, digest=row.source_digest)
    if notes is not None:
        copied = DocumentChange(add_tags=tuple(noted_list(notes.tags)), assigned=tuple(noted_list(notes.assigned)))
        _change_one(connection, new_id, copied, person_id, now)
    _change_one(connection, document_id, DocumentChange(trashed=True), person_id, now)


def _tags(present: list[str], wanted: DocumentChange) -> list[str]:
    given = [" ".join(tag.replace("\0", "").split()) for tag in wanted.add_tags]
    if any(not tag or len(tag) > LONGEST_TAG for tag in given):
        raise InputError(f"a tag has between 1 and {LONGEST_TAG} characters")
    tags = [tag for tag in dict.fromkeys([*present, *given]) if tag not in wanted.remove_tags]
    if len(tags) > MOST_TAGS:
        raise InputError(f"a document has at most {MOST_TAGS} tags")
    return tags


def _rename(connection: Connection, document_ids: Collection[int], name: str) -> None:
    """Rename a document, in its stored text too, so that every export has the new name."""
    if len(document_ids) != 1:
        raise InputError("only one document at a time can be given a name")
    name = " ".join(name.replace("\0", "").split())
    if not name or len(name) > LONGEST_NAME:
        raise InputError(f"a name has between 1 and {LONGEST_NAME} characters")
    document_id = next(iter(document_ids))
    row = connection.execute(select(DOCUMENTS.part, DOCUMENTS.content).where(DOCUMENTS.id == document_id)).first()
    if row is None:
        raise InputError(f"there is no document {document_id}")
    taken = select(DOCUMENTS.id).where(DOCUMENTS.name == name, DOCUMENTS.part == row.part, DOCUMENTS.id != document_id)
    if connection.execute(taken).first() is not None:
        raise InputError(f"there is a document called {name!r} already, perhaps in the trash; choose another name")
    content = jsonl.render(replace(parsed(document_id, row.content), name=name))
    connection.execute(update(schema.documents).where(DOCUMENTS.id == document_id).values(name=name, content=content))
