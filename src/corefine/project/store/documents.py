"""The documents of a project. The database keeps all of their text, so a file that changes later affects no answer."""

from __future__ import annotations

import io
import json
import re
import time
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, func, insert, select

from corefine import formats
from corefine.document import Document, document_key
from corefine.errors import CorefineError, DamagedDocumentError, Fault, InputError
from corefine.files import sha256_of
from corefine.formats import jsonl
from corefine.formats.languages import language_name, with_language
from corefine.project.store import schema
from corefine.project.store.database import Database

DOCUMENTS = schema.documents.c
LONGEST_NAME = 400
MOST_STORED_PARTS = 2**31
"""Part numbers in the database are below this."""
HEAD = 2000
"""The characters of a stored text in which its language is named, long names included."""
_LANGUAGE = re.compile(r'"lang": "([^"]*)"')
READ_AT_ONCE = 100
"""How many texts are read in one query."""


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """A document without its text.

    assigned            the people it is for; empty: for anybody
    reviewed_version    the model version whose entities were reviewed
    """

    id: int
    name: str
    part: int
    tokens: int
    has_gold: bool
    held_out: bool
    source: str | None
    source_digest: str | None
    added_at: float
    tags: tuple[str, ...] = ()
    assigned: tuple[int, ...] = ()
    reviewed_at: float | None = None
    reviewed_by: int | None = None
    trashed_at: float | None = None
    reviewed_version: int | None = None

    @property
    def key(self) -> str:
        return document_key(self.name, self.part)


@dataclass(frozen=True, slots=True)
class NewDocument:
    """A document that is ready to be stored. `content` is the document as JSON lines."""

    name: str
    part: int
    tokens: int
    content: str
    has_gold: bool
    source: str | None
    digest: str | None
    held_out: bool = False


@dataclass(slots=True)
class Imported:
    """The result of importing files.

    added      ids of new documents
    skipped    files that could not be read, with reasons
    changed    files imported before that have changed since
    known      files imported before that have not changed
    annotated  how many new documents had entities and are not held out
    """

    added: list[int] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    known: list[str] = field(default_factory=list)
    annotated: int = 0

    @property
    def notices(self) -> list[str]:
        return [f"{file} was skipped: {reason.removeprefix(f'{file}: ')}" for file, reason in self.skipped] + [
            f"{file} has changed since it was imported. The project keeps the text its answers are about; to annotate "
            "the new text, import it under another name."
            for file in self.changed
        ]


class Documents:
    """Reads documents, and keeps those read last in memory."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: list[DocumentInfo] = []  # without notes; rows are never removed, and reading them is slow
        self._languages: dict[int, str] = {}
        self.get = lru_cache(maxsize=256)(self._get)

    def all(self, *, trashed: bool = False) -> list[DocumentInfo]:
        """All documents in the order they are annotated in, without those in the trash; or only those in the trash."""
        known = self._known
        with self._database.read() as connection:
            self._known = known = [*known, *_rows(connection, after=known[-1].id if known else 0)]
            return _noted(connection, known, trashed=trashed)

    def languages(self) -> dict[int, str]:
        """The English name of each document's language, by id. Only the beginning of a text is read."""
        known = self._languages
        query = select(DOCUMENTS.id, func.substr(DOCUMENTS.content, 1, HEAD)).where(
            DOCUMENTS.id > max(known, default=0)
        )
        with self._database.read() as connection:
            heads = connection.execute(query).all()
        if heads:
            found = {document_id: _LANGUAGE.search(head) for document_id, head in heads}
            codes = {document_id: match[1] if match else "en" for document_id, match in found.items()}
            known = known | {document_id: language_name(code) for document_id, code in codes.items()}
            self._languages = known  # a new dictionary, because other threads may be reading the old one
        return known

    def forget(self) -> None:
        """Forget what is cached, because a document was renamed."""
        self._known, self._languages = [], {}
        self.get.cache_clear()

    def _get(self, document_id: int) -> Document:
        with self._database.read() as connection:
            content = connection.execute(select(DOCUMENTS.content).where(DOCUMENTS.id == document_id)).scalar()
        if content is None:
            raise LookupError(f"there is no document {document_id}")
        return parsed(document_id, content)

    def contents(self, document_ids: Iterable[int]) -> Iterator[tuple[int, str]]:
        """The stored texts of many documents, in the order of their ids, for `parsed`."""
        ids = sorted(document_ids)
        for start in range(0, len(ids), READ_AT_ONCE):
            part = ids[start : start + READ_AT_ONCE]
            query = select(DOCUMENTS.id, DOCUMENTS.content).where(DOCUMENTS.id.in_(part)).order_by(DOCUMENTS.id)
            with self._database.read() as connection:
                rows = connection.execute(query).all()
            yield from ((row.id, row.content) for row in rows)


def parsed(document_id: int, content: str) -> Document:
    """A document from its stored text."""
    try:
        return next(iter(formats.read(io.BytesIO(content.encode()), "jsonl")))
    except (CorefineError, UnicodeError, StopIteration) as error:
        raise DamagedDocumentError(f"the stored text of document {document_id} is damaged: {error}") from error


def all_of(connection: Connection) -> list[DocumentInfo]:
    """All documents but those in the trash."""
    return _noted(connection, _rows(connection), trashed=False)


def _rows(connection: Connection, *, after: int = 0) -> list[DocumentInfo]:
    columns = [DOCUMENTS[name] for name in DocumentInfo.__dataclass_fields__ if name in DOCUMENTS]
    query = select(*columns).where(DOCUMENTS.id > after).order_by(DOCUMENTS.id)
    return [DocumentInfo(*row) for row in connection.execute(query)]


def _noted(connection: Connection, rows: Sequence[DocumentInfo], *, trashed: bool) -> list[DocumentInfo]:
    """The documents with what is noted about them: those that are in the trash, or the others."""
    notes = {}
    for row in connection.execute(select(schema.document_notes)):
        fields = dict(row._mapping)
        fields |= {name: tuple(noted_list(fields[name])) for name in ("tags", "assigned")}
        notes[fields.pop("document_id")] = fields
    found = [replace(row, **notes[row.id]) if row.id in notes else row for row in rows]
    return [info for info in found if (info.trashed_at is not None) == trashed]


def noted_list(text: str) -> list[Any]:
    """A list among the notes about a document; an empty one if it is damaged."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return found if isinstance(found, list) else []


def to_annotate(connection: Connection) -> list[DocumentInfo]:
    """The documents that people are asked about: all but the held-out ones."""
    return [document for document in all_of(connection) if not document.held_out]


def add(
    connection: Connection,
    document: Document,
    *,
    source: str | None = None,
    digest: str | None = None,
    held_out: bool = False,
) -> int:
    """Store a document and return its id. If its name is taken, a number is added to it."""
    name = free_name(connection, document.name, document.part)
    content = jsonl.render(replace(with_language(document), name=name))
    new = NewDocument(
        name, document.part, len(document), content, bool(document.clusters), source, digest, held_out=held_out
    )
    return add_new(connection, new)


def add_all(connection: Connection, given: Sequence[Document], *, held_out: int = 0) -> list[int]:
    """Store documents. The last `held_out` of them are not asked about: the model is scored on them."""
    asked = len(given) - held_out
    return [add(connection, document, held_out=number >= asked) for number, document in enumerate(given)]


def add_new(connection: Connection, new: NewDocument) -> int:
    """Store a document that is ready to be stored, and return its id."""
    values = {
        "name": new.name,
        "part": new.part,
        "tokens": new.tokens,
        "content": new.content,
        "has_gold": new.has_gold,
        "held_out": new.held_out,
        "source": new.source,
        "source_digest": new.digest,
        "added_at": time.time(),
    }
    key: int = connection.execute(insert(schema.documents).values(values).returning(DOCUMENTS.id)).scalar_one()
    return key


def free_name(connection: Connection, name: str, part: int, *, besides: Container[tuple[str, int]] = ()) -> str:
    """The name, with a number added if it is taken. `besides`: names and parts that are taken as well."""
    if abs(part) >= MOST_STORED_PARTS:
        raise InputError(f"document {name} part {part}: a project has no room for a part of that number")
    found = base = name.replace("\0", "\N{REPLACEMENT CHARACTER}")[:LONGEST_NAME] or "document"
    count = 1
    taken = select(DOCUMENTS.id).where(DOCUMENTS.part == part)
    while (found, part) in besides or connection.execute(taken.where(DOCUMENTS.name == found)).first() is not None:
        count += 1
        found = f"{base} ({count})"
    return found


def count_from(connection: Connection, source: str) -> int:
    """How many documents came from a source."""
    return connection.execute(select(func.count()).where(DOCUMENTS.source == source)).scalar_one()


def last_id(connection: Connection) -> int:
    return connection.execute(select(func.max(DOCUMENTS.id))).scalar() or 0


def same_content(connection: Connection, digest: str, *, last: int) -> tuple[str, bool] | None:
    """The first document of a file with this digest, up to the id `last`, and whether it is in the trash."""
    notes = schema.document_notes.c
    query = (
        select(DOCUMENTS.name, notes.trashed_at)
        .outerjoin(schema.document_notes, notes.document_id == DOCUMENTS.id)
        .where(DOCUMENTS.source_digest == digest, DOCUMENTS.id <= last)
        .order_by(notes.trashed_at.is_not(None), DOCUMENTS.id)
    )
    row = connection.execute(query.limit(1)).first()
    return None if row is None else (row.name, row.trashed_at is not None)


def import_paths(
    connection: Connection,
    paths: Iterable[Path],
    *,
    held_out: bool = False,
    language: str | None = None,
    on_added: Callable[[int, Document, str], None] = lambda *_: None,
) -> Imported:
    """Import files and folders. Files that cannot be read are listed and skipped.

    A file that was imported before is not imported again. `language` is that of documents that name none; without it,
    it is detected. `on_added` gets the id of each new document, the document and the name of its file.
    """
    known = _digests(connection)
    result = Imported()
    skipped = result.skipped
    for path, _ in formats.find_files(
        paths, on_skip=lambda path, reason: skipped.append((_readable(path), _readable(reason)))
    ):
        try:
            digest = sha256_of(path)
            source = _readable(path.resolve())
            if source not in known:
                found = _import_file(connection, path, source, digest, held_out, language, result)
                for document_id, document in found:
                    on_added(document_id, document, _readable(path.name))
            else:
                (result.known if digest in known[source] else result.changed).append(_readable(path))
        except (CorefineError, OSError) as error:
            result.skipped.append((_readable(path), _readable(error)))
    return result


def changed_files(connection: Connection) -> list[str]:
    """Files that have changed since they were imported."""
    changed = []
    for source, known in _digests(connection).items():
        try:
            if sha256_of(Path(source)) not in known:
                changed.append(source)
        except OSError:  # gone, or never a file: nothing to compare with
            continue
    return changed


def _digests(connection: Connection) -> dict[str, set[str | None]]:
    """By file, the digests of what was imported from it."""
    found: dict[str, set[str | None]] = {}
    for document in all_of(connection):
        if document.source is not None:
            found.setdefault(document.source, set()).add(document.source_digest)
    return found


def _import_file(
    connection: Connection,
    path: Path,
    source: str,
    digest: str,
    held_out: bool,
    language: str | None,
    result: Imported,
) -> list[tuple[int, Document]]:
    faults: list[Fault] = []
    documents = [
        document for document in formats.read(path, on_fault=faults.append, language=language) if len(document)
    ]
    added = []
    for document in documents:
        key = add(connection, document, source=source, digest=digest, held_out=held_out and bool(document.clusters))
        result.added.append(key)
        result.annotated += bool(document.clusters) and not held_out
        added.append((key, document))
    fatal = [fault for fault in faults if fault.fatal]
    result.skipped += [(_readable(path), fault.what) for fault in fatal]
    if not documents and not fatal:
        result.skipped.append((_readable(path), "it holds no text"))
    return added


def _readable(value: object) -> str:
    """A path or a message as valid Unicode, because file names can be any bytes."""
    return str(value).encode("utf-8", "backslashreplace").decode()
