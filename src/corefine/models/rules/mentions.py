"""Finding mentions by their form: pronouns, names, and noun phrases that a determiner opens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from corefine.document import Document, Span
from corefine.models.rules.lexicon import DETERMINERS, FEMALE, FUNCTION_WORDS, MALE, PRONOUNS, TITLES, Traits

MOST_NOUN_TOKENS = 4
"""A noun phrase has at most so many tokens after its determiner."""


class Kind(Enum):
    """What a mention looks like, and the log-odds that such a span is one."""

    PRONOUN = 3.0
    NAME = 2.0
    NOUN = 0.5

    @property
    def likelihood(self) -> float:
        return self.value


@dataclass(frozen=True, slots=True)
class RuleMention:
    """A span with all that the rules ask about it.

    words       lower-cased, without determiner, title and possessive ending
    definite    False for "a ..." and its like: it tends to bring in a new entity
    sentence    number of its sentence
    speaker     who says it, where the document knows
    """

    span: Span
    kind: Kind
    words: tuple[str, ...]
    traits: Traits
    definite: bool
    sentence: int
    speaker: str | None

    @property
    def head(self) -> str:
        return self.words[-1] if self.words else ""


def find_mentions(document: Document) -> list[RuleMention]:
    """All mentions the rules see, in document order."""
    found: dict[Span, RuleMention] = {}
    common = {token for token in document.tokens if token.islower()}
    for number, sentence in enumerate(document.sentence_spans):
        for span, kind in _spans(document.tokens, sentence, common):
            found.setdefault(span, _describe(document, span, kind, number))
    return [found[span] for span in sorted(found)]


def _spans(tokens: tuple[str, ...], sentence: Span, common: set[str]) -> Iterator[tuple[Span, Kind]]:
    position = sentence.start
    while position <= sentence.end:
        word = tokens[position].lower()
        if word in PRONOUNS:
            yield Span(position, position), Kind.PRONOUN
        if _is_name(tokens, position, sentence, common):
            end = position
            while end < sentence.end and _is_name(tokens, end + 1, sentence, common):
                end += 1
            yield Span(position, _with_possessive(tokens, end, sentence)), Kind.NAME
            position = end
        elif word in DETERMINERS:
            end = _noun_phrase_end(tokens, position, sentence)
            if end > position:
                yield Span(position, _with_possessive(tokens, end, sentence)), Kind.NOUN
        position += 1


def _is_name(tokens: tuple[str, ...], position: int, sentence: Span, common: set[str]) -> bool:
    """Capitalised, and not merely because it opens the sentence."""
    token = tokens[position]
    word = token.lower()
    if not token[0].isupper() or word in FUNCTION_WORDS or word in PRONOUNS or word in DETERMINERS:
        return False
    return word not in common or (position > sentence.start and tokens[position - 1] not in {'"', "“", "'", "‘"})


def _noun_phrase_end(tokens: tuple[str, ...], determiner: int, sentence: Span) -> int:
    """The last token of the phrase that a determiner opens; the determiner itself if nothing follows."""
    end = determiner
    while end < min(sentence.end, determiner + MOST_NOUN_TOKENS):
        following = tokens[end + 1]
        word = following.lower()
        if not following[0].isalpha() or word in FUNCTION_WORDS or word in PRONOUNS or word in DETERMINERS:
            break
        if end > determiner and word.endswith(("ed", "ly", "ing")):  # most likely a verb or an adverb has begun
            break
        end += 1
    return end


def _with_possessive(tokens: tuple[str, ...], end: int, sentence: Span) -> int:
    """The 's belongs to the mention that it makes a possessor of."""
    return end + 1 if end < sentence.end and tokens[end + 1] in {"'s", "’s", "'", "’"} else end


def _describe(document: Document, span: Span, kind: Kind, sentence: int) -> RuleMention:
    tokens = [token.lower() for token in document.tokens[span.start : span.end + 1]]
    opening = tokens[0]
    words = [word for word in tokens if word not in {"'s", "’s", "'", "’"}]
    if kind is Kind.PRONOUN:
        traits = PRONOUNS[opening]
    else:
        traits = _noun_traits(words)
        words = [word for word in words if word not in DETERMINERS and word not in TITLES] or words[-1:]
    return RuleMention(
        span=span,
        kind=kind,
        words=tuple(words),
        traits=traits,
        definite=opening not in {"a", "an", "some", "every", "no", "any", "each"},
        sentence=sentence,
        speaker=document.speakers[span.start] if document.speakers is not None else None,
    )


def _noun_traits(words: list[str]) -> Traits:
    """Number by the head's ending, gender by titles and words that name a man or a woman."""
    if any(word in FEMALE for word in words):
        return Traits(3, "singular", "feminine")
    if any(word in MALE for word in words):
        return Traits(3, "singular", "masculine")
    head = words[-1] if words else ""
    plural = head.endswith("s") and not head.endswith(("ss", "us", "is"))
    return Traits(3, "plural" if plural else "singular", None)
