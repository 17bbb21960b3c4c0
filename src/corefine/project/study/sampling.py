"""Questions for the timing study, drawn as in the paper's sampling table.

Two sets, each from four kinds of runs: few or many labels a document, with an early or a late model. Set A has few
labels with the first and the last but one model, and many with the second and the last; set B the other way round. A
run is a session that a document's gold answers; without gold, it is what people were asked about the document.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from sqlalchemy import select

from corefine.annotation.annotators import GoldAnnotator, annotate
from corefine.annotation.log import AnswerEntry, Budget
from corefine.annotation.question import Protocol, Question
from corefine.annotation.session import Session
from corefine.errors import InputError
from corefine.project.project import Project
from corefine.project.store import log, predictions, schema
from corefine.project.store.documents import DocumentInfo

FEW, MANY = 20, 200
"""Labels a document, as in the paper."""

SETS = ("A", "B")
KINDS = 4


@dataclass(frozen=True, slots=True)
class Sampled:
    """A question of the study, and the kind of run it comes from."""

    set_name: str
    labels: int
    late: bool
    document_id: int
    question: Question


def sample(project: Project, *, documents: int = 20, questions: int = 60, seed: int = 0) -> list[Sampled]:
    """Both sets: so many questions from so many documents each, a quarter of both of each kind."""
    if documents < KINDS or questions < documents:
        raise InputError(f"a set needs at least {KINDS} documents, and no fewer questions than documents")
    rng = Random(seed)
    with project.database.read() as connection:
        answered = set(connection.execute(select(schema.events.c.document_id).distinct()).scalars())
    entries = [e for e in project.documents.all() if not e.held_out and (e.has_gold or e.id in answered)]
    found: list[Sampled] = []
    for set_name in SETS:
        rng.shuffle(entries)
        for kind in range(KINDS):
            many, late = kind >= 2, kind % 2 == 1
            newer = many != (set_name == "B")  # of the two early models, or of the two late ones
            chosen = _take(entries, kind, documents // KINDS)
            found += _of_kind(project, chosen, set_name, MANY if many else FEW, late, newer, questions // KINDS, rng)
    return found


def _take(entries: Sequence[DocumentInfo], kind: int, count: int) -> list[DocumentInfo]:
    """Documents for one kind; other kinds get others, as long as there are enough."""
    return [entries[(kind * count + number) % len(entries)] for number in range(count)] if entries else []


def _of_kind(
    project: Project,
    entries: Sequence[DocumentInfo],
    set_name: str,
    labels: int,
    late: bool,
    newer: bool,
    count: int,
    rng: Random,
) -> list[Sampled]:
    pools = [(entry.id, _asked(project, entry, labels, late, newer)) for entry in dict.fromkeys(entries)]
    for _, pool in pools:
        rng.shuffle(pool)
    drawn: list[Sampled] = []
    while len(drawn) < count and any(pool for _, pool in pools):
        for document_id, pool in pools:
            if pool and len(drawn) < count:
                drawn.append(Sampled(set_name, labels, late, document_id, pool.pop()))
    return sorted(drawn, key=lambda each: (each.document_id, each.question.number))


def _asked(project: Project, entry: DocumentInfo, labels: int, late: bool, newer: bool) -> list[Question]:
    """What is asked about a document in a run with so many labels."""
    with project.database.read() as connection:
        ready = [version.id for version in predictions.all_versions(connection) if version.state == predictions.READY]
        rows = log.events_of(connection, document_id=entry.id)
    read = [version for version in ready if project.predictions.exists(version, entry.id)]
    if not read:
        return []
    if not entry.has_gold:
        given = [AnswerEntry.from_json(row.event).question for row in rows if row.kind == "answer"]
        return [question for question in given if question.antecedent is not None]
    pair = read[-2:] if late else read[:2]
    prediction = project.predictions.load(pair[-1] if newer else pair[0], entry.id)
    document = project.documents.get(entry.id)
    session = Session(document, prediction, protocol=Protocol.DISCRETE, budget=Budget(questions=labels))
    return [turn.question for turn in annotate(session, GoldAnnotator(document))]
