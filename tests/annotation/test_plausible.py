"""Where the model knows little of a text, the form of a span says whether to ask about it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from corefine.annotation.annotators import GoldAnnotator, annotate
from corefine.annotation.log import Budget
from corefine.annotation.plausible import plausible_rows, share_in_mentions
from corefine.annotation.selectors import make_selector
from corefine.annotation.session import Session
from corefine.document import Document, Span
from corefine.prediction import NONE, Prediction

TEXT = [
    ["Marta", "ya", "vio", "la", "casa", "."],
    ["Ella", "ya", "vio", "a", "Marta", "."],
    ["Marta", "ya", "la", "vio", "con", "su", "perro", "."],
]
DOCUMENT = Document.from_sentences("casa", TEXT, language="es")
WORDS = frozenset({"ya", "la", "a", "con", "ella", "su"})
PLAUSIBLE = {Span(0, 0), Span(6, 6), Span(10, 10), Span(12, 12), Span(17, 17)}  # Marta three times, ella, su


def every_word(document: Document, *, score: float) -> Prediction:
    """Every word is a top span, with some mass on the one before it."""
    size = len(document)
    candidates = np.arange(size)[:, None] - 1
    rows = np.full((size, 2), 0.5)
    rows[0] = (1.0, 0.0)
    spans = tuple(Span(token, token) for token in range(size))
    return Prediction(spans, candidates, rows, mention_scores=np.full(size, score))


UNFAMILIAR, FAMILIAR = every_word(DOCUMENT, score=-1.0), every_word(DOCUMENT, score=1.0)


def test_pronouns_and_words_that_stand_several_times() -> None:
    rows = plausible_rows(DOCUMENT, UNFAMILIAR, WORDS)
    assert rows is not None
    assert {span for span, fits in zip(UNFAMILIAR.spans, rows, strict=True) if fits} == PLAUSIBLE | {
        Span(5, 5), Span(11, 11), Span(19, 19),  # full stops: no model has them as top spans
    }  # fmt: skip


def plausible_words(*sentences: str) -> list[str]:
    """The words worth asking about if all spans of up to five words without a full stop are top spans."""
    document = Document.from_sentences("copa", [sentence.split() for sentence in sentences], language="es")
    ranges = (Span(start, end) for start in range(len(document)) for end in range(start, min(start + 5, len(document))))
    spans = tuple(span for span in ranges if "." not in document.words(span))
    rows, candidates = np.ones((len(spans), 2)), np.full((len(spans), 1), NONE)
    rows[:, 1] = 0.0
    prediction = Prediction(spans, candidates, rows, mention_scores=np.full(len(spans), -1.0))
    plausible = plausible_rows(document, prediction, frozenset({"la", "el", "de", "en", "a"}))
    assert plausible is not None
    return sorted({document.words(span) for span, fits in zip(spans, plausible, strict=True) if fits})


def test_parts_of_a_longer_expression_are_no_mentions() -> None:
    assert plausible_words("Ganó la Copa de el Rey .", "Perdió la Copa de el Rey .") == ["la Copa de el Rey"]
    both = plausible_words("Ganó la Copa de el Rey .", "Perdió la Copa de el Rey .", "Volvió el Rey .")
    assert both == ["el Rey", "la Copa de el Rey"]


def test_of_one_name_with_and_without_article_one_is_asked_about() -> None:
    assert plausible_words("Habló la UE .", "Votó a la UE .", "Vino a la UE .") == ["la UE"]
    assert plausible_words("Vive en Lima .", "Salió de Lima .", "Lima creció .") == ["Lima"]


def test_single_words_in_lower_case_are_hardly_ever_mentions() -> None:
    assert plausible_words("Vio goles .", "Quiso goles .", "Oyó goles .") == []
    assert plausible_words("張偉 住 .", "狗 看見 張偉 .") == ["張偉"], "a script without cases"


def test_a_model_that_knows_the_text_is_trusted() -> None:
    assert share_in_mentions(DOCUMENT, FAMILIAR) == 1.0
    assert plausible_rows(DOCUMENT, FAMILIAR, WORDS) is None
    assert plausible_rows(DOCUMENT, replace(UNFAMILIAR, mention_scores=None), WORDS) is None
    assert plausible_rows(DOCUMENT, UNFAMILIAR, None) is None, "nobody asked for it"


def session(function_words: frozenset[str] | None, least_gain: float = 0.05) -> Session:
    return Session(
        DOCUMENT,
        UNFAMILIAR,
        selector=make_selector("likely-entropy", sample=0.5),
        budget=Budget(least_gain=least_gain),
        groups=True,
        least_proposal=0.05,
        function_words=function_words,
    )


def test_only_plausible_mentions_are_asked_about_once() -> None:
    restricted = session(WORDS)
    asked = [turn.question for turn in annotate(restricted, GoldAnnotator(DOCUMENT))]
    words = [DOCUMENT.words(question.mention).lower() for question in asked]
    assert set(words) == {"marta", "ella", "su", "."}
    assert len(words) == len(set(words)), "nothing is asked about twice"
    assert restricted.ending == "unfamiliar"
    rows = plausible_rows(DOCUMENT, UNFAMILIAR, WORDS)
    assert rows is not None
    plausible = {span for span, fits in zip(UNFAMILIAR.spans, rows, strict=True) if fits}
    assert all(question.antecedent in plausible for question in asked if question.antecedent is not None)


@pytest.mark.parametrize(("words", "least_gain"), [(None, 0.05), (WORDS, 0.0)])
def test_everything_is_asked_about_without_the_rule_or_on_demand(
    words: frozenset[str] | None, least_gain: float
) -> None:
    asking = session(words, least_gain)
    asked = {DOCUMENT.words(turn.question.mention) for turn in annotate(asking, GoldAnnotator(DOCUMENT))}
    assert {"ya", "la"} <= asked


def test_what_is_worth_asking_is_counted_so_too() -> None:
    assert len(session(WORDS).gains()) < len(session(None).gains())
