"""What people say is learned, also where the model would not have looked: pruned mentions, antecedents far back.

What nobody said is not learned as a no.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from corefine.annotation.labels import Labels, label_policy
from corefine.document import Document, Span
from corefine.models.network.config import HeadConfig
from corefine.models.network.model import Model
from corefine.models.training.loss import answered_mention_loss, ranking_with_answers, targets_for
from corefine.models.training.trainer import train
from helpers import tiny

FEW = replace(tiny.CONFIG, head=replace(tiny.CONFIG.head, spans_per_word=0.05, min_spans=1, candidates=2))
"""Keeps so few spans and candidates that most of what answers name is pruned."""

LONG = Document.from_sentences("long", [["Anna", "slept", "."], *[["Tom", "sang", "."]] * 20, ["she", "left", "."]])
ANNA, SHE, SLEPT = Span(0, 0), Span(63, 63), Span(1, 1)
SAID = Labels(LONG, full=False, together=((ANNA, SHE),), first=(SLEPT,), no_mentions=(SLEPT,))
TRAINING = replace(tiny.TRAINING, epochs=60, labels="linked", mention_loss=0.0, max_tokens=20)
"""Documents with gold labels would be cut into pieces of 20 tokens. The link from SHE to ANNA is longer."""


def mention_score(model: Model, span: Span) -> float:
    model.train(False)
    with torch.no_grad():
        scores = model.ranker.mentions(model.inputs(LONG)).scores
    return float(scores[span.start, span.width - 1])


def test_what_answers_name_is_in_the_ranking_that_is_taught() -> None:
    model = tiny.model(0, FEW)
    inputs = model.inputs(LONG)
    plain = model.ranker(inputs)
    assert len(plain.top) == 3
    ranking = ranking_with_answers(model.ranker, inputs, SAID)
    spans = ranking.top.spans
    assert {ANNA, SHE, SLEPT} <= set(spans)
    assert spans == tuple(sorted(spans))
    row = ranking.candidates[spans.index(SHE)].tolist()
    assert spans.index(ANNA) in row
    assert len(set(row) - {-1}) == len([each for each in row if each != -1])
    targets = targets_for(ranking, SAID, label_policy("linked", 0.3))
    at = spans.index(SHE)
    assert targets.weights[at] == 1
    assert targets.allowed[at].tolist() == [False, *(each == spans.index(ANNA) for each in row)]


def chances_alone(model: Model) -> dict[Span, float]:
    """The probability that each span has no antecedent."""
    prediction = model.predict(LONG)
    return dict(zip(prediction.spans, prediction.probabilities[:, 0].tolist(), strict=True))


def test_silence_teaches_no_no() -> None:
    """Nobody was asked about Tom. If the model's own labels count, it learns that no Tom has an antecedent."""
    toms = [Span(at, at) for at in range(6, 63, 3)]
    relabelled = replace(SAID, document=replace(LONG, clusters=((ANNA, SHE),)))  # the model's own labels, and answers
    after = {}
    for labels in ("linked", "pseudo"):
        model = tiny.model(1, tiny.EVERY_SPAN)
        before = chances_alone(model)
        for _ in train(model, [relabelled], replace(TRAINING, labels=labels, max_tokens=0)):
            pass
        found = chances_alone(model)
        after[labels] = [found[tom] - before[tom] for tom in toms]
        assert found[SHE] < before[SHE] / 2  # both learn what was said
    assert max(after["linked"]) < 0.05
    assert min(after["pseudo"]) > 0.2


def chance_of_link(model: Model) -> float:
    """The probability that SHE refers to ANNA, when both are considered."""
    model.train(False)
    with torch.no_grad():
        ranking = ranking_with_answers(model.ranker, model.inputs(LONG), SAID)
    spans = ranking.top.spans
    row, column = spans.index(SHE), ranking.candidates[spans.index(SHE)].tolist().index(spans.index(ANNA))
    return float(ranking.scores.softmax(1)[row, 1 + column])


@pytest.mark.parametrize("coarse", [True, False])
def test_a_link_far_back_between_pruned_mentions_is_learned(coarse: bool) -> None:
    head: HeadConfig = replace(FEW.head, coarse_to_fine=coarse)
    model = tiny.model(1, replace(FEW, head=head))
    before = chance_of_link(model)
    for _ in train(model, [SAID], TRAINING):
        pass
    assert before < 0.5
    assert chance_of_link(model) > 0.8


def test_what_is_said_of_mentions_teaches_the_mention_scorer() -> None:
    """Linked spans are mentions, "not a mention" is none, and of a mention that is alone nothing is said."""
    model = tiny.model(2)
    alone = replace(SAID, together=(), no_mentions=(), first=(SHE,))
    scored = model.ranker.mentions(model.inputs(LONG))
    assert answered_mention_loss(scored, alone).item() == 0
    confirmed = replace(alone, mentions=(SHE,))  # "is this a mention?": yes
    gradient = torch.autograd.grad(answered_mention_loss(scored, confirmed), scored.scores, retain_graph=True)[0]
    assert gradient.nonzero().tolist() == [[SHE.start, SHE.width - 1]]
    assert float(gradient.sum()) < 0
    gradient = torch.autograd.grad(answered_mention_loss(scored, SAID), scored.scores)[0]
    places = {(span.start, span.width - 1): sign for span, sign in ((ANNA, -1), (SHE, -1), (SLEPT, 1))}
    assert {tuple(place) for place in gradient.nonzero().tolist()} == set(places)
    assert all(sign * float(gradient[place]) > 0 for place, sign in places.items())
    before = [mention_score(model, span) for span in (ANNA, SHE, SLEPT)]
    for _ in train(model, [SAID], replace(TRAINING, epochs=20, mention_loss=10.0)):
        pass
    after = [mention_score(model, span) for span in (ANNA, SHE, SLEPT)]
    assert after[0] > before[0]
    assert after[1] > before[1]
    assert after[2] < before[2]
