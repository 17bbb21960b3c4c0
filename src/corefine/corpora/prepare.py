"""Gets a corpus, from its public source or a mirror, and stores it as JSON lines with its licence and citation."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from corefine.corpora.corpus import corpus_folder, mirror_folder, mirrored_file
from corefine.corpora.fetch import Download, FetchedFile, fetch
from corefine.corpora.gap import read_gap
from corefine.corpora.registry import SPLITS, CorpusEntry, entry
from corefine.document import Document
from corefine.errors import Fault
from corefine.files import write_atomically
from corefine.formats import OnFault, read
from corefine.formats.jsonl import render

SOURCES = "source"
"""Folder of the files as they were downloaded."""


@dataclass(frozen=True, slots=True)
class PreparedCorpus:
    """A corpus that is now on disk.

    documents    how many of each split
    unknown      source file -> SHA-256, for the files whose SHA-256 is not in the registry
    faults       what readers repaired
    """

    entry: CorpusEntry
    folder: Path
    documents: dict[str, int]
    unknown: dict[str, str]
    faults: tuple[Fault, ...]


def get(
    name: str,
    *,
    mirror: Path | None = None,
    folder: Path | None = None,
    download: Download | None = None,
    progress: Callable[[Iterable[FetchedFile], int], Iterable[FetchedFile]] = lambda files, _: files,
) -> PreparedCorpus:
    """Get the corpus of that name. `progress` is given the downloads and their number, and passes them on."""
    wanted = entry(name)
    folder = folder or corpus_folder(name)
    found_mirror = mirror_folder(mirror)
    faults: list[Fault] = []
    unknown: dict[str, str] = {}
    if found_mirror is not None:
        documents: Iterator[Document] = read(mirrored_file(wanted, found_mirror))
    else:
        total = sum(map(len, wanted.files.values()))
        files = list(progress(fetch(wanted, folder / SOURCES, download=download), total))
        unknown = {file.source: file.sha256 for file in files if not file.known}
        documents = _read_sources(wanted, files, faults.append)
    counts = _store(wanted, folder, documents)
    return PreparedCorpus(wanted, folder, counts, unknown, tuple(faults))


def _read_sources(entry: CorpusEntry, files: Iterable[FetchedFile], on_fault: OnFault) -> Iterator[Document]:
    for file in files:
        documents = read_gap(file.path) if entry.reader == "gap" else read(file.path, on_fault=on_fault)
        for document in documents:
            yield _with_facts(entry, file, document)


def _with_facts(entry: CorpusEntry, file: FetchedFile, document: Document) -> Document:
    """The document with its split, and the name, genre, language and licence that the registry gives it."""
    name = Path(file.source).name
    genre = _group(entry.genre_pattern, name) or entry.genre or document.genre
    facts: dict[str, object] = {"split": file.split}
    if entry.partial:
        facts["partial"] = True
    if genre is not None and genre in entry.text_licences:
        facts["text_licence"] = entry.text_licences[genre]
    prefix = _group(entry.name_pattern, name)
    known = replace(
        document,
        name=f"{prefix}_{document.name.rpartition('/')[2]}" if prefix else document.name,
        part=0 if prefix else document.part,
        genre=genre,
        language=document.language or entry.language,
        extra={**document.extra, "jsonl": facts},
    )
    return known if entry.singletons else known.without_singletons()


def _group(pattern: str | None, name: str) -> str | None:
    found = re.search(pattern, name) if pattern else None
    return found.group(1) if found else None


def _store(entry: CorpusEntry, folder: Path, documents: Iterable[Document]) -> dict[str, int]:
    lines: dict[str, list[str]] = {split: [] for split in SPLITS}
    for document in documents:
        lines[str(document.extra["jsonl"]["split"])].append(render(document))
    lines = {split: of_split for split, of_split in lines.items() if of_split}
    for split, of_split in lines.items():
        write_atomically(folder / f"{split}.jsonl", "".join(of_split).encode())
    facts = {field: getattr(entry, field) for field in ("name", "title", "licence", "citation", "note", "commit")}
    facts["source"] = entry.repository
    write_atomically(folder / "corpus.json", json.dumps(facts, indent=1, ensure_ascii=False).encode())
    return {split: len(of_split) for split, of_split in lines.items()}
