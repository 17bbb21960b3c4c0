"""Saved models: the same predictions after loading, and a clear word for whatever does not fit."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from corefine.errors import ConfigError, InputError, ModelError
from corefine.models.network.config import ModelConfig
from corefine.models.storage.checkpoint import load_model, save_model
from corefine.models.storage.tensors import load_tensors, save_tensors
from helpers import tiny

DOCUMENT = tiny.document(1)


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COREFINE_HOME", str(tmp_path / "home"))  # for the cache of word vectors


def vectors(path: Path, words: list[str], width: int = 8) -> Path:
    numbers = " ".join(["0.5"] * width)
    path.write_text("".join(f"{word} {numbers}\n" for word in words), encoding="utf-8")
    return path


def with_vectors(path: Path, *, fine_tune: bool = True) -> ModelConfig:
    return replace(tiny.CONFIG, encoder=replace(tiny.CONFIG.encoder, path=str(path), fine_tune=fine_tune))


def change(folder: Path, **facts: object) -> None:
    record = load_tensors(folder, "model")
    kept = {key: value for key, value in record.facts.items() if key not in ("format", "corefine", "weights", "sha256")}
    save_tensors(folder, "model", record.tensors, kept | facts)


def test_a_loaded_model_predicts_the_same(tmp_path: Path) -> None:
    model = tiny.model(seed=3)
    save_model(tmp_path, model, {"note": "test"})
    before, after = model.predict(DOCUMENT), load_model(tmp_path).predict(DOCUMENT)
    assert before.spans == after.spans
    assert np.array_equal(before.probabilities, after.probabilities)
    assert json.loads((tmp_path / "model.json").read_text())["trained"] == {"note": "test"}


def test_half_precision_is_half_the_size_and_nearly_the_same(tmp_path: Path) -> None:
    model = tiny.model(seed=3)
    save_model(tmp_path / "full", model)
    save_model(tmp_path / "half", model, half=True)
    full, half = (next((tmp_path / kind).glob("*.safetensors")).stat().st_size for kind in ("full", "half"))
    assert half < 0.65 * full
    loaded = load_model(tmp_path / "half")
    assert all(value.dtype == torch.float32 for value in loaded.tensors().values())
    assert np.allclose(loaded.predict(DOCUMENT).probabilities, model.predict(DOCUMENT).probabilities, atol=0.02)


def test_missing_and_unknown_weights_are_named(tmp_path: Path) -> None:
    save_model(tmp_path, tiny.model())
    record = load_tensors(tmp_path, "model")
    facts = {"kind": "model", "config": record.facts["config"], "encoder": record.facts["encoder"]}
    lacking = dict(record.tensors)
    del lacking["ranker.pair.score.weight"]
    save_tensors(tmp_path, "model", lacking, facts)
    with pytest.raises(ModelError, match=r"lack ranker\.pair\.score\.weight"):
        load_model(tmp_path)
    save_tensors(tmp_path, "model", {**record.tensors, "ranker.magic": torch.ones(1)}, facts)
    with pytest.raises(ModelError, match=r"ranker\.magic, which this configuration does not know"):
        load_model(tmp_path)


def test_a_setting_of_a_newer_version_is_named(tmp_path: Path) -> None:
    save_model(tmp_path, tiny.model())
    config = load_tensors(tmp_path, "model").facts["config"]
    config["head"]["telepathy"] = True
    change(tmp_path, config=config)
    with pytest.raises(ConfigError, match="telepathy"):
        load_model(tmp_path)


@pytest.mark.parametrize("config", [None, [], "x"])
def test_a_json_without_a_configuration_is_no_model(tmp_path: Path, config: object) -> None:
    save_model(tmp_path, tiny.model())
    change(tmp_path, config=config)
    with pytest.raises(ModelError, match="no configuration"):
        load_model(tmp_path)


def test_weights_of_another_shape_are_refused(tmp_path: Path) -> None:
    save_model(tmp_path, tiny.model())
    config = load_tensors(tmp_path, "model").facts["config"]
    config["head"]["hidden"] = 17
    change(tmp_path, config=config)
    with pytest.raises(ModelError, match=r"16.* in the weights, but \[.*17.* here"):
        load_model(tmp_path)


@pytest.mark.parametrize("words", [["a", "b", "c", "d"], ["b", "a", "c"], ["a", "b", "x"]])
def test_another_vocabulary_is_refused(tmp_path: Path, words: list[str]) -> None:
    """More words, the same in another order, or others: each would give words the vectors of different ones."""
    path = vectors(tmp_path / "vectors.txt", ["a", "b", "c"])
    save_model(tmp_path / "model", tiny.model(config=with_vectors(path)))
    load_model(tmp_path / "model")
    vectors(path, words)
    with pytest.raises(ModelError, match="vocabulary does not match"):
        load_model(tmp_path / "model")


def test_word_vectors_are_not_saved_with_the_model_but_their_hash_is(tmp_path: Path) -> None:
    path = vectors(tmp_path / "vectors.txt", ["a", "b", "c"])
    model = tiny.model(config=with_vectors(path))
    save_model(tmp_path / "model", model)
    assert not any("words" in name for name in load_tensors(tmp_path / "model", "model").tensors)
    path.write_text(path.read_text().replace("0.5", "0.25"))
    with pytest.raises(ModelError, match="was trained with other word vectors"):
        load_model(tmp_path / "model")


def test_a_model_that_holds_its_word_vectors_still_opens(tmp_path: Path) -> None:
    """Earlier versions saved the vectors of the file, and no hash of them."""
    path = vectors(tmp_path / "vectors.txt", ["a", "b", "c"])
    model = tiny.model(config=with_vectors(path))
    save_model(tmp_path / "model", model)
    record = load_tensors(tmp_path / "model", "model")
    encoder = {name: value for name, value in record.facts["encoder"].items() if name != "vectors"}
    facts = {name: record.facts[name] for name in ("kind", "config", "trained")} | {"encoder": encoder}
    save_tensors(tmp_path / "model", "model", record.tensors | {"encoder.words.weight": torch.ones(4, 8)}, facts)
    assert load_model(tmp_path / "model").predict(DOCUMENT).spans == model.predict(DOCUMENT).spans


def test_another_frozen_encoder_is_refused(tmp_path: Path) -> None:
    path = vectors(tmp_path / "vectors.txt", ["a", "b", "c"])
    save_model(tmp_path / "model", tiny.model(config=with_vectors(path, fine_tune=False)))
    load_model(tmp_path / "model")
    path.write_text(path.read_text().replace("0.5", "0.25"))
    with pytest.raises(ModelError, match="other word vectors"):
        load_model(tmp_path / "model")


def test_a_frozen_encoder_is_not_saved_with_the_model(tmp_path: Path) -> None:
    path = vectors(tmp_path / "vectors.txt", ["a", "b", "c"])
    save_model(tmp_path / "model", tiny.model(config=with_vectors(path, fine_tune=False)))
    assert all(name.startswith("ranker.") for name in load_tensors(tmp_path / "model", "model").tensors)


def test_an_encoder_with_a_relative_path_is_found_from_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`corefine train --vectors vectors.txt`, and then a prediction or the app in another folder."""
    monkeypatch.chdir(tmp_path)
    vectors(Path("vectors.txt"), ["a", "b", "c"])
    model = tiny.model(config=with_vectors(Path("vectors.txt")))
    save_model(tmp_path / "model", model)
    (tmp_path / "else").mkdir()
    monkeypatch.chdir(tmp_path / "else")
    loaded = load_model(tmp_path / "model")
    assert np.array_equal(loaded.predict(DOCUMENT).probabilities, model.predict(DOCUMENT).probabilities)
    assert loaded.config.encoder.path == str(tmp_path / "vectors.txt")
    vectors(Path("vectors.txt"), ["a", "b", "c"])  # what the path leads to is preferred: both may have been moved
    assert load_model(tmp_path / "model").config.encoder.path == "vectors.txt"
    Path("vectors.txt").unlink()
    (tmp_path / "vectors.txt").unlink()
    with pytest.raises(InputError, match=r"cannot read the word vectors vectors\.txt"):
        load_model(tmp_path / "model")


def nested(depth: int) -> dict[str, object]:
    return {"a": nested(depth - 1)} if depth else {}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("config", {"head": {"hidden": "128"}}),
        ("config", {"head": {"hidden": 10**30}}),
        ("config", {"head": {"hidden": 10**15}}),
        ("config", {"head": nested(900)}),
        ("encoder", "minilm"),
        ("encoder", {"width": "384"}),
        ("encoder", None),
    ],
    ids=range(7),
)
def test_a_json_of_other_types_is_refused(tmp_path: Path, field: str, value: object) -> None:
    save_model(tmp_path, tiny.model())
    config = load_tensors(tmp_path, "model").facts["config"]
    change(tmp_path, **{field: config | value if field == "config" and isinstance(value, dict) else value})
    with pytest.raises(InputError):
        load_model(tmp_path)


def test_a_json_nested_a_thousand_deep_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text('{"format": 1, "config": ' + '{"a":' * 100_000)
    with pytest.raises(ModelError):
        load_model(tmp_path)
