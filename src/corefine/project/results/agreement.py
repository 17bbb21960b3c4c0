"""How far people agree on the documents that several of them annotate.

Chains are those that each person's answers make together with the newest model, the same one for everybody. Kappa is on
yes and no: for every pair of mentions that either was asked about, what both said, or what follows from what they said.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

from corefine.annotation.session import Session
from corefine.document import Span
from corefine.links import Relation
from corefine.project.project import Project
from corefine.project.store import log, people, predictions
from corefine.project.store.predictions import EMPTY
from corefine.project.work.sessions import rebuild
from corefine.scores import Counts, Scores


@dataclass(frozen=True, slots=True)
class Pair:
    """Two people's agreement on one document, or on all (`document_id` None)."""

    document_id: int | None
    name: str
    a: str
    b: str
    kappa: float | None
    questions: int
    scores: Scores


@dataclass(frozen=True, slots=True)
class _Compared:
    counts: Counts
    answers: list[tuple[bool, bool]]


def sessions_of(project: Project, document_id: int, *, with_model: bool = True) -> dict[str, Session]:
    """The sessions of everybody who has answered about a document, by name, all under the same model."""
    with project.database.read() as connection:
        rows = log.events_of(connection, document_id=document_id)
        names = {person.id: person.name for person in people.everybody(connection)}
        ready = [version.id for version in predictions.all_versions(connection) if version.state == predictions.READY]
    newest = project.predictions.newest(ready, document_id) if with_model else None
    prediction = EMPTY if newest is None else project.predictions.load(newest, document_id)
    document, settings = project.documents.get(document_id), project.settings
    return {
        names[person_id]: rebuild(document, [row for row in rows if row.person_id == person_id], prediction, settings)
        for person_id in dict.fromkeys(row.person_id for row in rows)
    }


def agreement(project: Project) -> tuple[list[Pair], list[Pair]]:
    """In total and by document, for every two people who have a document in common."""
    compared: dict[tuple[str, str], list[_Compared]] = {}
    by_document: list[Pair] = []
    for entry in project.documents.all():
        sessions = {name: session for name, session in sessions_of(project, entry.id).items() if session.entries}
        for a, b in combinations(sorted(sessions), 2):
            one = _compare(sessions[a], sessions[b])
            compared.setdefault((a, b), []).append(one)
            by_document.append(_pair(entry.id, entry.key, a, b, [one]))
    total = [_pair(None, "all documents", a, b, each) for (a, b), each in sorted(compared.items())]
    return total, by_document


def kappa(answers: Iterable[tuple[bool, bool]]) -> float | None:
    """Cohen's kappa of paired yes and no; None without any."""
    listed = list(answers)
    if not listed:
        return None
    size = len(listed)
    observed = sum(a == b for a, b in listed) / size
    yes_a, yes_b = (sum(pair[side] for pair in listed) / size for side in (0, 1))
    expected = yes_a * yes_b + (1 - yes_a) * (1 - yes_b)
    return 1.0 if expected == 1.0 else (observed - expected) / (1 - expected)


def _pair(document_id: int | None, name: str, a: str, b: str, each: list[_Compared]) -> Pair:
    answers = [answer for one in each for answer in one.answers]
    scores = Counts.total(one.counts for one in each).scores
    return Pair(document_id, name, a, b, kappa(answers), len(answers), scores)


def _compare(a: Session, b: Session) -> _Compared:
    chains = [[cluster for cluster in each.relabelled().clusters if len(cluster) > 1] for each in (a, b)]
    asked = dict.fromkeys((*_asked(a), *_asked(b)))
    known = ((_says(a, *pair), _says(b, *pair)) for pair in asked)
    return _Compared(
        Counts.of(*chains), [(one, other) for one, other in known if one is not None and other is not None]
    )


def _asked(session: Session) -> Iterable[tuple[Span, Span]]:
    """Pairs that a person said yes or no to."""
    for answered in session.answers:
        if answered.question.antecedent is not None and answered.answer.same is not None:
            yield answered.question.antecedent, answered.question.mention


def _says(session: Session, antecedent: Span, mention: Span) -> bool | None:
    relation = session.links.relation(antecedent, mention)
    return None if relation is None else relation is Relation.MUST
