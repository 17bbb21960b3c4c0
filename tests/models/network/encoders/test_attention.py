"""Attention as batched products: the same as torch's, where it is used and where it is not."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F  # noqa: N812

from corefine.document import Document
from corefine.models.network.config import EncoderConfig
from corefine.models.network.encoders import attention, make_encoder
from corefine.models.network.encoders.transformer import TransformerEncoder

transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")

DOCUMENT = Document.from_sentences("d", [["Anna", "saw", "Tom", "."]] * 9)


@given(
    st.tuples(st.integers(1, 3), st.integers(1, 5), st.integers(1, 9), st.integers(1, 8)),
    st.sampled_from([1, 50, 10**6]),
    st.integers(0, 99),
)
def test_products_are_attention(shape: tuple[int, int, int, int], most: int, seed: int) -> None:
    chance = torch.Generator().manual_seed(seed)
    query, key, value = (torch.randn(shape, generator=chance, dtype=torch.float64) for _ in range(3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attention, "MOST_WEIGHTS", most)
        found = attention.products(query, key, value, 0.3)
    expected = F.scaled_dot_product_attention(query, key, value, scale=0.3).transpose(1, 2)
    torch.testing.assert_close(found, expected)


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of two layers with random weights and a vocabulary of four words."""
    place = tmp_path_factory.mktemp("bert")
    words = {word: number for number, word in enumerate(["[UNK]", "[CLS]", "[SEP]", "Anna", "saw", "Tom", "."])}
    backend = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="[UNK]"))
    backend.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    backend.post_processor = tokenizers.processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    transformers.PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="[UNK]").save_pretrained(place)
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(words), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32
    )
    transformers.BertModel(config).save_pretrained(place)
    return place


def encoder(folder: Path, **settings: Any) -> TransformerEncoder:
    made = make_encoder(EncoderConfig(kind="transformer", path=str(folder), window=16, overlap=4, **settings))
    assert isinstance(made, TransformerEncoder)
    return made


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One entry for each time that the products are computed."""
    calls: list[int] = []
    products = attention.products

    def counted(*given: Any) -> torch.Tensor:
        calls.append(1)
        return products(*given)

    monkeypatch.setattr(attention, "products", counted)
    return calls


def test_prediction_in_bfloat16_uses_them(bert: Path, used: list[int]) -> None:
    states = encoder(bert, precision="bfloat16").encode(DOCUMENT)
    assert used
    del used[:]
    expected = encoder(bert, precision="float32").encode(DOCUMENT)
    assert not used
    torch.testing.assert_close(states, expected, atol=0.05, rtol=0.05)


def test_training_does_not(bert: Path, used: list[int]) -> None:
    learning = encoder(bert, precision="bfloat16", fine_tune=True)
    learning.encode(DOCUMENT).sum().backward()
    assert not used
    assert all(weight.grad is not None for weight in learning.network.encoder.layer.parameters())


def test_cached_states_are_those_of_the_same_attention(bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_products = encoder(bert, precision="bfloat16")
    monkeypatch.setattr("corefine.models.network.encoders.transformer.use_products", lambda _: False)
    without = encoder(bert, precision="bfloat16")
    assert with_products.fingerprint() != without.fingerprint()
    assert with_products.identity() == without.identity()  # a head may read the states of either


def test_an_encoder_can_be_sent_to_another_process(bert: Path, tmp_path: Path) -> None:
    sent = encoder(bert, precision="bfloat16")
    (tmp_path / "sent").write_bytes(pickle.dumps(sent))
    code = (
        "import pickle, sys; from corefine.document import Document\n"
        "sent = pickle.load(open(sys.argv[1], 'rb'))\n"
        "print(sent.encode(Document.from_sentences('d', [['Anna', 'saw', 'Tom', '.']] * 9)).sum().item())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "sent")], capture_output=True, text=True, check=True
    )
    assert float(done.stdout) == pytest.approx(sent.encode(DOCUMENT).sum().item(), abs=1e-2)
