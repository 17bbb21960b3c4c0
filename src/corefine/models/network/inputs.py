"""The input of the head: a few integers for each token, and the encoder's states."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from enum import IntEnum
from typing import Any, Self

import torch
from torch import Tensor

from corefine.document import Document
from corefine.errors import InputError

OPENING = frozenset({"“", "«", "„", "``", '"'})
CLOSING = frozenset({"”", "»", "''", '"'})
PER_TOKEN = ("sentences", "speakers", "words", "surfaces")


class Surface(IntEnum):
    """How a token is written; an uncased encoder does not see it."""

    LOWER = 0
    CAPITALISED = 1
    FIRST = 2  # capitalised at the start of a sentence
    UPPER = 3
    DIGITS = 4
    MARK = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenFeatures:
    """What the head reads of a document's T tokens besides their states.

    sentences    [T] which sentence a token is in
    speakers     [T] who speaks it, 0 for unknown; numbered within the document
    words        [T] which word it is, letter case aside; numbered within the document
    surfaces     [T] 2 x Surface, plus 1 within quotation marks
    genre        0 for unknown, otherwise 1 + the place in `HeadConfig.genres`
    """

    sentences: Tensor
    speakers: Tensor
    words: Tensor
    surfaces: Tensor
    genre: int = 0

    @property
    def length(self) -> int:
        """T, the number of tokens."""
        return len(self.words)

    def to(self, device: torch.device | str) -> Self:
        """The same on another device."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        moved: dict[str, Any] = {name: value.to(device) for name, value in values.items() if torch.is_tensor(value)}
        return replace(self, **moved)

    def cut(self, start: int, end: int) -> TokenFeatures:
        """The tokens from `start` up to `end`. A copy, so that it does not keep the whole document in memory."""
        values = {name: getattr(self, name)[start:end].clone() for name in PER_TOKEN}
        return TokenFeatures(**values, genre=self.genre)

    def with_states(self, states: Tensor) -> Inputs:
        """These features and the states of the same tokens."""
        return Inputs(**{each.name: getattr(self, each.name) for each in fields(TokenFeatures)}, states=states)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs(TokenFeatures):
    """One document as tensors, with the states of all its tokens.

    Shape: T tokens, H the encoder's width, L its layers when they are mixed.

    states       [T, H] or [L, T, H]
    """

    states: Tensor

    def without_states(self) -> TokenFeatures:
        """The features alone."""
        return TokenFeatures(**{each.name: getattr(self, each.name) for each in fields(TokenFeatures)})


def make_inputs(document: Document, states: Tensor, genres: Sequence[str] = ()) -> Inputs:
    """The input for a document with these states, [T, H] or [L, T, H]."""
    if states.ndim not in (2, 3) or states.shape[-2] != len(document):
        raise InputError(f"document {document.key}: states of shape {tuple(states.shape)} for {len(document)} tokens")
    return make_features(document, genres).with_states(states)


def make_features(document: Document, genres: Sequence[str] = ()) -> TokenFeatures:
    """The features of a document's tokens. `genres` are those that the head knows."""
    starts = set(document.sentence_starts)
    sentences, current = [], -1
    for token in range(len(document)):
        current += token in starts
        sentences.append(current)
    speakers = document.speakers or (None,) * len(document)
    genre = genres.index(document.genre) + 1 if document.genre in genres else 0
    return TokenFeatures(
        sentences=torch.tensor(sentences, dtype=torch.long),
        speakers=_numbers(speakers),
        words=_numbers(token.lower() for token in document.tokens),
        surfaces=torch.tensor(_surfaces(document, starts), dtype=torch.long),
        genre=genre,
    )


def _numbers(values: Iterable[Hashable]) -> Tensor:
    """The values numbered from 1 in order of appearance; 0 for None."""
    numbers: dict[Hashable, int] = {None: 0}
    return torch.tensor([numbers.setdefault(value, len(numbers)) for value in values], dtype=torch.long)


def _surfaces(document: Document, starts: set[int]) -> list[int]:
    surfaces, quoted = [], False
    for position, token in enumerate(document.tokens):
        opens, closes = token in OPENING, token in CLOSING
        if closes and (quoted or not opens):
            quoted = False
        elif opens:
            quoted = True
        surfaces.append(2 * _surface(token, position in starts) + quoted)
    return surfaces


def _surface(token: str, first: bool) -> Surface:
    if not any(map(str.isalnum, token)):
        return Surface.MARK
    if not any(map(str.isalpha, token)):
        return Surface.DIGITS
    if token.islower() or not token[0].isupper():
        return Surface.LOWER
    if len(token) > 1 and token.isupper():
        return Surface.UPPER
    return Surface.FIRST if first else Surface.CAPITALISED
