"""What training makes of answers and of everything else, by label policy."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from corefine.annotation.labels import KEEP, KEEP_BESIDE_LINKS, Labels, label_policy
from corefine.errors import InputError
from corefine.models.training.events import Step
from corefine.models.training.loss import boundary_loss, kept_loss, targets_for
from corefine.models.training.trainer import train
from helpers import tiny

DOCUMENTS = tiny.documents(6)


def test_answers_alone_move_only_what_was_answered() -> None:
    document = DOCUMENTS[0]
    mention, other = document.clusters[0][:2]
    answered = Labels(document, full=False, together=((mention, other),))
    model = tiny.model(config=tiny.EVERY_SPAN)
    config = replace(tiny.TRAINING, epochs=40, mention_loss=0.0, documents_per_step=1, labels="answered")
    list(train(model, [answered], config))
    prediction = model.predict(document)
    row = prediction.spans.index(other)
    column = 1 + prediction.candidates[row].tolist().index(prediction.spans.index(mention))
    assert prediction.probabilities[row, column] > 0.9


@pytest.mark.parametrize(
    ("policy", "others", "unlikely"),
    [("pseudo", 1.0, 1.0), ("answered", 0, 0), ("mix", 0.25, 0.25), ("certain", 1.0, 0.1)],
)
def test_label_policies_weigh_rows_as_they_say(policy: str, others: float, unlikely: float) -> None:
    document = DOCUMENTS[0]
    mention, other = document.clusters[0][:2]
    ranking = tiny.model(config=tiny.EVERY_SPAN).rank(document)
    doubtful = next(span for span in ranking.top.spans if span not in (mention, other))
    labels = Labels(document, full=False, together=((mention, other),), certainty=((doubtful, 0.1),))
    weights = targets_for(ranking, labels, label_policy(policy, 0.25)).weights.tolist()
    expected = [{other: 1.0, doubtful: unlikely}.get(span, others) for span in ranking.top.spans]
    assert weights == pytest.approx(expected)
    full = targets_for(ranking, Labels(document), label_policy(policy, 0.25))
    assert full.weights.tolist() == [1.0] * len(weights)


def test_silence_teaches_no_no() -> None:
    """Rows that nobody answered and the model leaves unlinked count nothing."""
    document = DOCUMENTS[0]
    mention, other = document.clusters[0][:2]
    apart = next(cluster[0] for cluster in document.clusters[1:])
    ranking = tiny.model(config=tiny.EVERY_SPAN).rank(document)
    linked = {span: 0.4 for cluster in document.clusters for span in cluster[1:]}
    labels = Labels(document, full=False, together=((mention, other),), first=(apart,), certainty=tuple(linked.items()))
    targets = targets_for(ranking, labels, label_policy("linked", 0.3))
    for row, span in enumerate(ranking.top.spans):
        weight = 1.0 if span in (other, apart) else linked.get(span, 0.0)
        assert targets.weights[row].item() == pytest.approx(weight), span
        if span in linked and span != apart:
            assert not targets.allowed[row, 0]
        held = 0.0 if span in (other, apart) else KEEP_BESIDE_LINKS
        assert targets.kept[row].item() == pytest.approx(held), span


def test_a_document_without_answers_teaches_nothing() -> None:
    """Not even the model's own links, since nobody has said that any of them is right."""
    answered, silent = (Labels(document, full=False) for document in DOCUMENTS[:2])
    answered = replace(answered, together=(DOCUMENTS[0].clusters[0][:2],))
    config = replace(tiny.TRAINING, epochs=2, labels="linked")

    def trained(*labels: Labels) -> dict[str, Tensor]:
        model = tiny.model(config=tiny.EVERY_SPAN)
        list(train(model, labels, config))
        return model.tensors()

    alone, together = trained(answered), trained(answered, silent)
    assert all(torch.equal(alone[name], together[name]) for name in alone)
    with pytest.raises(InputError, match="no answer says anything"):
        trained(silent)


def test_what_nobody_answered_is_held_to_the_first_model() -> None:
    document = DOCUMENTS[0]
    mention, other = document.clusters[0][:2]
    labels = Labels(document, full=False, together=((mention, other),))
    model = tiny.model(config=tiny.EVERY_SPAN)
    before = model.rank(document)
    targets = targets_for(before, labels, label_policy("kept", 0.3))
    answered = [span == other for span in before.top.spans]
    assert targets.weights.tolist() == [float(each) for each in answered]
    assert targets.kept.tolist() == pytest.approx([0.0 if each else KEEP for each in answered])
    assert kept_loss(before, before, targets).item() == pytest.approx(0.0, abs=1e-6)
    chances = before.scores.softmax(1)
    later = tiny.model(1, config=tiny.EVERY_SPAN).ranker.pairs(
        model.inputs(document), before.mentions, before.top, before.candidates
    )
    others = later.scores.softmax(1)
    apart = sum(
        KEEP * p * math.log(p / q)
        for row, each in enumerate(answered)
        if not each
        for p, q in zip(chances[row].tolist(), others[row].tolist(), strict=True)
        if p > 0
    )
    assert kept_loss(later, before, targets).item() == pytest.approx(apart, rel=1e-4)


def test_a_model_that_is_held_changes_less_where_nobody_answered() -> None:
    document = DOCUMENTS[0]
    mention, other = document.clusters[0][:2]
    labels = Labels(document, full=False, together=((mention, other),))

    def trained(policy: str) -> tuple[float, float]:
        """How probable the answer is after training, and how far all other rows have moved."""
        model = tiny.model(config=tiny.EVERY_SPAN)
        before = model.predict(document)
        for _ in train(model, [labels], replace(tiny.TRAINING, epochs=30, labels=policy)):
            pass
        after = model.predict(document)
        row = after.spans.index(other)
        column = after.candidates[row].tolist().index(after.spans.index(mention))
        moved = np.abs(after.probabilities[:, 0] - before.probabilities[:, 0])
        return float(after.probabilities[row, 1 + column]), float(np.delete(moved, row).mean())

    alone, held = trained("answered"), trained("kept")
    assert min(alone[0], held[0]) > 0.5
    assert held[1] < alone[1] / 2


def test_nothing_is_held_to_random_weights() -> None:
    document = DOCUMENTS[0]
    labels = Labels(document, full=False, together=(document.clusters[0][:2],))

    def trained(policy: str, *, untrained: bool) -> dict[str, Tensor]:
        model = tiny.model(config=tiny.EVERY_SPAN)
        list(train(model, [labels], replace(tiny.TRAINING, epochs=2, labels=policy), untrained=untrained))
        return model.tensors()

    answered, kept = (trained(policy, untrained=True) for policy in ("answered", "kept"))
    held = trained("kept", untrained=False)
    assert all(torch.equal(answered[name], kept[name]) for name in answered)
    assert not all(torch.equal(answered[name], held[name]) for name in answered)


def test_what_is_a_mention_is_learnt_from_full_labels_and_from_what_was_said() -> None:
    def first_loss(labels: Labels, weight: float, policy: str = "pseudo") -> float:
        config = replace(tiny.TRAINING, epochs=1, mention_loss=weight, labels=policy)
        steps = [event.loss for event in train(tiny.model(), [labels], config) if isinstance(event, Step)]
        return steps[0]

    gold = Labels(DOCUMENTS[0])
    assert first_loss(gold, 1.0) > first_loss(gold, 0.0)
    partly = replace(gold, full=False)
    for policy in ("pseudo", "certain"):
        assert first_loss(partly, 1.0, policy) == first_loss(partly, 0.0, policy)
    said = replace(partly, together=gold.document.clusters)
    assert first_loss(said, 1.0, "linked") > first_loss(said, 0.0, "linked")


def test_linked_mentions_learn_to_outrank_other_spans_at_their_boundaries() -> None:
    document = DOCUMENTS[0]
    mention, other = document.clusters[0][:2]
    labels = Labels(document, full=False, together=((mention, other),))
    model = tiny.model(config=tiny.EVERY_SPAN)

    def best_widths() -> list[int]:
        """The width of the best span at the start of each mention."""
        scores = model.rank(document).mentions.scores
        return [int(scores[span.start].argmax()) for span in (mention, other)]

    config = replace(tiny.TRAINING, epochs=30, labels="linked", mention_loss=0.0, boundary_loss=1.0)
    before = boundary_loss(model.rank(document).mentions, labels).item()
    list(train(model, [labels], config))
    assert boundary_loss(model.rank(document).mentions, labels).item() < before / 2
    assert best_widths() == [span.end - span.start for span in (mention, other)]


def test_the_boundary_loss_is_that_of_its_definition() -> None:
    document = DOCUMENTS[0]
    mention, other = document.clusters[0][:2]
    labels = Labels(document, full=False, together=((mention, other),))
    mentions = tiny.model().rank(document).mentions
    scores = mentions.scores.double()
    length, reach = scores.shape
    expected = []
    for span in (mention, other):
        own = scores[span.start, span.end - span.start].item()
        same_start = [scores[span.start, width].item() for width in range(reach)]
        same_end = [
            scores[start, span.end - start].item() for start in range(max(0, span.end - reach + 1), span.end + 1)
        ]
        for rivals in (same_start, same_end):
            finite = [score for score in rivals if math.isfinite(score)]
            expected.append(math.log(sum(math.exp(score) for score in finite)) - own)
    assert boundary_loss(mentions, labels).item() == pytest.approx(sum(expected) / 2, rel=1e-4)
    assert boundary_loss(mentions, Labels(document, full=False)).item() == 0.0
    assert length == len(document)
