"""What a workspace has, as the API says it. Called while the workspace is held."""

from __future__ import annotations

from bisect import bisect_right
from datetime import UTC, datetime
from typing import Any

import numpy as np

from corefine.annotation import wording
from corefine.annotation.log import AnswerEntry, LogEntry
from corefine.annotation.question import Answer, Question, span_from_json, span_to_json
from corefine.annotation.revision import EPSILON, Revision
from corefine.annotation.session import Session
from corefine.document import Document, Span, document_order
from corefine.project.store.log import LoggedEvent
from corefine.project.store.predictions import READY, TRAINING
from corefine.project.work.sessions import OpenDocument
from corefine.project.work.workspace import Recorded, Shown, Workspace, question_id_of
from corefine.project.work.workspaces import Workspaces
from corefine.web.api.types import (
    AnswerJson,
    EntitiesView,
    EntityChance,
    EntityView,
    HistoryEntry,
    MentionView,
    ModelStatus,
    OutcomeView,
    Progress,
    QuestionView,
    State,
    Why,
)

MOST_CHANCES = 8


def state(workspace: Workspace, shown: Shown) -> State:
    opened = shown.opened
    question = None
    if opened is not None and shown.question is not None:
        question = question_view(opened.document_id, opened.session, shown.question)
    return State(
        state=shown.state,  # type: ignore[arg-type]  # the same words
        document=shown.document_id,
        question=question,
        upcoming=shown.upcoming,
        progress=None if opened is None else progress(workspace, opened),
        model=model_status(workspace.workspaces, opened),
    )


def question_view(document_id: int, session: Session, question: Question) -> QuestionView:
    document = session.document
    antecedent = question.antecedent
    return QuestionView(
        id=question_id_of(question),
        number=question.number,
        document=document_id,
        protocol=question.protocol.value,
        mention=span_to_json(question.mention),
        mention_text=document.words(question.mention),
        antecedent=None if antecedent is None else span_to_json(antecedent),
        antecedent_text=None if antecedent is None else document.words(antecedent),
        probability=question.probability,
        why=why(session, question),
    )


def why(session: Session, question: Question) -> Why:
    """The mention's probability on each entity, as the model and all answers have it."""
    revision = session.revision
    row = revision.nodes.row(question.mention)
    chances: list[EntityChance] = []
    entropy = 0.0
    if row is not None:
        masses = revision.masses(np.array([row]))
        entropy = float(masses.entropy()[0])
        order = np.argsort(-masses.mass, kind="stable")[:MOST_CHANCES]
        for label, mass in zip(masses.label[order].tolist(), masses.mass[order].tolist(), strict=True):
            first = None if label == EPSILON else _first_of(revision, label - 1)
            chances.append(
                EntityChance(
                    entity=None if first is None else str(first),
                    first=None if first is None else session.document.words(first),
                    span=None if first is None else span_to_json(first),
                    probability=mass,
                )
            )
    return Why(selector=session.selector.name, score=question.score, entropy=entropy, entities=chances)


def _first_of(revision: Revision, label: int) -> Span:
    nodes = np.flatnonzero(revision.labels == label).tolist()
    # Top spans are in the document's order, so that of them only the first need be looked at.
    first = [revision.nodes.spans[node] for node in nodes if node == nodes[0] or node >= revision.nodes.rows]
    return min(first, key=document_order)


def progress(workspace: Workspace, opened: OpenDocument) -> Progress:
    session = opened.session
    questions = len(session.answers)
    budget = session.budget
    open_mentions = session.open_mentions
    left: float | None = None
    if budget.seconds is not None:
        left = max(0.0, budget.seconds - session.seconds)
    elif budget.questions is not None:
        each = session.seconds / questions if questions else session.cost.discrete(1, 1) / 2
        left = max(0, min(budget.questions - questions, open_mentions)) * each
    return Progress(
        questions=questions,
        budget=budget.questions,
        seconds=session.seconds,
        seconds_left=left,
        settled=1.0 - open_mentions / max(1, len(session.revision.prediction)),
        open_mentions=open_mentions,
        documents_done=len(workspace.finished),
        documents=len(workspace.workspaces.documents()),
        total_questions=workspace.total_questions,
        total_seconds=workspace.total_seconds,
        can_undo=workspace.can_undo,
        can_redo=workspace.can_redo,
    )


def model_status(workspaces: Workspaces, opened: OpenDocument | None) -> ModelStatus:
    versions = workspaces.versions()
    ready = [version for version in versions if version.state == READY]
    latest = ready[-1].id if ready else 0
    used = latest if opened is None else opened.version
    name = next((version.name for version in versions if version.id == used), "")
    failed = versions[-1].message if versions and versions[-1].state not in (READY, TRAINING) else None
    return ModelStatus(
        version=used,
        name=name,
        latest=latest,
        training=any(version.state == TRAINING for version in versions),
        share_done=workspaces.share_done(),
        error=failed,
    )


def outcome(document: Document, done: Recorded) -> OutcomeView:
    told = done.outcome or {"number": done.number or 0, "settled": [], "pairs": 0}
    texts = [document.words(span_from_json(span)) for span in told["settled"]]
    return OutcomeView(number=told["number"], settled=told["settled"], settled_texts=texts, pairs=told["pairs"])


def entities(document_id: int, session: Session) -> EntitiesView:
    """Every entity as model and answers make it, and all spans that look like mentions."""
    document, revision, links = session.document, session.revision, session.links
    clusters = session.relabelled().clusters
    views = []
    for cluster in clusters:
        mentions = []
        for span in cluster:
            row = revision.nodes.row(span)
            known = links.entity_of(span)
            human = (known is not None and len(known) > 1) or row is None or bool(revision.settled[row])
            mentions.append(
                MentionView(
                    span=span_to_json(span),
                    text=document.words(span),
                    sentence=sentence_of(document, span),
                    source="human" if human else "model",
                    probability=None if row is None or human else float(revision.rows[row].max()),
                )
            )
        views.append(EntityView(id=str(cluster[0]), first=document.words(cluster[0]), mentions=mentions))
    scores = revision.prediction.mention_scores
    likely = {
        span
        for row, span in enumerate(revision.prediction.spans)
        if (scores is None or scores[row] > 0) and links.is_mention(span)
    }
    likely.update(span for cluster in clusters for span in cluster)
    spans = [span_to_json(span) for span in sorted(likely, key=document_order)]
    return EntitiesView(document=document_id, entities=views, mentions=spans)


def sentence_of(document: Document, span: Span) -> int:
    return bisect_right(document.sentence_starts, span.start) - 1


def history_entry(
    document_id: int, session: Session, entry: LogEntry, *, at: float | None = None, version: int = 0
) -> HistoryEntry:
    document = session.document
    spans = wording.spans_in_order(entry)
    answered = entry if isinstance(entry, AnswerEntry) else None
    return HistoryEntry(
        document=document_id,
        number=entry.number,
        kind="answer" if answered is not None else "edit",
        protocol=None if answered is None else answered.question.protocol.value,
        answer=None if answered is None else answer_json(answered.answer),
        said=wording.said(entry, document),
        spans=[span_to_json(span) for span in spans],
        texts=[document.words(span) for span in spans],
        sentences=[sentence_of(document, span) for span in spans],
        stands=entry in session.entries,
        seconds=entry.seconds,
        at="" if at is None else timestamp(at),
        model_version=version,
    )


def logged_entry(document_id: int, session: Session, row: LoggedEvent) -> HistoryEntry:
    entry = next(entry for entry in session.given if entry.number == row.number)
    return history_entry(document_id, session, entry, at=row.at, version=row.model_version)


def answer_json(answer: Answer) -> AnswerJson:
    fields: dict[str, Any] = answer.to_json()
    return AnswerJson(**fields)


def timestamp(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
