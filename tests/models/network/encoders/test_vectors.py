"""Word vectors: every format gives the same table, a file is parsed once, and what is wrong is said in one line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
import torch

from corefine.errors import WeightsError
from corefine.models.network.encoders import vectors
from corefine.models.network.encoders.vectors import load_vectors, vectors_width

TEXT = "anna 1 2\nthe 3 4\n. . . 5 6\nanna 7 8\n"
INDEX = {"anna": 1, "the": 2, ". . .": 3}
TABLE = [[0, 0], [1, 2], [3, 4], [5, 6]]


def written(folder: Path, name: str) -> Path:
    """The same vectors in the format that goes with the name."""
    path = folder / name
    if name.endswith(".json"):
        rows = {"anna": [1, 2, 2.2, 0], "the": [3, 4, 5, 1], ". . .": [5, 6, 7.8, 2]}
        content = {"precision": 8, "dimensions": 2, "words": list(rows), "vectors": rows, "unkVector": [0, 0]}
        path.write_text(json.dumps(content, separators=(",", ":")), encoding="utf-8")
    elif name.endswith(".gz"):
        path.write_bytes(gzip.compress(TEXT.encode()))
    else:
        path.write_text(("3 2\n" if "word2vec" in name else "") + TEXT, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["glove.txt", "glove.txt.gz", "word2vec.txt", "wink.json"])
def test_every_format_gives_the_same_table(name: str, tmp_path: Path) -> None:
    path = written(tmp_path, name)
    found = load_vectors(path, 2, cache=tmp_path / "cache")
    assert found.index == INDEX
    assert found.table.tolist() == TABLE
    assert found.sha256 == load_vectors(written(tmp_path, "other.txt"), cache=tmp_path / "cache").sha256
    assert vectors_width(path) == found.width == 2


def test_a_file_is_parsed_once_and_again_when_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, "glove.txt")
    first = load_vectors(path, cache=tmp_path / "cache")
    with monkeypatch.context() as patched:
        patched.setattr(vectors, "_rows", lambda _: pytest.fail("it was parsed again"))
        again = load_vectors(path, cache=tmp_path / "cache")
    assert torch.equal(first.table, again.table)
    assert again.table.untyped_storage().nbytes() == 4 * len(TABLE) * 2
    path.write_text("anna 1 2 3\n", encoding="utf-8")
    assert load_vectors(path, cache=tmp_path / "cache").width == 3


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"vectors\.txt holds no word vectors"),
        (b"anna\n", r"vectors\.txt:1: a word and 1 numbers were expected"),
        (b"anna one two\n", r"vectors\.txt:1: a word and 2 numbers were expected"),
        (b"anna 1 2\nbert 1\n", r"vectors\.txt:2: a word and 2 numbers were expected"),
        (b"anna 1 nan\n", r"vectors\.txt holds numbers that are not finite"),
        (
            "änna 1 2\n".encode("latin-1"),
            r"vectors\.txt are not UTF-8 text \(invalid continuation byte\): convert the file",
        ),
    ],
)
def test_what_is_wrong_with_a_file_is_said_in_one_line(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_bytes(content)
    with pytest.raises(WeightsError, match=message) as raised:
        load_vectors(path, cache=tmp_path / "cache")
    assert "\n" not in str(raised.value)
    assert not list((tmp_path / "cache").glob("*/sha256"))


def test_another_width_than_the_models_is_refused(tmp_path: Path) -> None:
    message = r"have 2 numbers, and the model's words have 300: .* set model\.encoder\.word_width=2"
    with pytest.raises(WeightsError, match=message):
        load_vectors(written(tmp_path, "glove.txt"), 300, cache=tmp_path / "cache")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("wink.json", b'{"dimensions":2,"vectors":{"anna":[1,2', "is damaged near character"),
        ("wink.json", b"[]", 'it has no "vectors" and "dimensions"'),
        ("glove.txt.gz", b"anna 1 2\n", "cannot read the word vectors"),
    ],
)
def test_damaged_files_are_refused(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(WeightsError, match=message):
        load_vectors(tmp_path / name, cache=tmp_path / "cache")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match=r"no\.txt: No such file"):
        load_vectors(tmp_path / "no.txt")
    with pytest.raises(WeightsError, match="it is a folder"):
        load_vectors(tmp_path)
