"""The settings of the model. A saved model carries them as JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

from corefine.config import Config, NonNegativeInt, PositiveFloat, PositiveInt, ShareBelow1, at_least, setting
from corefine.errors import ConfigError

FULL: Literal["full"] = "full"


@dataclass(frozen=True, slots=True)
class EncoderConfig(Config):
    """The encoder, which turns tokens into states."""

    retired: ClassVar[frozenset[str]] = frozenset({"adapter"})

    kind: Literal["minilm", "transformer", "bilstm"] = setting("minilm", "minilm, transformer or bilstm.")
    path: str | None = setting(
        None, "transformer: a name of `corefine encoders`, a folder or a hub name; bilstm: a vectors file."
    )
    fine_tune: bool = setting(False, "Whether training changes the encoder. Its states are then never cached.")
    tuned_layers: NonNegativeInt = setting(0, "transformer: fine-tune only this many last layers; 0: everything.")
    lora_rank: NonNegativeInt = setting(0, "transformer: fine-tune adapters of this rank instead of weights; 0: none.")
    inner_dropout: ShareBelow1 = setting(
        0.0, "transformer: dropout inside the layers that are fine-tuned, but not of attention weights."
    )
    masked: ShareBelow1 = setting(0.0, "transformer: share of sub-words hidden in a fine-tuning step.")
    precision: Literal["auto", "float32", "bfloat16"] = setting(
        "float32", "transformer: matrix products in float32, bfloat16, or auto: what is fast on this processor."
    )
    window: Annotated[int, at_least(8)] = setting(512, "Sub-words in one forward pass, special tokens included.")
    overlap: NonNegativeInt = setting(256, "Sub-words that neighbouring windows share.")
    pooling: Literal["mean", "first"] = setting("mean", "How sub-words become the state of a word: mean or first.")
    layers: tuple[int, ...] = setting((), "Hidden layers that the head mixes; empty: only the last.")
    word_width: PositiveInt = setting(300, "bilstm: size of a word vector; a vectors file must have the same.")
    char_width: PositiveInt = setting(8, "bilstm: size of a character vector.")
    char_filters: PositiveInt = setting(50, "bilstm: filters for each width of character window.")
    char_windows: tuple[PositiveInt, ...] = setting((3, 4, 5), "bilstm: widths of character windows.")
    hidden: PositiveInt = setting(200, "bilstm: size of a state in each direction.")
    scope: Literal["sentence", "document"] = setting("sentence", "bilstm: what the LSTM reads as one sequence.")
    words_apart: bool = setting(False, "bilstm: a span's head is a mean of word vectors without context (Lee et al.).")
    vocabulary: PositiveInt = setting(20_000, "bilstm without a vectors file: buckets that words are hashed into.")
    dropout: ShareBelow1 = setting(0.5, "bilstm: dropout of word and character vectors.")
    seed: int = setting(0, "bilstm: seed of the first weights.")

    @property
    def words_width(self) -> int:
        """How many of the last dimensions of a state have no context."""
        if not self.words_apart or self.kind != "bilstm":
            return 0
        return self.word_width + self.char_filters * len(self.char_windows)

    def _check(self) -> None:
        if self.words_apart and self.kind != "bilstm":
            raise ConfigError(f"EncoderConfig: words_apart is for kind bilstm, not {self.kind}")
        if self.kind == "transformer" and not self.path:
            raise ConfigError("EncoderConfig: kind = transformer needs path, the name or folder of an encoder")
        if self.overlap >= self.window - 2:
            raise ConfigError(f"EncoderConfig: overlap must be below window - 2, not {self.overlap}")
        if not self.char_windows:
            raise ConfigError("EncoderConfig: char_windows must name at least one width")


@dataclass(frozen=True, slots=True)
class HeadConfig(Config):
    """The span ranker, which works on the encoder's states."""

    max_span_width: PositiveInt = setting(10, "Tokens in the widest span.")
    spans_per_word: PositiveFloat = setting(0.4, "Top spans that are kept, as a share of the tokens.")
    candidates: PositiveInt = setting(100, "Antecedents considered for each top span (K).")
    candidates_predicted: NonNegativeInt = setting(0, "The same in prediction, where documents are not cut; 0: K.")
    min_spans: PositiveInt = setting(6, "Top spans that are kept even if the text is very short.")
    within_sentences: bool = setting(False, "Whether spans end with their sentence (Lee et al.).")
    non_crossing: bool = setting(False, "Whether top spans may not cross one another (Lee et al.; slower).")
    coarse_to_fine: bool = setting(True, "Whether the K best by a bilinear score are considered; false: the nearest K.")
    coarse_window: PositiveInt = setting(1_000, "coarse_to_fine: how many previous top spans compete.")

    hidden: PositiveInt = setting(128, "Units in each hidden layer of the scorers (the paper: 150).")
    mention_depth: PositiveInt = setting(2, "Hidden layers of the mention scorer.")
    pair_depth: PositiveInt = setting(1, "Hidden layers of the pair scorer (the paper: 2).")
    pair_width: PositiveInt | Literal["full"] = setting(64, "Size of g in g_i * g_j; full: not reduced (the paper).")
    feature_width: PositiveInt = setting(20, "Size of each embedded feature (width, distance and so on).")
    speakers: bool = setting(False, "Pair feature: same speaker, another, or unknown.")
    genres: tuple[str, ...] = setting((), "Genres with an embedding of their own; all others are unknown.")
    string_match: bool = setting(True, "Pair feature: same words, same last word, or neither; case is ignored.")
    surface: bool = setting(True, "Token feature: letter case, digits, quotation. An uncased encoder loses them.")

    context: Literal["none", "lstm", "scan"] = setting("none", "A layer over the encoder's states: none, lstm or scan.")
    context_width: PositiveInt = setting(200, "lstm, scan: size of a state in each direction.")

    decoding: Literal["argmax", "half", "sums"] = setting(
        "sums", "From probabilities to entities: argmax (the paper), half or sums; see docs/method.md."
    )
    threshold: ShareBelow1 = setting(
        0.5, "half, sums: a mention is linked if the probability of no antecedent is below this."
    )
    temperature: PositiveFloat = setting(1.0, "Scores are divided by it. Calibration sets it and `threshold`.")

    state_dropout: ShareBelow1 = setting(0.3, "Dropout of the encoder's states.")
    dropout: ShareBelow1 = setting(0.2, "Dropout of hidden layers; one mask for all spans that begin at a token.")


@dataclass(frozen=True, slots=True)
class ModelConfig(Config):
    """The model: encoder and head."""

    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    head: HeadConfig = field(default_factory=HeadConfig)
    initial_weights: Literal["torch", "allennlp"] = setting(
        "torch", "How weights are drawn: torch (its defaults) or allennlp (as in its coreference model)."
    )

    def _check(self) -> None:
        if self.encoder.words_apart and (self.head.surface or self.head.context != "none"):
            raise ConfigError("ModelConfig: words_apart needs surface = false and context = none")
