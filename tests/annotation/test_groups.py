"""One question about several mentions with the same words, and corrections that are repeated for them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from corefine.annotation import wording
from corefine.annotation.annotators import GoldAnnotator, annotate
from corefine.annotation.log import Budget
from corefine.annotation.question import Answer, Protocol, Question, Reply
from corefine.annotation.selectors import LikelyEntropy
from corefine.annotation.selectors.entropy import likely_mentions
from corefine.annotation.session import Session
from corefine.document import Document, Span
from corefine.errors import AnswerError, ContradictionError, InvalidSpanError
from corefine.links import Relation
from helpers.making import prediction_of
from helpers.sessions import ask, state_of

TOKENS = "Mice ran . Old mice ate . Mice slept . Then she saw mice . Two mice left .".split()
MICE = tuple(Span(i, i) for i, token in enumerate(TOKENS) if token.lower() == "mice")
SHE = Span(TOKENS.index("she"), TOKENS.index("she"))
SPANS = sorted([*MICE, SHE])
DOCUMENT = Document("mice", tuple(TOKENS), (0,), ((*MICE[:3], MICE[4]),))


def likely_one() -> Session:
    """Each mention is probably its predecessor; the last is the least certain, and the pronoun is new."""
    rows = [
        {"-": 1.0},
        {"-": 0.3, 0: 0.7},
        {"-": 0.3, 1: 0.7},
        {"-": 0.9, 2: 0.1},
        {"-": 0.3, 2: 0.7},
        {"-": 0.5, 4: 0.5},
    ]
    return Session(DOCUMENT, prediction_of(rows, SPANS), groups=True)


def test_equal_words_are_asked_about_once_and_pronouns_never() -> None:
    session = likely_one()
    question = ask(session)
    assert (question.protocol, question.group) == (Protocol.GROUP, MICE)
    assert SHE not in question.group
    assert question.mention == MICE[4]
    assert question.probability == pytest.approx((0.7 * 3 + 0.5) / 4)


def test_without_the_switch_there_is_no_group() -> None:
    session = Session(DOCUMENT, likely_one().revision.prediction)
    assert ask(session).protocol is Protocol.DISCRETE
    assert session.equal_to(MICE[0]) == ()


def test_yes_settles_all_and_what_is_struck_out_is_set_apart() -> None:
    session = likely_one()
    ask(session)
    outcome = session.answer(Answer.yes(struck=[MICE[3]]))
    kept = [span for span in MICE if span != MICE[3]]
    assert session.links.entity_of(MICE[0]) == tuple(kept)
    assert all(session.links.relation(span, MICE[3]) is Relation.CANNOT for span in kept)
    assert outcome.pairs == 6 + 4
    assert session.seconds == pytest.approx(session.cost.initial + 5 * session.cost.group_mention)
    assert ask(session).protocol is not Protocol.GROUP
    assert ask(session).mention in (MICE[3], SHE)


def test_no_asserts_nothing_and_the_mentions_are_asked_about_singly() -> None:
    session = likely_one()
    ask(session)
    session.answer(Answer.no())
    assert session.links.spans() == []
    assert (ask(session).protocol, ask(session).mention) == (Protocol.DISCRETE, MICE[4])


def test_unsure_skips_them_all() -> None:
    session = likely_one()
    ask(session)
    session.skip()
    assert ask(session).mention == SHE


def test_none_of_them_is_a_mention() -> None:
    session = likely_one()
    ask(session)
    session.answer(Answer(reply=Reply.NOT_A_MENTION, struck=(MICE[4],)))
    assert [session.links.is_mention(span) for span in MICE] == [False] * 4 + [True]
    assert session.relabelled().clusters == ()


@pytest.mark.parametrize("answer", [Answer.yes([MICE[2]]), Answer.no(), Answer.unsure()])
def test_it_can_be_undone_redone_withdrawn_and_replayed(answer: Answer) -> None:
    session = likely_one()
    before = state_of(session)
    session.answer(answer)
    after = state_of(session)
    session.undo()
    assert state_of(session) == before
    session.redo()
    assert state_of(session) == after
    again = likely_one()
    again.replay(session.log)
    assert state_of(again) == after
    session.withdraw(1)
    assert state_of(session) == before


def test_it_contradicts_and_is_contradicted_like_any_other_answer() -> None:
    session = likely_one()
    session.edit([], mentions=[MICE[0]])
    ask(session)
    with pytest.raises(ContradictionError):
        session.answer(Answer(reply=Reply.NOT_A_MENTION))
    session.answer(Answer.yes(), withdrawing=[1])
    question = Question(3, MICE[4], MICE[0], Protocol.DISCRETE)
    session._open = question
    with pytest.raises(ContradictionError) as error:
        session.answer(Answer.no(Reply.UNSURE))
    assert error.value.answers == (2,)


def test_the_asked_are_not_those_that_answers_set_apart_and_what_is_known_is_asked_too() -> None:
    session = likely_one()
    ask(session)
    session._open = Question(1, MICE[2], MICE[1], Protocol.DISCRETE)
    session.answer(Answer.no(Reply.FIRST, MICE[0]))
    assert ask(session).mention == SHE, "mice were asked about before"
    session.skip()
    group = ask(session).group
    assert MICE[1] not in group
    assert group == (MICE[2], MICE[3], MICE[4]), "the third stands for the first, whose entity it is in"


def test_answers_that_do_not_fit_a_group_are_refused() -> None:
    session = likely_one()
    ask(session)
    for answer in (
        Answer.yes(MICE[:4]),
        Answer.yes([SHE]),
        Answer(reply=Reply.BOUNDARIES, span=Span(3, 4)),
        Answer.no(Reply.FIRST, MICE[0]),
        Answer(same=False, struck=(MICE[0],)),
    ):
        with pytest.raises(AnswerError):
            session.answer(answer)
    with pytest.raises(AnswerError):
        Answer(same=True, also=(SHE,))


def test_gold_strikes_out_what_is_another_entity() -> None:
    session = likely_one()
    answers = [turn.answer for turn in annotate(session, GoldAnnotator(DOCUMENT))]
    assert answers[0] == Answer.yes([MICE[3]])
    none = GoldAnnotator(Document("mice", tuple(TOKENS), (0,), ()))
    assert none.answer(ask(likely_one())) == Answer.no()


def test_a_correction_is_repeated_for_equal_words_and_they_are_asked_about_together() -> None:
    tokens = "the mice ran , the mice ate , the mice slept".split()
    document = Document("mice", tuple(tokens), (0,), ())
    mice = [Span(1, 1), Span(5, 5), Span(9, 9)]
    rows = [{"-": 1.0}, {"-": 0.9, 0: 0.1}, {"-": 0.9, 1: 0.1}]
    session = Session(document, prediction_of(rows, mice), groups=True)
    question = ask(session)
    assert question.protocol is Protocol.DISCRETE, "the model does not think of one entity"
    others = session.equal_to(question.mention)
    with pytest.raises(AnswerError, match="words differ"):
        session.answer(Answer(reply=Reply.BOUNDARIES, span=Span(question.mention.start, 10), also=others[:1]))
    wider = Span(question.mention.start - 1, question.mention.end)
    session.answer(Answer(reply=Reply.BOUNDARIES, span=wider, also=others))
    assert not any(map(session.links.is_mention, mice))
    together = ask(session)
    assert (together.protocol, together.group) == (Protocol.GROUP, (Span(0, 1), Span(4, 5), Span(8, 9)))
    session.answer(Answer.yes())
    assert session.relabelled().clusters == (together.group,)
    assert session.next_question() is None or session.next_question() != together
    said = wording.entry_text(session.answers[0], document)
    assert said.endswith("and so for 2 more like it")


def test_the_proposed_words_can_be_corrected_and_the_question_comes_again() -> None:
    session = Session(DOCUMENT, likely_one().revision.prediction)
    question = ask(session)
    proposed = question.antecedent
    assert proposed is not None
    for wrong in (proposed, Span(question.mention.start, question.mention.end)):
        with pytest.raises(InvalidSpanError):
            session.answer(Answer(reply=Reply.PROPOSED_BOUNDARIES, span=wrong))
    before = state_of(session)
    right = Span(proposed.start - 1, proposed.end)
    session.answer(Answer(reply=Reply.PROPOSED_BOUNDARIES, span=right))
    again = ask(session)
    assert (again.mention, again.antecedent) == (question.mention, right)
    assert not session.links.is_mention(proposed)
    session.answer(Answer.yes())
    assert session.links.relation(right, question.mention) is Relation.MUST
    session.undo()
    session.undo()
    assert state_of(session) == before


def test_words() -> None:
    session = likely_one()
    question = ask(session)

    def quote(span: Span) -> str:
        return DOCUMENT.words(span)

    assert wording.question_text(question, quote) == "Are these 5 mice all one entity?"
    said = {
        Answer.yes(): "all 5 mice are one entity",
        Answer.yes(MICE[:1]): "4 of 5 mice are one entity; the other one is not",
        Answer.yes(MICE[:2]): "3 of 5 mice are one entity; the other 2 are not",
        Answer.no(): "not all 5 mice are one entity",
        Answer.unsure(): "unsure about 5 mice",
        Answer(reply=Reply.NOT_A_MENTION): "all 5 mice are not mentions",
    }
    assert {answer: wording.answer_text(question, answer, quote) for answer in said} == said


# Questions worth a person's time


def test_words_that_were_asked_about_come_last() -> None:
    tokens = "a dog , a cat , a dog , a cat".split()
    document = Document("pets", tuple(tokens), (0,), ())
    spans = [Span(0, 1), Span(3, 4), Span(6, 7), Span(9, 10)]
    rows = [{"-": 1.0}, {"-": 0.5, 0: 0.5}, {"-": 0.8, 0: 0.2}, {"-": 0.6, 0: 0.4}]

    def order(groups: bool) -> list[Span]:
        session = Session(document, prediction_of(rows, spans), groups=groups)
        return [turn.question.mention for turn in annotate(session, GoldAnnotator(document))]

    assert order(False) == [spans[1], spans[3], spans[2]]
    assert order(True) == [spans[1], spans[2], spans[3]], "a cat was asked about before"


def test_it_proposes_the_likeliest_entity_by_a_probable_mention_or_nothing() -> None:
    rows = [{"-": 1.0}, {"-": 0.1, 0: 0.9}, {"-": 1.0}, {"-": 0.1, 0: 0.25, 1: 0.25, 2: 0.4}]
    document = Document("letters", tuple("abcdef"), (0,), ())
    prediction = replace(prediction_of(rows), mention_scores=np.array([3.0, -3.0, 3.0, 3.0]))
    first, _, third, last = prediction.spans
    asked = ask(Session(document, prediction))
    assert (asked.mention, asked.antecedent, asked.probability) == (last, third, 0.4)
    asked = ask(Session(document, prediction, least_proposal=0.05))
    assert (asked.mention, asked.antecedent, asked.probability) == (last, first, 0.5), "two antecedents share it"
    asked = ask(Session(document, prediction, least_proposal=0.6))
    assert (asked.protocol, asked.antecedent) == (Protocol.FOLLOW_UP, None)


def test_it_proposes_what_the_model_is_sure_of_and_what_people_named() -> None:
    document = Document("letters", tuple("abcdef"), (0,), ())
    scores = np.array([-3.0, -3.0, 3.0, 3.0])

    def proposed(shares: dict[str | int, float], *answers: Answer) -> Span | None:
        rows: list[dict[str | int, float]] = [{"-": 1.0}, {"-": 0.5, 0: 0.5}, {"-": 1.0}, shares]
        prediction = replace(prediction_of(rows), mention_scores=scores)
        session = Session(document, prediction, least_proposal=0.1)
        for answer in answers:
            ask(session)
            session.answer(answer)
        return ask(session).antecedent

    first, second, third, _ = prediction_of([{"-": 1.0}] * 4).spans
    assert proposed({"-": 0.2, 0: 0.6, 2: 0.2}) == first, "it is not proposed that the other has 20 %"
    assert proposed({"-": 0.4, 0: 0.4, 2: 0.2}) == third, "40 % do not make an unlikely span a mention"
    assert proposed({"-": 0.4, 0: 0.4, 2: 0.2}, Answer(same=True)) in (first, second)


def test_probable_mentions_are_asked_about_first_and_a_new_field_still_has_some() -> None:
    rows = [{"-": 1.0}, {"-": 0.5, 0: 0.5}, {"-": 0.6, 0: 0.4}]
    prediction = replace(prediction_of(rows), mention_scores=np.array([4.0, -4.0, 4.0]))
    document = Document("letters", tuple("abcdef"), (0,), ())
    assert ask(Session(document, prediction)).mention == prediction.spans[1]
    assert ask(Session(document, prediction, selector=LikelyEntropy())).mention == prediction.spans[2]
    assert ask(Session(document, prediction_of(rows), selector=LikelyEntropy())).mention == prediction.spans[1]
    foreign = replace(prediction, mention_scores=np.array([-9.0, -8.0, -7.0]))
    assert likely_mentions(foreign).tolist() == [False, False, True]
    assert likely_mentions(prediction_of(rows)).all()


def test_rows_with_little_to_gain_are_passed_over() -> None:
    """The selector may put a sure mention first; it is not asked about while others have more to gain."""
    rows = [{"-": 1.0}, {"-": 0.99, 0: 0.01}, {"-": 0.6, 0: 0.4}]
    prediction = replace(prediction_of(rows), mention_scores=np.array([4.0, 9.0, -5.0]))
    document = Document("letters", tuple("abcdef"), (0,), ())
    session = Session(document, prediction, selector=LikelyEntropy(), budget=Budget(least_gain=0.05))
    assert ask(session).mention == prediction.spans[2]
    session.answer(Answer.unsure())
    assert session.next_question() is None
    assert session.ending == "sure"
    session.undo()
    assert ask(session).mention == prediction.spans[2]
