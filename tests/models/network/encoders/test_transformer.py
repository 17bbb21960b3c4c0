"""Encoders of every family that Hugging Face has: tiny ones with random weights, saved to a folder and loaded from it.

Each is compared with its own network given the whole text at once, frozen and fine-tuned.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from corefine.document import Document
from corefine.errors import ConfigError, WeightsError
from corefine.models.network.config import EncoderConfig, ModelConfig
from corefine.models.network.encoders import make_encoder
from corefine.models.network.encoders.transformer import TransformerEncoder
from corefine.models.network.model import Model
from corefine.models.storage.checkpoint import load_model, save_model

transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")
safetensors = pytest.importorskip("safetensors.torch")

WORDS = "Anna saw the old dog . It ran and she laughed , then they went home to the river".split()
DOCUMENT = Document.from_sentences("dog", [WORDS])
SIZES: dict[str, Any] = {
    "vocab_size": 64,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 48,
    "max_position_embeddings": 42,
    "pad_token_id": 1,
    "bos_token_id": 2,
    "eos_token_id": 3,
}
RELATIVE = {
    "relative_attention": True,
    "position_biased_input": False,
    "pos_att_type": ["p2c", "c2p"],
    "position_buckets": 8,
    "norm_rel_ebd": "layer_norm",
    "share_att_key": True,
}
FAMILIES: dict[str, Callable[[], Any]] = {
    "bert": lambda: transformers.BertConfig(**SIZES),
    "roberta": lambda: transformers.RobertaConfig(**SIZES),
    "xlm-roberta": lambda: transformers.XLMRobertaConfig(**SIZES),
    "distilbert": lambda: transformers.DistilBertConfig(
        vocab_size=64, dim=32, n_layers=2, n_heads=2, hidden_dim=48, max_position_embeddings=42, pad_token_id=1
    ),
    "electra": lambda: transformers.ElectraConfig(embedding_size=16, **SIZES),
    "mpnet": lambda: transformers.MPNetConfig(**SIZES),
    "deberta-v2": lambda: transformers.DebertaV2Config(**SIZES),
    "deberta-v3": lambda: transformers.DebertaV2Config(**SIZES, **RELATIVE),
    "modernbert": lambda: transformers.ModernBertConfig(
        **SIZES, global_attn_every_n_layers=2, local_attention=8, cls_token_id=2, sep_token_id=3
    ),
    "longformer": lambda: transformers.LongformerConfig(**SIZES, attention_window=[4, 4]),
    "t5": lambda: transformers.T5Config(
        vocab_size=64, d_model=32, num_layers=2, num_heads=2, d_ff=48, d_kv=16, pad_token_id=1, eos_token_id=3
    ),
}
POSITIONS = {"roberta": 40, "xlm-roberta": 40, "mpnet": 40, "longformer": 40, "t5": None}
"""Sub-words that a window may hold where it is not 42: two positions less where they begin behind the padding's."""


def save_tokenizer(place: Path, family: str) -> None:
    """Characters as sub-words, with the special tokens that the family has."""
    pieces = ["<unk>", "<pad>", "<s>", "</s>", "<mask>", *"abcdefghijklmnopqrstuvwxyzAIĠ.,"]
    byte_level = family in ("roberta", "modernbert", "longformer")
    model = tokenizers.models.BPE({piece: i for i, piece in enumerate(pieces)}, [], unk_token="<unk>")
    backend = tokenizers.Tokenizer(model)
    if byte_level:
        backend.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    else:
        backend.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    template = "$A </s>" if family == "t5" else "<s> $A </s>"
    backend.post_processor = tokenizers.processors.TemplateProcessing(
        single=template, special_tokens=[("<s>", 2), ("</s>", 3)]
    )
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=backend, unk_token="<unk>", pad_token="<pad>", mask_token="<mask>"
    ).save_pretrained(place)


@pytest.fixture(scope="module", params=sorted(FAMILIES))
def family(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    name = str(request.param)
    place = tmp_path_factory.mktemp(name)
    torch.manual_seed(0)
    transformers.AutoModel.from_config(FAMILIES[name]()).save_pretrained(place)
    save_tokenizer(place, name)
    return name, place


def encoder_of(place: Path, **settings: Any) -> TransformerEncoder:
    return make_encoder(EncoderConfig(kind="transformer", path=str(place), **settings))


def whole(encoder: TransformerEncoder) -> torch.Tensor:
    """What the network says of the text in one piece, as its own tokenizer makes it: a state for each sub-word."""
    pieces, _ = encoder._pieces(WORDS[:7])
    ids = torch.tensor([encoder.tokenizer("a")["input_ids"]])
    middle = (ids[0] == encoder.tokenizer.convert_tokens_to_ids("a")).nonzero().item()
    ids = torch.cat([ids[:, :middle], torch.tensor([pieces]), ids[:, middle + 1 :]], dim=1)
    with torch.no_grad():
        states: torch.Tensor = encoder.network(input_ids=ids).last_hidden_state[0]
    return states[middle : middle + len(pieces)]


def test_states_are_the_networks(family: tuple[str, Path]) -> None:
    name, place = family
    encoder = encoder_of(place, window=64, overlap=50)
    assert encoder.window == POSITIONS.get(name, 42) or (name == "t5" and encoder.window == 64)
    document = Document.from_sentences("d", [WORDS[:7]])
    states = encoder.encode(document)
    assert states.shape == (7, 32)
    assert not states.requires_grad
    _, counts = encoder._pieces(WORDS[:7])
    owners = [token for token, count in enumerate(counts.tolist()) for _ in range(count)]
    mine = [i for i, owner in enumerate(owners) if owner == 3]
    torch.testing.assert_close(states[3], whole(encoder)[mine].mean(0), atol=1e-5, rtol=1e-4)


def test_an_encoder_can_be_pickled_after_it_was_used(family: tuple[str, Path]) -> None:
    """transformers adds hooks to a network that is used, which cannot be pickled."""
    encoder = encoder_of(family[1], window=24, overlap=8, layers=(0, 2))
    states = encoder.encode(DOCUMENT)
    for each in (pickle.loads(pickle.dumps(encoder)), encoder):
        torch.testing.assert_close(each.encode(DOCUMENT), states)


def test_long_texts_are_read_in_windows(family: tuple[str, Path]) -> None:
    encoder = encoder_of(family[1], window=24, overlap=8, layers=(0, 2))
    states = encoder.encode(DOCUMENT)
    assert states.shape == (2, len(DOCUMENT), 32)
    assert torch.isfinite(states).all()
    assert encoder.fingerprint() == encoder_of(family[1], window=24, overlap=8, layers=(0, 2)).fingerprint()


def test_a_step_of_fine_tuning_moves_the_layers_that_are_tuned(family: tuple[str, Path]) -> None:
    encoder = encoder_of(family[1], fine_tune=True, tuned_layers=1, window=24, overlap=8)
    groups = encoder.parameter_groups(1e-2, 0.9)
    assert len(groups) == 1
    before = {name: value.clone() for name, value in encoder.network.named_parameters()}
    optimiser = torch.optim.SGD(groups)
    encoder.encode(DOCUMENT).pow(2).sum().backward()  # type: ignore[no-untyped-call]
    optimiser.step()
    moved = {name for name, value in encoder.network.named_parameters() if not torch.equal(value, before[name])}
    assert moved
    assert all(".1." in name for name in moved), moved  # the last of two layers
    everything = encoder_of(family[1], fine_tune=True, tuned_layers=3)
    assert [group["lr"] for group in everything.parameter_groups(1.0, 0.5)] == [0.25, 0.5, 1.0]


def test_a_fine_tuned_model_is_the_same_after_it_was_saved(family: tuple[str, Path], tmp_path: Path) -> None:
    """T5 has one table of sub-words under two names, which the format of weights does not allow."""
    encoder = EncoderConfig(kind="transformer", path=str(family[1]), fine_tune=True, window=24, overlap=8)
    model = Model.create(ModelConfig(encoder=encoder))
    with torch.no_grad():
        for value in model.encoder.module.parameters():
            value.add_(0.1)
    model.train(False)
    states = model.encoder.encode(DOCUMENT)
    save_model(tmp_path, model)
    loaded = load_model(tmp_path)
    loaded.train(False)
    torch.testing.assert_close(loaded.encoder.encode(DOCUMENT), states)


def test_words_within_a_text_have_their_space_where_the_tokenizer_marks_it(family: tuple[str, Path]) -> None:
    name, place = family
    encoder = encoder_of(place)
    first = encoder.tokenizer.convert_ids_to_tokens(encoder._pieces(["dog"])[0])[0]
    assert (first == "Ġ") == (name in ("roberta", "modernbert", "longformer"))


def test_a_vocabulary_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    transformers.BertModel(transformers.BertConfig(**SIZES | {"vocab_size": 20})).save_pretrained(tmp_path)
    save_tokenizer(tmp_path, "bert")
    with pytest.raises(WeightsError, match="the network knows 20"):
        encoder_of(tmp_path)


@pytest.fixture
def bert(tmp_path: Path) -> Path:
    transformers.BertModel(transformers.BertConfig(**SIZES)).save_pretrained(tmp_path)
    save_tokenizer(tmp_path, "bert")
    return tmp_path


def test_a_vocabulary_with_gaps_that_does_not_fit_is_refused(bert: Path) -> None:
    """It has fewer sub-words than the network, but one of them has a number that the network does not know."""
    tokenizer = json.loads((bert / "tokenizer.json").read_text(encoding="utf-8"))
    tokenizer["model"]["vocab"]["d"] = 500
    (bert / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    with pytest.raises(WeightsError, match="has 501 sub-words, but the network knows 64"):
        encoder_of(bert)


def test_an_encoder_without_a_tokenizer_is_refused(bert: Path) -> None:
    """transformers makes one that knows only special tokens, and every word is the same."""
    for path in bert.glob("tokenizer*"):
        path.unlink()
    with pytest.raises(WeightsError, match="has no fast tokenizer"):
        encoder_of(bert)


def test_a_folder_that_is_no_encoder_is_refused(tmp_path: Path) -> None:
    """transformers says that a package for tokenizers is missing."""
    with pytest.raises(WeightsError, match=r"holds no encoder, as it has no config\.json"):
        encoder_of(tmp_path)


def test_a_tokenizer_that_needs_a_package_names_it(bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """DeBERTa v3 has only a SentencePiece model on the hub. transformers asks for tiktoken, which does not help."""
    (bert / "tokenizer.json").rename(bert / "spm.model")
    monkeypatch.setattr("corefine.models.network.encoders.pretrained.find_spec", lambda _: None)
    with pytest.raises(WeightsError, match=r"\(spm\.model\).*pip install sentencepiece protobuf"):
        encoder_of(bert)


def test_truncated_weights_are_refused(bert: Path) -> None:
    weights = bert / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(WeightsError, match="cannot load the encoder"):
        encoder_of(bert)


def test_weights_of_other_sizes_are_refused(bert: Path) -> None:
    transformers.BertConfig(**SIZES | {"intermediate_size": 50}).save_pretrained(bert)
    with pytest.raises(WeightsError, match="cannot load the encoder"):
        encoder_of(bert)


def test_weights_that_lack_a_part_of_a_layer_are_refused(bert: Path) -> None:
    """transformers draws what is missing at random. A pooler may be missing: nothing here uses it."""
    whole = safetensors.load_file(bert / "model.safetensors")
    rest = {name: value for name, value in whole.items() if not name.startswith("pooler")}
    safetensors.save_file(rest, bert / "model.safetensors", metadata={"format": "pt"})
    encoder_of(bert)
    rest.pop("encoder.layer.1.output.dense.bias")
    safetensors.save_file(rest, bert / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(WeightsError, match=r"incomplete: encoder\.layer\.1\.output\.dense\.bias is missing"):
        encoder_of(bert)


def test_layers_that_are_one_cannot_be_fine_tuned(tmp_path: Path) -> None:
    torch.manual_seed(0)
    transformers.AlbertModel(transformers.AlbertConfig(embedding_size=16, **SIZES)).save_pretrained(tmp_path)
    save_tokenizer(tmp_path, "albert")
    assert torch.isfinite(encoder_of(tmp_path, window=24, overlap=8).encode(DOCUMENT)).all()
    with pytest.raises(ConfigError, match="AlbertModel cannot be fine-tuned"):
        encoder_of(tmp_path, fine_tune=True)


def test_adapters_learn_and_then_become_part_of_a_frozen_encoder(family: tuple[str, Path]) -> None:
    settings = {"lora_rank": 2, "window": 24, "overlap": 8}
    plain = encoder_of(family[1], window=24, overlap=8).encode(DOCUMENT)
    tuned = encoder_of(family[1], fine_tune=True, **settings)
    tuned.eval()
    torch.testing.assert_close(tuned.encode(DOCUMENT), plain)  # at first they change nothing
    tuned.train()
    [group] = tuned.parameter_groups(1e-1, 0.9)
    optimiser = torch.optim.SGD([group])
    tuned.encode(DOCUMENT).square().sum().backward()
    optimiser.step()
    tuned.eval()
    changed = tuned.encode(DOCUMENT)
    assert not torch.allclose(changed, plain, atol=1e-4)

    frozen = encoder_of(family[1], **settings)
    assert frozen.frozen
    assert frozen.identity() == tuned.identity()
    before = frozen.fingerprint()
    frozen.module.load_state_dict(tuned.module.state_dict())
    frozen.weights_changed()
    torch.testing.assert_close(frozen.encode(DOCUMENT), changed, atol=1e-4, rtol=1e-3)
    assert frozen.fingerprint() != before  # so that cached states are not mixed up
    held = sum(value.numel() for value in frozen.module.state_dict().values())
    assert held < sum(value.numel() for value in frozen.network.parameters()) / 2


def test_weights_stored_in_bfloat16_change_no_state_and_take_new_adapters(family: tuple[str, Path]) -> None:
    """Products in bfloat16 round their weights; it makes no difference that this happens only once."""
    settings = {"lora_rank": 2, "window": 24, "overlap": 8, "precision": "bfloat16"}
    torch.manual_seed(0)
    tuned = encoder_of(family[1], fine_tune=True, **settings)
    with torch.no_grad():
        for value in tuned.module.parameters():
            value.normal_(std=0.1)
    other = encoder_of(family[1], **settings)
    other.module.load_state_dict(tuned.module.state_dict())
    other.weights_changed()
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        other._rounded = True  # as if it had been done already
        expected = other.encode(DOCUMENT)

    encoder = encoder_of(family[1], **settings)
    plain = encoder.encode(DOCUMENT)
    before = encoder.fingerprint()
    assert any(value.dtype == torch.bfloat16 for value in encoder.network.parameters())
    encoder.module.load_state_dict(tuned.module.state_dict())
    encoder.weights_changed()
    assert torch.equal(encoder.encode(DOCUMENT), expected)
    assert not torch.equal(expected, plain)
    assert encoder.fingerprint() == other.fingerprint() != before


@pytest.mark.parametrize("rank", [0, 2])
def test_a_prediction_before_training_changes_nothing_about_training(family: tuple[str, Path], rank: int) -> None:
    """The weights that a prediction stores in bfloat16 are no tensors of inference mode."""
    settings = {"fine_tune": True, "tuned_layers": 1, "lora_rank": rank, "window": 24, "overlap": 8}
    found = []
    for predicts in (False, True):
        torch.manual_seed(0)
        encoder = encoder_of(family[1], precision="bfloat16", **settings)
        if predicts:
            with torch.inference_mode():
                encoder.encode(DOCUMENT)
        encoder.encode(DOCUMENT).square().sum().backward()
        gradients = [value.grad for value in encoder.module.parameters() if value.grad is not None]
        assert gradients
        found.append(gradients)
        assert encoder.fingerprint()
    for one, other in zip(*found, strict=True):
        assert torch.equal(one, other)
