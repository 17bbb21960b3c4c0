"""Getting a corpus: from its public source or a mirror, into JSON lines with splits, licence and citation beside."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from corefine.corpora.convert import convert
from corefine.corpora.corpus import corpus_folder, mirror_folder, mirrored_file
from corefine.corpora.fetch import Download, Fetched, fetch
from corefine.corpora.registry import SPLITS, Entry, entry
from corefine.document import Document
from corefine.errors import Fault
from corefine.files import write_atomically
from corefine.formats import read
from corefine.formats.jsonl import render

SOURCES = "source"
"""Folder of the files as they were downloaded."""


@dataclass(frozen=True, slots=True)
class Got:
    """A corpus that is now here.

    documents    how many of each split
    unknown      files whose SHA-256 is not in the registry, with the hash they were taken with
    faults       what readers repaired on the way
    """

    entry: Entry
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
    progress: Callable[[Iterable[Fetched], int], Iterable[Fetched]] | None = None,
) -> Got:
    """Get the corpus of that name. `progress` may watch the downloads; it is given them and their number."""
    wanted = entry(name)
    folder = folder or corpus_folder(name)
    found_mirror = mirror_folder(mirror)
    faults: list[Fault] = []
    unknown: dict[str, str] = {}
    if found_mirror is not None:
        documents: Iterator[Document] = read(mirrored_file(wanted, found_mirror))
    else:
        total = sum(map(len, wanted.files.values()))
        files: Iterable[Fetched] = fetch(wanted, folder / SOURCES, download=download)
        here = list(progress(files, total) if progress else files)
        unknown = {file.source: file.sha256 for file in here if not file.known}
        documents = convert(wanted, here, on_fault=faults.append)
    counts = _store(wanted, folder, documents)
    return Got(wanted, folder, counts, unknown, tuple(faults))


def _store(entry: Entry, folder: Path, documents: Iterable[Document]) -> dict[str, int]:
    lines: dict[str, list[str]] = {split: [] for split in SPLITS}
    for document in documents:
        lines[str(document.extra["jsonl"]["split"])].append(render(document))
    for split, of_split in lines.items():
        if of_split:
            write_atomically(folder / f"{split}.jsonl", "".join(of_split).encode())
    facts = {
        "name": entry.name,
        "title": entry.title,
        "licence": entry.licence,
        "citation": entry.citation,
        "note": entry.note,
        "source": entry.repository,
        "commit": entry.commit,
    }
    write_atomically(folder / "corpus.json", json.dumps(facts, indent=1, ensure_ascii=False).encode())
    return {split: len(of_split) for split, of_split in lines.items() if of_split}
