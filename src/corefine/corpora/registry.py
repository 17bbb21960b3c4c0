"""The corpora that corefine can get: one TOML file each in `entries/`, so that adding one needs no code.

An entry names a public repository, one commit of it, and the files of each split with their SHA-256. An empty
hash was not known when the entry was written: the file is accepted on first use, and its hash is shown and stored.
Later downloads must have the same hash.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from corefine.errors import InputError

ENTRIES = Path(__file__).with_name("entries")
SPLITS = ("train", "dev", "test")


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusEntry:
    """One corpus of the registry.

    files            split -> path in the repository -> SHA-256, or "" where it is not known
    mirror_sha256    of NAME/NAME.jsonl.gz in a mirror, or None if mirrors do not have it
    reader           "files" for what `formats` reads, "gap" for the tab-separated tables of GAP
    genre            of every document; or `genre_pattern`, whose first group finds it in the file's name
    name_pattern     its first group, found in the file's name, replaces all but the last part of a document's name
    singletons       False if the annotation scheme has none; clusters of one mention are then dropped
    partial          whether only some chains of each document are annotated
    text_licences    genre -> licence of its texts, where they differ
    """

    name: str
    title: str
    language: str
    repository: str
    commit: str
    licence: str
    citation: str
    note: str
    files: Mapping[str, Mapping[str, str]]
    mirror_sha256: str | None = None
    reader: str = "files"
    genre: str | None = None
    genre_pattern: str | None = None
    name_pattern: str | None = None
    singletons: bool = True
    partial: bool = False
    text_licences: Mapping[str, str] = field(default_factory=dict)

    def url(self, path: str) -> str:
        """Where a file of the pinned commit is downloaded from."""
        owner = self.repository.removeprefix("https://github.com/")
        return f"https://raw.githubusercontent.com/{owner}/{self.commit}/{path}"


def names() -> tuple[str, ...]:
    """All corpora of the registry, in alphabetical order."""
    return tuple(sorted(path.stem for path in ENTRIES.glob("*.toml")))


@cache
def entry(name: str) -> CorpusEntry:
    """The registry's entry of that name."""
    if name not in names():
        raise InputError(f"there is no corpus {name!r}; corefine knows {', '.join(names())}, or give a path")
    data: dict[str, Any] = tomllib.loads((ENTRIES / f"{name}.toml").read_text(encoding="utf-8"))
    return CorpusEntry(name=name, **data)
