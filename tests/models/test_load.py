"""Models by name: folders, what ships, rules, Python code."""

from __future__ import annotations

from pathlib import Path

import pytest

import corefine
from corefine.document import Document
from corefine.errors import InputError, ModelError
from corefine.models.load import lasting_name, model_folder

CODE = """
from corefine.models import rules

class Mine:
    def predict(self, document):
        return rules.predict(document)

made = Mine()
number = 3

def make():
    return Mine()

def makes_nothing():
    return None
"""


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a module beside the user's files."""
    name = f"my_models_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(CODE)
    monkeypatch.chdir(tmp_path)
    return name


def test_rules_need_no_weights() -> None:
    result = corefine.load("rules").predict("Then Anna slept. She was tired.")
    assert result.strings == (("Anna", "She"),)
    assert model_folder("rules") is None


@pytest.mark.parametrize("attribute", ["made", "make", "Mine"])
def test_python_code_can_be_a_model(code: str, attribute: str) -> None:
    resolver = corefine.load(f"{code}:{attribute}")
    document = Document.from_sentences("d", [["Then", "Anna", "slept", "."], ["She", "woke", "."]])
    assert resolver.predict(document).strings == (("Anna", "She"),)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("{}:nothing", "there is no"),
        ("no_such_module_at_all:x", "there is no"),
        ("{}:number", "has no method `predict`"),
        ("{}:makes_nothing", "makes a NoneType"),
    ],
)
def test_code_that_is_no_model_is_refused(code: str, name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        corefine.load(name.format(code))


@pytest.mark.parametrize("name", ["nowhere", "no/such/folder", "a:b:c"])
def test_what_is_no_model_is_refused_with_what_would_be_one(name: str) -> None:
    with pytest.raises(ModelError, match="'starter', 'strong', 'rules' or module:attribute"):
        corefine.load(name)


def test_a_name_that_lasts_is_a_whole_path_or_no_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine").mkdir()
    Path("mine", "model.json").write_text("{}", encoding="utf-8")
    assert lasting_name("mine") == str(tmp_path / "mine")
    for name in ("starter", "rules", "some.module:Model", str(tmp_path / "mine")):
        assert lasting_name(name) == name
