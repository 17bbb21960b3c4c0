"""The reference of all settings, made from the classes that declare them."""

from __future__ import annotations

from corefine.config import Config
from corefine.models.network.config import EncoderConfig, HeadConfig, ModelConfig
from corefine.models.training.recipe import RoundTrainingConfig, TrainingConfig
from corefine.project.store.settings import ProjectConfig
from corefine.simulation.config import SimulationConfig

INTRODUCTION = """# Settings

Made from the classes that declare them. Every setting has a default, unknown names are refused, and a wrong value says
what it must be.
"""

SECTIONS: tuple[tuple[str, str, type[Config]], ...] = (
    ("A project", "On the page under Settings, and `PUT /api/settings`.", ProjectConfig),
    ("A simulation", "Options of `corefine simulate`, or a TOML file given as `--config`.", SimulationConfig),
    ("Training", "In a recipe under `[training]`, or `--set training.NAME=VALUE` of `corefine train`.", TrainingConfig),
    (
        "Training again after each round of answers",
        "In a recipe under `[rounds]`, or `--set rounds.NAME=VALUE`.",
        RoundTrainingConfig,
    ),
    ("The model", "In a recipe under `[model]`, or `--set model.NAME=VALUE`.", ModelConfig),
    ("The encoder", "In a recipe under `[model.encoder]`, or `--set model.encoder.NAME=VALUE`.", EncoderConfig),
    ("The head of the model", "In a recipe under `[model.head]`, or `--set model.head.NAME=VALUE`.", HeadConfig),
)


def reference() -> str:
    """The page, as Markdown."""
    parts = [f"## {title}\n\n{where}\n\n{config.to_markdown()}\n" for title, where, config in SECTIONS]
    return "\n".join([INTRODUCTION, *parts])
