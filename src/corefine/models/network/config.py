"""Every setting of the model, in one place, and nothing else.

A checkpoint carries these as JSON, so a key that is not known here stops the load by name: it was made by a newer
version, or mistyped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, ClassVar, Literal, Self

from corefine.errors import ConfigError

FULL: Literal["full"] = "full"


class Config:
    """Reading and writing of plain dictionaries, shared by the frozen dataclasses below."""

    retired: ClassVar[frozenset[str]] = frozenset()
    """Settings that there once were; a file that says nothing (null) of them can still be read."""

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The configuration these values describe; what is left out takes its default."""
        known = {f.name for f in fields(cls)}  # type: ignore[arg-type]
        values = {key: value for key, value in values.items() if key not in cls.retired or value is not None}
        for key in values:
            if key not in known:
                raise ConfigError(
                    f"{cls.__name__} has no setting {key!r}; it knows {', '.join(sorted(known))}. "
                    "If a newer corefine wrote it, upgrade."
                )
        try:
            return cls(**{key: tuple(v) if isinstance(v, list) else v for key, v in values.items()})
        except TypeError as error:
            raise ConfigError(f"{cls.__name__}: {error}") from error

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values, as `from_dict` takes them."""
        values = asdict(self)  # type: ignore[call-overload]
        return {key: list(v) if isinstance(v, tuple) else v for key, v in values.items()}

    def _require(self, holds: bool, name: str, rule: str) -> None:
        if not holds:
            raise ConfigError(f"{type(self).__name__}: {name} must be {rule}, not {getattr(self, name)!r}")


@dataclass(frozen=True, slots=True)
class EncoderConfig(Config):
    """What turns tokens into states."""

    retired: ClassVar[frozenset[str]] = frozenset({"adapter"})

    kind: str = "minilm"  # minilm | transformer | bilstm
    path: str | None = None  # transformer: a hub name or a folder; bilstm: a vectors file; minilm: a folder
    fine_tune: bool = False  # whether training moves the encoder; its states are then never cached
    tuned_layers: int = 0  # transformer: how many layers, from the last, fine-tuning moves; 0: all, embeddings too
    masked: float = 0.0  # transformer: share of sub-words that fine-tuning hides in each step, against overfitting
    precision: str = "float32"  # float32 | bfloat16: of the transformer's matrix products
    window: int = 512  # sub-words a forward pass sees, special tokens included
    overlap: int = 256  # sub-words neighbouring windows share; each word is taken where it has most context
    pooling: str = "mean"  # mean | first: how the sub-words of a word become one state
    layers: tuple[int, ...] = ()  # hidden layers handed on, to be mixed by the head; empty: only the last
    word_width: int = 300  # bilstm: numbers a word vector has (a vectors file must agree)
    char_width: int = 8  # bilstm: numbers a character vector has
    char_filters: int = 50  # bilstm: filters for each width of character window
    char_windows: tuple[int, ...] = (3, 4, 5)  # bilstm: the widths
    hidden: int = 200  # bilstm: state size in each direction
    vocabulary: int = 20_000  # bilstm without a vectors file: buckets that words are hashed into
    dropout: float = 0.5  # bilstm: of word and character vectors, while training
    seed: int = 0  # bilstm: of the first weights

    def __post_init__(self) -> None:
        self._require(self.kind in ("minilm", "transformer", "bilstm"), "kind", "minilm, transformer or bilstm")
        self._require(self.kind != "transformer" or bool(self.path), "path", "a hub name or a folder")
        self._require(self.tuned_layers >= 0, "tuned_layers", "at least 0")
        self._require(self.precision in ("float32", "bfloat16"), "precision", "float32 or bfloat16")
        self._require(0 <= self.masked < 1, "masked", "in [0, 1)")
        self._require(self.window >= 8, "window", "at least 8")
        self._require(0 <= self.overlap < self.window - 2, "overlap", "at least 0 and below window - 2")
        self._require(self.pooling in ("mean", "first"), "pooling", "mean or first")
        self._require(0 <= self.dropout < 1, "dropout", "in [0, 1)")
        for name in ("word_width", "char_width", "char_filters", "hidden", "vocabulary"):
            self._require(getattr(self, name) > 0, name, "above 0")
        self._require(bool(self.char_windows) and min(self.char_windows) > 0, "char_windows", "widths, each above 0")


@dataclass(frozen=True, slots=True)
class HeadConfig(Config):
    """The span ranker over the states."""

    max_span_width: int = 10  # tokens in the widest span that is scored
    spans_per_word: float = 0.4  # top spans kept, as a share of the tokens
    candidates: int = 100  # K: antecedents considered for each top span
    within_sentences: bool = False  # whether a span may not cross a sentence boundary (Lee et al.)
    non_crossing: bool = False  # whether top spans may not cross one another (Lee et al.; slower)
    coarse_to_fine: bool = True  # the best K by a bilinear score instead of the nearest K (the paper)
    coarse_window: int = 1_000  # coarse_to_fine: how many previous top spans compete; keeps cost linear

    hidden: int = 128  # units in each hidden layer of the mention and the pair scorer (the paper: 150)
    mention_depth: int = 2  # hidden layers of the mention scorer
    pair_depth: int = 1  # hidden layers of the pair scorer (the paper: 2)
    pair_width: int | str = 64  # numbers g is projected to for g_i * g_j; "full": all of g, the paper's function
    feature_width: int = 20  # numbers of each embedded feature (width, distance, ...)
    speakers: bool = False  # pair feature: same speaker, another, or unknown
    genres: tuple[str, ...] = ()  # genres with an embedding of their own; any other is "unknown"
    string_match: bool = True  # pair feature: the same words, the same last word, or neither; letter case aside
    surface: bool = True  # token feature: letter case, digits, quotation (an uncased encoder loses them)

    context: str = "none"  # none | lstm: a small layer over the encoder's states
    context_width: int = 200  # lstm: state size in each direction

    state_dropout: float = 0.3  # of the encoder's states
    dropout: float = 0.2  # of hidden layers; one mask for all widths of a start, all candidates of a span

    def __post_init__(self) -> None:
        for name in ("max_span_width", "candidates", "coarse_window", "hidden", "feature_width", "context_width"):
            self._require(getattr(self, name) > 0, name, "above 0")
        for name in ("mention_depth", "pair_depth"):
            self._require(getattr(self, name) >= 1, name, "at least 1")
        self._require(self.spans_per_word > 0, "spans_per_word", "above 0")
        width = self.pair_width
        self._require(width == FULL or (isinstance(width, int) and width > 0), "pair_width", "above 0, or 'full'")
        self._require(self.context in ("none", "lstm"), "context", "none or lstm")
        for name in ("state_dropout", "dropout"):
            self._require(0 <= getattr(self, name) < 1, name, "in [0, 1)")


@dataclass(frozen=True, slots=True)
class ModelConfig(Config):
    """Encoder and head together."""

    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    head: HeadConfig = field(default_factory=HeadConfig)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        parts = dict(values)
        if "encoder" in parts:
            parts["encoder"] = EncoderConfig.from_dict(parts["encoder"])
        if "head" in parts:
            parts["head"] = HeadConfig.from_dict(parts["head"])
        return super(ModelConfig, cls).from_dict(parts)

    def to_dict(self) -> dict[str, Any]:
        return {"encoder": self.encoder.to_dict(), "head": self.head.to_dict()}
