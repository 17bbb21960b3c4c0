"""Documents with their splits, from a corpus of the registry or from files of the user's own."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from corefine.corpora.registry import SPLITS, Entry, entry, names
from corefine.document import Document
from corefine.errors import InputError
from corefine.files import home_folder

MIRROR = "COREFINE_MIRROR"
"""Environment variable: a folder that holds corpora as NAME/NAME.jsonl.gz."""

_SPLIT_NAMES = {
    "train": "train",
    "training": "train",
    "dev": "dev",
    "development": "dev",
    "valid": "dev",
    "validation": "dev",
    "test": "test",
}


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

    def __len__(self) -> int:
        return len(self.train) + len(self.dev) + len(self.test)

    def split(self, name: str) -> tuple[Document, ...]:
        """The documents of "train", "dev" or "test"."""
        if name not in SPLITS:
            raise InputError(f"there is no split {name!r}: choose one of {', '.join(SPLITS)}")
        documents: tuple[Document, ...] = getattr(self, name)
        return documents


def load_corpus(name_or_path: str | Path, *, mirror: Path | None = None) -> Corpus:
    """The corpus of that name, or the documents of a file or folder.

    A name is looked up in the mirror if there is one (the argument, or the environment variable COREFINE_MIRROR),
    otherwise among what `corefine data get` has downloaded. In a folder, the part of the path that says train, dev
    (development, validation) or test is the split, as in the layout of CoNLL-2012.
    """
    if str(name_or_path) in names():
        return _of_registry(entry(str(name_or_path)), mirror_folder(mirror))
    path = Path(name_or_path).expanduser()
    if not path.exists():
        raise InputError(f"{name_or_path} is neither a file, a folder, nor a corpus ({', '.join(names())})")
    return _gather(path.name, _with_splits(path))


def mirror_folder(given: Path | None = None) -> Path | None:
    """The mirror in use: the one given, else the environment's, else None."""
    named = os.environ.get(MIRROR)
    mirror = given or (Path(named) if named else None)
    if mirror is not None and not mirror.is_dir():
        raise InputError(f"the mirror {mirror} is not a folder")
    return mirror


def mirrored_file(entry: Entry, mirror: Path) -> Path:
    """The corpus's file in a mirror, its SHA-256 checked."""
    path = mirror / entry.name / f"{entry.name}.jsonl.gz"
    if entry.mirror_sha256 is None or not path.is_file():
        raise InputError(f"the mirror {mirror} has no {entry.name}: leave the mirror out to use its public source")
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != entry.mirror_sha256:
        raise InputError(f"{path} has SHA-256 {found}, but the registry says {entry.mirror_sha256}")
    return path


def corpus_folder(name: str) -> Path:
    """Where `corefine data get` puts a corpus."""
    return home_folder() / "corpora" / name


def _of_registry(entry: Entry, mirror: Path | None) -> Corpus:
    if mirror is not None:
        found = _with_splits(mirrored_file(entry, mirror))
    else:
        folder = corpus_folder(entry.name)
        files = [folder / f"{split}.jsonl" for split in SPLITS if (folder / f"{split}.jsonl").is_file()]
        if not files:
            raise InputError(f"{entry.name} is not here yet: get it with `corefine data get {entry.name}`")
        found = (pair for file in files for pair in _with_splits(file))
    return _gather(entry.name, found, entry)


def _gather(name: str, found: Iterable[tuple[str, Document]], entry: Entry | None = None) -> Corpus:
    splits: dict[str, list[Document]] = {split: [] for split in SPLITS}
    for split, document in found:
        splits[split].append(document)
    if not any(splits.values()):
        raise InputError(f"{name} holds no documents")
    train, dev, test = (tuple(splits[split]) for split in SPLITS)
    if entry is None:
        return Corpus(name, train, dev, test)
    return Corpus(name, train, dev, test, entry.licence, entry.citation, entry.partial)


def _with_splits(path: Path) -> Iterator[tuple[str, Document]]:
    from corefine.formats import find_files, read

    for file in find_files([path]):
        of_path = _split_of_path(file.relative)
        for document in read(file.path):
            yield _split_of_document(document) or of_path or "train", document


def _split_of_path(path: Path) -> str | None:
    """The split a path names, its innermost part first; a file's name up to its first separator."""
    first = path.name.lower().replace("_", ".").replace("-", ".")
    for part in (*first.split("."), *(folder.lower() for folder in reversed(path.parent.parts))):
        if part in _SPLIT_NAMES:
            return _SPLIT_NAMES[part]
    return None


def _split_of_document(document: Document) -> str | None:
    """The split a document itself names, as the project's JSON lines do."""
    of_format = document.extra.get("jsonl", {})
    split = of_format.get("split") if isinstance(of_format, dict) else None
    return _SPLIT_NAMES.get(str(split).lower()) if split else None
