"""Imports point one way, the core stays pure, and the public names are what they are said to be."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import corefine

PACKAGE = Path(corefine.__file__).parent
TESTS = Path(__file__).parent
APART = ("browser", "benchmarks", "packaging", "helpers", "fixtures")
"""Folders of tests that are not about one package."""
ALLOWED = {
    "__main__": {"cli"},
    "errors": set(),
    "plugins": {"errors"},
    "config": {"errors"},
    "document": {"errors"},
    "prediction": {"document", "errors"},
    "files": {"errors"},
    "links": {"document", "errors"},
    "scores": {"plugins", "document", "errors"},
    "annotation": {"plugins", "document", "errors", "links", "prediction", "scores"},
    "formats": {"plugins", "document", "errors", "files"},
    "corpora": {"document", "errors", "files", "formats", "scores"},
    "models": {
        "plugins",
        "annotation", "config", "corpora", "document", "errors", "files", "formats", "links", "prediction", "scores"
    },
    "simulation": {
        "plugins",
        "annotation", "config", "corpora", "document", "errors", "files", "links", "models", "prediction", "scores"
    },
    "reproduction": {"annotation", "document", "errors", "files", "links", "models", "simulation"},
    "project": {
        "plugins",
        "annotation", "config", "document", "errors", "files", "formats", "links", "models", "prediction", "scores"
    },
    "web": {"annotation", "corpora", "document", "errors", "files", "project"},
    "terminal": {"annotation", "document", "errors", "project"},
    "cli": {
        "plugins",
        "annotation", "config", "corpora", "document", "errors", "files", "formats", "models", "project",
        "reproduction", "scores", "simulation", "terminal", "web",
    },
}  # fmt: skip
"""What each module and package of corefine may import of the others."""

CORE = {"errors", "document", "prediction", "links", "scores", "annotation"}

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
        elif isinstance(node, ast.ImportFrom) and node.module == "corefine":
            found.update(f"corefine.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            found.add(node.module)
    return found - {"corefine.__version__"}


def files_of(module: str) -> list[Path]:
    folder = PACKAGE / module
    return sorted(folder.rglob("*.py")) if folder.is_dir() else [PACKAGE / f"{module}.py"]


def test_every_package_is_listed() -> None:
    found = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert found - {"__init__"} == set(ALLOWED)


@pytest.mark.parametrize("module", sorted(ALLOWED))
def test_imports_point_one_way(module: str) -> None:
    for file in files_of(module):
        for name in imports_of(file):
            top, _, rest = name.partition(".")
            if top == "corefine":
                assert rest.partition(".")[0] in ALLOWED[module] | {module}, f"{file} imports {name}"


def test_files_and_functions_can_be_read_in_one_sitting() -> None:
    assert len(list(PACKAGE.glob("*.py"))) <= 8
    for file in PACKAGE.rglob("*.py"):
        text = file.read_text("utf-8")
        assert text.count("\n") <= 400, file
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                first = node.body[0].lineno if "cli" in file.parts else node.lineno  # a command may have many options
                assert (node.end_lineno or 0) - first < 60, f"{file}: {node.name}"


def test_a_class_name_means_one_thing() -> None:
    places: dict[str, list[Path]] = {}
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(file)
    assert not {name: files for name, files in places.items() if len(files) > 1}


@pytest.mark.parametrize("module", sorted(CORE))
def test_the_core_is_pure(module: str) -> None:
    for file in files_of(module):
        for name in imports_of(file):
            top = name.partition(".")[0]
            assert top in {"corefine"} | OUTSIDE | sys.stdlib_module_names, f"{file} imports {name}"
            assert top not in IMPURE, f"{file} imports {name}"


def test_nothing_but_the_command_line_prints() -> None:
    for file in PACKAGE.rglob("*.py"):
        if file.relative_to(PACKAGE).parts[0] in {"cli"}:
            continue
        calls = [node for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, ast.Call)]
        assert not [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "print"], file


def test_tests_are_where_the_modules_are() -> None:
    """A folder of tests has the name of a package; a file named as a module is in the folder of that module."""
    homes: dict[str, set[Path]] = {}
    for path in PACKAGE.rglob("*.py"):
        module = path.relative_to(PACKAGE)
        name, folders = module.stem, {module.parent}
        if path.name == "__init__.py":
            name, folders = module.parent.name, {module.parent, module.parent.parent}
        homes.setdefault(name, set()).update(folders)
    for file in TESTS.rglob("test_*.py"):
        folder = file.parent.relative_to(TESTS)
        if folder.parts[:1] not in [(name,) for name in APART]:
            assert (PACKAGE / folder).is_dir(), file
            assert folder in homes.get(file.stem.removeprefix("test_"), {folder}), file


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


def test_the_server_loads_no_model() -> None:
    """The background process has the model. The server must answer soon, and works without the extra 'model'."""
    pytest.importorskip("fastapi", reason="the extra 'web' is not installed")
    program = "import corefine.web.server, sys; print(*sorted(name for name in sys.modules if '.' not in name))"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert not {"torch", "transformers", "scipy", "spacy", "ray", "matplotlib"} & set(loaded)
