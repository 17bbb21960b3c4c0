"""The order of a person's steps across documents, for undo. Each session keeps the order of its own steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

from corefine.project.store.log import LoggedStep
from corefine.project.work.pace import Pace


class Steps:
    """`is_there` tells whether a document can be worked on. Steps in deleted documents are skipped."""

    def __init__(self, steps: Iterable[LoggedStep], is_there: Callable[[int], bool]) -> None:
        self.questions = 0
        self.seconds = 0.0
        self.pace = Pace()
        self._is_there = is_there
        self._done: list[int] = []  # the document of each step that can be undone
        self._undone: list[int] = []
        self._seen: set[str] = set()
        for step in steps:
            self.remember(step)

    def last(self, kind: Literal["undo", "redo"]) -> int | None:
        """The document of the step that would be undone or done again."""
        steps = self._done if kind == "undo" else self._undone
        return next((document for document in reversed(steps) if self._is_there(document)), None)

    def has(self, client_id: str) -> bool:
        """Whether a request may be a retry. Only then must the database be asked."""
        return client_id in self._seen

    def remember(self, step: LoggedStep) -> None:
        self._seen.add(step.client_id)
        if step.kind == "undo":
            _move(step.document_id, self._done, self._undone)
        elif step.kind == "redo":
            _move(step.document_id, self._undone, self._done)
        else:
            self._done.append(step.document_id)
            self._undone.clear()
        if step.kind == "answer":
            self.questions += 1
            self.pace.note(step.seconds)
        self.seconds += step.seconds


def _move(document_id: int, source: list[int], target: list[int]) -> None:
    """Move the last step in a document. A damaged log may have none."""
    for index in range(len(source) - 1, -1, -1):
        if source[index] == document_id:
            target.append(source.pop(index))
            return
