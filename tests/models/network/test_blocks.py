"""Prediction in blocks of tokens: the same as in one go."""

from __future__ import annotations

import string
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from corefine.annotation.revision import decode
from corefine.document import Document
from corefine.errors import InputError
from corefine.models.committee import Committee
from corefine.models.network import model as model_module
from corefine.models.network import ranker as ranker_module
from corefine.models.network.config import EncoderConfig, ModelConfig
from corefine.models.network.context import GatedScan, scan
from corefine.models.network.encoders import FrozenEncoder, cache, states_in_blocks, transformer
from corefine.models.network.model import Model
from corefine.prediction import Prediction
from helpers import tiny

transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")

DOCUMENTS = [Document("empty", (), ()), Document.from_sentences("one", [["Anna"]]), tiny.document(2, sentences=40)]


class Cut(FrozenEncoder):
    """Hands out fixed states in blocks of given sizes."""

    name, width, layers = "cut", 3, 2

    def __init__(self, *sizes: int) -> None:
        self.sizes = sizes
        self.states = torch.arange(6.0 * sum(sizes)).reshape(2, -1, 3)

    def encode(self, document: Document) -> Tensor:
        return self.states

    def blocks(self, document: Document) -> Iterator[Tensor]:
        yield from self.states.split(self.sizes, dim=1)


def of_length(tokens: int) -> Document:
    return Document.from_sentences("d", [["x"] * tokens]) if tokens else Document("empty", (), ())


@given(st.lists(st.integers(0, 7), min_size=1, max_size=6), st.integers(1, 9))
def test_blocks_do_not_depend_on_how_the_encoder_cuts(sizes: list[int], size: int) -> None:
    encoder = Cut(*sizes)
    blocks = list(states_in_blocks(encoder, of_length(sum(sizes)), size))
    assert torch.equal(torch.cat(blocks, dim=1), encoder.states)
    assert {block.shape[1] for block in blocks[:-1]} <= {size}
    assert len(blocks) == max(1, -(-sum(sizes) // size))


@pytest.mark.parametrize("tokens", [0, 4, 5, 7, 11])
def test_an_encoder_with_too_few_or_too_many_states_is_refused(tokens: int) -> None:
    with pytest.raises(InputError, match=f"states for {tokens} tokens"):
        list(states_in_blocks(Cut(3, 3), of_length(tokens), 4))


@given(st.lists(st.integers(1, 8), min_size=1, max_size=5), st.integers(0, 99))
def test_a_scan_can_be_carried_from_block_to_block(sizes: list[int], seed: int) -> None:
    chance = torch.Generator().manual_seed(seed)
    keep, gain = torch.rand(sum(sizes), 3, generator=chance), torch.randn(sum(sizes), 3, generator=chance)
    state = torch.zeros(3)
    found = []
    for some, added in zip(keep.split(sizes), gain.split(sizes), strict=True):
        found.append(scan(some, added, state))
        state = found[-1][-1]
    torch.testing.assert_close(torch.cat(found), scan(keep, gain), atol=1e-5, rtol=1e-5)


@given(st.lists(st.integers(1, 8), min_size=1, max_size=5), st.integers(0, 99))
def test_the_context_of_blocks_is_that_of_the_document(sizes: list[int], seed: int) -> None:
    torch.manual_seed(seed)
    layer = GatedScan(5, 4)
    states = torch.randn(sum(sizes), 5)
    found = layer.join([layer.project(block) for block in states.split(sizes)])
    torch.testing.assert_close(found, layer(states), atol=1e-5, rtol=1e-5)


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of two layers with random weights, which spells words letter by letter."""
    place = tmp_path_factory.mktemp("bert")
    pieces = {piece: number for number, piece in enumerate(["[UNK]", "[CLS]", "[SEP]", *string.ascii_letters])}
    backend = tokenizers.Tokenizer(tokenizers.models.BPE(pieces, [], unk_token="[UNK]"))
    backend.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    backend.post_processor = tokenizers.processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    transformers.PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="[UNK]").save_pretrained(place)
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(pieces), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32
    )
    transformers.BertModel(config).save_pretrained(place)
    return place


def config_of(encoder: str, context: str, bert: Path) -> ModelConfig:
    settings = replace(tiny.CONFIG.encoder, fine_tune=False)
    if encoder in ("transformer", "cached"):
        settings = EncoderConfig(kind="transformer", path=str(bert), window=32, overlap=8, layers=(0, 1, 2))
    if encoder == "tuned":
        settings = tiny.CONFIG.encoder
    head = replace(tiny.CONFIG.head, context=context, context_width=5, surface=True)
    if context == "none":  # equal words have equal scores: rounding would decide which of them are candidates
        head = replace(head, candidates=1_000)
    return replace(tiny.CONFIG, encoder=settings, head=head)


def in_blocks(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """Make all blocks so small."""
    monkeypatch.setattr(model_module, "TOKENS_IN_BLOCK", size)
    monkeypatch.setattr(ranker_module, "SPANS_IN_BLOCK", size)
    monkeypatch.setattr(cache, "BLOCK", size + 1)
    monkeypatch.setattr(transformer, "BATCH_ON_CPU", 1)


def same(one: Prediction, other: Prediction) -> None:
    assert one.spans == other.spans
    # Candidates are compared without their order, which rounding decides where scores are equal.
    assert np.array_equal(np.sort(one.candidates), np.sort(other.candidates))
    assert np.allclose(one.probabilities[:, 0], other.probabilities[:, 0], atol=1e-5)
    assert np.allclose(np.sort(one.probabilities), np.sort(other.probabilities), atol=1e-5)
    assert decode(one) == decode(other)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
@pytest.mark.parametrize("context", ["none", "lstm", "scan"])
@pytest.mark.parametrize("encoder", ["frozen", "tuned", "transformer", "cached"])
def test_blocks_change_no_prediction(
    encoder: str, context: str, document: Document, bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Model.create(config_of(encoder, context, bert), seed=3, cache=tmp_path if encoder == "cached" else None)
    whole = model.predict(document)
    in_blocks(monkeypatch, 7)
    same(model.predict(document), whole)
    for file in tmp_path.rglob("*.npy"):
        file.unlink()
    same(model.predict(document), whole)  # with a cache: encoded and written in blocks
    same(model.predict(document), whole)  # with a cache: read in blocks


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
@pytest.mark.parametrize("shared", [True, False])
def test_blocks_change_no_committee(
    shared: bool, document: Document, bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = config_of("transformer", "scan", bert)
    members = [Model.create(config, seed=seed) for seed in range(3)]
    if shared:
        members = [Model(config, members[0].encoder, member.ranker) for member in members]
    committee = Committee(members)
    whole = committee.predict(document)
    in_blocks(monkeypatch, 7)
    same(committee.predict(document), whole)


@pytest.mark.parametrize("pooling", ["mean", "first"])
def test_states_in_blocks_are_those_of_the_document(pooling: str, bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows end within words, whose sub-words then lie in two blocks."""
    document = tiny.document(4, sentences=30)
    settings = replace(config_of("transformer", "none", bert).encoder, pooling=pooling)
    encoder = Model.create(ModelConfig(encoder=settings)).encoder
    monkeypatch.setattr(transformer, "BATCH_ON_CPU", 1000)
    whole = encoder.encode(document)
    monkeypatch.setattr(transformer, "BATCH_ON_CPU", 1)
    blocks = list(encoder.blocks(document))
    assert len(blocks) > 5
    torch.testing.assert_close(torch.cat(blocks, dim=1), whole, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("size", [7, 10_000])
def test_a_prediction_is_encoded_once(bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    in_blocks(monkeypatch, size)
    model = Model.create(config_of("cached", "scan", bert), cache=tmp_path)
    first = model.predict(DOCUMENTS[-1])
    assert isinstance(model.encoder, cache.CachedEncoder)
    monkeypatch.setattr(model.encoder.encoder, "blocks", lambda _: pytest.fail("encoded again"))
    same(first, model.predict(DOCUMENTS[-1]))


def test_a_reader_that_stops_early_leaves_no_file(bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_blocks(monkeypatch, 7)
    model = Model.create(config_of("cached", "none", bert), cache=tmp_path)
    assert isinstance(model.encoder, cache.CachedEncoder)
    with closing(model.encoder.blocks(DOCUMENTS[-1])) as states:
        next(states)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_an_encoder_without_blocks_is_read_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    class Whole(FrozenEncoder):
        name, width = "whole", 3

        def encode(self, document: Document) -> Tensor:
            return torch.ones(len(document), 3)

        def fingerprint(self) -> str:
            return "whole"

    monkeypatch.delattr(FrozenEncoder, "blocks")
    monkeypatch.setattr(model_module, "TOKENS_IN_BLOCK", 7)
    model = Model.create(ModelConfig(head=tiny.CONFIG.head), encoder=Whole())
    assert len(model.predict(DOCUMENTS[-1])) > 7
