"""How the starter model is made, on corpora and a model small enough for a test; and the one that ships."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import corefine
import make_starter
from corefine.corpora.corpus import Corpus
from corefine.document import Document
from corefine.errors import InputError, ModelError
from corefine.models.evaluation import linked_share
from corefine.models.load import SHIPPED
from corefine.models.network.encoders.known import known_encoders, local_folder
from corefine.models.resolver import Resolver
from corefine.models.training.recipe import Recipe
from helpers import tiny

STARTER = SHIPPED["starter"]
[MPNET] = (each for each in known_encoders() if each.name == "mpnet")

needs_starter = pytest.mark.skipif(not (STARTER / "model.json").is_file(), reason="no starter model is packed yet")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Corpora of a few documents, a recipe of a tiny model, and a home of its own."""

    def load(name: str, *, mirror: Path | None = None) -> Corpus:
        assert mirror == tmp_path
        if name == "winobias":
            raise InputError("not here")
        documents = tiny.documents(6, first=len(name))
        return Corpus(name, tuple(documents[:4]), (documents[4],), (documents[5],), "CC0", f"The {name} authors.")

    monkeypatch.setattr(make_starter, "load_corpus", load)
    monkeypatch.setattr(make_starter, "load_recipe", lambda _: Recipe(tiny.CONFIG, tiny.TRAINING))
    monkeypatch.setenv("COREFINE_HOME", str(tmp_path / "home"))
    return tmp_path


def test_it_is_trained_packed_and_described(small: Path) -> None:
    goal, card = small / "starter", small / "card.md"
    made = make_starter.make("starter", mirror=small, work=small / "work", goal=goal, card=card)
    facts = json.loads((goal / "model.json").read_text())["trained"]
    assert facts["scores"] == made["scores"]
    assert set(facts["scores"]) == {"litbank", "ontogum"}
    text = card.read_text()
    assert "The ontogum authors." in text
    assert f"{made['scores']['litbank']['test']['conll_f1']:.1f}" in text
    assert "WinoBias was not at hand" in text
    assert f"{made['tokens_per_second']:,.0f} tokens in a second" in text
    assert isinstance(corefine.load(goal, device="cpu"), Resolver)


def test_every_stage_has_the_seed(small: Path) -> None:
    made = make_starter.make("starter", mirror=small, work=small / "work", goal=small / "starter", seed=7)
    assert [stage["training"]["seed"] for stage in made["stages"]] == [7, 7]


def test_one_that_is_too_heavy_is_not_packed(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(make_starter, "LARGEST_BYTES", 1000)
    with pytest.raises(ModelError, match="nothing was packed"):
        make_starter.make("starter", mirror=small, work=small / "work", goal=small / "starter")
    assert not (small / "starter").exists()


def test_the_share_of_pairs_that_are_linked() -> None:
    from helpers.scripted import Scripted

    right = Document.from_sentences("a", [["x"] * 5], [[(0, 0), (2, 2)]])
    wrong = Document.from_sentences("b", [["x"] * 5], [[(0, 0), (1, 1)]])
    assert linked_share(Scripted().predict, [right]) == 100
    assert linked_share(Scripted().predict, [right, wrong]) == 50
    assert linked_share(Scripted().predict, []) == 0


@needs_starter
def test_the_starter_is_light_and_works() -> None:
    assert sum(path.stat().st_size for path in STARTER.rglob("*")) <= make_starter.LARGEST_BYTES
    result = corefine.load(device="cpu").predict("Anna Smith met her brother. She told him that he was late.")
    assert any({"her", "She"} <= set(cluster) for cluster in result.strings)


@needs_starter
def test_the_card_is_that_of_the_model() -> None:
    from model_card import model_card

    facts = json.loads((STARTER / "model.json").read_text())["trained"]
    card = Path(__file__).parents[2] / "docs" / "model-card.md"
    assert card.read_text() == model_card(facts)


@needs_starter
def test_the_starter_does_what_it_says(corpora: Path) -> None:
    """Two documents of LitBank test, scored anew: well above chance, so the weights are those of a trained model."""
    from corefine.corpora import load_corpus
    from corefine.models.evaluation import evaluate

    documents = load_corpus("litbank", mirror=corpora).test[:2]
    assert evaluate(corefine.load(device="cpu").model.predict, documents).conll_f1 > 40


@pytest.mark.skipif(not (SHIPPED["strong"] / "model.json").is_file(), reason="the strong model is not packed")
def test_the_strong_model_is_light_and_described() -> None:
    from model_card import model_card

    strong = SHIPPED["strong"]
    assert sum(path.stat().st_size for path in strong.rglob("*")) <= make_starter.LARGEST_BYTES
    facts = json.loads((strong / "model.json").read_text())["trained"]
    card = Path(__file__).parents[2] / make_starter.CARDS["strong"]
    assert card.read_text() == model_card(facts)


@pytest.mark.skipif(local_folder(MPNET) is None, reason="the encoder of the strong model is not here")
def test_the_strong_model_works() -> None:
    assert ("Bob", "He") in corefine.load("strong", device="cpu").predict("Bob saw Mary. He waved at her.").strings
