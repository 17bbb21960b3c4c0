"""The documentation builds as a site, and the notebooks run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from corefine.config import Config
from settings_page import SECTIONS

ROOT = Path(__file__).parents[2]


def names(config: type[Config]) -> list[str]:
    """The settings of a config, without those that are tables of others."""
    return [each.name for each in fields(config) if each.metadata]


SHOWN = {
    "commands": ["corefine score", "corefine annotate"],
    "python": ["resolved_text"],
    "settings": [f"<code>{name}</code>" for *_, config in SECTIONS for name in names(config)],
    "rest": [
        "POST /api/answers",
        "GET /api/documents/{document_id}/entities",
        "AnswerRequest",
        "<code>client_id</code>",
    ],
}
"""What pages of the reference that are made from the code must have."""

NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


def test_the_site_builds_without_warnings(tmp_path: Path) -> None:
    pytest.importorskip("material")
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT / "tools")])
    run = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": paths, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    for page, shown in SHOWN.items():
        text = (tmp_path / "reference" / page / "index.html").read_text("utf-8")
        assert not [each for each in shown if each not in text], page


def test_every_config_is_in_the_reference() -> None:
    ours = {each.__name__ for each in Config.__subclasses__() if each.__module__.startswith("corefine.")}
    assert ours - {"Recipe"} == {config.__name__ for *_, config in SECTIONS}  # a recipe is made of the others


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_code_of_a_notebook_runs(path: Path) -> None:
    namespace: dict[str, object] = {"__name__": "__main__"}
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), path.name, "exec", dont_inherit=True), namespace)


@pytest.mark.nightly
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_in_jupyter(path: Path) -> None:
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbclient").NotebookClient(nbformat.read(path, as_version=4), timeout=300)
    executed = client.execute()
    shown = [output for cell in executed.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("text/html" in output.get("data", {}) for output in shown) or path.stem == "selector"
