"""Sessions brought back from the log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from corefine.annotation.cost import CostModel
from corefine.annotation.selectors import make_selector
from corefine.annotation.session import Session
from corefine.document import Document
from corefine.prediction import Prediction
from corefine.project.store.log import LoggedEvent
from corefine.project.store.predictions import EMPTY
from corefine.project.store.settings import Settings


@dataclass(slots=True)
class OpenDocument:
    """One person's live session about one document.

    version        of the model that asks the open question
    ahead          of a newer model that is behind the session already and will ask the next one; None: there is none
    waited         whether a newer model was there at the last answer, and not taken up
    place          how many events its log has on disk
    done           whether it was left, or has nothing more to ask
    lease_until    when somebody else may take the document
    """

    document_id: int
    session: Session
    version: int
    place: int
    done: bool
    lease_until: float
    ahead: int | None = None
    waited: bool = False


def rebuild(
    document: Document,
    rows: Sequence[LoggedEvent],
    prediction: Prediction,
    settings: Settings,
    cost: CostModel | None = None,
) -> Session:
    """The session that this log is of, under this prediction.

    The log is replayed without a prediction, which is fast; rows, clusters and scores depend only on the links and the
    prediction, so taking it up at the end makes the same session.
    """
    session = Session(
        document,
        EMPTY,
        protocol=settings.protocol,
        selector=make_selector(settings.selector_name()),
        budget=settings.budget(document),
        infer_first=settings.infer_first,
        cost=cost,
    )
    if rows:
        session.replay({**session.log, "events": [row.event for row in rows]})
    if prediction is not EMPTY:
        session.use(prediction)
    return session
