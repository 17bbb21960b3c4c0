"""How far people agree on the documents that several of them annotate.

Kappa compares yes and no for every pair of mentions that either person was asked about, including what follows from
their answers. Clusters are compared twice: those made by answers alone, on the mentions that both people spoke about;
and whole clusters, completed by the newest model. The second agree more, because the model adds the same links for
everybody.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise

from corefine.annotation.session import Session
from corefine.document import Cluster, Span
from corefine.links import Relation
from corefine.project.project import Project
from corefine.project.results.snapshot import Snapshot
from corefine.scores import Counts


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Two people's agreement on one document, or on all (`document` None). F1 is in percent.

    kappa         on yes or no, where both were asked about the same pair of mentions
    same          the share of these `questions` that both answered in the same way
    said          CoNLL F1 of answers alone, on the `mentions` that both spoke about; None if there are none
    muc, b3 ...   F1 of whole chains, with the model's share
    """

    document: int | None
    name: str
    a: str
    b: str
    kappa: float | None
    same: float | None
    questions: int
    mentions: int
    said: float | None
    muc: float
    b3: float
    ceafe: float
    lea: float
    conll: float


@dataclass(frozen=True, slots=True)
class Agreement:
    """`total` is over all documents, `documents` for each."""

    total: list[PairAgreement]
    documents: list[PairAgreement]


@dataclass(frozen=True, slots=True)
class _Compared:
    """Counts of two people's clusters, and what each said about the same pairs of mentions."""

    counts: Counts
    said: Counts
    mentions: int
    answers: list[tuple[bool, bool]]


def agreement(project: Project) -> Agreement:
    """For every two people who have a document in common."""
    compared: dict[tuple[str, str], list[_Compared]] = {}
    by_document: list[PairAgreement] = []
    snapshot = Snapshot(project)
    for document, sessions in snapshot.each(lambda info: _sessions_by_name(snapshot, info.id), only="answered"):
        for a, b in combinations(sorted(sessions), 2):
            one = _compare(sessions[a], sessions[b])
            compared.setdefault((a, b), []).append(one)
            by_document.append(_pair(document.id, document.key, a, b, [one]))
    total = [_pair(None, "all documents", a, b, each) for (a, b), each in sorted(compared.items())]
    return Agreement(total, by_document)


def _sessions_by_name(snapshot: Snapshot, document_id: int) -> dict[str, Session]:
    if len({row.person_id for row in snapshot.rows(document_id)}) < 2:
        return {}
    sessions = snapshot.sessions(document_id, snapshot.prediction(document_id)[1])
    return {snapshot.names[person_id]: session for person_id, session in sessions.items() if session.entries}


def _kappa(answers: list[tuple[bool, bool]]) -> float | None:
    """Cohen's kappa of paired yes and no; None without any."""
    if not answers:
        return None
    size = len(answers)
    observed = sum(a == b for a, b in answers) / size
    yes_a, yes_b = (sum(pair[side] for pair in answers) / size for side in (0, 1))
    expected = yes_a * yes_b + (1 - yes_a) * (1 - yes_b)
    return 1.0 if expected == 1.0 else (observed - expected) / (1 - expected)


def _pair(document_id: int | None, name: str, a: str, b: str, compared: list[_Compared]) -> PairAgreement:
    answers = [answer for one in compared for answer in one.answers]
    scores = Counts.total(one.counts for one in compared).scores
    mentions = sum(one.mentions for one in compared)
    return PairAgreement(
        document=document_id,
        name=name,
        a=a,
        b=b,
        kappa=_kappa(answers),
        same=sum(one == other for one, other in answers) / len(answers) if answers else None,
        questions=len(answers),
        mentions=mentions,
        said=Counts.total(one.said for one in compared).scores.conll_f1 if mentions else None,
        muc=scores.muc.f1,
        b3=scores.b3.f1,
        ceafe=scores.ceafe.f1,
        lea=scores.lea.f1,
        conll=scores.conll_f1,
    )


def _compare(a: Session, b: Session) -> _Compared:
    clusters = [[cluster for cluster in each.relabelled().clusters if len(cluster) > 1] for each in (a, b)]
    asked = dict.fromkeys((*_asked(a), *_asked(b)))
    said = ((_says(a, *pair), _says(b, *pair)) for pair in asked)
    answers = [(one, other) for one, other in said if one is not None and other is not None]
    common = set(a.links.spans()) & set(b.links.spans())
    alone = [[cluster for cluster in _within(each, common) if len(cluster) > 1] for each in (a, b)]
    mentions = {span for chains in alone for cluster in chains for span in cluster}
    return _Compared(Counts.of(*clusters), Counts.of(*alone), len(mentions), answers)


def _within(session: Session, spans: set[Span]) -> Iterator[Cluster]:
    """The clusters of answers alone, on these spans."""
    for entity in session.links.entities():
        yield tuple(span for span in entity if span in spans)


def _asked(session: Session) -> Iterable[tuple[Span, Span]]:
    """Pairs that a person said yes or no to."""
    for answered in session.answers:
        if answered.question.antecedent is not None and answered.answer.same is not None:
            yield answered.question.antecedent, answered.question.mention
        elif answered.answer.same is not None:
            yield from pairwise(answered.question.group)


def _says(session: Session, antecedent: Span, mention: Span) -> bool | None:
    relation = session.links.relation(antecedent, mention)
    return None if relation is None else relation is Relation.MUST
