"""Calibration on development documents, or else by what the model expects of answered ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from corefine.annotation.labels import Labels
from corefine.document import Document, Span
from corefine.models.calibration import (
    CAUTION,
    ENOUGH_LINKS,
    TEMPERATURES,
    THRESHOLDS,
    calibrate,
    link_as_expected,
    link_as_labelled,
    link_as_taught,
    set_calibration,
)
from corefine.models.evaluation import evaluate
from corefine.models.network.model import Model
from corefine.models.network.ranker import SpanRanker
from corefine.models.storage.checkpoint import load_model
from corefine.models.storage.tensors import read_facts
from corefine.models.training.jobs import TrainingJob, run
from corefine.models.training.recipe import Recipe
from corefine.models.training.trainer import train
from helpers import tiny

DOCUMENTS = [tiny.document(seed, sentences=12) for seed in range(4)]
UNANSWERED = [Labels(document, full=False) for document in DOCUMENTS]


@pytest.fixture(scope="module")
def model() -> Model:
    trained = tiny.model(0)
    for _ in train(trained, list(map(Labels.gold, DOCUMENTS)), replace(tiny.TRAINING, epochs=4)):
        pass
    return trained


def test_calibration_sets_what_it_returns(model: Model) -> None:
    found = calibrate(model, DOCUMENTS)
    assert TEMPERATURES[0] <= found.temperature <= TEMPERATURES[-1]
    assert found.threshold in THRESHOLDS
    assert (model.config.head.temperature, model.config.head.threshold) == (found.temperature, found.threshold)


@pytest.fixture
def soft(model: Model) -> Model:
    """The same model, with probabilities that are far from 0 and 1."""
    set_calibration(model, 3.0, 0.5)
    return model


def answered(document: Document, expected: float | None, *, linked: bool = True) -> Labels:
    """Answers about the second mention of each entity, and what the model that asked expected of each of them."""
    groups = [tuple(sorted(cluster)[:2]) for cluster in document.clusters if len(cluster) > 1]
    asked = tuple((mention, expected) for _, mention in groups if expected is not None)
    if linked:
        return Labels(document, full=False, together=tuple(groups), expected=asked)
    return Labels(document, full=False, first=tuple(mention for _, mention in groups), expected=asked)


def links(model: Model, documents: Sequence[Document] = DOCUMENTS) -> int:
    """How many mentions the model links."""
    predictions = map(model.predict, documents)
    return sum(int((each.probabilities[:, 0] < each.threshold).sum()) for each in predictions)


def test_as_many_mentions_are_linked_as_the_model_expects(model: Model) -> None:
    threshold = link_as_expected(model, UNANSWERED)  # nothing is asked, so nothing is corrected
    assert model.config.head.threshold == threshold
    expected = sum(float((1 - model.predict(document).probabilities[:, 0]).sum()) for document in DOCUMENTS)
    assert links(model) == pytest.approx(CAUTION * expected, abs=2)


def test_answers_that_differ_from_what_was_expected_change_the_number_of_links(soft: Model) -> None:
    def made(expected: float | None, *, linked: bool) -> int:
        link_as_expected(soft, [answered(document, expected, linked=linked) for document in DOCUMENTS])
        return links(soft)

    assert made(0.01, linked=True) > made(None, linked=True)  # a model that expects too few links
    assert made(0.99, linked=False) < made(None, linked=False)


def test_only_the_later_half_of_the_answers_corrects_what_is_expected(soft: Model) -> None:
    labels = [answered(document, 0.01) for document in DOCUMENTS]
    earlier = [
        replace(
            each,
            expected=tuple(
                (span, 0.99 if at < len(each.expected) // 2 else chance)
                for at, (span, chance) in enumerate(each.expected)
            ),
        )
        for each in labels
    ]
    assert link_as_expected(soft, labels) == link_as_expected(soft, earlier)
    assert link_as_expected(soft, labels) != link_as_expected(soft, [replace(each, expected=()) for each in labels])


def test_mentions_that_answers_settle_count_as_they_say(soft: Model) -> None:
    """If answers say that nothing in a document is linked, no link is expected."""
    document = DOCUMENTS[0]
    prediction = soft.predict(document)
    threshold = link_as_expected(soft, [Labels(document, full=False, first=prediction.spans)])
    assert int((prediction.probabilities[:, 0] < threshold).sum()) == 0


def test_in_parts_annotated_in_full_everything_is_known(soft: Model) -> None:
    """What is not marked there has no antecedent; what is marked has one, but for the first of each entity."""
    document = DOCUMENTS[0]
    half = (Span(0, len(document) // 2),)
    marked = Labels(document, full=False, complete=half)
    nothing = Labels(document.with_clusters([]), full=False, complete=half)
    fewer = link_as_expected(soft, [nothing]), links(soft, [document])
    more = link_as_expected(soft, [marked]), links(soft, [document])
    assert fewer < more
    inside = {span for cluster in document.clusters for span in sorted(cluster)[1:] if span.end <= half[0].end}
    linked = inside & set(soft.predict(document).spans)
    assert more[1] - fewer[1] == pytest.approx(CAUTION * len(linked), abs=1)


def test_answers_about_nearly_all_links_set_the_threshold_as_full_labels_do(soft: Model) -> None:
    """The model has learnt from them, so its probabilities for these mentions say little about other documents."""
    labels = []
    for document in DOCUMENTS:
        linked = {span for cluster in document.clusters for span in cluster}
        others = tuple(span for span in soft.predict(document).spans if span not in linked)
        labels.append(Labels(document, full=False, together=document.clusters, first=others))
    assert link_as_expected(soft, labels) == link_as_labelled(soft, DOCUMENTS)
    some = [replace(each, together=each.together[:1], first=()) for each in labels]
    assert link_as_expected(soft, some) not in THRESHOLDS


def test_documents_with_full_labels_show_the_best_threshold(model: Model) -> None:
    temperature = model.config.head.temperature
    chosen = link_as_labelled(model, DOCUMENTS)
    assert model.config.head.threshold == chosen
    assert model.config.head.temperature == temperature
    scores = {}
    for threshold in THRESHOLDS:
        set_calibration(model, temperature, threshold)
        scores[threshold] = evaluate(model.predict, DOCUMENTS).conll_f1
    assert scores[chosen] > 0.9 * max(scores.values())  # the scores are smoothed before the best is chosen
    assert scores[chosen] > min(scores.values())


def test_a_few_links_in_full_do_not_outweigh_answers(soft: Model) -> None:
    small = Labels.gold(Document.from_sentences("small", [["Ann", "slept", "."]]))
    answers = [Labels(document, full=False, together=document.clusters[:1]) for document in DOCUMENTS]
    assert link_as_taught(soft, [small, *answers]) == pytest.approx(link_as_expected(soft, answers), abs=0.02)


def test_enough_links_in_full_set_the_threshold_alone(soft: Model) -> None:
    full = [Labels.gold(document) for document in DOCUMENTS]
    several = full * (1 + ENOUGH_LINKS // sum(len(cluster) - 1 for each in DOCUMENTS for cluster in each.clusters))
    answers = [Labels(document, full=False, first=soft.predict(document).spans) for document in DOCUMENTS]
    assert link_as_taught(soft, [*several, *answers]) == link_as_labelled(soft, DOCUMENTS)
    assert link_as_taught(soft, full) == link_as_labelled(soft, DOCUMENTS), "nothing else says anything"


def test_more_candidates_in_prediction_promise_no_more_links(soft: Model) -> None:
    """Probabilities are those of training, with few candidates. Those of many more would add up to too many links."""
    config = replace(soft.config, head=replace(soft.config.head, candidates=2, candidates_predicted=40))
    wide = Model(config, soft.encoder, SpanRanker(config, soft.encoder.width, soft.encoder.layers))
    wide.load_tensors(soft.tensors())
    link_as_expected(wide, UNANSWERED)
    corrected = links(wide)
    wide.config = replace(config, head=replace(config.head, candidates=40))  # as if it had been trained with as many
    link_as_expected(wide, UNANSWERED)
    assert corrected < links(wide)


def test_documents_without_mentions_leave_the_threshold(model: Model) -> None:
    before = model.config.head.threshold
    assert link_as_expected(model, [Labels.gold(Document.from_sentences("empty", []))]) == before


@pytest.mark.parametrize(
    ("full", "answers", "policy", "chosen_anew"),
    [
        (True, False, "linked", True),
        (False, True, "linked", True),
        (False, False, "pseudo", False),
        (False, True, "pseudo", False),  # the paper has no rule for this
        (False, True, "fitted", True),
    ],
)
def test_without_development_documents_those_learnt_from_set_the_threshold(
    tmp_path: Path, full: bool, answers: bool, policy: str, chosen_anew: bool
) -> None:
    labels = [
        replace(Labels.gold(document), full=full, together=document.clusters if answers else ())
        for document in DOCUMENTS
    ]
    recipe = Recipe(tiny.CONFIG, replace(tiny.TRAINING, labels=policy))
    job = TrainingJob(recipe=recipe, labels=labels, folder=tmp_path / "model", threads=1)
    for _ in run(job):
        pass
    told = read_facts(job.folder, "model")["trained"]["calibration"]
    assert (told is not None) == chosen_anew  # without answers there is no reason to change it
    chosen = told["threshold"] if chosen_anew else tiny.CONFIG.head.threshold
    assert load_model(job.folder).config.head.threshold == chosen
