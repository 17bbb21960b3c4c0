"""Finds the lines and columns of CoNLL-U with numpy, in a few passes over many documents at once.

Corpora are large, and coreference needs little of a line: words and `Entity` values are cut out at once, and other
columns on demand.
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
_PIECE = 1 << 15

Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]


class IrregularError(Exception):
    """A line is not correct CoNLL-U."""


class Lines:
    """The lines of a text that ends in a line break.

    dividers         positions of all tabs and line breaks
    breaks           [lines] which divider is the line break
    begins, ends     [lines] positions of the first byte and of the line break
    first            [lines] the first byte
    comments         [comments] positions of the lines that begin with #
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
        self.comments = self.begins[self.first == _HASH]
        # the first two letters of each comment after "# ": they rule out most comments at once
        self.letters = self.array[np.minimum(self.comments[:, None] + (2, 3), len(self.array) - 1)]

    def documents(self) -> list[int]:
        """Where documents begin: at a sentence with a comment `newdoc`."""
        blank = self.begins[self.first == _NEWLINE]
        found = {0}
        for at in self.likely_comments(b"newdoc"):
            if is_comment_on(b"newdoc", self.data, at):
                before = int(blank.searchsorted(at))
                found.add(int(blank[before - 1]) + 1 if before else 0)
        return sorted(found)

    def places_of(self, word: bytes) -> Indices:
        """The positions of these bytes, which the first line must not begin with."""
        at: Indices = (self.array == word[0]).nonzero()[0]
        at = at[at < len(self.array) - len(word)]
        for place in (len(word) - 1, *range(1, len(word) - 1)):  # the last byte is the rarest of `Entity=`
            at = at[self.array[at + place] == word[place]]
        return at

    def likely_comments(self, word: bytes) -> list[int]:
        """The positions of the comments that begin with the first two letters of this word."""
        likely: list[int] = self.comments[(self.letters[:, 0] == word[0]) & (self.letters[:, 1] == word[1])].tolist()
        return likely


def is_comment_on(word: bytes, data: bytes | bytearray, at: int) -> bool:
    """Whether a comment that begins with this word is here."""
    start = b"# " + word
    return data.startswith(start, at) and data[at + len(start) : at + len(start) + 1] in (b" ", b"=", b"\n", b"\t")


@dataclass(frozen=True, slots=True)
class Scan:
    """The rows among the lines: words, multiword tokens and empty nodes.

    begins, ends     [rows] positions of the first byte and of the line break
    breaks           [rows] which divider is the line break; the nine dividers before it are the tabs of the row
    words            [rows] whether the row is a word, and so a token
    word_rows        [tokens] the rows that are words
    before           [rows + 1] number of tokens before the row; the last is the number of all tokens
    sentences        [sentences] the first token
    """

    lines: Lines
    begins: Indices
    ends: Indices
    breaks: Indices
    words: Flags
    word_rows: Indices
    before: Indices
    sentences: Indices

    def cut(self, begins: Indices, ends: Indices) -> bytes:
        """The bytes from each begin to each end, the end included."""
        lengths = ends - begins + 1
        index = np.repeat(begins - np.cumsum(lengths) + lengths, lengths)
        index += np.arange(len(index))
        taken: NDArray[np.uint8] = self.lines.array[index]
        return taken.tobytes()

    def column(self, number: int, rows: Indices) -> list[str]:
        """The cells of a column (counted from 0) in the given rows."""
        breaks = self.breaks[rows]
        dividers = self.lines.dividers
        begins = dividers[breaks - COLUMNS + number] + 1 if number else self.begins[rows]
        cells = self.cut(begins, dividers[breaks - COLUMNS + number + 1]).decode()
        return cells.split("\t" if number < COLUMNS - 1 else "\n")[:-1]

    def line_of(self, row: int) -> int:
        """The number of a row's line, from 0."""
        return int(self.lines.ends.searchsorted(self.begins[row]))

    def forms(self) -> list[str]:
        """The words."""
        return self.column(1, self.word_rows)

    def sentence_of_rows(self) -> Indices:
        """The number of each row's sentence."""
        first = self.lines.first
        after_blank = np.cumsum(first == _NEWLINE)[(first != _NEWLINE) & (first != _HASH)]
        return np.cumsum(np.diff(after_blank, prepend=-1) != 0) - 1

    def speakers(self) -> list[str | None] | None:
        """For each token, the speaker that the comments of its sentence name; None if no comment names one."""
        comments = self.lines.likely_comments(b"speaker")
        if not comments:
            return None
        speakers: list[str | None] = [None] * int(self.before[-1])
        bounds = np.append(self.sentences, len(speakers)).tolist()
        sentences = self.sentences.searchsorted(self.before[self.begins.searchsorted(comments)]).tolist()
        for at, sentence in zip(comments, sentences, strict=True):
            found = _SPEAKER.match(self.lines.data, at)
            if found and sentence < len(self.sentences):
                begin, end = bounds[sentence], bounds[sentence + 1]
                speakers[begin:end] = [found[1].decode().strip() or None] * (end - begin)
        return speakers

    def entities(self) -> tuple[Indices, list[str]]:
        """The rows with an `Entity` attribute, and its values."""
        at = self.lines.places_of(_ENTITY)
        rows = self.ends.searchsorted(at)
        at, rows = at[rows < len(self.ends)], rows[rows < len(self.ends)]
        # not in a comment, in a word, or inside another attribute
        byte = self.lines.array[at - 1]
        last_tab = self.lines.dividers[self.breaks[rows] - 1]
        proper = ((at > last_tab) & ((byte == _TAB) | (byte == _BAR))).nonzero()[0]
        at, rows = at[proper], rows[proper]
        values = self.cut(at + len(_ENTITY), self.ends[rows]).decode().split("\n")[:-1]
        return rows, [value[: value.index("|")] if "|" in value else value for value in values]


def scan(lines: Lines) -> Scan:
    """Find rows and columns. Raises `IrregularError`; `faults` then tells the reason."""
    if not is_utf8(lines.data):
        raise IrregularError
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
    found = Scan(lines, begins, lines.ends[row], breaks, words, words.nonzero()[0], before, starts)
    _check_ids(found)
    return found


def is_utf8(data: bytes) -> bool:
    """Whether the bytes are UTF-8. Decoding tells it too, but takes twice as long for Russian, say."""
    begin = 0
    while begin < len(data):  # in pieces that fit the processor's cache
        end = data.rfind(b"\n", begin, begin + _PIECE) + 1 or len(data)
        if not _is_utf8_piece(data[begin:end]):
            return False
        begin = end
    return True


def _is_utf8_piece(data: bytes) -> bool:
    if data.isascii():
        return True
    array = np.frombuffer(data, np.uint8)
    # Python checks characters below U+0100, which it does fast, and those with rules of their own
    if 0xC3 < array.max() < 0xF0 and not any(byte in data for byte in (b"\xc0", b"\xc1", b"\xe0", b"\xed")):
        follows = array.view(np.int8) < -0x40  # 0x80 to 0xBF
        must_follow = np.zeros(len(array) + 2, np.bool_)
        must_follow[1:-1] = array >= 0xC0
        must_follow[2:] |= array >= 0xE0  # two bytes follow
        return not must_follow[-2:].any() and bool((follows == must_follow[:-2]).all())
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


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
    """Check that ids are well formed, and that the words of each sentence are numbered from 1."""
    others = (~found.words).nonzero()[0]
    if not all(map(_ID.fullmatch, found.column(0, others))):
        raise IrregularError
    rows = found.word_rows
    ends = np.append(found.sentences[1:], len(rows))[: len(found.sentences)]
    numbers = [str(number) for number in (ends - found.sentences).tolist()]
    if found.column(0, rows[found.sentences]) != ["1"] * len(numbers):
        raise IrregularError
    if found.column(0, rows[ends - 1]) != numbers:
        raise IrregularError


def faults(data: bytes) -> Iterator[tuple[int, int, str]]:
    """The faults: line (from 0), number of tokens before it, and what is wrong."""
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
            yield line, token, f"{id_!r} is not the id of a word, a range or an empty node"
        elif not cells[1]:
            yield line, token, "a word without a form"
        if cells[0].isdigit():
            token += 1
            number += 1
            if counted and id_ != str(number):
                counted = False
                yield line, token - 1, f"this word of the sentence has the id {id_}, not {number}"


def without_blanks(data: bytes) -> bytes:
    """The bytes, with lines of white space made empty."""
    return re.sub(rb"(?m)^[ \t]+$", b"", data)
