"""Whether a new version takes over: it must not be clearly worse than those before, nor know a deleted document."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

from corefine.document import Document
from corefine.errors import CorefineError, DamagedDocumentError, InputError, ModelError
from corefine.models.evaluation import evaluate
from corefine.prediction import Prediction
from corefine.project.learning.held_back import FEWEST, HeldBackAnswer, fit, is_worse
from corefine.project.learning.long_documents import Predict
from corefine.project.project import Project
from corefine.project.store import predictions, settings
from corefine.project.store.predictions import READY, ModelVersion
from corefine.project.store.settings import HELD_BACK

if TYPE_CHECKING:
    from corefine.project.learning.worker import Worker

LARGEST_F1_LOSS = 2.0
"""How far F1 on held-out documents may be below the best so far. On a few documents it varies so much by chance."""

MODEL_ERRORS = (
    CorefineError, RuntimeError, MemoryError, OSError, ArithmeticError, LookupError, ValueError, TypeError,
    AttributeError, AssertionError, ImportError,
)  # fmt: skip
"""The errors that a model, which may be anybody's code, can raise. Errors of the database are not among them."""


def check_held_back(
    project: Project,
    number: int,
    held_back: list[HeldBackAnswer],
    predict: Predict,
    pause: Callable[[], object],
) -> None:
    """Score the new version and those before on the held-back answers; raise if one of these is clearly better.

    All are scored on the answers that there are now, so that the learning curve can be compared along its length. The
    new version is compared with all of them, so that small losses do not add up. `pause` is called before each document
    that the new one reads.
    """

    def read(document_id: int) -> Prediction:
        pause()
        return predict(project.documents.get(document_id))

    if len(held_back) < FEWEST:
        return
    with project.database.read() as connection:
        before = predictions.since_first(connection)
        fits = settings.get(connection, HELD_BACK, {})
    new, new_logs = fit(held_back, read)
    fits[str(number)] = asdict(new)
    worse = []
    for version in before:
        try:
            old, old_logs = fit(held_back, partial(project.predictions.load, version.id))
        except ModelError:
            if version == before[-1]:
                raise
            # it has not read all of these documents
            fits.pop(str(version.id), None)
            continue
        fits[str(version.id)] = asdict(old)
        if is_worse(new_logs, old_logs):
            worse.append((old.probability, version))
    project.writer.write(lambda connection: settings.put(connection, HELD_BACK, fits))
    if worse:
        probability, version = max(worse, key=lambda pair: pair[0])
        which = "the one in use" if version == before[-1] else f"version {version.id}"
        raise InputError(
            f"the new model finds {len(held_back)} held-back answers much less probable than {which} "
            f"({new.probability:.0%} against {probability:.0%}); the one in use stays"
        )


def check_deleted(project: Project, present: set[int]) -> None:
    """Raise if a document was deleted since training on it began: no model may learn from a deleted document."""
    deleted = [info.key for info in project.documents.all(trashed=True) if info.id in present]
    if deleted:
        raise InputError(
            f"the new model learnt from documents that were deleted meanwhile ({', '.join(deleted)}); "
            "the one in use stays: train again to learn from the others"
        )


def check_f1(project: Project, worker: Worker, f1: float, pause: Callable[[], object]) -> None:
    """Raise if an earlier version has a clearly better F1 on the held-out documents than the new one.

    If people's answers are wrong, so are those that are held back. Only gold labels can show it. The new version is
    compared with the one in use and with all better ones since the project's first model was chosen, so that small
    losses do not add up. Held-out documents may have been added or deleted since these were scored, so they are scored
    again. A version that can no longer be loaded is left out. `pause` is called before each document.
    """
    least = f1 + LARGEST_F1_LOSS
    with project.database.read() as connection:
        before = predictions.since_first(connection)
    rivals = [version for version in before if version is before[-1] or (version.f1 or 0.0) > least]
    for rival in sorted(rivals, key=lambda version: -(version.f1 or 0.0)):
        try:
            found = held_out_f1(project, worker.predictor(rival), pause)
        except MODEL_ERRORS:
            continue
        _keep_f1(project, rival, found)
        if found is not None and found > least:
            raise InputError(
                f"the new model has an F1 of {f1:.1f} on the held-out documents, and the best one so far {found:.1f}; "
                "the one in use stays"
            )


def _keep_f1(project: Project, version: ModelVersion, f1: float | None) -> None:
    """Replace the F1 of a version that was scored again, so that the learning curve is on the same documents."""
    if f1 != version.f1:
        project.writer.write(lambda connection: predictions.finish_version(connection, version.id, READY, f1=f1))


def held_out_f1(project: Project, predict: Predict, pause: Callable[[], object] = lambda: None) -> float | None:
    """CoNLL F1 on the held-out documents, singletons dropped; None if there are none.

    `pause` is called before each document.
    """

    def read(document: Document) -> Prediction:
        pause()
        return predict(document)

    held_out = []
    for entry in project.documents.all():
        if entry.held_out:
            with suppress(DamagedDocumentError):
                held_out.append(project.documents.get(entry.id))
    return evaluate(read, held_out).conll_f1 if held_out else None
