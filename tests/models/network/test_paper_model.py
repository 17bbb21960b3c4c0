"""The recipe `paper` is the paper's model.

The reference here is written from Lee et al. (2017), from the configuration of AllenNLP's implementation
(`training_config/coref.jsonnet`) and from its description of span and pair vectors. It works span by span and pair by
pair, and shares nothing with corefine's ranker but the weights.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch

from corefine.document import Document
from corefine.models.network.model import Model
from corefine.models.training.recipe import Recipe, load_recipe

Array = np.ndarray

SENTENCES = [
    ["Anna", "saw", "the", "unbelievably", "old", "dog", "of", "her", "neighbour", "Bert", "in", "the", "yard", "."],
    ["It", "saw", "her", ",", "too", "."],
    ["Then", "the", "dog", "ran", "to", "Anna", "and", "Bert", "followed", "it", "."],
]
DOCUMENT = Document.from_sentences("dog", SENTENCES)
WORDS = ["anna", "saw", "the", "old", "dog", "of", "her", "bert", "in", "yard", ".", "it", ",", "ran", "to", "Bert"]


@pytest.fixture
def vectors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Array]:
    """Vectors of six numbers, also in the file `vectors.txt`."""
    monkeypatch.setenv("COREFINE_HOME", str(tmp_path / "home"))
    chance = np.random.default_rng(7)
    made = {word: chance.normal(size=6).astype(np.float32) for word in WORDS}
    lines = (f"{word} {' '.join(str(float(number)) for number in numbers)}\n" for word, numbers in made.items())
    (tmp_path / "vectors.txt").write_text("".join(lines), encoding="utf-8")
    return made


def paper(tmp_path: Path, seed: int = 3) -> Model:
    recipe = load_recipe("paper").with_vectors(tmp_path / "vectors.txt")
    return Model.create(recipe.model, seed=seed)


class Reference:
    """The model of Lee et al. as AllenNLP has it, in loops."""

    def __init__(self, weights: dict[str, Array], vectors: dict[str, Array]) -> None:
        self.weights, self.vectors = weights, vectors

    def distributions(self, sentences: list[list[str]]) -> dict[tuple[int, int], dict[tuple[int, int] | None, float]]:
        """P(antecedent) of each of the floor(0.4 T) top spans, over at most 100 nearest ones and None."""
        words = [self.embedding(word) for sentence in sentences for word in sentence]
        states = self.lstm(words)
        spans: list[tuple[int, int]] = []
        offset = 0
        for sentence in sentences:
            for start in range(len(sentence)):
                ends = range(start, min(start + 10, len(sentence)))
                spans += [(offset + start, offset + end) for end in ends]
            offset += len(sentence)
        vector = {span: self.span(span, states, words) for span in spans}
        mention = {span: self.feed_forward("ranker.spans", vector[span]) for span in spans}
        top = sorted(sorted(spans, key=lambda span: -mention[span])[: math.floor(0.4 * len(words))])
        found = {}
        for place, span in enumerate(top):
            scores: dict[tuple[int, int] | None, float] = {None: 0.0}
            for distance in range(1, min(100, place) + 1):
                other = top[place - distance]
                scores[other] = mention[span] + mention[other] + self.pair(vector[span], vector[other], distance)
            most = max(scores.values())
            total = sum(math.exp(score - most) for score in scores.values())
            found[span] = {other: math.exp(score - most) / total for other, score in scores.items()}
        return found

    def embedding(self, word: str) -> Array:
        """GloVe's vector, and the maximum of each of 100 filters over windows of 5 characters."""
        known = self.vectors.get(word, self.vectors.get(word.lower(), np.zeros(6, np.float32)))
        table = self.weights["encoder.characters.weight"]  # [256, 16]
        letters = np.concatenate([table[list(word.encode())], np.zeros((5, 16), np.float32)])
        filters, bias = self.weights["encoder.filters.0.weight"], self.weights["encoder.filters.0.bias"]
        windows = [
            (filters * letters[at : at + 5].T[None]).sum((1, 2)) + bias for at in range(len(letters) - 5 + 1)
        ]  # [100] each
        return np.concatenate([known, np.maximum(0, windows).max(0)])

    def lstm(self, words: list[Array]) -> list[Array]:
        """One layer in each direction, over the whole document."""
        forward = self.direction(words, "")
        backward = self.direction(words[::-1], "_reverse")[::-1]
        return [np.concatenate(both) for both in zip(forward, backward, strict=True)]

    def direction(self, words: list[Array], suffix: str) -> list[Array]:
        def part(name: str) -> Array:
            return self.weights[f"encoder.lstm.{name}_l0{suffix}"]

        hidden = cell = np.zeros(200, np.float32)
        states = []
        for word in words:
            gates = part("weight_ih") @ word + part("bias_ih") + part("weight_hh") @ hidden + part("bias_hh")
            take, keep, new, show = np.split(gates, 4)
            cell = sigmoid(keep) * cell + sigmoid(take) * np.tanh(new)
            hidden = sigmoid(show) * np.tanh(cell)
            states.append(hidden)
        return states

    def span(self, span: tuple[int, int], states: list[Array], words: list[Array]) -> Array:
        """[state of the first token; of the last; attended word vectors; width]."""
        inside = np.stack(words[span[0] : span[1] + 1])
        logits = inside @ self.weights["ranker.spans.attention.weight"][0] + self.weights["ranker.spans.attention.bias"]
        attention = np.exp(logits - logits.max())
        head = (attention / attention.sum()) @ inside
        width = self.weights["ranker.spans.widths.weight"][span[1] - span[0]]
        return np.concatenate([states[span[0]], states[span[1]], head, width])

    def pair(self, span: Array, other: Array, distance: int) -> float:
        """[span; antecedent; their product; distance in buckets 0, 1, 2, 3, 4, 5-7, 8-15, 16-31, 32-63, 64+]."""
        bucket = distance if distance <= 4 else min(9, math.floor(math.log2(distance)) + 3)
        embedded = self.weights["ranker.pair.distances.weight"][bucket]
        return self.feed_forward("ranker.pair", np.concatenate([span, other, span * other, embedded]))

    def feed_forward(self, name: str, values: Array) -> float:
        """Two layers of 150 with relu, then one number."""
        for layer in ("first", "deeper.0"):
            weight, bias = self.weights[f"{name}.{layer}.weight"], self.weights[f"{name}.{layer}.bias"]
            assert weight.shape[0] == 150
            values = np.maximum(0, weight @ values + bias)
        return float((self.weights[f"{name}.score.weight"] @ values + self.weights[f"{name}.score.bias"])[0])


def sigmoid(values: Array) -> Array:
    return 1 / (1 + np.exp(-values))


def test_it_computes_what_the_paper_says(vectors: dict[str, Array], tmp_path: Path) -> None:
    model = paper(tmp_path)
    weights = {name: value.detach().numpy() for name, value in model.tensors().items()}
    expected = Reference(weights, vectors).distributions(SENTENCES)
    found = model.predict(DOCUMENT)
    assert [(span.start, span.end) for span in found.spans] == list(expected)
    for row, distribution in enumerate(expected.values()):
        columns: dict[tuple[int, int] | None, float] = {None: float(found.probabilities[row, 0])}
        for column, other in enumerate(found.candidates[row].tolist()):
            if other >= 0:
                columns[found.spans[other].start, found.spans[other].end] = float(found.probabilities[row, 1 + column])
        assert columns == pytest.approx(distribution, abs=1e-5)


@pytest.mark.usefixtures("vectors")
def test_its_layers_have_the_sizes_of_the_configuration(tmp_path: Path) -> None:
    """With GloVe's 300 numbers: 400 into the LSTM, 1220 into the mention scorer, 3680 into the antecedent scorer."""
    shapes = {name: tuple(value.shape) for name, value in paper(tmp_path).tensors().items()}
    missing = 300 - 6
    assert shapes["encoder.lstm.weight_ih_l0"] == (800, 400 - missing)
    assert shapes["ranker.spans.first.weight"] == (150, 1220 - missing)
    assert shapes["ranker.pair.first.weight"] == (150, 3680 - 3 * missing)
    assert shapes["encoder.characters.weight"][1] == 16
    assert shapes["ranker.pair.distances.weight"] == (10, 20)
    assert shapes["ranker.spans.widths.weight"] == (10, 20)


@pytest.mark.usefixtures("vectors")
def test_first_weights_are_drawn_as_configured(tmp_path: Path) -> None:
    """Xavier's normal distribution where the configuration says so, and an orthogonal matrix within the LSTM."""
    weights = paper(tmp_path).tensors()
    for name in ("ranker.spans.first.weight", "ranker.pair.first.weight", "encoder.lstm.weight_ih_l0"):
        rows, columns = weights[name].shape
        assert float(weights[name].std()) == pytest.approx(math.sqrt(2 / (rows + columns)), rel=0.05)
    inner = weights["encoder.lstm.weight_hh_l0"]  # [800, 200]
    torch.testing.assert_close(inner.T @ inner, torch.eye(200), atol=1e-4, rtol=0)


@pytest.mark.usefixtures("vectors")
def test_members_of_a_committee_differ_in_all_first_weights(tmp_path: Path) -> None:
    one, two = (paper(tmp_path, seed).tensors() for seed in (0, 1))
    assert all(not torch.equal(one[name], two[name]) for name in one)
    assert any(name.startswith("encoder.lstm") for name in one)


ALLENNLP = "AllenNLP, training_config/coref.jsonnet: "
PINNED = {
    "model.initial_weights": ("allennlp", ALLENNLP + "initializer"),
    "model.encoder.kind": ("bilstm", ALLENNLP + "context_layer.type lstm, bidirectional, num_layers 1"),
    "model.encoder.word_width": (300, ALLENNLP + "tokens.embedding_dim, glove.6B.300d"),
    "model.encoder.char_width": (16, ALLENNLP + "token_characters.embedding.embedding_dim"),
    "model.encoder.char_filters": (100, ALLENNLP + "token_characters.encoder.num_filters"),
    "model.encoder.char_windows": ([5], ALLENNLP + "token_characters.encoder.ngram_filter_sizes"),
    "model.encoder.hidden": (200, ALLENNLP + "context_layer.hidden_size"),
    "model.encoder.scope": ("document", "AllenNLP, CoreferenceResolver: the text of a document is one sequence"),
    "model.encoder.words_apart": (True, "AllenNLP, CoreferenceResolver: attention over text_embeddings"),
    "model.encoder.dropout": (0.5, ALLENNLP + "lexical_dropout"),
    "model.encoder.fine_tune": (True, "the encoder is trained with the head"),
    "model.head.max_span_width": (10, ALLENNLP + "max_span_width"),
    "model.head.spans_per_word": (0.4, ALLENNLP + "spans_per_word"),
    "model.head.candidates": (100, ALLENNLP + "max_antecedents; the paper, Hyperparameters: K = 100"),
    "model.head.within_sentences": (True, "AllenNLP, ConllCorefReader: spans of each sentence"),
    "model.head.non_crossing": (False, "AllenNLP, Pruner: the best spans, whether they cross or not"),
    "model.head.coarse_to_fine": (False, "Lee et al. 2017: the nearest K"),
    "model.head.hidden": (150, ALLENNLP + "mention_feedforward and antecedent_feedforward.hidden_dims"),
    "model.head.mention_depth": (2, ALLENNLP + "mention_feedforward.num_layers"),
    "model.head.pair_depth": (2, ALLENNLP + "antecedent_feedforward.num_layers"),
    "model.head.pair_width": ("full", ALLENNLP + "antecedent_feedforward.input_dim 3680 = 3 * 1220 + 20"),
    "model.head.feature_width": (20, ALLENNLP + "feature_size"),
    "model.head.speakers": (False, "the paper, Hyperparameters: without speaker features"),
    "model.head.genres": ([], "the paper, Hyperparameters; AllenNLP has no genre"),
    "model.head.string_match": (False, "not in AllenNLP"),
    "model.head.surface": (False, "not in AllenNLP"),
    "model.head.context": ("none", "not in AllenNLP"),
    "model.head.state_dropout": (0.0, "AllenNLP, CoreferenceResolver: no dropout of LSTM states"),
    "model.head.dropout": (0.2, ALLENNLP + "mention_feedforward and antecedent_feedforward.dropout"),
    "training.epochs": (150, ALLENNLP + "trainer.num_epochs"),
    "training.patience": (10, ALLENNLP + "trainer.patience"),
    "training.documents_per_step": (1, ALLENNLP + "iterator.batch_size"),
    "training.max_tokens": (0, "AllenNLP cuts no documents"),
    "training.min_steps": (0, "not in AllenNLP"),
    "training.steps_per_answer": (0.0, "not in AllenNLP"),
    "training.learning_rate": (1e-3, ALLENNLP + "trainer.optimizer adam, whose default this is"),
    "training.encoder_learning_rate": (1e-3, "the same"),
    "training.weight_decay": (0.0, "the same: AdamW without decay is Adam"),
    "training.warmup": (0.0, "not in AllenNLP"),
    "training.schedule": ("plateau", ALLENNLP + "trainer.learning_rate_scheduler reduce_on_plateau, mode max"),
    "training.plateau_patience": (2, ALLENNLP + "trainer.learning_rate_scheduler.patience"),
    "training.plateau_factor": (0.5, ALLENNLP + "trainer.learning_rate_scheduler.factor"),
    "training.clip": (5.0, ALLENNLP + "trainer.grad_norm"),
    "training.ema": (0.0, "not in AllenNLP"),
    "training.loss": ("sum", "AllenNLP, CoreferenceResolver: the sum over top spans"),
    "training.mention_loss": (0.0, "not in AllenNLP"),
    "training.calibrate": (False, "not in AllenNLP"),
    "training.mixed_precision": (False, "AllenNLP, Trainer: numbers of 32 bits"),
    "model.head.min_spans": (1, "not in AllenNLP"),
    "model.head.decoding": ("argmax", "AllenNLP, CoreferenceResolver: the best antecedent, epsilon among them"),
    "training.labels": ("pseudo", "the paper, Algorithm 2: label D with C_D"),
    "rounds.epochs": (20, "the paper, Section 5, Hyperparameters"),
    "rounds.patience": (2, "the paper, Section 5, Hyperparameters"),
}
ELSEWHERE = {
    "model.encoder.path", "model.encoder.vocabulary", "model.encoder.seed",  # without a file, or frozen, only
    "model.encoder.tuned_layers", "model.encoder.masked", "model.encoder.precision", "model.encoder.window",
    "model.encoder.overlap", "model.encoder.pooling", "model.encoder.layers",  # of transformers
    "model.head.coarse_window", "model.head.context_width",  # of what is switched off
    "training.seed", "training.layer_decay", "training.rest", "training.save_every",
    "rounds.min_steps", "rounds.learning_rate",
}  # fmt: skip


def test_every_value_of_the_recipe_has_its_source() -> None:
    recipe = load_recipe("paper")
    settings = dict(flat(recipe))
    for name, (value, source) in PINNED.items():
        assert settings[name] == value, source
    unknown = settings.keys() - PINNED.keys() - ELSEWHERE
    assert all(settings[name] == dict(flat(Recipe()))[name] for name in unknown), unknown


def flat(recipe: Recipe) -> list[tuple[str, object]]:
    def within(values: dict[str, object], prefix: str) -> list[tuple[str, object]]:
        found: list[tuple[str, object]] = []
        for name, value in values.items():
            found += within(value, f"{prefix}{name}.") if isinstance(value, dict) else [(prefix + name, value)]
        return found

    return within(recipe.to_dict(), "")
