from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from corefine.simulation.code_hash import PACKAGE, SCHEME, code_hash


@pytest.fixture
def edited(tmp_path: Path) -> Callable[[str, str, str], str]:
    """The hash of the source with one string replaced in one file."""

    def edit(file: str, old: str, new: str) -> str:
        package = tmp_path / str(len(list(tmp_path.iterdir()))) / "corefine"
        shutil.copytree(PACKAGE, package, ignore=lambda folder, names: {n for n in names if _is_data(folder, n)})
        text = (package / file).read_text("utf-8")
        assert old in text
        (package / file).write_text(text.replace(old, new, 1), "utf-8")
        return code_hash(package)

    return edit


def _is_data(folder: str, name: str) -> bool:
    return (Path(folder) / name).is_file() and not name.endswith(".py")


def test_an_edited_docstring_or_comment_changes_nothing(edited: Callable[[str, str, str], str]) -> None:
    assert code_hash().startswith(SCHEME)
    assert edited("simulation/loop.py", '"""The active learning loop', '"""A loop') == code_hash()
    assert edited("simulation/loop.py", "DIGITS = 4", "# four are enough\nDIGITS = 4") == code_hash()


@pytest.mark.parametrize("file", ["simulation/loop.py", "annotation/revision.py", "models/training/trainer.py"])
def test_an_edited_expression_of_what_a_run_imports_does(edited: Callable[[str, str, str], str], file: str) -> None:
    assert edited(file, "\n\n\n", "\nADDED = 1\n\n\n") != code_hash()


@pytest.mark.parametrize("file", ["simulation/explain.py", "web/app.py", "reproduction/report.py"])
def test_what_a_run_does_not_import_does_not_count(edited: Callable[[str, str, str], str], file: str) -> None:
    assert edited(file, "\n\n\n", "\nADDED = 1\n\n\n") == code_hash()
