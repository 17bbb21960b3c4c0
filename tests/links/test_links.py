"""What each assertion means, what is refused, and what the entities look like."""

from __future__ import annotations

import pytest

import corefine
from corefine.document import Span, SplitSpan
from corefine.errors import ContradictionError, InvalidSpanError, UnknownAnswerError
from corefine.links import Cannot, First, Links, Must, NotAMention, Relation

A, B, C, D, E, F = (Span(2 * place, 2 * place + 1) for place in range(6))
MUST, CANNOT = Relation.MUST, Relation.CANNOT


def test_is_public() -> None:
    assert corefine.Links is Links


def test_nothing_is_known_at_first() -> None:
    links = Links()
    assert links.relation(A, B) is None
    assert links.relation(A, A) is MUST
    assert links.entities() == []
    assert links.entity_of(A) is None
    assert links.entity_id(A) is None
    assert links.explain(A, B) == ()
    assert links.is_mention(A)
    assert not links.has_no_antecedent(A)


def test_must_is_an_equivalence() -> None:
    links = Links()
    links.add(1, Must(A, B))
    links.add(2, Must(C, B))
    assert links.relation(A, C) is MUST
    assert links.relation(C, A) is MUST
    assert links.explain(A, C) == (1, 2)
    assert links.explain(C, A) == (2, 1)
    assert links.explain(A, A) == ()
    assert links.entities() == [(A, B, C)]


def test_cannot_holds_for_whole_entities() -> None:
    links = Links()
    links.add(1, Must(A, B))
    links.add(2, Must(C, D))
    links.add(3, Cannot(B, C))
    links.add(4, Must(E, D))
    assert links.relation(A, E) is CANNOT
    assert links.explain(A, E) == (1, 3, 2, 4)
    assert links.explain(B, C) == (3,)


def test_cannot_is_not_transitive() -> None:
    links = Links()
    links.add(1, Cannot(A, B))
    links.add(2, Cannot(B, C))
    assert links.relation(A, C) is None
    assert links.entities() == [(A,), (B,), (C,)]


def test_a_first_appearance_excludes_all_that_is_earlier() -> None:
    links = Links()
    links.add(1, First(C, C))
    links.add(2, Must(C, E))
    links.add(3, Must(B, F))
    assert links.has_no_antecedent(C)
    assert not links.has_no_antecedent(E)
    assert links.relation(A, E) is CANNOT, "a span that no answer names"
    assert links.explain(A, E) == (1, 2)
    assert links.relation(E, F) is CANNOT, "F is B, which comes before C"
    assert links.explain(F, E) == (3, 1, 2)
    assert links.relation(D, C) is None


def test_first_of_an_earlier_span_is_a_must_link() -> None:
    links = Links()
    links.add(1, First(B, D))
    assert links.relation(B, D) is MUST
    assert links.relation(A, B) is None
    assert not links.has_no_antecedent(B)


def test_inferring_from_first_appearances_is_a_switch() -> None:
    links = Links(infer_first=True)
    links.add(1, First(B, D))
    assert links.relation(B, D) is MUST
    assert links.relation(A, D) is CANNOT
    assert links.explain(A, D) == (1,)
    assert links.has_no_antecedent(B)
    with pytest.raises(ContradictionError) as raised:
        links.add(2, First(A, D))
    assert raised.value.answers == (1,)


def test_two_entities_with_first_appearances_differ() -> None:
    links = Links()
    links.add(1, First(B, B))
    links.add(2, First(D, D))
    assert links.relation(B, D) is CANNOT
    assert links.explain(B, D) == (2,), "that B is first does not matter"


def test_what_is_not_a_mention_is_in_no_entity() -> None:
    links = Links()
    links.add(1, Cannot(A, B))
    links.add(2, First(B, B))
    links.add(3, NotAMention(B))
    assert not links.is_mention(B)
    assert links.has_no_antecedent(B)
    assert links.relation(B, B) is CANNOT
    assert links.relation(B, F) is CANNOT
    assert links.explain(F, B) == (3,)
    assert links.entities() == [(A,)]
    links.add(4, Cannot(B, C))
    assert links.entity_of(B) is None
    links.withdraw(3)
    assert links.relation(A, B) is CANNOT
    assert links.relation(B, C) is CANNOT
    assert links.has_no_antecedent(B)
    assert links.entities() == [(A,), (B,), (C,)]


def test_contradictions_carry_a_shortest_chain() -> None:
    links = Links()
    links.add("long 1", Must(A, B))
    links.add("long 2", Must(B, C))
    links.add("long 3", Must(C, D))
    links.add("short 1", Must(A, E))
    links.add("short 2", Must(E, D))
    with pytest.raises(ContradictionError) as raised:
        links.add("new", Cannot(A, D))
    assert raised.value.answers == ("short 1", "short 2")
    message = str(raised.value)
    assert "'new'" in message
    assert "'short 1', 'short 2'" in message
    assert message.endswith("Withdraw one of them, or give another answer.")
    assert str(A) in message
    with pytest.raises(ContradictionError) as raised:
        links.add("new", NotAMention(E))
    assert raised.value.answers == ("short 1",)
    with pytest.raises(ContradictionError) as raised:
        links.add("new", First(D, D))
    assert raised.value.answers == ("long 3",), "C comes before D and is nearest"
    assert "new" not in links.answers()


def test_pairs_that_links_relate_are_counted() -> None:
    links = Links()
    links.add(1, Must(A, B))
    links.add(2, Must(C, D))
    assert links.known_pairs([A, C]) == 2
    links.add(3, Cannot(B, C))
    assert links.known_pairs([A]) == 1 + 4
    assert links.known_pairs([A, C]) == 2 + 4, "a pair between the two is counted once"
    assert links.known_pairs([E]) == 0


def test_an_answer_is_taken_whole_or_not_at_all() -> None:
    links = Links()
    links.add(1, Must(A, B))
    ids = {span: links.entity_id(span) for span in (A, B, C, D)}
    with pytest.raises(ContradictionError) as raised:
        links.add(2, Must(C, D), NotAMention(F), Cannot(A, D), Must(B, C))
    assert raised.value.answers == (1,), "what the answer itself says is not among the earlier answers"
    assert {span: links.entity_id(span) for span in (A, B, C, D)} == ids
    assert links.entities() == [(A, B)]
    assert links.is_mention(F)
    assert links.answers() == [1]


def test_the_only_contradicted_answer_is_the_one_to_withdraw() -> None:
    links = Links()
    links.add(1, Must(A, B))
    with pytest.raises(ContradictionError) as raised:
        links.add(2, Cannot(A, B))
    assert str(raised.value) == (
        f"answer 2 says that {A} is not the same entity as {B}, which contradicts answer 1. "
        "Withdraw it, or give another answer."
    )


def test_an_answer_may_contradict_itself() -> None:
    links = Links()
    with pytest.raises(ContradictionError, match="contradicts itself") as raised:
        links.add(1, Must(A, B), NotAMention(A))
    assert raised.value.answers == ()
    assert links.answers() == []


def test_a_no_and_a_first_appearance_are_one_answer() -> None:
    links = Links()
    links.add(1, Must(A, C))
    links.add(2, Cannot(C, D), First(B, D))
    assert links.relation(A, B) is CANNOT
    assert links.explain(A, B) == (1, 2)
    links.withdraw(2)
    assert links.entities() == [(A, C)]


def test_an_answer_can_be_added_to() -> None:
    links = Links()
    links.add(1, Cannot(A, B))
    links.add(1, First(C, C))
    assert links.answers() == [1]
    links.withdraw(1)
    assert links.relation(A, B) is None
    assert links.relation(A, C) is None


def test_an_answer_may_assert_nothing() -> None:
    links = Links()
    assert links.add("skipped").spans == frozenset()
    assert links.answers() == ["skipped"]
    links.withdraw("skipped")
    assert links.answers() == []


def test_what_other_answers_also_imply_stays_after_withdrawal() -> None:
    links = Links()
    links.add(1, Must(A, B))
    links.add(2, Must(B, C))
    links.add(3, Must(A, C))
    links.add(4, Cannot(A, D))
    links.add(5, Cannot(C, D))
    links.withdraw(1)
    assert links.relation(A, B) is MUST
    links.withdraw(4)
    assert links.relation(B, D) is CANNOT
    links.withdraw(3)
    assert links.relation(A, D) is None
    assert links.entities() == [(B, C), (D,)]
    assert links.relation(B, D) is CANNOT


def test_two_reasons_that_entities_differ_are_counted_when_they_merge() -> None:
    links = Links()
    links.add(1, Cannot(A, C))
    links.add(2, Cannot(B, C))
    links.add(3, Must(A, B))
    links.withdraw(1)
    assert links.relation(A, C) is CANNOT
    assert links.explain(A, C) == (3, 2)
    links.withdraw(2)
    assert links.relation(A, C) is None


def test_a_span_that_no_answer_names_any_more_is_in_no_entity() -> None:
    links = Links()
    links.add(1, Must(A, B))
    links.add(2, Cannot(B, C))
    links.withdraw(1)
    assert links.entities() == [(B,), (C,)]
    assert links.entity_id(A) is None
    assert links.spans() == [B, C]


@pytest.mark.parametrize("answer", [2, None])
def test_only_answers_that_stand_can_be_withdrawn(answer: int | None) -> None:
    links = Links()
    links.add(1, Must(A, B))
    links.withdraw(1)
    for unknown in (1, answer):
        with pytest.raises(UnknownAnswerError, match=repr(unknown)):
            links.withdraw(unknown)


def test_what_cannot_be_meant_is_refused() -> None:
    links = Links()
    with pytest.raises(InvalidSpanError, match="comes after"):
        links.add(1, First(B, A))
    with pytest.raises(InvalidSpanError, match="given twice"):
        links.add(1, Must(A, A))
    with pytest.raises(InvalidSpanError, match="given twice"):
        links.add(1, Cannot(A, A))
    with pytest.raises(InvalidSpanError):
        links.add(1, Must(A, B), First(D, C))
    assert links.answers() == []
    assert links.entities() == []


def test_discontinuous_spans_are_mentions_of_their_own() -> None:
    whole, split = Span(0, 2), SplitSpan([(0, 0), (2, 2)])
    links = Links()
    links.add(1, Cannot(whole, split))
    links.add(2, Must(split, E))
    assert links.relation(whole, E) is CANNOT
    links.add(3, First(split, split))
    assert links.entities() == [(split, E), (whole,)], "of one hull, the span with the shorter first part comes first"
    with pytest.raises(ContradictionError):
        links.add(4, Must(whole, split))


def test_entities_by_number() -> None:
    links = Links()
    links.add(1, Must(A, B))
    links.add(2, Cannot(B, C))
    links.add(3, First(D, D))
    ab, c = (links.entity_id(span) for span in (A, C))
    assert ab is not None
    assert c is not None
    assert links.members(ab) == (A, B)
    assert links.cannot_entities(ab) == [c]
    assert links.first(ab) == A
