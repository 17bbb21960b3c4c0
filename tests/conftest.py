"""Where tests find what does not ship with the project: the corpora and the official scorer's cases."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["helpers.projects", "helpers.reproduction"]
"""Fixtures that several folders of tests use."""

SHARED = Path(__file__).parents[2] / "shared"

settings.register_profile(
    "default",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="CI" in os.environ,  # the same examples every time there; new ones wherever people work
)
settings.register_profile("nightly", parent=settings.get_profile("default"), max_examples=2000)
settings.load_profile("default")


def _folder(variable: str, name: str) -> Path:
    folder = Path(os.environ.get(variable, SHARED / name))
    if not folder.is_dir():
        pytest.skip(f"{folder} is not here; set {variable} to where it is")
    return folder


@pytest.fixture(scope="session")
def corpora() -> Path:
    return _folder("COREFINE_CORPORA", "corpora")


@pytest.fixture(scope="session")
def scorer_cases() -> Path:
    return _folder("COREFINE_SCORER_CASES", "scorer-cases")


@pytest.fixture(scope="session")
def format_samples() -> Path:
    return _folder("COREFINE_FORMAT_SAMPLES", "format-samples")
