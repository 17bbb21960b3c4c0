"""The model's benchmarks run and measure what they say; their bars are checked by hand, not here."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

import pytest

import committee
import fastcoref
import long
import retraining
import speed
from corefine.corpora import Corpus
from corefine.document import Document
from corefine.errors import InputError
from corefine.models.network.config import EncoderConfig, HeadConfig, ModelConfig
from corefine.models.training.recipe import Recipe, TrainingConfig
from measuring import alternate, in_own_process, peak_megabytes

OTHER_SIDE = """
import json, sys
print("chatter of a library")
print(json.dumps({"ready": True}), flush=True)
for _ in sys.stdin:
    print(json.dumps({"seconds": 2.0, "cpu_seconds": 1.0, "documents": 2, "megabytes": 100000.0}), flush=True)
"""


def test_ways_take_turns_and_the_first_round_does_not_count() -> None:
    order: list[str] = []
    seconds = alternate([lambda: order.append("a"), lambda: order.append("b")], rounds=2)
    assert order == ["a", "b"] * 3
    assert len(seconds) == 2


def test_memory_is_that_of_the_process() -> None:
    assert peak_megabytes() > 10
    assert 5 < in_own_process(peak_megabytes) < 2000


def test_a_committee_is_measured() -> None:
    found = committee.measure(rounds=1, members=2, tokens=60)
    assert found.ratio == found.committee_seconds / found.one_seconds
    assert found.members == 2
    assert "a committee of 2" in committee.described(found)


def test_the_default_recipe_is_compared_with_the_one_before() -> None:
    model = ModelConfig(EncoderConfig(kind="bilstm", word_width=8, hidden=8), HeadConfig(hidden=8, pair_width=8))
    recipe = Recipe(model, TrainingConfig(epochs=3))
    assert speed.before(recipe).model.head.context == "lstm"
    found = speed.measure(rounds=1, tokens=60, recipe=recipe)
    assert found.encoding_speedup == found.encoding_seconds_before / found.encoding_seconds
    assert found.training_speedup == found.training_seconds_before / found.training_seconds
    assert "60 tokens" in speed.described(found)


@pytest.mark.nightly
def test_long_documents_are_measured() -> None:
    found = long.measure((60, 120))
    assert [point.tokens for point in found.points] == [60, 120]
    assert found.largest_megabytes == max(point.megabytes for point in found.points)
    assert "120 tokens" in long.described(found)


def test_retraining_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = [
        Document.from_sentences(f"d{number}", [["Anna", "slept", "."], ["She", "sang", "."]] * 2, [[(0, 0), (3, 3)]])
        for number in range(13)
    ]
    corpus = Corpus("litbank", tuple(documents[:12]), (documents[12],))
    monkeypatch.setattr(retraining, "load_corpus", lambda *_, **__: corpus)
    model = ModelConfig(EncoderConfig(kind="bilstm", word_width=8, hidden=8), HeadConfig(hidden=8, pair_width=8))
    found = retraining.measure(recipe=Recipe(model, TrainingConfig(epochs=1)), epochs=2)
    assert len(found.epochs) == 2
    assert found.epochs[0].seconds < found.epochs[1].seconds
    assert found.retraining_seconds in {epoch.seconds for epoch in found.epochs}
    assert "retraining with 10 more" in retraining.described(found)


@pytest.fixture
def two_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = (Document.from_sentences("a", [["Anna", "slept"]]), Document.from_sentences("b", [["She", "sang"]]))
    monkeypatch.setattr(fastcoref, "load_corpus", lambda *_, **__: Corpus("litbank", (), (), texts))


@pytest.mark.nightly
@pytest.mark.usefixtures("two_texts")
def test_fastcoref_is_compared(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With a stand-in for fastcoref's process, whose figures are known."""
    side = tmp_path / "side.py"
    side.write_text(OTHER_SIDE)
    monkeypatch.setattr(fastcoref, "SIDE", side)
    found = fastcoref.measure(sys.executable, threads=1, rounds=1)
    assert asdict(found.fastcoref["its default"]) == {
        "documents_per_second": 1.0,
        "seconds": 2.0,
        "cpu_seconds": 1.0,
        "megabytes": 100000.0,
    }
    assert found.speedup == found.ours.documents_per_second
    assert found.cpu_speedup == 1 / found.ours.cpu_seconds
    assert found.memory_ratio == 100000.0 / found.ours.megabytes
    assert "times as fast" in fastcoref.described(found)


@pytest.mark.usefixtures("two_texts")
def test_an_environment_without_fastcoref_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    side = tmp_path / "side.py"
    side.write_text("import fastcoref_that_is_not_installed")
    monkeypatch.setattr(fastcoref, "SIDE", side)
    with pytest.raises(InputError, match="fastcoref_that_is_not_installed"):
        fastcoref.measure(sys.executable, threads=1, rounds=1)
