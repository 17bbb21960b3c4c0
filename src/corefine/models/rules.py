"""A predictor without a network: a few rules for English.

With it, everything that comes after a model can be tried and tested without one. It is not a good resolver of
coreference and is not meant to become one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

import numpy as np

from corefine.document import Document, Span
from corefine.prediction import NONE, Prediction
from corefine.scores.pronouns import ENGLISH, Pronoun

Traits = Pronoun
"""Person, number and gender, of nouns and names too. None means that it could be any."""

PRONOUNS: dict[str, Traits] = {
    # "They" may refer to one person; clitics like 's are too ambiguous for rules.
    word: traits._replace(number=None) if traits[:2] == (3, "plural") else traits
    for word, traits in ENGLISH.items()
    if "'" not in word
}


DETERMINERS = frozenset(
    "the a an this that these those my your his her its our their some every each no any another".split()
)

TITLES = frozenset(
    "mr mr. mrs mrs. ms ms. miss dr dr. prof prof. professor captain judge sir lady lord madam inspector doctor "
    "sister brother father mother aunt uncle king queen prince princess president".split()
)

FEMALE = frozenset(
    "mrs mrs. ms ms. miss lady madam queen princess sister mother aunt woman girl daughter wife grandmother widow "
    "niece actress waitress hostess landlady".split()
)

MALE = frozenset(
    "mr mr. sir lord king prince brother father uncle man boy son husband grandfather widower nephew actor waiter "
    "landlord".split()
)

FUNCTION_WORDS = frozenset(
    """
    and or but nor so yet for of in on at by to from with without into onto over under after before behind between
    through during about against among amongst around above across along amid beneath below beside besides beyond
    despite down except inside like near off out outside past regarding throughout toward towards underneath up upon
    via within as than if when while because although though since until unless
    whether where why how who whom whose which what that not never always there here then now once just only even
    also too very is are was were be been being am do does did done has have had having will would shall should
    can could may might must let said says say asked answered went came took gave made saw knew thought told got
    put yes no oh well please
    """.split()
)

EST_NOUNS = frozenset("forest interest request harvest contest protest conquest arrest bequest inquest tempest".split())
"""Nouns with the ending of a superlative."""

QUOTES = frozenset({'"', "“", "'", "‘", "``"})
"""Tokens that may precede the first word of a sentence."""

MOST_NOUN_TOKENS = 4
"""The most tokens of a noun phrase after its determiner."""

NEVER = -9.0
"""Low enough that even a hundred such candidates have almost no probability."""


class Kind(Enum):
    """What a mention looks like; the value is its mention score."""

    PRONOUN = 3.0
    NAME = 2.0
    NOUN = 0.5


@dataclass(frozen=True, slots=True)
class RuleMention:
    """A span and what the rules need to know of it.

    words       lower-cased, without determiner, title and possessive ending
    definite    False for "a ...", "some ..." and so on, which tend to introduce a new entity
    sentence    the number of its sentence
    speaker     who says it, if the document has speakers
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


def predict(document: Document, *, candidates: int = 100) -> Prediction:
    """Mentions by their form, antecedents by string, head, number, gender and distance."""
    mentions = find_mentions(document)
    size = len(mentions)
    table = np.full((size, candidates), NONE, dtype=np.int64)  # [N, K]
    scores = np.full((size, 1 + candidates), -np.inf)  # [N, 1 + K], epsilon first
    scores[:, 0] = 0.0
    for i, mention in enumerate(mentions):
        for column, j in enumerate(range(max(0, i - candidates), i)):
            table[i, column] = j
            scores[i, 1 + column] = pair_score(mention, mentions[j])
    weights = np.exp(scores - scores.max(axis=1, keepdims=True)) if size else scores
    return Prediction(
        spans=tuple(mention.span for mention in mentions),
        candidates=table,
        probabilities=weights / weights.sum(axis=1, keepdims=True),
        mention_scores=np.array([mention.kind.value for mention in mentions]),
        decoding="half",  # these probabilities are rules of thumb, and their sums mean little
    )


def find_mentions(document: Document) -> list[RuleMention]:
    """All mentions the rules see, in document order."""
    found: dict[Span, RuleMention] = {}
    names = _names(document)
    for number, sentence in enumerate(document.sentence_spans):
        for span, kind in _spans(document.tokens, sentence, names):
            found.setdefault(span, _describe(document, span, kind, number))
    return [found[span] for span in sorted(found)]


def _names(document: Document) -> set[str]:
    """Words that are capitalised in the middle of a sentence, or always and more than once."""
    tokens, opening = document.tokens, {sentence.start for sentence in document.sentence_spans}
    common = {token for token in tokens if token.islower()}
    free, forced = set(), Counter[str]()
    for position, token in enumerate(tokens):
        if token[0].isupper():
            if position in opening or tokens[position - 1] in QUOTES:
                forced[token.lower()] += 1
            else:
                free.add(token.lower())
    return free | {word for word, times in forced.items() if times > 1 and word not in common}


def _spans(tokens: tuple[str, ...], sentence: Span, names: set[str]) -> Iterator[tuple[Span, Kind]]:
    position = sentence.start
    while position <= sentence.end:
        word = tokens[position].lower()
        if word in PRONOUNS:
            yield Span(position, position), Kind.PRONOUN
        if _is_name(tokens, position, sentence, names):
            end = position
            while end < sentence.end and _is_name(tokens, end + 1, sentence, names):
                end += 1
            yield Span(position, _with_possessive(tokens, end, sentence)), Kind.NAME
            position = end
        elif word in DETERMINERS:
            end = _noun_phrase_end(tokens, position, sentence)
            if end > position:
                yield Span(position, _with_possessive(tokens, end, sentence)), Kind.NOUN
        position += 1


def _is_name(tokens: tuple[str, ...], position: int, sentence: Span, names: set[str]) -> bool:
    """Whether a word is a name: capitalised, and not just because it begins the sentence."""
    if not _may_be_name(tokens[position]):
        return False
    if tokens[position].lower() in names:
        return True
    # Before another name, as in "Isolde Marrin", or as a title.
    return tokens[position].lower() in TITLES or (position < sentence.end and _may_be_name(tokens[position + 1]))


def _may_be_name(token: str) -> bool:
    word = token.lower()
    return token[0].isupper() and word not in FUNCTION_WORDS and word not in PRONOUNS and word not in DETERMINERS


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
    return determiner if _is_superlative(tokens[end].lower()) else end


def _is_superlative(word: str) -> bool:
    """Whether it is an adjective like "pleasantest", which cannot be the head of a noun phrase."""
    return len(word) > 5 and word.endswith("est") and word not in EST_NOUNS


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


def pair_score(mention: RuleMention, earlier: RuleMention) -> float:
    if earlier.span.end >= mention.span.start:  # they overlap
        return NEVER
    if mention.kind is Kind.PRONOUN:
        return _pronoun_score(mention, earlier)
    return _string_score(mention, earlier)


def _string_score(mention: RuleMention, earlier: RuleMention) -> float:
    """Names and nouns go with the same words, less so with the same head, and never forward to a pronoun."""
    if earlier.kind is Kind.PRONOUN:
        return NEVER
    penalty = 0.0 if mention.definite else 2.5
    if mention.words == earlier.words:
        return 4.0 - penalty
    if mention.kind is Kind.NAME and earlier.kind is Kind.NAME and set(mention.words) & set(earlier.words):
        return 2.5
    if mention.head == earlier.head:
        return 1.5 - penalty
    return NEVER


def _pronoun_score(mention: RuleMention, earlier: RuleMention) -> float:
    if mention.traits.person != earlier.traits.person:
        return NEVER
    if mention.traits.person != 3:
        return 2.0 if mention.speaker == earlier.speaker and mention.traits == earlier.traits else NEVER
    if not agree(mention.traits, earlier.traits):
        return NEVER
    closeness = 2.0 - 0.8 * (mention.sentence - earlier.sentence)
    named = {Kind.PRONOUN: 0.5, Kind.NAME: 0.5, Kind.NOUN: -0.5}[earlier.kind]
    return max(closeness + named, NEVER)


def agree(a: Traits, b: Traits) -> bool:
    """Whether both can refer to one entity, judged by number and gender."""
    return all(x is None or y is None or x == y for x, y in zip(a[1:], b[1:], strict=True))
