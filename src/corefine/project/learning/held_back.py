"""Answers held back from training, to compare a new model with the one in use.

A project in a new field has no gold labels. Every tenth answer is therefore not used for training; it is always the
same answers. A model is scored by the probability that it gives to them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from zlib import crc32

from corefine.annotation.completed import covers
from corefine.annotation.log import LogEntry, spans_said
from corefine.annotation.session import Session
from corefine.document import Span
from corefine.links import Links, NotAMention, Relation
from corefine.prediction import Prediction
from corefine.project.results.merged import AnswerSource, Merged

EVERY = 10
FEWEST = 5
"""Models are not compared on fewer answers."""
LARGEST_LOSS = 0.25
"""The share of their probability that answers may lose with a new model.

Good models often lose a little: in 14 trainings on right answers, 3 lost more than the standard error (up to 16 %, in
Russian), though F1 rose in all three. At rates of 30 to 100 times the usual, 4 models lost 24, 80, 85 and 93 %.
"""
LEAST = 0.01
"""Smaller probabilities are raised to this, so that a single answer cannot decide the comparison."""


@dataclass(frozen=True, slots=True)
class HeldBackAnswer:
    """What an answer says: the mention is linked to one of `earlier` (if empty, to nothing), and not to `apart`."""

    document_id: int
    mention: Span
    earlier: frozenset[Span]
    first: bool
    apart: frozenset[Span]

    def log_probability(self, prediction: Prediction) -> float:
        """The logarithm of the probability that the prediction gives to the answer."""
        row = next((row for row, span in enumerate(prediction.spans) if span == self.mention), None)
        if row is None:  # a span that the model pruned has no antecedent
            return math.log(LEAST) if self.earlier else 0.0
        chances = prediction.probabilities[row]
        if self.first:
            found = float(chances[0])
        else:
            listed = [
                (prediction.spans[candidate], float(chance))
                for candidate, chance in zip(prediction.candidates[row].tolist(), chances[1:], strict=True)
                if candidate >= 0
            ]
            if self.earlier:
                found = sum(chance for span, chance in listed if span in self.earlier)
            else:
                found = 1 - sum(chance for span, chance in listed if span in self.apart)
        return math.log(max(LEAST, min(1.0, found)))


@dataclass(frozen=True, slots=True)
class Fit:
    """How well a model explains the held-back answers.

    probability    the geometric mean of the answers' probabilities
    low, high      the mean plus and minus two standard errors
    answers        how many answers were held back
    """

    probability: float
    low: float
    high: float
    answers: int


def hold_back(merged: Merged, document_id: int) -> list[HeldBackAnswer]:
    """Take about every tenth answer out of the merged session, and return what they said.

    An answer stays if it cannot be compared with a prediction ("not a mention"), if others say the same, as they would
    teach it all the same, or if it is about a part that is annotated in full.
    """
    session = merged.session
    chosen = [
        (entry.number, said)
        for entry in session.entries
        if _is_held_back(document_id, merged.sources[entry.number])
        and not _is_about(session.complete, entry)
        and (said := _said(session, document_id, entry)) is not None
    ]
    found = []
    for number, said in chosen:
        session.withdraw(number)
        if _is_known(session.links, said):
            session.undo()
        else:
            found.append(said)
    return found


def _said(session: Session, document_id: int, entry: LogEntry) -> HeldBackAnswer | None:
    """What an entry says, with all that follows from it; None if no prediction gives it a probability."""
    spans = [span for assertion in entry.assertions for span in assertion.spans]
    if not spans or any(isinstance(assertion, NotAMention) for assertion in entry.assertions):
        return None
    mention, links = max(spans), session.links
    entity = links.entity_id(mention)
    members = links.members(entity) if entity is not None else ()
    others = links.cannot_entities(entity) if entity is not None else ()
    return HeldBackAnswer(
        document_id,
        mention,
        earlier=frozenset(span for span in members if span < mention),
        first=links.has_no_antecedent(mention),
        apart=frozenset(span for other in others for span in links.members(other)),
    )


def _is_known(links: Links, said: HeldBackAnswer) -> bool:
    """Whether these links say it too, or else some of the mention's antecedents."""
    if said.first:
        return links.has_no_antecedent(said.mention)
    if said.earlier:
        return any(links.relation(span, said.mention) is Relation.MUST for span in said.earlier)
    return all(links.relation(span, said.mention) is Relation.CANNOT for span in said.apart)


def _is_about(parts: tuple[Span, ...], entry: LogEntry) -> bool:
    """Whether an entry is about parts that are annotated in full."""
    return bool(entry.complete) or any(covers(parts, span.hull) for span in spans_said(entry))


def fit(held_back: Sequence[HeldBackAnswer], predict: Callable[[int], Prediction]) -> tuple[Fit, list[float]]:
    """How well a model explains the answers, and the log-probability of each; `predict` takes a document's number."""
    predictions: dict[int, Prediction] = {}
    logs = []
    for answer in held_back:
        if answer.document_id not in predictions:
            predictions[answer.document_id] = predict(answer.document_id)
        logs.append(answer.log_probability(predictions[answer.document_id]))
    mean, error = fmean(logs), standard_error(logs)
    return Fit(math.exp(mean), math.exp(mean - 2 * error), min(1.0, math.exp(mean + 2 * error)), len(logs)), logs


def is_worse(new: Sequence[float], present: Sequence[float]) -> bool:
    """Whether the new model explains the answers much worse, by more than one standard error of the difference."""
    differences = [ours - theirs for ours, theirs in zip(new, present, strict=True)]
    return fmean(differences) < min(-standard_error(differences), math.log(1 - LARGEST_LOSS))


def standard_error(values: Sequence[float]) -> float:
    return stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0


def _is_held_back(document_id: int, source: AnswerSource) -> bool:
    """Whether an answer is held back. Other answers do not matter. The owner's decisions are never held back."""
    if source.number is None:
        return False
    return crc32(f"{document_id}/{source.person_id}/{source.number}".encode()) % EVERY == 0
