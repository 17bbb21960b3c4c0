"""Estimates how many mentions have an antecedent, from a random sample of the mentions.

A model from another field links far too few mentions of this one, or far too many. Questions about the mentions that it
is least sure of do not show this, because they are not a fair sample. One question in ten is therefore about the next
mention in a random order (`sample_order`), which is the same for all people and all versions of the model. The answers
known about the beginning of this order, from these questions or from others, tell how many mentions to link
(`link_rate`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from corefine.document import Span
from corefine.prediction import NONE, Indices

if TYPE_CHECKING:
    from corefine.annotation.session import Session

PRIOR = 30.0
"""The model's own share of linked mentions counts as much as this many mentions of the sample."""

CAUTION = 0.87
"""A wrong link between two large entities costs more than a missed one, so slightly too few links score best."""


@dataclass(frozen=True, slots=True)
class LinkSample:
    """What is known about the sample of a document.

    rows        mentions that the model considers
    expected    how many of them the model that asked would link
    known       mentions of the sample that people settled
    linked      how many of those have an antecedent
    predicted   how many of those the model that asked would link
    """

    rows: int
    expected: int
    known: int
    linked: int
    predicted: int


def sample_order(spans: Sequence[Span]) -> Indices:
    """The rows of these spans in a random order that depends on each span alone."""
    keys = [blake2b(f"{span.start},{span.end}".encode(), digest_size=8).digest() for span in spans]
    return np.array(sorted(range(len(spans)), key=keys.__getitem__), dtype=np.int64)


def sampling_phase(spans: Sequence[Span]) -> float:
    """A number from 0 to 1 that differs between documents: how soon the first question about the sample comes."""
    key = f"{len(spans)},{spans[0].start if spans else 0},{spans[-1].end if spans else 0}"
    return int.from_bytes(blake2b(key.encode(), digest_size=4).digest()) / 2**32


def link_sample(session: Session) -> LinkSample:
    """What a session's answers say about its sample, up to the first mention that is still open."""
    prediction, links = session.revision.prediction, session.links
    asked = {mention for entry in session.answers for mention in entry.question.mentions}
    links_row = prediction.probabilities[:, 0] < prediction.threshold
    known = linked = predicted = 0
    for row in sample_order(prediction.spans).tolist():
        span = prediction.spans[row]
        entity = links.entity_id(span)
        if entity is not None and links.first(entity) != span:
            linked += 1
        elif not (
            links.has_no_antecedent(span)
            or not links.is_mention(span)
            or bool((prediction.candidates[row] == NONE).all())
        ):
            if span in asked:  # somebody was unsure
                continue
            break
        known += 1
        predicted += int(links_row[row])
    return LinkSample(len(prediction), int(links_row.sum()), known, linked, predicted)


def link_rate(samples: Iterable[LinkSample]) -> float | None:
    """The share of mentions that a model should link in documents with these samples; None if there are none.

    The sample is used to correct the share that the asking model would link. This varies less than the share of linked
    mentions in the sample: a small sample may happen to have many linked mentions, but the model expects most of them.
    """
    known = list(samples)
    rows = sum(sample.rows for sample in known)
    if not rows:
        return None
    expected = sum(sample.expected for sample in known) / rows
    size = sum(sample.known for sample in known)
    error = sum(sample.linked - sample.predicted for sample in known) / max(1, size)
    weight = size / (size + PRIOR)
    return min(1.0, max(0.0, (1 - weight) * expected + weight * CAUTION * (expected + error)))
