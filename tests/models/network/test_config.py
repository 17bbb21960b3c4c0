"""Settings survive JSON, and what is not known is refused by name."""

from __future__ import annotations

import json
from typing import Any

import pytest

from corefine.errors import ConfigError
from corefine.models.network.config import EncoderConfig, HeadConfig, ModelConfig


def test_settings_survive_json() -> None:
    config = ModelConfig(
        EncoderConfig(kind="transformer", path="some/model", layers=(4, 5, 6)),
        HeadConfig(genres=("news", "play"), pair_width="full"),
    )
    again = ModelConfig.from_dict(json.loads(json.dumps(config.to_dict())))
    assert again == config
    assert isinstance(again.head.genres, tuple)


def test_what_is_left_out_takes_its_default() -> None:
    assert ModelConfig.from_dict({"head": {"hidden": 7}}) == ModelConfig(head=HeadConfig(hidden=7))


@pytest.mark.parametrize(
    ("values", "name"),
    [({"tail": {}}, "'tail'"), ({"head": {"hiden": 3}}, "'hiden'"), ({"encoder": {"colour": 3}}, "'colour'")],
)
def test_an_unknown_setting_is_refused_by_name(values: dict[str, Any], name: str) -> None:
    with pytest.raises(ConfigError, match=name):
        ModelConfig.from_dict(values)


@pytest.mark.parametrize(
    "values",
    [
        {"hidden": 0},
        {"max_span_width": 0},
        {"spans_per_word": 0.0},
        {"candidates": -1},
        {"pair_width": "half"},
        {"pair_width": 0},
        {"pair_depth": 0},
        {"dropout": 1.0},
        {"context": "gru"},
    ],
    ids=str,
)
def test_a_head_that_cannot_be_is_refused(values: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(values))):
        HeadConfig.from_dict(values)


@pytest.mark.parametrize(
    "values",
    [
        {"kind": "gpt"},
        {"kind": "transformer"},
        {"window": 4},
        {"overlap": 511},
        {"pooling": "max"},
        {"precision": "int8"},
        {"tuned_layers": -1},
        {"char_windows": []},
        {"hidden": 0},
    ],
    ids=str,
)
def test_an_encoder_that_cannot_be_is_refused(values: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="EncoderConfig: "):
        EncoderConfig.from_dict(values)


def test_a_setting_of_old_that_says_nothing_is_read_over() -> None:
    assert EncoderConfig.from_dict({"kind": "minilm", "adapter": None}) == EncoderConfig(kind="minilm")
    with pytest.raises(ConfigError, match="'adapter'"):
        EncoderConfig.from_dict({"adapter": "changes.safetensors"})
