"""What the documentation names exists: packages, files, functions, and the targets of links."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path
from pkgutil import resolve_name

import pytest

import corefine

ROOT = Path(__file__).parents[1]
PACKAGE = Path(corefine.__file__).parent
DESIGN = (ROOT / "docs" / "design.md").read_text("utf-8")
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]

NAMED = re.compile(r"`([\w/]+\.py)`\s+`([\w.]+)`(?:\s+and\s+`([\w.]+)`)?")
"""A file followed by what it defines."""


def section(title: str) -> str:
    return DESIGN.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def found(path: str) -> Path | None:
    """The file or folder that a page names, relative to the package or to the repository."""
    places = (PACKAGE / path, ROOT / path)
    return next((place for place in places if place.exists()), None)


def defined(file: Path) -> set[str]:
    """Functions, classes, methods and constants of a module, methods as `Class.method`; imported names too."""
    names = set()
    for node in ast.parse(file.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            names.update(f"{node.name}.{part.name}" for part in node.body if isinstance(part, ast.FunctionDef))
        if isinstance(node, ast.Assign):
            names.update(target.id for target in node.targets if isinstance(target, ast.Name))
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
        if isinstance(node, ast.ImportFrom):
            names.update(alias.name for alias in node.names)
    return names


def test_design_names_every_package() -> None:
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    listed = set(re.findall(r"^\| `(\w+)` \|", DESIGN, flags=re.MULTILINE))
    assert listed == packages


def test_the_picture_has_every_package() -> None:
    drawn = set(re.findall(r'class="name"[^>]*>(\w+)<', (ROOT / "docs" / "figures" / "design.svg").read_text("utf-8")))
    assert drawn == {path.parent.name for path in PACKAGE.glob("*/__init__.py")}


def test_one_question_is_followed_through_what_exists() -> None:
    steps = section("Follow one question")
    assert len(NAMED.findall(steps)) >= 12
    assert len([line for line in steps.splitlines() if line]) <= 20


@pytest.mark.parametrize("match", NAMED.findall(DESIGN), ids=lambda match: ":".join(match))
def test_functions_of_the_design_exist(match: tuple[str, str, str]) -> None:
    path, *names = match
    file = found(path)
    assert file is not None, f"docs/design.md names {path}, which does not exist"
    missing = {name for name in names if name} - defined(file)
    assert not missing, f"docs/design.md says that {path} has {missing}"


def test_ten_changes_have_a_place() -> None:
    table = section("Where do I put ...?")
    assert len(re.findall(r"^\| an? ", table, flags=re.MULTILINE)) == 10


def each_page(test: Callable[[Path], None]) -> object:
    return pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))(test)


@each_page
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text("utf-8"))
    local = [target for target in targets if "://" not in target]
    assert not [target for target in local if not (page.parent / target).exists()]


@each_page
def test_what_pages_name_exists(page: Path) -> None:
    text = page.read_text("utf-8")
    for line in re.findall(r"^(?:>>> )?((?:from|import) corefine\b.*)$", text, flags=re.MULTILINE):
        exec(line.partition("#")[0], {})
    for name in re.findall(r"`corefine((?:\.\w+)+)[`(]", text):
        resolve_name(f"corefine{name}")
    for path in re.findall(r"`([a-z_]+/[\w/]+(?:\.py|/))`", text):
        assert found(path), path
    for path in re.findall(r"(?:src|tests|benchmarks|tools)/[\w/.-]*\w", text):
        assert (ROOT / path).exists(), path


def test_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    [program] = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), flags=re.DOTALL)
    exec(program, {})
    asked, f1 = capsys.readouterr().out.splitlines()
    assert asked.endswith("?")
    assert float(f1) > 90
    assert list(tmp_path.iterdir()) == [tmp_path / "harbour.jsonl"]
