"""Records on disk: what was saved comes back, whatever is wrong is said, and a failed save harms nothing."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import pytest
import torch

from corefine import files
from corefine.errors import ModelError
from corefine.models.storage.tensors import FORMAT, load_tensors, save_tensors

TENSORS = {"a.weight": torch.arange(12, dtype=torch.float32).reshape(3, 4), "step": torch.tensor(7)}


def weights_file(folder: Path) -> Path:
    (path,) = folder.glob("m-*.safetensors")
    return path


def edit(folder: Path, **facts: object) -> None:
    path = folder / "m.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | facts))


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    save_tensors(tmp_path, "m", TENSORS, {"note": "Ünïcode"})
    return tmp_path


def test_what_was_saved_comes_back(saved: Path) -> None:
    record = load_tensors(saved, "m")
    assert record.facts["note"] == "Ünïcode"
    assert record.tensors.keys() == TENSORS.keys()
    for name, tensor in TENSORS.items():
        assert torch.equal(record.tensors[name], tensor)


def test_saving_the_same_gives_the_same_bytes(saved: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other")
    save_tensors(other, "m", dict(reversed(TENSORS.items())), {"note": "Ünïcode"})
    assert weights_file(saved).read_bytes() == weights_file(other).read_bytes()


def test_a_second_save_replaces_the_first_and_leaves_other_records_alone(saved: Path) -> None:
    save_tensors(saved, "m-best", TENSORS, {})
    save_tensors(saved, "m", {"b": torch.ones(2)}, {})
    assert load_tensors(saved, "m").tensors.keys() == {"b"}
    assert load_tensors(saved, "m-best").tensors.keys() == TENSORS.keys()
    assert len(list(saved.glob("*.safetensors"))) == 2


@pytest.mark.parametrize("cut", [0, 5, 100])
def test_truncated_weights_are_refused(saved: Path, cut: int) -> None:
    path = weights_file(saved)
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(ModelError, match="truncated or was altered"):
        load_tensors(saved, "m")


def test_one_altered_byte_is_refused(saved: Path) -> None:
    path = weights_file(saved)
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(ModelError, match="truncated or was altered"):
        load_tensors(saved, "m")


def test_weights_that_are_gone_are_named(saved: Path) -> None:
    path = weights_file(saved)
    path.unlink()
    with pytest.raises(ModelError, match=path.name):
        load_tensors(saved, "m")


def test_a_newer_version_says_upgrade(saved: Path) -> None:
    edit(saved, format=FORMAT + 1, corefine="99.0")
    with pytest.raises(ModelError, match=r"made by corefine 99\.0.*upgrade"):
        load_tensors(saved, "m")


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"a": 1}', "\udcff"])
def test_a_damaged_json_is_refused(saved: Path, text: str) -> None:
    (saved / "m.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ModelError, match=r"m\.json"):
        load_tensors(saved, "m")


def test_no_record(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="holds no m"):
        load_tensors(tmp_path / "nowhere", "m")


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_numbers_that_are_none_are_neither_saved_nor_loaded(saved: Path, bad: float) -> None:
    with pytest.raises(ModelError, match=r"a\.weight holds NaN"):
        save_tensors(saved, "m", {"a.weight": torch.tensor([1.0, bad])}, {})
    assert load_tensors(saved, "m").tensors.keys() == TENSORS.keys()

    from safetensors.torch import save

    content = save({"a.weight": torch.tensor([1.0, bad])})
    weights_file(saved).write_bytes(content)
    import hashlib

    edit(saved, sha256=hashlib.sha256(content).hexdigest())
    with pytest.raises(ModelError, match=r"a\.weight holds NaN"):
        load_tensors(saved, "m")


@pytest.mark.parametrize("fails_at", [0, 1, 2, 3])
def test_a_full_disk_leaves_the_previous_save(saved: Path, monkeypatch: pytest.MonkeyPatch, fails_at: int) -> None:
    """Whichever of the writes of a save fails, the record before it loads, and no rubbish is left."""
    calls = 0
    real = files.os.fsync

    def full(handle: int) -> None:
        nonlocal calls
        calls += 1
        if calls == fails_at + 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(handle)

    monkeypatch.setattr(files.os, "fsync", full)
    new = {"a.weight": torch.zeros(2)}
    if fails_at in (0, 2):  # the weights, the JSON; 1 and 3 sync the folder, which some systems cannot do at all
        with pytest.raises(ModelError, match="No space left"):
            save_tensors(saved, "m", new, {})
        assert load_tensors(saved, "m").tensors.keys() == TENSORS.keys()
    else:
        save_tensors(saved, "m", new, {})
        assert torch.equal(load_tensors(saved, "m").tensors["a.weight"], new["a.weight"])
    assert len(list(saved.iterdir())) == 2  # the JSON and one weights file: nothing half-written lies about
