"""Calibration: on development documents, or else by what a sample of answers says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from corefine.annotation.labels import Labels
from corefine.annotation.sampling import LinkSample, link_rate
from corefine.models.calibration import TEMPERATURES, THRESHOLDS, calibrate, match_link_rate
from corefine.models.network.model import Model
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


@pytest.mark.parametrize("rate", [0.1, 0.4])
def test_the_threshold_links_the_share_that_is_wanted(model: Model, rate: float) -> None:
    threshold = match_link_rate(model, DOCUMENTS, rate)
    assert model.config.head.threshold == threshold
    predictions = [model.predict(document) for document in DOCUMENTS]
    linked = sum(int((each.probabilities[:, 0] < each.threshold).sum()) for each in predictions)
    assert linked / sum(map(len, predictions)) == pytest.approx(rate, abs=0.05)


def test_calibration_sets_what_it_returns(model: Model) -> None:
    found = calibrate(model, DOCUMENTS)
    assert TEMPERATURES[0] <= found.temperature <= TEMPERATURES[-1]
    assert found.threshold in THRESHOLDS
    assert (model.config.head.temperature, model.config.head.threshold) == (found.temperature, found.threshold)


@pytest.mark.parametrize("sample", [None, LinkSample(rows=40, expected=10, known=30, linked=20, predicted=8)])
def test_without_development_documents_a_sample_of_answers_sets_the_threshold(
    tmp_path: Path, sample: LinkSample | None
) -> None:
    labels = [replace(Labels.gold(document), full=False, sample=sample) for document in DOCUMENTS]
    job = TrainingJob(recipe=Recipe(tiny.CONFIG, tiny.TRAINING), labels=labels, folder=tmp_path / "model", threads=1)
    for _ in run(job):
        pass
    told = read_facts(job.folder, "model")["trained"]["calibration"]
    assert told is None if sample is None else told["link_rate"] == link_rate([sample] * len(DOCUMENTS))
    assert load_model(job.folder).config.head.threshold == (told["threshold"] if told else 0.5)
