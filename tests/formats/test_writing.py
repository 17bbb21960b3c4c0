"""Files appear whole or not at all, under names that files may have."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import corefine
from corefine import files
from corefine.document import Document, Span
from corefine.errors import Fault, InputError, LossError
from corefine.formats import FORMATS, format_for, knows, read_all, write
from corefine.formats.text import file_stem, name_and_part


def document(name: str = "d", **fields: object) -> Document:
    return Document.from_sentences(name, [["Ann", "ran"]], [[(0, 0)]], **fields)


def test_endings_tell_formats() -> None:
    endings = {"conll": ("conll", "v4_gold_conll", "v4_auto_conll", "key", "response"), "conllu": ("conllu",)}
    endings |= {"jsonl": ("jsonl", "jsonlines"), "brat": ("ann",), "text": ("txt",)}
    for name, known in endings.items():
        for ending in known:
            assert format_for(f"x/a.b.{ending}").name == name
            assert format_for(f"x/a.b.{ending}.gz").name == name
            assert knows(Path(f"a.{ending}.gz"))
    assert not knows(Path("a.gz"))
    assert format_for("a.txt", "jsonl").name == "jsonl"
    for path, format in (("a.xyz", None), ("a", None), (None, None), ("a.txt", "xml")):
        with pytest.raises(InputError, match=", ".join(FORMATS)):
            format_for(path, format)


def test_public_names() -> None:
    assert corefine.read is not None
    assert {"read", "read_all", "write"} <= set(dir(corefine))


def test_packed_and_the_same_every_time(tmp_path: Path) -> None:
    for number in range(2):
        write([document()], tmp_path / f"{number}.jsonl.gz")
    first, second = ((tmp_path / f"{number}.jsonl.gz").read_bytes() for number in range(2))
    assert first == second
    assert gzip.decompress(first).startswith(b'{"doc_key": "d"')
    assert read_all(tmp_path / "0.jsonl.gz") == [document()]
    (tmp_path / "unnamed.jsonl").write_bytes(first)
    assert read_all(tmp_path / "unnamed.jsonl") == [document()]


def test_nothing_is_left_of_what_fails(tmp_path: Path) -> None:
    target = tmp_path / "a.conll"
    write(document(), target)
    before = target.read_bytes()

    def failing() -> Iterator[Document]:
        yield document("x")
        raise KeyError("gone")

    with pytest.raises(KeyError):
        write(failing(), target)
    with pytest.raises(LossError):
        write([document("x"), document("y", genre="news")], target)
    assert target.read_bytes() == before
    assert list(tmp_path.iterdir()) == [target]
    with pytest.raises(LossError):
        write([document("x"), document("y", genre="news")], tmp_path / "new", "brat")
    assert list(tmp_path.iterdir()) == [target]


def test_a_file_is_read_while_it_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    write([document("a"), document("b")], path)
    write(corefine.read(path), path)
    assert [d.name for d in read_all(path)] == ["a", "b"]


def test_what_is_no_file_is_not_replaced(tmp_path: Path) -> None:
    write(document(), os.devnull, "jsonl")
    assert not Path(os.devnull).is_file()
    (tmp_path / "real.jsonl").write_text("")
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "real.jsonl")
    write(document(), tmp_path / "link.jsonl")
    assert (tmp_path / "link.jsonl").is_symlink()
    assert read_all(tmp_path / "real.jsonl") == [document()]


def test_a_name_that_is_too_long_for_a_file_is_shortened(tmp_path: Path) -> None:
    write(document("n" * 500), tmp_path, "brat")
    assert len(read_all(tmp_path, "brat")) == 1


def test_places_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        write(document(), tmp_path / "file" / "a.jsonl")
    (tmp_path / "folder.jsonl").mkdir()
    with pytest.raises(InputError, match="is a folder"):
        write(document(), tmp_path / "folder.jsonl", "jsonl")
    with pytest.raises(InputError, match="written twice"):
        write([document(), document()], tmp_path, "brat")
    with pytest.raises(InputError, match="one document a file"):
        write([document(), document()], tmp_path / "a.ann")
    with pytest.raises(InputError, match="half a character"):
        write(document("\ud800"), tmp_path / "a.jsonl")
    with pytest.raises(InputError, match="its extra cannot be written"):
        write(document(extra={"x": object()}), tmp_path / "a.jsonl")
    with pytest.raises(InputError, match="cannot be read"):
        read_all(tmp_path / "none.jsonl")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder.jsonl"]


def test_a_full_disk_is_named_and_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "a.jsonl"
    write(document(), target)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(InputError, match=r"a\.jsonl cannot be written: No space left on device"):
        write(document("new"), target)
    assert read_all(target) == [document()]
    assert list(tmp_path.iterdir()) == [target]


@given(st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=12), st.integers(0, 20))
def test_names_become_file_names_and_come_back(name: str, part: int) -> None:
    named = Document(name, (), (), part=part)
    stem = file_stem(named)
    assert name_and_part(stem) == (name, part)
    assert not set(stem) & set('/\\\0\n:*?"<>|')
    assert not stem.startswith(".")


@pytest.mark.parametrize(
    ("name", "text", "offsets", "lost"),
    [
        ("uima-json", "Ann ran home", ((0, 3), (4, 12), (8, 12)), "overlapping tokens"),
        ("xmi", "Ann ran home", ((0, 3), (4, 12), (8, 12)), "overlapping tokens"),
        ("spacy", "Ann ran, home", ((0, 3), (4, 7), (9, 13)), "text between tokens"),
    ],
)
def test_tokens_that_a_format_cannot_hold_are_told_and_what_is_written_is_sound(
    tmp_path: Path, name: str, text: str, offsets: tuple[tuple[int, int], ...], lost: str
) -> None:
    """These outputs were refused by `corefine check`: overlapping tokens, and a speaker too few for a further token."""
    tokens = tuple(text[start:end] for start, end in offsets)
    clusters = [[Span(0, 0), Span(2, 2)]]
    source = Document("d", tokens, (0,), clusters, text=text, offsets=offsets, speakers=("Bo", "Bo", None))
    out = tmp_path / f"d{FORMATS[name].endings[0]}"
    with pytest.raises(LossError, match=lost):
        write(source, out, format=name)
    write(source, out, format=name, lossy=True)
    faults: list[Fault] = []
    (again,) = read_all(out, name, on_fault=faults.append)
    assert not faults
    assert [[again.words(span) for span in cluster] for cluster in again.clusters] == [["Ann", "home"]]
    if name == "spacy":
        assert again.tokens == ("Ann", "ran", ",", "home")
        assert again.speakers == ("Bo", "Bo", None, None)


def test_a_mention_that_ends_with_an_empty_token_ends_before_it(tmp_path: Path) -> None:
    source = Document("d", ("Ann", "", "ran"), (0,), [[Span(0, 1), Span(2, 2)]])
    out = tmp_path / "d.tsv"
    write(source, out, format="webanno", lossy=True)
    faults: list[Fault] = []
    (again,) = read_all(out, "webanno", on_fault=faults.append)
    assert not faults
    assert [again.words(span) for span in again.clusters[0]] == ["Ann", "ran"]
