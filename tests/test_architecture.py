"""Imports point one way, the core stays pure, and the public names are what they are said to be."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import corefine

PACKAGE = Path(corefine.__file__).parent
CORE = {
    "errors": set(),
    "document": {"errors"},
    "prediction": {"document", "errors"},
    "pronouns": {"document"},
    "questions": {"document", "errors"},
    "cost": {"questions"},
    "links": {"document", "errors"},
    "clustering": {"document", "links", "prediction"},
    "decoding": {"document", "links", "prediction", "revision"},
    "revision": {"clustering", "document", "errors", "links", "prediction"},
    "direct": {"document", "links", "prediction", "revision"},
    "selectors": {"errors", "prediction", "revision"},
    "records": {"document", "errors", "links", "questions"},
    "inquiry": {"direct", "document", "links", "prediction", "questions", "records", "revision", "selectors"},
    "session": {
        "cost", "document", "errors", "inquiry", "links", "prediction", "questions", "records", "revision", "selectors"
    },
    "annotators": {"document", "errors", "questions", "records", "session"},
    "scores": {"document", "errors", "pronouns"},
    "rules": {"document", "prediction", "pronouns"},
}  # fmt: skip
"""What each module of the core may import of corefine, besides itself."""

OUTSIDE = {"numpy", "scipy"}
"""What the core may import besides the standard library."""

IMPURE = {"time", "datetime", "os", "socket", "subprocess", "sqlite3", "random", "logging", "threading", "asyncio"}
"""No clock, no system, no hidden randomness in the core."""


def imports_of(file: Path) -> set[str]:
    """Every module a file imports, within functions too."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            found.add(node.module)
    return found


def files_of(module: str) -> list[Path]:
    folder = PACKAGE / module
    return sorted(folder.rglob("*.py")) if folder.is_dir() else [PACKAGE / f"{module}.py"]


@pytest.mark.parametrize("module", sorted(CORE))
def test_the_core_is_pure_and_its_imports_point_one_way(module: str) -> None:
    for file in files_of(module):
        for name in imports_of(file):
            top, _, rest = name.partition(".")
            if top == "corefine":
                part = rest.partition(".")[0]
                assert part in CORE[module] | {module}, f"{file.name} imports {name}"
            else:
                assert top in OUTSIDE | sys.stdlib_module_names, f"{file.name} imports {name}"
                assert top not in IMPURE, f"{file.name} imports {name}"


def test_nothing_but_the_command_line_prints() -> None:
    for file in PACKAGE.rglob("*.py"):
        if file.relative_to(PACKAGE).parts[0] in {"cli", "bench"}:
            continue
        calls = [node for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, ast.Call)]
        assert not [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "print"], file


def test_public_names_are_sorted_there_and_documented() -> None:
    assert list(corefine.__all__) == sorted(corefine.__all__)
    for name in corefine.__all__:
        value = getattr(corefine, name)
        if name != "__version__":
            assert value.__doc__, name


@pytest.mark.parametrize("command", ["import corefine", "from corefine.cli import app"])
def test_importing_corefine_loads_nothing_heavy(command: str) -> None:
    """torch, scipy, spaCy and the web belong to the commands that need them."""
    program = f"{command}; import sys; print(*sorted(name for name in sys.modules if '.' not in name))"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert not {"torch", "transformers", "scipy", "spacy", "fastapi", "ray", "matplotlib", "numpy"} & set(loaded)
