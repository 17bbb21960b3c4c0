"""Documents with their splits, from a corpus of the registry or from the user's own files."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from corefine.corpora.registry import SPLITS, CorpusEntry, entry, names
from corefine.document import Document
from corefine.errors import InputError
from corefine.files import home_folder, sha256_of

MIRROR = "COREFINE_MIRROR"
"""Environment variable: a folder that holds corpora as NAME/NAME.jsonl.gz."""

_SPLIT_NAMES = {split: split for split in SPLITS} | {
    "training": "train", "development": "dev", "valid": "dev", "validation": "dev"
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Corpus:
    """Documents by split. Files without splits are all `train`."""

    name: str
    train: tuple[Document, ...]
    dev: tuple[Document, ...] = ()
    test: tuple[Document, ...] = ()
    licence: str | None = None
    citation: str | None = None
    partial: bool = False

    def split(self, name: str) -> tuple[Document, ...]:
        """The documents of "train", "dev" or "test"."""
        if name not in SPLITS:
            raise InputError(f"there is no split {name!r}: choose one of {', '.join(SPLITS)}")
        return {"train": self.train, "dev": self.dev, "test": self.test}[name]

    def divided(self) -> Corpus:
        """A corpus with training documents: this one, or its development or test documents divided into splits.

        Some corpora publish only held-out documents. Three fifths of these become training documents, one fifth
        development and one fifth test documents, unless the corpus has test documents besides. The names of the
        documents decide, so the division is the same everywhere.
        """
        if self.train:
            return self
        pool, test = (self.dev, self.test) if self.dev else (self.test, ())
        if len(pool) < 3:
            raise InputError(f"{self.name} has no training documents, and too few others to train on some of them")
        ranked = sorted(pool, key=lambda document: hashlib.sha256(document.key.encode()).digest())
        fifth = max(1, round(len(pool) / 5))
        tested = () if test else tuple(ranked[:fifth])
        developed = tuple(ranked[len(tested) : len(tested) + fifth])
        held = {document.key for document in (*tested, *developed)}
        return replace(
            self,
            train=tuple(document for document in pool if document.key not in held),
            dev=developed,
            test=test or tested,
        )


def load_corpus(name_or_path: str | Path, *, mirror: Path | None = None) -> Corpus:
    """The corpus of that name, or the documents of a file or folder.

    A name is looked up in the mirror if there is one (the argument, or the environment variable COREFINE_MIRROR),
    and otherwise among the corpora that `corefine data get` downloaded. In a folder, the part of a path that says
    train, dev (development, validation) or test is the split, as in the layout of CoNLL-2012.
    """
    if str(name_or_path) in names():
        return _of_registry(entry(str(name_or_path)), mirror_folder(mirror))
    path = Path(name_or_path).expanduser()
    if not path.exists():
        raise InputError(f"{name_or_path} is neither a file, a folder, nor a corpus ({', '.join(names())})")
    return _gather(path.name, [path])


def mirror_folder(given: Path | None = None) -> Path | None:
    """The mirror to use: the given one, or that of the environment, or None."""
    named = given or os.environ.get(MIRROR)
    mirror = Path(named) if named else None
    if mirror is not None and not mirror.is_dir():
        raise InputError(f"the mirror {mirror} is not a folder")
    return mirror


def mirrored_file(entry: CorpusEntry, mirror: Path) -> Path:
    """The corpus's file in a mirror, its SHA-256 checked."""
    path = mirror / entry.name / f"{entry.name}.jsonl.gz"
    if entry.mirror_sha256 is None or not path.is_file():
        raise InputError(f"the mirror {mirror} has no {entry.name}: leave the mirror out to use its public source")
    found = sha256_of(path)
    if found != entry.mirror_sha256:
        raise InputError(f"{path} has SHA-256 {found}, but the registry says {entry.mirror_sha256}")
    return path


def corpus_folder(name: str) -> Path:
    """Where `corefine data get` puts a corpus."""
    return home_folder() / "corpora" / name


def _of_registry(entry: CorpusEntry, mirror: Path | None) -> Corpus:
    if mirror is not None:
        files = [mirrored_file(entry, mirror)]
    else:
        every = [corpus_folder(entry.name) / f"{split}.jsonl" for split in SPLITS]
        files = [file for file in every if file.is_file()]
        if not files:
            raise InputError(f"{entry.name} is not here yet: get it with `corefine data get {entry.name}`")
    found = _gather(entry.name, files)
    return replace(found, licence=entry.licence, citation=entry.citation, partial=entry.partial)


def _gather(name: str, paths: Iterable[Path]) -> Corpus:
    from corefine.formats import find_files, read

    splits: dict[str, list[Document]] = {split: [] for split in SPLITS}
    for file in find_files(paths):
        of_path = _split_of_path(file.relative)
        for document in read(file.path):
            splits[_split_of_document(document) or of_path or "train"].append(document)
    if not any(splits.values()):
        raise InputError(f"{name} holds no documents")
    train, dev, test = map(tuple, splits.values())
    return Corpus(name, train, dev, test)


def _split_of_path(path: Path) -> str | None:
    """The split that a path names: in the file's name, or else in that of the innermost folder that names one."""
    words = [*re.split(r"[._-]", path.name), *reversed(path.parent.parts)]
    return next((_SPLIT_NAMES[word] for word in map(str.lower, words) if word in _SPLIT_NAMES), None)


def _split_of_document(document: Document) -> str | None:
    """The split that a document names itself, in a field of JSON lines."""
    of_format = document.extra.get("jsonl", {})
    split = of_format.get("split") if isinstance(of_format, dict) else None
    return _SPLIT_NAMES.get(str(split).lower()) if split else None
