"""Splits running text into tokens and sentences by spaCy's rules for the language. Nothing is downloaded.

Languages that write no spaces between words are split into characters, and words of other scripts among them are kept.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from corefine.document import Document, Span, span_of
from corefine.errors import InputError
from corefine.formats.languages import detect
from corefine.formats.losses import count

if TYPE_CHECKING:
    from spacy.language import Language

DEFAULT_LANGUAGE = "en"
"""The language whose rules are used if the language of a text is unknown."""

BY_CHARACTERS = frozenset({"zh", "ja", "th", "lo", "km", "my"})
"""Languages without spaces between words."""
NEED_PACKAGES = frozenset({"ko", "vi"})
"""Languages that spaCy splits only with further packages. The general rules are used for them."""
OTHERS = "xx"
"""spaCy's rules for any language."""

_KATAKANA = "\u30a1-\u30ff\uff66-\uff9f"
_HAN_AND_HIRAGANA = "\u3005-\u3007\u3041-\u309f\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_UNSPACED = f"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff{_HAN_AND_HIRAGANA}"
_MARKS = "".join(chr(code) for code in range(0x0E00, 0x1800) if unicodedata.category(chr(code)).startswith("M"))
_CHARACTERS = re.compile(rf"[{_KATAKANA}]+|[{_UNSPACED}][{_MARKS}]*|(?:(?![{_UNSPACED}{_KATAKANA}])\w)+|[^\w\s]")

# spaCy splits punctuation off a word one character at a time, and copies the rest each time. Words and runs of
# punctuation that are longer than in any language are cut first, so that every text takes linear time.
LONGEST_WORD = 1000
LONGEST_SIGNS = 20
_LONG = re.compile(rf"\S{{{LONGEST_SIGNS + 1},}}")
_SIGNS = re.compile(rf"[^\w\s]{{{LONGEST_SIGNS + 1},}}")

_OPENING = frozenset({"¿", "¡", "``"})
_OPENING_QUOTES = frozenset({"“", "„", "``"})
_QUOTES = frozenset({*_OPENING_QUOTES, "”", "''", '"'})

_PARAGRAPH = re.compile(r"\n[^\S\n]*\n")
_LINE = re.compile(r"\n")

Characters = tuple[int, int]


class Tokens(NamedTuple):
    """Tokens, their [start, end) characters, and the index of each sentence's first token."""

    tokens: tuple[str, ...]
    offsets: tuple[Characters, ...]
    sentence_starts: tuple[int, ...]

    def span(self, parts: Iterable[Characters]) -> Span | None:
        """The span of the tokens that lie within these characters, or None if there are none."""
        found = []
        for start, end in parts:
            first = bisect_left(self.offsets, (start, start))
            last = bisect_right(self.offsets, end, key=lambda offset: offset[1]) - 1
            if first <= last:
                found.append((first, last))
        return span_of(found) if found else None


def tokenise(text: str, language: str | None, *, cuts: Iterable[int] = (), sentence_a_line: bool = False) -> Tokens:
    """Split a text. A token ends at each of `cuts`, and a sentence at each blank line, or at each line break.

    Without a language, it is detected.
    """
    code = language or detect(text) or DEFAULT_LANGUAGE
    nlp = _pipeline(code)
    if text.startswith("\ufeff"):  # it counts as a character but belongs to no word
        text = " " + text[1:]
    offsets = [match.span() for match in _CHARACTERS.finditer(text)] if _base(code) in BY_CHARACTERS else []
    for begin, end in pairwise((0, *_too_long(text), len(text))) if not offsets else ():
        words = nlp.tokenizer(text[begin:end])
        offsets += [(begin + w.idx, begin + w.idx + len(w)) for w in words if not w.text.isspace()]
    offsets = list(_cut(offsets, sorted(set(cuts))))
    tokens = tuple(text[start:end] for start, end in offsets)
    breaks = _LINE if sentence_a_line else _PARAGRAPH
    begins = {bisect_left(offsets, (match.end(), 0)) for match in breaks.finditer(text)} - {len(tokens)}
    return Tokens(tokens, tuple(offsets), _sentence_starts(nlp, tokens, begins, offsets))


def divided(words: Tokens, cuts: Sequence[int], text: str) -> Tokens:
    """The tokens, divided at the cuts (in order) inside them, unless tokens overlap."""
    offsets = tuple(_cut(words.offsets, cuts)) if not overlapping(words.offsets) else words.offsets
    if len(offsets) == len(words.offsets):
        return words
    before = [start for start, _ in words.offsets]
    whole = dict(zip(words.offsets, words.tokens, strict=True))
    tokens = tuple(whole.get((start, end), text[start:end]) for start, end in offsets)
    starts = tuple(bisect_left(offsets, (before[token], 0)) for token in words.sentence_starts)
    return Tokens(tokens, offsets, starts)


def sentences_by_rules(tokens: Sequence[str], language: str | None) -> tuple[int, ...]:
    """Where sentences begin among these tokens."""
    return _sentence_starts(_pipeline(language or DEFAULT_LANGUAGE), tokens) if tokens else ()


@lru_cache(maxsize=4)
def _pipeline(language: str) -> Language:
    import spacy

    code = _base(language)
    general = code in BY_CHARACTERS or code in NEED_PACKAGES
    try:
        nlp = spacy.blank(OTHERS if general else code)
    except (ImportError, ValueError) as error:
        raise InputError(
            f"no rules for the language {language!r}: give the code of one that has, such as nl, or {OTHERS!r} for "
            "rules that fit most languages"
        ) from error
    nlp.add_pipe("sentencizer")
    return nlp


def _base(language: str) -> str:
    """The code without region or script: zh of zh-Hans, pt of pt_BR."""
    return language.lower().replace("_", "-").partition("-")[0]


def _sentence_starts(
    nlp: Language, tokens: Sequence[str], begins: Iterable[int] = (), offsets: Sequence[Characters] | None = None
) -> tuple[int, ...]:
    """Where sentences begin: by spaCy's rules, and at `begins`, where paragraphs or lines do."""
    from spacy.tokens import Doc

    doc = nlp.get_pipe("sentencizer")(Doc(nlp.vocab, words=[token or " " for token in tokens]))
    paragraphs = frozenset(begins)
    opening = _opening_marks(tokens, paragraphs, offsets)
    starts = [-1]
    for start in sorted({token.i for token in doc if token.is_sent_start} | paragraphs):
        # spaCy's rules leave all punctuation after a full stop to the sentence that it ends
        while start > max(starts[-1], 0) and start - 1 in opening:
            start -= 1
        if start > starts[-1]:  # else the paragraph begins with this mark
            starts.append(start)
    return tuple(starts[1:])


def _opening_marks(
    tokens: Sequence[str], paragraphs: Container[int], offsets: Sequence[Characters] | None
) -> frozenset[int]:
    """The punctuation marks that belong to what follows: they stand right before a word and after a space.

    Where spaces do not tell, these are opening brackets and quotation marks. A quotation mark with two uses opens if
    none is open in its paragraph: " and the German “, which closes what „ has opened.
    """
    found = []
    quoted = False
    for at, token in enumerate(tokens):
        quoted = quoted and at not in paragraphs
        opens = token in _OPENING or unicodedata.category(token[:1] or " ") in ("Ps", "Pi")
        if token in _QUOTES:
            opens = not quoted if token == '"' else token in _OPENING_QUOTES and not (token == "“" and quoted)
            quoted = opens
        elif not all(unicodedata.category(character).startswith("P") for character in token):
            continue
        if offsets is not None and 0 < at < len(tokens) - 1:
            before, after = offsets[at - 1][1] < offsets[at][0], offsets[at][1] < offsets[at + 1][0]
            opens = before if before != after else opens
        if opens:
            found.append(at)
    return frozenset(found)


def _too_long(text: str) -> list[int]:
    cuts: set[int] = set()
    for word in _LONG.finditer(text):
        cuts.update(range(word.start() + LONGEST_WORD, word.end(), LONGEST_WORD))
        for signs in _SIGNS.finditer(text, word.start(), word.end()):
            cuts.update(range(signs.start() + LONGEST_SIGNS, signs.end(), LONGEST_SIGNS))
    return sorted(cuts)


def _cut(offsets: Iterable[Characters], cuts: Sequence[int]) -> Iterator[Characters]:
    """The tokens, divided at every cut that falls inside one."""
    for start, end in offsets:
        inside = cuts[bisect_right(cuts, start) : bisect_left(cuts, end)]
        yield from pairwise((start, *inside, end))


def text_of(document: Document) -> tuple[str, Sequence[Characters]]:
    """The document's text and the characters of its tokens.

    A document without a text gets one: a space between tokens, and a line for each sentence.
    """
    if document.text is not None and document.offsets is not None:
        return document.text, document.offsets
    lines: list[str] = []
    offsets: list[Characters] = []
    at = 0
    for sentence in document.sentences:
        for token in sentence:
            offsets.append((at, at + len(token)))
            at += len(token) + 1
        lines.append(" ".join(sentence) + "\n")
    return "".join(lines), offsets


def differing(document: Document) -> int:
    """How many tokens differ from the text at their offsets."""
    text, offsets = text_of(document)
    return sum(text[a:z] != token for token, (a, z) in zip(document.tokens, offsets, strict=True))


def overlapping(offsets: Sequence[Characters]) -> int:
    """How many tokens begin before the previous one ends."""
    return sum(a[1] > b[0] for a, b in pairwise(offsets))


def apart(offsets: Sequence[Characters]) -> list[Characters]:
    """The same offsets, but a token that overlaps the previous one begins where that one ends."""
    made: list[Characters] = []
    for start, end in offsets:
        begin = max(start, made[-1][1] if made else 0)
        made.append((begin, max(begin, end)))
    return made


def without_ends(clusters: Iterable[Sequence[Span]], kept: Sequence[int]) -> list[list[Span]]:
    """The mentions reduced to the tokens that are kept (in order). A mention that comes out twice stands once."""
    taken: set[Span] = set()
    found: list[list[Span]] = []
    for cluster in clusters:
        found.append([])
        for span in cluster:
            inside = kept[bisect_left(kept, span.start) : bisect_right(kept, span.end)]
            if inside and (reduced := Span(inside[0], inside[-1])) not in taken:
                taken.add(reduced)
                found[-1].append(reduced)
    return [cluster for cluster in found if cluster]


def splitting_losses(document: Document, *, cuts: Iterable[int] = (), sentence_a_line: bool) -> Counter[str]:
    """What is lost if only the text is kept, and split again."""
    text, offsets = text_of(document)
    options: Any = {"cuts": cuts, "sentence_a_line": sentence_a_line}
    try:
        again = tokenise(text, document.language, **options)
    except InputError:  # there are no rules for the language: a reader will use the default
        again = tokenise(text, None, **options)
    starts = {offsets[token][0] for token in document.sentence_starts}
    starts_again = {again.offsets[token][0] for token in again.sentence_starts}
    return count(
        token_boundaries=len(set(offsets) ^ set(again.offsets)),
        sentence_boundaries=len(starts ^ starts_again),
        tokens_that_differ_from_the_text=differing(document),
        texts_without_offsets=document.text is not None and document.offsets is None,
    )
