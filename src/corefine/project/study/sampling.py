"""Questions for the timing study, drawn as in the paper's sampling table.

There are two sets. Each is drawn from four kinds of runs: few or many labels per document, with an early or a late
model. In set A, few labels go with the first and the second-to-last model, and many with the second and the last; in
set B it is the other way round. A run is a session answered from a document's gold clusters or, without gold, the
questions that people were asked. One to five questions are drawn at random from each document.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from corefine.annotation.annotators import GoldAnnotator, annotate
from corefine.annotation.log import AnswerEntry, Budget
from corefine.annotation.question import Protocol, Question
from corefine.annotation.session import Session
from corefine.errors import InputError
from corefine.project.project import Project
from corefine.project.store import log, predictions
from corefine.project.store.documents import DocumentInfo
from corefine.project.work.open_document import UNREADABLE

FEW, MANY = 20, 200
"""Labels a document, as in the paper."""

SETS = ("A", "B")
KINDS = 4
MOST = 5
"""At most this many questions are drawn from one document, as in the paper."""


@dataclass(frozen=True, slots=True)
class SampledQuestion:
    """A question of the study, and the kind of run it comes from."""

    set_name: str
    labels: int
    late: bool
    document_id: int
    question: Question


def sample(project: Project, *, documents: int = 20, questions: int = 60, seed: int = 0) -> list[SampledQuestion]:
    """Both sets. Each has this many questions from this many documents, a quarter of them of each kind."""
    if documents < KINDS or questions < documents:
        raise InputError(f"a set needs at least {KINDS} documents, and no fewer questions than documents")
    if questions > MOST * documents:
        raise InputError(f"at most {MOST} questions are drawn from a document: {questions} need more than {documents}")
    rng = Random(seed)
    with project.database.read() as connection:
        answered = log.documents_with_answers(connection)
    usable = [each for each in project.documents.all() if not each.held_out and (each.has_gold or each.id in answered)]
    found: list[SampledQuestion] = []
    for set_name in SETS:
        rng.shuffle(usable)
        for kind in range(KINDS if usable else 0):
            many, late = kind >= 2, kind % 2 == 1
            labels = MANY if many else FEW
            newer = many != (set_name == "B")  # of the two early models, or of the two late ones
            count = documents // KINDS
            chosen = dict.fromkeys(usable[(kind * count + number) % len(usable)] for number in range(count))
            pools = {document.id: _readable(project, document, labels, late, newer) for document in chosen}
            drawn = _draw(pools, questions // KINDS, rng)
            found += [SampledQuestion(set_name, labels, late, document_id, each) for document_id, each in drawn]
    return found


def _draw(pools: dict[int, list[Question]], count: int, rng: Random) -> list[tuple[int, Question]]:
    """Draw this many questions, one to five per document at random, in the order they were asked."""
    sizes = {document: 1 for document, pool in pools.items() if pool}
    while sum(sizes.values()) < count:
        open_documents = [each for each, size in sizes.items() if size < min(MOST, len(pools[each]))]
        if not open_documents:
            break
        sizes[rng.choice(open_documents)] += 1
    drawn = [(document, each) for document, size in sizes.items() for each in rng.sample(pools[document], size)]
    return sorted(drawn, key=lambda each: (each[0], each[1].number))


def _readable(project: Project, document: DocumentInfo, labels: int, late: bool, newer: bool) -> list[Question]:
    """The questions about a document; none if it is damaged."""
    try:
        return _asked(project, document, labels, late, newer)
    except UNREADABLE:
        return []


def _asked(project: Project, document: DocumentInfo, labels: int, late: bool, newer: bool) -> list[Question]:
    """The questions about a document in a run with this many labels."""
    with project.database.read() as connection:
        ready = predictions.ready_versions(connection)
        rows = log.events_of(connection, document_id=document.id)
    read = [version for version in ready if project.predictions.exists(version, document.id)]
    if not read:
        return []
    if not document.has_gold:
        given = [AnswerEntry.from_json(row.event).question for row in rows if row.kind == "answer"]
        return [question for question in given if question.antecedent is not None]
    pair = read[-2:] if late else read[:2]
    prediction = project.predictions.load(pair[-1] if newer else pair[0], document.id)
    gold = project.documents.get(document.id)
    session = Session(gold, prediction, protocol=Protocol.DISCRETE, budget=Budget(questions=labels))
    return [turn.question for turn in annotate(session, GoldAnnotator(gold))]
