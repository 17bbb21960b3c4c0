"""How well a mention and an earlier one fit together, as a log-odds against "no antecedent"."""

from __future__ import annotations

from corefine.models.rules.lexicon import agree
from corefine.models.rules.mentions import Kind, RuleMention

NEVER = -9.0
"""Low enough that a hundred such candidates together weigh next to nothing."""


def pair_score(mention: RuleMention, earlier: RuleMention) -> float:
    if _overlap(mention, earlier):
        return NEVER
    if mention.kind is Kind.PRONOUN:
        return _pronoun_score(mention, earlier)
    return _string_score(mention, earlier)


def _overlap(a: RuleMention, b: RuleMention) -> bool:
    return a.span.start <= b.span.end and b.span.start <= a.span.end


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
