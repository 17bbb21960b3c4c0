"""Counts, which add up over documents, and the scores made of them."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from dataclasses import dataclass, fields
from math import fsum
from typing import Literal

from corefine.scores.ceaf import ceaf
from corefine.scores.metrics import NOTHING, PERFECT, Score, Tally, b3, blanc_links, lea, mentions, muc
from corefine.scores.overlap import Overlap

Blanc = Literal["official", "luo", "corefud"]
"""Which kinds of links BLANC includes (the key's, or those of either side), and its value if there are none."""


@dataclass(frozen=True, slots=True)
class Scores:
    """Every score, in percent. `mor`, the mention overlap ratio, is only computed for CorefUD."""

    mentions: Score
    muc: Score
    b3: Score
    ceafm: Score
    ceafe: Score
    blanc: Score
    lea: Score
    mor: Score | None = None

    @property
    def conll_f1(self) -> float:
        """The mean F1 of MUC, B3 and CEAFe."""
        return (self.muc.f1 + self.b3.f1 + self.ceafe.f1) / 3

    def as_dict(self) -> dict[str, dict[str, float] | float]:
        """As `corefine score --json` writes it."""
        named: dict[str, dict[str, float] | float] = {
            field.name: value._asdict() for field in fields(self) if (value := getattr(self, field.name)) is not None
        }
        return named | {"conll_f1": self.conll_f1}


@dataclass(frozen=True, slots=True)
class Counts:
    """The tallies of one document or of several. They add up as in the official scorer. `mor` is CorefUD's."""

    mentions: Tally
    muc: Tally
    b3: Tally
    ceafm: Tally
    ceafe: Tally
    linked: Tally
    apart: Tally
    lea: Tally
    mor: Tally | None = None

    @classmethod
    def of(cls, key: Iterable[Collection[Hashable]], response: Iterable[Collection[Hashable]]) -> Counts:
        """The counts of one document, given the clusters of its key and its response."""
        overlap = Overlap.of(key, response)
        ceafm, ceafe = ceaf(overlap)
        linked, apart = blanc_links(overlap)
        return cls(mentions(overlap), muc(overlap), b3(overlap), ceafm, ceafe, linked, apart, lea(overlap))

    @classmethod
    def total(cls, counts: Iterable[Counts]) -> Counts:
        """The counts of several documents together. Without documents all are zero."""
        listed = list(counts)
        sums = {}
        for name in (field.name for field in fields(cls)):
            tallies = [tally for each in listed if (tally := getattr(each, name)) is not None]
            if tallies or name != "mor":
                sums[name] = Tally(*map(fsum, zip(Tally(0, 0, 0, 0), *tallies, strict=True)))
        return cls(**sums)

    @property
    def scores(self) -> Scores:
        return self.scored()

    def scored(self, blanc: Blanc = "official") -> Scores:
        """The scores, with BLANC by this definition."""
        return Scores(
            mentions=self.mentions.score,
            muc=self.muc.score,
            b3=self.b3.score,
            ceafm=self.ceafm.score,
            ceafe=self.ceafe.score,
            blanc=self._blanc(blanc),
            lea=self.lea.score,
            mor=None if self.mor is None else self.mor.score,
        )

    def _blanc(self, blanc: Blanc) -> Score:
        """The mean over both kinds of links, or the one kind that occurs.

        For the official CoNLL program a kind occurs if the key has such links; for the CorefUD scorer and for Luo et
        al. (2014), if either side has them. Without any links the programs give 0, and Luo et al. give 100 if the
        mentions are the same (section 4.3).
        """
        either = blanc != "official"
        kinds = [links.score for links in (self.linked, self.apart) if links.key or (either and links.response)]
        if kinds:
            return Score(*(fsum(values) / len(kinds) for values in zip(*kinds, strict=True)))
        if blanc != "luo":
            return NOTHING
        found, key, _, response = self.mentions
        return PERFECT if found == key == response > 0 else NOTHING
