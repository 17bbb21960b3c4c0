"""The first questions about a document, in words: why this mention, what was asked, what the answer settled."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from corefine.annotation import wording
from corefine.annotation.annotators import Annotator
from corefine.annotation.question import Question
from corefine.annotation.session import Session
from corefine.corpora import Corpus
from corefine.document import Document, Span
from corefine.errors import ContradictionError
from corefine.prediction import Prediction
from corefine.simulation.annotating import annotator_of, budget_of, session_of
from corefine.simulation.config import FULL, GOLD, SimulationConfig
from corefine.simulation.splits import plan

SHOWN_QUESTIONS = 10
SHOWN_ENTITIES = 5
AROUND = 8
"""Tokens of context on each side of a mention."""


def explain_document(config: SimulationConfig, corpus: Corpus) -> Iterator[str]:
    """Explain the first questions about the first document that the run would annotate.

    The prediction is that of the starter, or of what the settings have instead of a network.
    """
    config = config.with_changes(protocol="discrete", selector="entropy") if config.protocol in (FULL, GOLD) else config
    document = plan(corpus, config).rounds[0][0]
    prediction = _prediction(document, config)
    annotator = annotator_of(document, config)
    session = session_of(document, prediction, config, budget_of(document, prediction, config))
    yield f"{document.key}: {len(document)} tokens, {len(prediction)} top spans, selector {config.selector}"
    yield from explain_session(session, annotator)


def explain_session(session: Session, annotator: Annotator, *, most: int = SHOWN_QUESTIONS) -> Iterator[str]:
    """Let the annotator answer the next questions of a session, and say what happens."""
    quote = partial(wording.quoted_with_place, session.document)
    for _ in range(most):
        question = session.next_question()
        if question is None:
            yield "Nothing is left to ask, or the budget is spent."
            return
        yield ""
        yield from _question(session, question)
        answer = annotator.answer(question)
        yield f"  answer     {wording.answer_text(question, answer, quote)}"
        try:
            outcome = session.answer(answer)
        except ContradictionError as error:
            session.skip()
            yield f"  settled    nothing: it contradicts what was said ({error})"
            continue
        settled = "; ".join(quote(span) for span in outcome.settled[:SHOWN_ENTITIES])
        more = f", and so needs no question about {len(outcome.settled)} more ({settled})" if outcome.settled else ""
        pairs = "1 pair of mentions is" if outcome.pairs == 1 else f"{outcome.pairs} pairs of mentions are"
        yield f"  settled    {pairs} now known to be the same entity or different ones{more}"


def _prediction(document: Document, config: SimulationConfig) -> Prediction:
    from corefine.models.load import load
    from corefine.simulation.runs import cache_folder

    name = (config.starter or "starter") if config.trains else config.learner
    return load(name, device=config.device, cache=cache_folder()).model.predict(document)


def _question(session: Session, question: Question) -> Iterator[str]:
    document, revision = session.document, session.revision
    yield f"{question.number}. {_in_context(document, question.mention)}"
    row = revision.nodes.row(question.mention)
    if row is None:
        return
    masses = revision.masses(np.array([row]), clustered=session.selector.clustered)
    order = np.argsort(-masses.mass, kind="stable")
    for place in order[:SHOWN_ENTITIES].tolist():
        label = int(masses.label[place])
        name = "a new entity" if label == 0 else _entity(session, row, label - 1)
        yield f"  {masses.mass[place]:8.3f}   {name}"
    if len(order) > SHOWN_ENTITIES:
        rest = float(masses.mass[order[SHOWN_ENTITIES:]].sum())
        yield f"  {rest:8.3f}   {len(order) - SHOWN_ENTITIES} others"
    largest = f"the largest of {session.open_mentions} open mentions"
    yield f"  score      {question.score:.3f} by {session.selector.name}: {largest}"
    yield f"  asked      {wording.question_text(question, partial(wording.quoted_with_place, document))}"


def _entity(session: Session, row: int, label: int) -> str:
    """An entity by its mentions among the row's candidates."""
    revision = session.revision
    candidates = revision.prediction.candidates[row]
    listed = candidates[candidates >= 0]
    same = listed[revision.labels[listed] == label] if session.selector.clustered else np.array([label])
    names = [wording.quoted_with_place(session.document, revision.nodes.spans[node]) for node in sorted(same.tolist())]
    return ", ".join(names[:SHOWN_ENTITIES]) + (
        f" and {len(names) - SHOWN_ENTITIES} more" if len(names) > SHOWN_ENTITIES else ""
    )


def _in_context(document: Document, span: Span) -> str:
    before = " ".join(document.tokens[max(0, span.start - AROUND) : span.start])
    after = " ".join(document.tokens[span.end + 1 : span.end + 1 + AROUND])
    return f"… {before} [{document.words(span)}] {after} …"
