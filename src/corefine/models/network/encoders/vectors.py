"""Word vectors from a file. The file is parsed once, into a cached table that is memory-mapped from then on.

Three formats are read: GloVe's text (a word and its numbers on each line), word2vec's text (the same after a line with
two counts), and the JSON of winkNLP's packages. The first two may be compressed with gzip.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import zlib
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from corefine.errors import WeightsError
from corefine.files import home_folder, whole_folder

Row = tuple[str, list[float]]

WORDS, TABLE, HASH = "words.json", "table.npy", "sha256"


@dataclass(frozen=True, slots=True)
class WordVectors:
    """Word vectors: the row of each word in a table, whose row 0 is for unknown words.

    table     [1 + words, width], mapped into memory
    sha256    a hash of words and numbers
    """

    index: dict[str, int]
    table: Tensor
    sha256: str

    @property
    def width(self) -> int:
        return self.table.shape[1]


def load_vectors(path: Path, width: int | None = None, *, cache: Path | None = None) -> WordVectors:
    """The word vectors of a file.

    width    the dimension that the vectors must have; None for any
    cache    where to keep the table; None for corefine's folder
    """
    place = (cache or home_folder() / "vectors") / _key(path)
    if not (place / HASH).is_file():
        _parse_into(place, path)
    try:
        words = json.loads((place / WORDS).read_bytes())
        numbers = np.load(place / TABLE, mmap_mode="c")  # copy on write, because torch warns about read-only arrays
        found = WordVectors(
            {word: row for row, word in enumerate(words, 1)},
            torch.from_numpy(numbers),
            (place / HASH).read_text(encoding="ascii"),
        )
    except (OSError, ValueError) as error:
        raise WeightsError(f"the cache of {path} in {place} cannot be read: {error}; remove it") from error
    if width is not None and found.width != width:
        raise WeightsError(
            f"the vectors in {path} have {found.width} numbers, and the model's words have {width}: "
            f"use another file, or set model.encoder.word_width={found.width}"
        )
    return found


def vectors_width(path: Path) -> int:
    """The dimension of a file's vectors. Only the beginning of a text file is read."""
    for _, values in _rows(path):
        return len(values)
    raise WeightsError(f"{path} holds no word vectors")


def _key(path: Path) -> str:
    """The name of a file's cache. It changes when the file does."""
    try:
        facts = path.stat()
    except OSError as error:
        raise WeightsError(f"cannot read the word vectors {path}: {error.strerror}") from error
    if path.is_dir():
        raise WeightsError(f"cannot read the word vectors {path}: it is a folder")
    described = f"{path.resolve()}\n{facts.st_size}\n{facts.st_mtime_ns}"
    return hashlib.sha256(described.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _parse_into(place: Path, path: Path) -> None:
    """Parse a file into a folder, which appears complete or not at all."""
    index: dict[str, int] = {}
    numbers = array("f")
    for word, values in _rows(path):
        if not numbers:
            numbers.extend([0.0] * len(values))  # unknown words
        if word not in index:
            index[word] = len(index) + 1
            numbers.extend(values)
    if not index:
        raise WeightsError(f"{path} holds no word vectors")
    table = np.frombuffer(numbers, dtype=np.float32).reshape(1 + len(index), -1)
    if not np.isfinite(table).all():
        raise WeightsError(f"{path} holds numbers that are not finite")
    words = json.dumps(list(index)).encode()
    with whole_folder(place) as made:
        (made / WORDS).write_bytes(words)
        np.save(made / TABLE, table)
        (made / HASH).write_text(hashlib.sha256(words + table.tobytes()).hexdigest(), encoding="ascii")


def _rows(path: Path) -> Iterator[Row]:
    """The words and vectors of a file."""
    try:
        if path.suffix == ".json":
            yield from _json_rows(path)
        else:
            yield from _text_rows(path)
    except UnicodeDecodeError as error:
        raise WeightsError(f"the word vectors {path} are not UTF-8 text ({error.reason}): convert the file") from error
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise WeightsError(f"cannot read the word vectors {path}: {reason}") from error


def _text_rows(path: Path) -> Iterator[Row]:
    width = 0
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
        for line, text in enumerate(file, 1):
            parts = text.rstrip("\n").rstrip(" ").split(" ")
            if line == 1 and len(parts) == 2 and all(part.isdigit() for part in parts):
                continue  # word2vec: the number of words, and the width
            width = width or len(parts) - 1
            try:
                values = list(map(float, parts[-width:])) if 0 < width < len(parts) else []
            except ValueError:
                values = []
            if not values:
                raise WeightsError(f"{path}:{line}: a word and {max(width, 1)} numbers were expected")
            yield " ".join(parts[:-width]), values  # some words have spaces


def _json_rows(path: Path) -> Iterator[Row]:
    """winkNLP's JSON, read row by row: "vectors" has each word's vector, followed by its length and its rank."""
    text = path.read_text(encoding="utf-8")
    begin, width = text.find('"vectors":{'), re.search(r'"dimensions":(\d+)', text)
    if begin < 0 or width is None:
        raise WeightsError(f'{path} is not JSON of word vectors: it has no "vectors" and "dimensions"')
    decoder, at = json.JSONDecoder(), begin + len('"vectors":{')
    try:
        while text[at] != "}":
            word, at = decoder.raw_decode(text, at)
            values, at = decoder.raw_decode(text, at + 1)
            yield word, list(map(float, values[: int(width[1])]))
            at += text[at] == ","
    except (ValueError, IndexError, TypeError) as error:
        raise WeightsError(f"{path} is damaged near character {at}: {error}") from error
