"""Which differences between people are listed."""

from __future__ import annotations

from corefine.annotation.session import Session
from corefine.document import Document, Span
from corefine.links import Cannot, Must
from corefine.project.results.disagreement import _differ, _same_as
from corefine.project.store.predictions import EMPTY


def test_a_difference_that_follows_from_another_is_not_listed() -> None:
    document = Document("d", ("Nora", "saw", "Ada", "and", "she", "saw", "her"), (0,))
    nora, ada, she = Span(0, 0), Span(2, 2), Span(4, 4)
    one, other = Session(document, EMPTY), Session(document, EMPTY)
    one.edit([Must(ada, she), Must(nora, ada)])
    other.edit([Must(ada, she), Cannot(nora, ada)])
    assert _differ(one, other, ada)
    assert _differ(one, other, she), "it is Ada for both, and so it differs as well"
    assert not _same_as([], ada, one, other)
    assert _same_as([ada], she, one, other), "but it is decided with Ada"
