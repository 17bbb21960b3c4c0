"""States on disk: the same states, keyed by what they depend on, whole or not at all."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from corefine.document import Document
from corefine.errors import ConfigError
from corefine.models.network.config import EncoderConfig
from corefine.models.network.encoders import make_encoder
from corefine.models.network.encoders.cache import BLOCK, CachedEncoder

DOCUMENT = Document.from_sentences("d", [["a", "b"], ["c"]])


class Counting:
    """An encoder that counts how often it is asked."""

    name, width = "counting", 4

    def __init__(self, *, layers: int = 1, version: str = "one") -> None:
        self.layers, self.version, self.calls = layers, version, 0

    def encode(self, document: Document) -> Tensor:
        self.calls += 1
        shape = (self.layers, len(document), 4) if self.layers > 1 else (len(document), 4)
        return torch.linspace(-1, 1, 4 * len(document) * self.layers).reshape(shape)

    def fingerprint(self) -> str:
        return f"{self.version}/{self.layers}"

    @property
    def frozen(self) -> bool:
        return True

    def identity(self) -> str | None:
        return self.fingerprint()

    def weights_changed(self) -> None: ...

    @property
    def module(self) -> nn.Module | None:
        return None

    def parameter_groups(self, rate: float, decay: float) -> list[dict[str, object]]:
        return []

    def to(self, device: torch.device | str) -> Counting:
        return self


@pytest.mark.parametrize("layers", [1, 3])
def test_states_are_encoded_once(layers: int, tmp_path: Path) -> None:
    inner = Counting(layers=layers)
    states = CachedEncoder(inner, tmp_path).encode(DOCUMENT)
    again = CachedEncoder(inner, tmp_path).encode(DOCUMENT)
    assert inner.calls == 1
    assert torch.equal(states, again)
    assert states.dtype == torch.float32
    torch.testing.assert_close(states, inner.encode(DOCUMENT), atol=1e-3, rtol=1e-3)


def test_clusters_and_names_do_not_matter_but_text_and_encoder_do(tmp_path: Path) -> None:
    cached = CachedEncoder(Counting(), tmp_path)
    same = Document.from_sentences("other", [["a"], ["b", "c"]], [[(0, 0), (2, 2)]])
    assert cached.path(same) == cached.path(DOCUMENT)
    for tokens in (["a", "b", "C"], ["ab", "c"], ["a", "bc"], ["a", "b", "c", ""]):
        assert cached.path(Document.from_sentences("d", [tokens])) != cached.path(DOCUMENT)
    assert CachedEncoder(Counting(version="two"), tmp_path).path(DOCUMENT) != cached.path(DOCUMENT)


@pytest.mark.parametrize("content", [b"", b"no array", None])
def test_a_broken_file_is_made_again(content: bytes | None, tmp_path: Path) -> None:
    inner = Counting()
    cached = CachedEncoder(inner, tmp_path)
    states = cached.encode(DOCUMENT)
    path = cached.path(DOCUMENT)
    path.write_bytes(path.read_bytes()[:-3] if content is None else content)
    assert torch.equal(cached.encode(DOCUMENT), states)
    assert inner.calls == 2
    assert torch.equal(cached.encode(DOCUMENT), states)
    assert inner.calls == 2


def test_a_file_that_becomes_shorter_while_it_is_read_is_an_error(tmp_path: Path) -> None:
    cached = CachedEncoder(Counting(), tmp_path)
    long = Document.from_sentences("long", [["a"] * (2 * BLOCK)])
    cached.encode(long)
    blocks = cached.blocks(long)
    next(blocks)
    path = cached.path(long)
    path.write_bytes(path.read_bytes()[: BLOCK * 9])
    with pytest.raises(OSError, match="shorter"):
        next(blocks)


def test_a_folder_that_cannot_be_written_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    inner = Counting()
    cached = CachedEncoder(inner, tmp_path / "file")
    assert torch.equal(cached.encode(DOCUMENT), cached.encode(DOCUMENT))
    assert inner.calls == 2


def test_a_reader_may_change_what_it_was_given(tmp_path: Path) -> None:
    cached = CachedEncoder(Counting(), tmp_path)
    before = cached.encode(DOCUMENT).clone()
    cached.encode(DOCUMENT).zero_()
    assert torch.equal(cached.encode(DOCUMENT), before)


def test_an_empty_document(tmp_path: Path) -> None:
    cached = CachedEncoder(Counting(), tmp_path)
    empty = Document("empty", (), ())
    assert cached.encode(empty).shape == cached.encode(empty).shape == (0, 4)


def test_a_tuned_encoder_is_not_cached(tmp_path: Path) -> None:
    tuned = make_encoder(EncoderConfig(kind="bilstm", word_width=4, hidden=2, vocabulary=9, fine_tune=True))
    with pytest.raises(ConfigError, match="cannot be cached"):
        CachedEncoder(tuned, tmp_path)


def _encode_many(folder: str) -> float:
    cached = CachedEncoder(Counting(), Path(folder))
    documents = [Document.from_sentences("d", [["x"] * (1 + number % 7)]) for number in range(60)]
    return float(sum(cached.encode(document).sum() for document in documents))


def test_several_processes_share_a_folder(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    with context.Pool(3) as pool:
        totals = pool.map(_encode_many, [str(tmp_path)] * 3)
    assert len(set(totals)) == 1
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".npy"]
