"""Open documents, and sessions rebuilt from the log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from corefine.annotation.cost import CostModel
from corefine.annotation.selectors import Selector, VoteEntropy, make_selector
from corefine.annotation.session import Session
from corefine.document import Document
from corefine.errors import CorefineError, DamagedDocumentError
from corefine.formats.languages import common_words
from corefine.prediction import Prediction
from corefine.project.store.log import LoggedEvent
from corefine.project.store.predictions import EMPTY
from corefine.project.store.settings import ProjectConfig

UNREADABLE = (CorefineError, LookupError, ValueError, TypeError, AttributeError, ArithmeticError, RecursionError)
"""The errors that a damaged text, log or decision can raise."""


@dataclass(slots=True)
class OpenDocument:
    """One person's live session about one document.

    version              of the model that asks the open question
    events_logged        how many events its log has on disk
    done                 whether the person has finished it, or nothing is left to ask
    lease_until          when somebody else may take the document
    preloaded_version    a newer version already loaded, used from the next question on
    newer_pending        whether a newer version was available at the last answer but not loaded yet
    """

    document_id: int
    session: Session
    version: int
    events_logged: int
    done: bool
    lease_until: float
    preloaded_version: int | None = None
    newer_pending: bool = False


def damaged(name: str, error: Exception) -> DamagedDocumentError:
    """The error for a document that cannot be opened."""
    return DamagedDocumentError(
        f"{name} cannot be opened: {error}. Other documents are not affected. "
        "The owner can find out more with `corefine project check`"
    )


def restore_session(
    document: Document,
    rows: Sequence[LoggedEvent],
    prediction: Prediction,
    settings: ProjectConfig,
    cost: CostModel | None = None,
) -> Session:
    """The session that has this log, under this prediction.

    The log is replayed without a prediction, which is fast. Setting the prediction at the end makes the same session,
    since rows, clusters and scores depend only on it and on the links.
    """
    session = Session(
        document,
        EMPTY,
        protocol=settings.protocol,
        selector=_selector(settings),
        budget=settings.budget(document, cost or CostModel()),
        infer_first=settings.infer_first,
        groups=settings.groups,
        least_proposal=settings.least_proposal,
        function_words=common_words((document.language or "en").lower().partition("-")[0]),
        cost=cost,
    )
    if rows:
        session.replay({**session.log, "events": [row.event for row in rows]})
    if prediction is not EMPTY:
        session.use(prediction)
    return session


def _selector(settings: ProjectConfig) -> Selector:
    """The project's selector. Until a committee has read the text, a single model votes in its place."""
    name = settings.selector_name()
    options = {"alone": True} if name == VoteEntropy.name else {}
    return make_selector(name, sample=settings.sampled_share(), **options)


def everybodys_sessions(
    document: Document, rows: Sequence[LoggedEvent], settings: ProjectConfig, prediction: Prediction = EMPTY
) -> dict[int, Session]:
    """By person, the sessions of all who have worked on a document; `rows` are the document's."""
    return {
        person_id: restore_session(document, [row for row in rows if row.person_id == person_id], prediction, settings)
        for person_id in dict.fromkeys(row.person_id for row in rows)
    }
