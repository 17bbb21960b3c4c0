"""The laws of links, held against two independent closures after every answer and every withdrawal."""

from __future__ import annotations

from copy import deepcopy

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from corefine.document import document_order
from corefine.errors import ContradictionError
from corefine.links import Assertion, Change, Links, Relation
from corefine.links.reference import Algorithm1, FromScratch, PairClosure
from helpers.asserting import PAIRS, UNIVERSE, Relations, assertions, relations, replay


class ThreeClosures(RuleBasedStateMachine):
    """Ours, the paper's Algorithm 1 and the closure from scratch take the same answers."""

    @initialize(infer_first=st.booleans())
    def start(self, infer_first: bool) -> None:
        self.infer_first = infer_first
        self.links = Links(infer_first=infer_first)
        self.references = self.fresh_references()
        self.standing: dict[int, list[Assertion]] = {}
        self.given = 0

    def fresh_references(self) -> tuple[PairClosure, PairClosure]:
        return tuple(kind(UNIVERSE, infer_first=self.infer_first) for kind in (Algorithm1, FromScratch))

    @rule(said=st.lists(assertions, min_size=1, max_size=3))
    def answer(self, said: list[Assertion]) -> None:
        self.given += 1
        trials = deepcopy(self.references)
        refused = [refuses(trial, said) for trial in trials]
        assert refused[0] == refused[1]
        if refused[0]:
            self.refuse(said)
            return
        before = relations(self.links)
        change = self.links.add(self.given, *said)
        self.check_change(before, change)
        self.references = trials
        self.standing[self.given] = said

    def refuse(self, said: list[Assertion]) -> None:
        before = self.state()
        with pytest.raises(ContradictionError) as raised:
            self.links.add(self.given, *said)
        assert self.state() == before
        chain = raised.value.answers
        assert len(set(chain)) == len(chain)
        others = replay({answer: self.standing[answer] for answer in chain}, infer_first=self.infer_first)
        with pytest.raises(ContradictionError):
            others.add(self.given, *said)

    @precondition(lambda self: self.standing)
    @rule(data=st.data())
    def withdraw(self, data: st.DataObject) -> None:
        answer = data.draw(st.sampled_from(sorted(self.standing)))
        before = relations(self.links)
        change = self.links.withdraw(answer)
        self.check_change(before, change)
        del self.standing[answer]
        self.references = self.fresh_references()
        for reference in self.references:
            assert not any(refuses(reference, said) for said in self.standing.values())

    def check_change(self, before: Relations, change: Change) -> None:
        """Every relation that changed has an end among the spans of the change, every new entity id is in it."""
        after = relations(self.links)
        touched = change.spans
        assert all(a in touched or b in touched for a, b in PAIRS if before[a, b] is not after[a, b])
        for number in change.entities:
            assert touched.issuperset(self.links.members(number))
        for span in UNIVERSE:
            if span in touched:
                number = self.links.entity_id(span)
                assert number is None or number in change.entities

    def state(self) -> tuple[object, ...]:
        """All that can be seen of the links."""
        numbers = [self.links.entity_id(span) for span in UNIVERSE]
        known = [number for number in numbers if number is not None]
        return (
            relations(self.links),
            numbers,
            [(self.links.members(number), sorted(self.links.cannot_entities(number))) for number in known],
            [(self.links.is_mention(span), self.links.has_no_antecedent(span)) for span in UNIVERSE],
            self.links.entities(),
            self.links.answers(),
        )

    @invariant()
    def all_three_agree(self) -> None:
        for reference in self.references:
            assert relations(self.links) == {(a, b): reference.relation(a, b) for a, b in PAIRS}

    @invariant()
    def as_if_withdrawn_answers_had_never_been_given(self) -> None:
        fresh = replay(self.standing, infer_first=self.infer_first)
        assert fresh.entities() == self.links.entities()
        assert fresh.answers() == self.links.answers()
        for span in UNIVERSE:
            assert fresh.has_no_antecedent(span) == self.links.has_no_antecedent(span)
            ours, theirs = self.links.entity_id(span), fresh.entity_id(span)
            if ours is not None and theirs is not None:
                assert self.links.first(ours) == fresh.first(theirs)
                assert len(self.links.cannot_entities(ours)) == len(fresh.cannot_entities(theirs))

    @invariant()
    def entities_are_what_relations_say(self) -> None:
        links = self.links
        numbers = {span: links.entity_id(span) for span in UNIVERSE if links.entity_id(span) is not None}
        for a, one in numbers.items():
            assert one is not None
            assert links.entity_of(a) == links.members(one)
            for b, other in numbers.items():
                assert other is not None
                relation = links.relation(a, b)
                assert (relation is Relation.MUST) == (one == other)
                assert relation is Relation.CANNOT or other not in links.cannot_entities(one)
        entities = links.entities()
        assert sorted((span for entity in entities for span in entity), key=document_order) == sorted(
            numbers, key=document_order
        )
        assert entities == sorted(
            (tuple(sorted(entity, key=document_order)) for entity in entities), key=lambda e: document_order(e[0])
        )

    @invariant()
    def explanations_suffice(self) -> None:
        for a, b in PAIRS:
            relation, chain = self.links.relation(a, b), self.links.explain(a, b)
            assert bool(chain) == (relation is Relation.CANNOT or (relation is Relation.MUST and a != b))
            assert len(set(chain)) == len(chain)
            alone = replay({answer: self.standing[answer] for answer in chain}, infer_first=self.infer_first)
            assert alone.relation(a, b) is relation


def refuses(reference: PairClosure, said: list[Assertion]) -> bool:
    try:
        for assertion in said:
            reference.add(assertion)
    except ContradictionError:
        return True
    return False


class TestLinks(ThreeClosures.TestCase):
    settings = settings(max_examples=100, stateful_step_count=30)


@pytest.mark.nightly
class TestLinksThoroughly(ThreeClosures.TestCase):
    settings = settings(max_examples=2000, stateful_step_count=50)
