"""Spans, answers and replays for the tests of links."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations_with_replacement

from hypothesis import strategies as st

from corefine.document import Span, SplitSpan, document_order
from corefine.errors import ContradictionError
from corefine.links import Assertion, Cannot, First, Links, Must, NotAMention, Relation

UNIVERSE = (Span(0, 0), Span(1, 3), SplitSpan([(1, 1), (3, 3)]), Span(1, 4), Span(5, 5), Span(6, 8))
"""Every span of the tests; two of them have the same hull."""

PAIRS = tuple(combinations_with_replacement(UNIVERSE, 2))

Answers = Mapping[int, Iterable[Assertion]]
Relations = dict[tuple[Span, Span], Relation | None]

spans = st.sampled_from(UNIVERSE)
pairs = st.tuples(spans, spans).filter(lambda pair: pair[0] != pair[1])


def in_order(a: Span, b: Span) -> tuple[Span, Span]:
    return (b, a) if document_order(b) < document_order(a) else (a, b)


assertions: st.SearchStrategy[Assertion] = st.one_of(
    pairs.map(lambda pair: Must(*pair)),
    pairs.map(lambda pair: Cannot(*pair)),
    st.tuples(spans, spans).map(lambda pair: First(*in_order(*pair))),
    spans.map(NotAMention),
)


@st.composite
def protocol_answers(draw: st.DrawFn) -> list[Assertion]:
    """One answer as a person gives it: yes, no, no and the first appearance, or not a mention."""
    antecedent, mention = in_order(*draw(pairs))
    kind = draw(st.sampled_from(["yes", "no", "first", "itself", "not a mention"]))
    if kind == "yes":
        return [Must(antecedent, mention)]
    if kind == "not a mention":
        return [NotAMention(mention)]
    said: list[Assertion] = [Cannot(antecedent, mention)]
    if kind == "first":
        said.append(First(UNIVERSE[0] if draw(st.booleans()) else in_order(draw(spans), mention)[0], mention))
    elif kind == "itself":
        said.append(First(mention, mention))
    return said


def replay(answers: Answers, *, infer_first: bool = False) -> Links:
    links = Links(infer_first=infer_first)
    for answer, said in answers.items():
        links.add(answer, *said)
    return links


def consistent(answers: Answers, *, infer_first: bool = False) -> bool:
    try:
        replay(answers, infer_first=infer_first)
    except ContradictionError:
        return False
    return True


def relations(links: Links) -> Relations:
    return {(a, b): links.relation(a, b) for a, b in PAIRS}
