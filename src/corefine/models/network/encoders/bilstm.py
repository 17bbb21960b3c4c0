"""The paper's own encoder: word vectors, a character CNN, and a bidirectional LSTM.

It is trained together with the head. Word vectors from a file are never changed, so checkpoints store only their hash.
Without a file, words are hashed into a table that is learned.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from zlib import crc32

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from corefine.document import Document
from corefine.errors import ConfigError
from corefine.models.network.config import EncoderConfig
from corefine.models.network.encoders.vectors import WordVectors, load_vectors

CHARACTERS = 256
"""Characters are the bytes of UTF-8; 0 is padding."""

LONGEST = 60
"""How many bytes of a word are read."""


class BiLSTMEncoder(nn.Module):
    """Word vectors + character CNN -> BiLSTM over each sentence or over the document.

    With `words_apart`, a state is that of the LSTM followed by the vector that the LSTM read.
    """

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        if config.layers:
            raise ConfigError(f"layers {config.layers}: the bilstm encoder has only one")
        self.config = config
        self.name = "bilstm"
        self.width = 2 * config.hidden + config.words_width
        self.layers = 1
        path = config.path
        self.vectors: WordVectors | None = None if path is None else load_vectors(Path(path), config.word_width)
        # A frozen encoder is not saved, so its settings must determine its weights. A trained one gets different
        # weights in each member of a committee, from the seed of the model.
        with nullcontext() if config.fine_tune else torch.random.fork_rng(devices=[]):
            if not config.fine_tune:
                torch.manual_seed(config.seed)
            self.words = None if self.vectors else nn.Embedding(config.vocabulary, config.word_width)
            self.characters = nn.Embedding(CHARACTERS, config.char_width, padding_idx=0)
            self.filters = nn.ModuleList(
                nn.Conv1d(config.char_width, config.char_filters, width) for width in config.char_windows
            )
            size = config.word_width + config.char_filters * len(config.char_windows)
            self.lstm = nn.LSTM(size, config.hidden, bidirectional=True, batch_first=True)
        self.train(config.fine_tune)
        self.requires_grad_(config.fine_tune)

    def encode(self, document: Document) -> Tensor:
        if not len(document):
            return torch.zeros(0, self.width, device=self.device)
        with torch.set_grad_enabled(torch.is_grad_enabled() and self.training):
            vectors = F.dropout(self._vectors(document.tokens), self.config.dropout, self.training)  # [T, D]
            whole = self.config.scope == "document"
            lengths = [len(document)] if whole else [span.width for span in document.sentence_spans]
            batch = pad_sequence(list(torch.split(vectors, lengths)), batch_first=True)
            packed = pack_padded_sequence(batch, torch.tensor(lengths), batch_first=True, enforce_sorted=False)
            states, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)  # [sentences, longest, H]
            states = torch.cat([row[:length] for row, length in zip(states, lengths, strict=True)])  # [T, 2 hidden]
            return torch.cat([states, vectors], dim=1) if self.config.words_apart else states

    def blocks(self, document: Document) -> Iterator[Tensor]:
        yield self.encode(document)

    def fingerprint(self) -> str:
        digest = hashlib.sha256(json.dumps(self.config.to_dict(), sort_keys=True).encode())
        digest.update((self.vectors.sha256 if self.vectors else "").encode())
        for name, value in sorted(self.state_dict().items()):
            digest.update(name.encode())
            digest.update(value.detach().cpu().contiguous().numpy().tobytes())
        return digest.hexdigest()

    def identity(self) -> str | None:
        return None if self.config.fine_tune else self.fingerprint()

    @property
    def frozen(self) -> bool:
        return not self.config.fine_tune

    @property
    def module(self) -> nn.Module | None:
        return self if self.config.fine_tune else None

    def weights_changed(self) -> None:
        """Nothing depends on the weights."""

    def parameter_groups(self, rate: float, decay: float) -> list[dict[str, object]]:
        params = [parameter for parameter in self.parameters() if parameter.requires_grad]
        return [{"params": params, "lr": rate}] if params else []

    @property
    def index(self) -> dict[str, int] | None:
        """The row of each word in the file; None if there is no file."""
        return None if self.vectors is None else self.vectors.index

    @property
    def device(self) -> torch.device:
        return self.characters.weight.device

    def _vectors(self, tokens: Sequence[str]) -> Tensor:
        """[T, D] word vectors without context; each different word is computed once."""
        different = {token: number for number, token in enumerate(dict.fromkeys(tokens))}
        spelled = [
            torch.frombuffer(bytearray(word.encode("utf-8", "replace")[:LONGEST] or b"?"), dtype=torch.uint8)
            for word in different
        ]
        letters = pad_sequence(spelled, batch_first=True).long().to(self.device)  # [words, longest]
        letters = F.pad(letters, (0, max(self.config.char_windows)))  # so that a word does not depend on longer ones
        channels = self.characters(letters).transpose(1, 2)  # [words, char_width, longest]
        shapes = [torch.relu(convolve(channels)).amax(2) for convolve in self.filters]
        table = torch.cat([self._words(list(different)), *shapes], dim=1)
        return table[torch.tensor([different[token] for token in tokens], device=self.device)]

    def _words(self, words: Sequence[str]) -> Tensor:
        """[words, word_width] from the file, by the word as written or else in lower case; or learned."""
        if self.words is not None:
            buckets = [crc32(word.lower().encode("utf-8", "replace")) % self.config.vocabulary for word in words]
            learned: Tensor = self.words(torch.tensor(buckets, device=self.device))
            return learned
        if self.vectors is None:
            raise ConfigError("the bilstm encoder has neither a table of words nor a file of word vectors")
        index = self.vectors.index
        rows = torch.tensor([index.get(word, index.get(word.lower(), 0)) for word in words])
        return self.vectors.table[rows].to(self.device)
