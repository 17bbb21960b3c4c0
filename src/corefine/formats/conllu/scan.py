"""Where the lines and columns of CoNLL-U are, found with numpy in a few passes over many documents at once.

Corpora are large and most of a line is of no use to coreference: words and `Entity` values are cut out at once, other
columns only when somebody asks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

COLUMNS = 10
LONGEST_ID = 20
_TAB, _NEWLINE, _HASH, _NOUGHT, _BAR = b"\t\n#0|"
_ID = re.compile(r"\d+(?:[-.]\d+)?", re.ASCII)
_SPEAKER = re.compile(rb"# speaker\s*=([^\n]*)")
_ENTITY = b"Entity="

Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]


class IrregularError(Exception):
    """Some line is not what a line of CoNLL-U must be."""


class Lines:
    """The lines of some text that ends in a line break.

    dividers         where all tabs and line breaks are
    breaks           [lines] which of them is the line's break
    begins, ends     [lines] first byte of each line, and its line break
    first            [lines] the byte at its beginning
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.array = np.frombuffer(data, np.uint8)
        self.dividers = ((self.array == _TAB) | (self.array == _NEWLINE)).nonzero()[0]
        self.breaks = (self.array[self.dividers] == _NEWLINE).nonzero()[0]
        self.ends = self.dividers[self.breaks]
        self.begins = np.empty_like(self.ends)
        self.begins[:1] = 0
        self.begins[1:] = self.ends[:-1] + 1
        self.first = self.array[self.begins]

    def documents(self) -> list[int]:
        """Where documents begin: with the sentence that has a comment `newdoc`."""
        blank = self.begins[self.first == _NEWLINE]
        found = {0}
        for at in self.comments_on(b"newdoc"):
            before = int(blank.searchsorted(at))
            found.add(int(blank[before - 1]) + 1 if before else 0)
        return sorted(found)

    def comments_on(self, word: bytes) -> list[int]:
        """Where the comments begin of which this is the first word."""
        comments = self.begins[self.first == _HASH]
        # most comments are about something else: look at two letters of each before looking at any closely
        letters = self.array[np.minimum(comments[:, None] + (2, 3), len(self.array) - 1)]
        likely = comments[(letters == (word[0], word[1])).all(axis=1)]
        return [at for at in likely.tolist() if is_comment_on(word, self.data, at)]


def is_comment_on(word: bytes, data: bytes | bytearray, at: int) -> bool:
    """Whether a comment begins here of which this is the first word."""
    start = b"# " + word
    return data.startswith(start, at) and data[at + len(start) : at + len(start) + 1] in (b" ", b"=", b"\n", b"\t")


@dataclass(frozen=True, slots=True)
class Scan:
    """The rows of some lines: those of words, multiword tokens and empty nodes.

    begins, ends     [rows] first byte of each row, and its line break
    breaks           [rows] which of the lines' dividers its line break is; the nine before are the tabs of the row
    words            [rows] whether it is a word, and so a token
    before           [rows + 1] how many tokens come before it; at the end, how many there are
    sentences        [sentences] the first token of each
    """

    lines: Lines
    begins: Indices
    ends: Indices
    breaks: Indices
    words: Flags
    before: Indices
    sentences: Indices

    def cut(self, begins: Indices, ends: Indices) -> bytes:
        """The bytes from each begin up to and with each end."""
        lengths = ends - begins + 1
        index = np.repeat(begins - np.cumsum(lengths) + lengths, lengths)
        index += np.arange(len(index))
        taken: NDArray[np.uint8] = self.lines.array[index]
        return taken.tobytes()

    def column(self, number: int, rows: Indices) -> list[str]:
        """The cells of a column, counted from 0, on the given rows."""
        breaks = self.breaks[rows]
        dividers = self.lines.dividers
        begins = dividers[breaks - COLUMNS + number] + 1 if number else self.begins[rows]
        cells = self.cut(begins, dividers[breaks - COLUMNS + number + 1]).decode()
        return cells.split("\t" if number < COLUMNS - 1 else "\n")[:-1]

    def word_rows(self) -> Indices:
        rows: Indices = self.words.nonzero()[0]
        return rows

    def line_of(self, row: int) -> int:
        """The number of a row's line, from 0."""
        return int(self.lines.ends.searchsorted(self.begins[row]))

    def forms(self) -> list[str]:
        """The words."""
        return self.column(1, self.word_rows())

    def sentence_of_rows(self) -> Indices:
        """The number of each row's sentence."""
        first = self.lines.first
        after_blank = np.cumsum(first == _NEWLINE)[(first != _NEWLINE) & (first != _HASH)]
        return np.cumsum(np.diff(after_blank, prepend=-1) != 0) - 1

    def speakers(self) -> list[str | None]:
        """For each token, whom the comments of its sentence name as the speaker."""
        speakers: list[str | None] = [None] * int(self.before[-1])
        bounds = np.append(self.sentences, len(speakers))
        for at in self.lines.comments_on(b"speaker"):
            found = _SPEAKER.match(self.lines.data, at)
            token = self.before[self.begins.searchsorted(at)]
            sentence = int(self.sentences.searchsorted(token))
            if found and sentence < len(self.sentences):
                begin, end = bounds[sentence : sentence + 2].tolist()
                speakers[begin:end] = [found[1].decode().strip() or None] * (end - begin)
        return speakers

    def entities(self) -> tuple[Indices, list[str]]:
        """The rows with an `Entity` attribute, and its values."""
        pieces = self.lines.data.split(_ENTITY)
        at = np.cumsum(np.fromiter(map(len, pieces), np.int64, len(pieces))[:-1] + len(_ENTITY))
        rows = self.ends.searchsorted(at)
        at, rows = at[rows < len(self.ends)], rows[rows < len(self.ends)]
        # not in a comment, in a word, or in the midst of another attribute
        divider = at - len(_ENTITY) - 1
        byte = self.lines.array[divider]
        last_tab = self.lines.dividers[self.breaks[rows] - 1]
        proper = (divider >= last_tab) & ((byte == _TAB) | (byte == _BAR))
        at, rows = at[proper], rows[proper]
        values = self.cut(at, self.ends[rows]).decode().split("\n")[:-1]
        return rows, [value[: value.index("|")] if "|" in value else value for value in values]


def scan(lines: Lines) -> Scan:
    """Find rows and columns; raises `IrregularError`, and `faults` then says why."""
    blank = lines.first == _NEWLINE
    row = (~blank & (lines.first != _HASH)).nonzero()[0]
    begins, breaks = lines.begins[row], lines.breaks[row]
    if (np.diff(lines.breaks, prepend=-1)[row] != COLUMNS).any():
        raise IrregularError
    first, second = lines.dividers[breaks - COLUMNS + 1], lines.dividers[breaks - COLUMNS + 2]
    if (second - first < 2).any():  # no form
        raise IrregularError
    words = _are_words(lines.array, begins, first - begins)
    before = np.zeros(len(words) + 1, np.int64)
    np.cumsum(words, out=before[1:])
    sentence = np.cumsum(blank)[row]
    starts = np.diff(sentence[words], prepend=-1).nonzero()[0]
    if np.count_nonzero(np.diff(sentence, prepend=-1)) != len(starts):  # one has no words
        raise IrregularError
    found = Scan(lines, begins, lines.ends[row], breaks, words, before, starts)
    _check_ids(found)
    return found


def _are_words(array: NDArray[np.uint8], begins: Indices, lengths: Indices) -> Flags:
    """Whether an id is a number, and not a range (multiword token) or a decimal (empty node)."""
    longest = int(lengths.max(initial=0))
    if longest > LONGEST_ID or not lengths.all():
        raise IrregularError
    words = np.ones(len(begins), np.bool_)
    for place in range(longest):
        digit = array[np.minimum(begins + place, len(array) - 1)] - _NOUGHT  # others wrap around to more than 9
        words &= (digit <= 9) | (lengths <= place)
    return words


def _check_ids(found: Scan) -> None:
    """Ids are what they may be, and the words of a sentence are numbered from 1 to their number."""
    others = (~found.words).nonzero()[0]
    if not all(map(_ID.fullmatch, found.column(0, others))):
        raise IrregularError
    rows = found.word_rows()
    ends = np.append(found.sentences[1:], len(rows))[: len(found.sentences)]
    numbers = [str(number) for number in (ends - found.sentences).tolist()]
    if found.column(0, rows[found.sentences]) != ["1"] * len(numbers):
        raise IrregularError
    if found.column(0, rows[ends - 1]) != numbers:
        raise IrregularError


def faults(data: bytes) -> Iterator[tuple[int, int, str]]:
    """What is irregular: line (from 0), number of tokens before it, and what is wrong."""
    token = number = rows = 0
    counted = True
    for line, text in enumerate(data.split(b"\n")):
        if not text:
            if rows and not number:
                yield line, token, "a sentence without words"
            number = rows = 0
            counted = True
        if not text or text.startswith(b"#"):
            continue
        rows += 1
        cells = text.split(b"\t")
        id_ = cells[0].decode(errors="replace")[:LONGEST_ID]
        if len(cells) != COLUMNS:
            yield line, token, f"{len(cells)} columns, where CoNLL-U has {COLUMNS}"
        elif not _ID.fullmatch(id_) or len(cells[0]) > LONGEST_ID:
            yield line, token, f"{id_!r} is no id of a word, a range or an empty node"
        elif not cells[1]:
            yield line, token, "a word without a form"
        if cells[0].isdigit():
            token += 1
            number += 1
            if counted and id_ != str(number):
                counted = False
                yield line, token - 1, f"this word of the sentence has the id {id_}, not {number}"


def without_blanks(data: bytes) -> bytes:
    """The bytes with lines of white space made empty."""
    return re.sub(rb"(?m)^[ \t]+$", b"", data)
