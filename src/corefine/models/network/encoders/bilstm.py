"""The paper's own encoder: word vectors, a character CNN, and a bidirectional LSTM over each sentence.

It is trained with the head. Word vectors come from a file in GloVe's format and stay as they are; without a file, words
are hashed into a table that is learned.
"""

from __future__ import annotations

import hashlib
import json
from array import array
from collections.abc import Sequence
from pathlib import Path
from zlib import crc32

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from corefine.document import Document
from corefine.errors import ConfigError, WeightsError
from corefine.models.network.config import EncoderConfig

CHARACTERS = 256
"""Characters are the bytes of UTF-8; 0 is padding."""

LONGEST = 60
"""How many bytes of a word are read."""


class BiLSTMEncoder(nn.Module):
    """Word vectors + character CNN -> BiLSTM, sentence by sentence."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        if config.layers:
            raise ConfigError(f"layers {config.layers}: the bilstm encoder has only one")
        self.config = config
        self.name = "bilstm"
        self.width = 2 * config.hidden
        self.layers = 1
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.seed)
            self.index, self.words = self._word_table()
            self.characters = nn.Embedding(CHARACTERS, config.char_width, padding_idx=0)
            self.filters = nn.ModuleList(
                nn.Conv1d(config.char_width, config.char_filters, width) for width in config.char_windows
            )
            size = config.word_width + config.char_filters * len(config.char_windows)
            self.lstm = nn.LSTM(size, config.hidden, bidirectional=True, batch_first=True)
        self.train(config.fine_tune)
        self.requires_grad_(config.fine_tune)
        if self.index is not None:
            self.words.weight.requires_grad_(False)

    def encode(self, document: Document) -> Tensor:
        if not len(document):
            return torch.zeros(0, self.width, device=self.device)
        with torch.set_grad_enabled(torch.is_grad_enabled() and self.training):
            vectors = F.dropout(self._vectors(document.tokens), self.config.dropout, self.training)  # [T, D]
            lengths = [span.width for span in document.sentence_spans]
            batch = pad_sequence(list(torch.split(vectors, lengths)), batch_first=True)
            packed = pack_padded_sequence(batch, torch.tensor(lengths), batch_first=True, enforce_sorted=False)
            states, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)  # [sentences, longest, H]
            return torch.cat([row[:length] for row, length in zip(states, lengths, strict=True)])

    def fingerprint(self) -> str:
        digest = hashlib.sha256(json.dumps(self.config.to_dict(), sort_keys=True).encode())
        for name, value in sorted(self.state_dict().items()):
            digest.update(name.encode())
            digest.update(value.detach().cpu().contiguous().numpy().tobytes())
        return digest.hexdigest()

    @property
    def module(self) -> nn.Module | None:
        return self if self.config.fine_tune else None

    def parameter_groups(self, rate: float, decay: float) -> list[dict[str, object]]:
        params = [parameter for parameter in self.parameters() if parameter.requires_grad]
        return [{"params": params, "lr": rate}] if params else []

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
        ids = torch.tensor([self._word(word) for word in different], device=self.device)
        table = torch.cat([self.words(ids), *shapes], dim=1)
        return table[torch.tensor([different[token] for token in tokens], device=self.device)]

    def _word(self, word: str) -> int:
        if self.index is None:
            return crc32(word.lower().encode("utf-8", "replace")) % self.config.vocabulary
        return self.index.get(word, self.index.get(word.lower(), 0))

    def _word_table(self) -> tuple[dict[str, int] | None, nn.Embedding]:
        if self.config.path is None:
            return None, nn.Embedding(self.config.vocabulary, self.config.word_width)
        index, values = read_vectors(Path(self.config.path), self.config.word_width)
        return index, nn.Embedding(len(values), self.config.word_width, _weight=values)


def read_vectors(path: Path, width: int) -> tuple[dict[str, int], Tensor]:
    """Word vectors in GloVe's format: a word and its numbers on each line. Row 0 is for unknown words."""
    index: dict[str, int] = {}
    numbers = array("f", [0.0] * width)
    try:
        with path.open(encoding="utf-8") as file:
            for line, text in enumerate(file, 1):
                word, *values = text.rstrip("\n").rsplit(" ", width)
                if len(values) != width:
                    raise WeightsError(f"{path}:{line}: a word and {width} numbers were expected")
                if word not in index:
                    index[word] = len(index) + 1
                    numbers.extend(map(float, values))
    except (OSError, ValueError) as error:
        raise WeightsError(f"cannot read the word vectors {path}: {error}") from error
    if not index:
        raise WeightsError(f"{path} holds no word vectors")
    return index, torch.tensor(numbers).view(-1, width)
