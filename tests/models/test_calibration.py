"""Calibration on development documents, or else by what the model expects of answered ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from corefine.annotation.labels import Labels
from corefine.models.calibration import CAUTION, TEMPERATURES, THRESHOLDS, calibrate, link_as_expected
from corefine.models.network.model import Model
from corefine.models.network.ranker import SpanRanker
from corefine.models.storage.checkpoint import load_model
from corefine.models.storage.tensors import read_facts
from corefine.models.training.jobs import TrainingJob, run
from corefine.models.training.recipe import Recipe
from corefine.models.training.trainer import train
from helpers import tiny

DOCUMENTS = [tiny.document(seed, sentences=12) for seed in range(4)]


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


def test_as_many_mentions_are_linked_as_the_model_expects(model: Model) -> None:
    threshold = link_as_expected(model, DOCUMENTS)
    assert model.config.head.threshold == threshold
    predictions = [model.predict(document) for document in DOCUMENTS]
    linked = sum(int((each.probabilities[:, 0] < each.threshold).sum()) for each in predictions)
    expected = sum(float((1 - each.probabilities[:, 0]).sum()) for each in predictions)
    assert linked == pytest.approx(CAUTION * expected, abs=2)


def test_more_candidates_in_prediction_promise_no_more_links(model: Model) -> None:
    """Probabilities are those of training, with few candidates. Those of many more would add up to too many links."""
    config = replace(model.config, head=replace(model.config.head, candidates=2, candidates_predicted=40))
    wide = Model(config, model.encoder, SpanRanker(config, model.encoder.width, model.encoder.layers))
    wide.load_tensors(model.tensors())
    narrow_rows, rows = ([scores[:, :columns] for scores in map(wide.scores, DOCUMENTS)] for columns in (3, None))
    expected = sum(float((1 - scores.softmax(1)[:, 0]).sum()) for scores in narrow_rows)
    assert expected < sum(float((1 - scores.softmax(1)[:, 0]).sum()) for scores in rows)
    threshold = link_as_expected(wide, DOCUMENTS)
    linked = sum(int((scores.softmax(1)[:, 0] < threshold).sum()) for scores in rows)
    assert linked == pytest.approx(CAUTION * expected, abs=2)


@pytest.mark.parametrize(
    ("full", "answers", "policy", "chosen_anew"),
    [
        (True, False, "linked", False),
        (False, True, "linked", True),
        (False, False, "pseudo", False),
        (False, True, "pseudo", False),  # the model's own labels only confirm what it expects
    ],
)
def test_without_development_documents_answered_ones_set_the_threshold(
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
