from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from corefine.annotation.revision import decode
from corefine.document import Span
from corefine.errors import ContradictionError
from corefine.links import Cannot, First, Links, Must, NotAMention, Relation
from corefine.prediction import Prediction
from helpers.making import prediction_of, predictions

A, B, C, D = (Span(i, i) for i in range(4))


def test_without_links_clusters_are_chains_of_antecedents() -> None:
    prediction = prediction_of([{"-": 1.0}, {0: 1.0}, {"-": 0.6, 1: 0.4}, {"-": 0.1, 1: 0.9}])
    assert decode(prediction) == ((A, B, D),)


def test_a_no_does_not_come_back_through_a_third_mention() -> None:
    """B and C both choose A; with A and C set apart, C's next choice is B, which is still with A."""
    prediction = prediction_of([{"-": 1.0}, {"-": 0.1, 0: 0.9}, {"-": 0.1, 0: 0.5, 1: 0.4}])
    links = Links()
    links.add(1, Cannot(A, C))
    assert decode(prediction, links) == ((A, B),)


def test_of_two_links_that_cannot_both_stand_the_stronger_does() -> None:
    prediction = prediction_of([{"-": 1.0}, {"-": 0.45, 0: 0.55}, {"-": 0.05, 0: 0.5, 1: 0.45}])
    links = Links()
    links.add(1, Cannot(A, C))  # C -> B now weighs 0.9, B -> A 0.55
    assert decode(prediction, links) == ((B, C),)


def test_human_links_hold_together_what_no_row_does() -> None:
    prediction = prediction_of([{"-": 1.0}, {"-": 1.0, 0: 0.0}, {"-": 1.0, 0: 0.0}])
    links = Links()
    links.add(1, Must(A, C))
    links.add(2, Must(Span(1, 2), C))
    assert decode(prediction, links) == ((A, Span(1, 2), C),)


def test_what_is_no_mention_is_in_no_cluster() -> None:
    prediction = prediction_of([{"-": 1.0}, {"-": 0.0, 0: 1.0}, {"-": 0.0, 1: 1.0}])
    links = Links()
    links.add(1, NotAMention(B))
    assert decode(prediction, links) == ()


@given(predictions(), st.data(), st.booleans())
def test_decoding_respects_every_answer(prediction: Prediction, data: st.DataObject, infer_first: bool) -> None:
    """Whatever is asserted without contradiction, no cluster joins what is apart or divides what is one."""
    links = Links(infer_first=infer_first)
    spans = [*prediction.spans, Span(0, 1), Span(2, 4)]
    for number in range(data.draw(st.integers(0, 12))):
        a, b = data.draw(st.sampled_from(spans)), data.draw(st.sampled_from(spans))
        kind = data.draw(st.sampled_from(["must", "cannot", "first", "none"]))
        try:
            if kind == "none":
                links.add(number, NotAMention(a))
            elif kind == "first":
                links.add(number, First(min(a, b), max(a, b)))
            elif a != b:
                links.add(number, Must(a, b) if kind == "must" else Cannot(a, b))
        except ContradictionError:
            pass
    clusters = decode(prediction, links)
    home = {span: number for number, cluster in enumerate(clusters) for span in cluster}
    assert len(home) == sum(map(len, clusters))
    for x in spans:
        for y in spans:
            together = x in home and home[x] == home.get(y)
            relation = links.relation(x, y)
            if relation is Relation.CANNOT:
                assert not together
            if relation is Relation.MUST and x != y:
                assert together
        if links.has_no_antecedent(x) and x in home:
            assert clusters[home[x]][0] == x
