"""Strange documents get an empty or ordinary result, never a crash."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corefine.document import Document
from corefine.models.committee import Committee
from corefine.models.network.config import EncoderConfig, ModelConfig
from corefine.models.network.model import Model
from corefine.models.resolver import Resolver
from helpers import tiny

COARSE = replace(tiny.CONFIG, head=replace(tiny.CONFIG.head, coarse_to_fine=True))
EVERYTHING = replace(
    tiny.CONFIG,
    head=replace(tiny.CONFIG.head, speakers=True, genres=("a",), string_match=True, surface=True, context="lstm"),
)
CONFIGS = {"plain": tiny.CONFIG, "coarse": COARSE, "every feature": EVERYTHING}


@pytest.fixture(scope="module", params=CONFIGS)
def resolver(request: pytest.FixtureRequest) -> Resolver:
    return Resolver(tiny.model(config=CONFIGS[request.param]))


@pytest.fixture(scope="module")
def minilm() -> Resolver:
    """The default encoder under a head with new weights."""
    config = ModelConfig(EncoderConfig(), tiny.CONFIG.head)
    return Resolver(Model.create(config))


def test_an_empty_document(resolver: Resolver) -> None:
    result = resolver.predict(Document("empty", (), ()))
    assert result.clusters == ()
    assert len(result.prediction) == 0


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\t \n"])
def test_an_empty_text(resolver: Resolver, text: str) -> None:
    result = resolver.predict(text)
    assert (result.clusters, result.offsets, result.strings) == ((), (), ())


def test_one_token(resolver: Resolver) -> None:
    result = resolver.predict("Anna")
    assert result.clusters == ()
    assert result.probability((0, 0), None) == 1


def test_a_document_in_which_nothing_is_a_mention() -> None:
    """A model that takes no span for a mention links nothing."""
    import torch

    model = tiny.model()
    with torch.no_grad():
        model.ranker.spans.score.bias.fill_(-100.0)
    result = Resolver(model).predict(tiny.document(2))
    assert result.clusters == ()
    assert (result.prediction.probabilities[:, 0] > 0.999).all()


def test_words_nobody_has_seen(resolver: Resolver) -> None:
    words = ["\u0000", "\ufffd", "𝕬𝖓𝖓𝖆", "x" * 5000, "🂡🂢", "\u200b", "", "ⵣⵣ", "\x7f"]
    result = resolver.predict(Document.from_sentences("odd", [words * 3]))
    assert np.isfinite(result.prediction.probabilities).all()


def test_words_no_wordpiece_covers(minilm: Resolver) -> None:
    words = ["\u0000", "\ufffd", "𝕬𝖓𝖓𝖆", "x" * 5000, "🂡🂢", "\u200b", "", "ⵣⵣ", "\x7f", " ", "[CLS]", "[SEP]", "[PAD]"]
    result = minilm.predict(Document.from_sentences("odd", [words * 3]))
    assert np.isfinite(result.prediction.probabilities).all()
    assert len(result.prediction) > 0


def test_an_empty_document_for_the_default_encoder(minilm: Resolver) -> None:
    assert minilm.predict(Document("empty", (), ())).clusters == ()
    assert minilm.predict("").clusters == ()


def test_one_sentence_of_twenty_thousand_tokens() -> None:
    sentence = [("Anna", "saw", "Tom", "and")[i % 4] for i in range(20_000)]
    document = Document.from_sentences("long", [sentence])
    prediction = tiny.model().predict(document)
    assert len(prediction) == int(tiny.CONFIG.head.spans_per_word * 20_000)


def test_a_committee_on_next_to_nothing() -> None:
    committee = Committee([tiny.model(0), tiny.model(1)])
    for tokens in ([], ["Anna"]):
        document = Document("d", tuple(tokens), (0,) if tokens else ())
        prediction = committee.predict(document)
        assert prediction.members is not None
        assert prediction.members.shape[0] == 2


@settings(max_examples=40)
@given(st.lists(st.lists(st.text(min_size=0, max_size=6), min_size=1, max_size=8), max_size=6))
def test_any_tokens_give_a_prediction(sentences: list[list[str]]) -> None:
    document = Document.from_sentences("any", sentences)
    result = Resolver(ANY).predict(document)
    assert all(document.holds(span) for cluster in result.clusters for span in cluster)


ANY = tiny.model(config=EVERYTHING)
