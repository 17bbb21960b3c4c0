from __future__ import annotations

import pytest

from corefine.annotation.question import Answer, Protocol, Question, Reply, check_fits
from corefine.document import Span, SplitSpan
from corefine.errors import AnswerError

SPAN = Span(0, 1)
GOOD = {
    Protocol.DISCRETE: [
        Answer.yes(),
        Answer.no(Reply.FIRST, SPAN),
        Answer.no(Reply.ANTECEDENT, SPAN),
        Answer.no(Reply.UNSURE),
        Answer.no(Reply.NOT_A_MENTION),
        Answer.unsure(),
        Answer(reply=Reply.NOT_A_MENTION),
        Answer(reply=Reply.BOUNDARIES, span=SPAN),
    ],
    Protocol.PAIRWISE: [Answer.yes(), Answer.no(), Answer.unsure(), Answer(reply=Reply.NOT_A_MENTION)],
    Protocol.FOLLOW_UP: [
        Answer(reply=Reply.FIRST, span=SPAN),
        Answer(reply=Reply.ANTECEDENT, span=SPAN),
        Answer.unsure(),
    ],
    Protocol.MENTIONS: [
        Answer.yes(),
        Answer.unsure(),
        Answer(reply=Reply.NOT_A_MENTION),
        Answer(reply=Reply.BOUNDARIES, span=SPAN),
    ],
}
BAD = {
    Protocol.DISCRETE: [Answer.no(), Answer(reply=Reply.FIRST, span=SPAN)],
    Protocol.PAIRWISE: [Answer.no(Reply.FIRST, SPAN), Answer(reply=Reply.FIRST, span=SPAN)],
    Protocol.FOLLOW_UP: [Answer.yes(), Answer.no(Reply.FIRST, SPAN)],
    Protocol.MENTIONS: [Answer.no(), Answer.no(Reply.NOT_A_MENTION), Answer(reply=Reply.FIRST, span=SPAN)],
}


@pytest.mark.parametrize("protocol", list(GOOD))
def test_which_answers_fit_which_question(protocol: Protocol) -> None:
    question = Question(1, Span(5, 5), None if protocol is Protocol.FOLLOW_UP else Span(2, 2), protocol)
    for answer in GOOD[protocol]:
        check_fits(answer, question)
    for answer in BAD[protocol]:
        with pytest.raises(AnswerError):
            check_fits(answer, question)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"same": True, "reply": Reply.UNSURE},
        {"reply": Reply.FIRST},
        {"reply": Reply.NOT_A_MENTION, "span": SPAN},
        {"same": True, "span": SPAN},
    ],
)
def test_answers_that_make_no_sense_cannot_be_made(fields: dict[str, object]) -> None:
    with pytest.raises(AnswerError):
        Answer(**fields)  # type: ignore[arg-type]  # wrong on purpose


@pytest.mark.parametrize("answer", [answer for answers in GOOD.values() for answer in answers])
def test_answers_survive_json(answer: Answer) -> None:
    assert Answer.from_json(answer.to_json()) == answer


def test_discontinuous_spans_survive_json() -> None:
    answer = Answer.no(Reply.FIRST, SplitSpan([(0, 1), (3, 3)]))
    assert Answer.from_json(answer.to_json()) == answer
