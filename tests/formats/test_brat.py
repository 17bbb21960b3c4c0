"""brat standoff: annotations that point into the characters of a text."""

from __future__ import annotations

import gzip
from io import BytesIO
from pathlib import Path

import pytest

from corefine.document import Document, Span, SplitSpan
from corefine.errors import Fault, FormatError, InputError
from corefine.formats import FORMATS, read, read_all, write, write_stream

TEXT = "Ann Smith met her cat-lover friend.\nShe and he (both) left.\n"


def pair(folder: Path, annotations: str, text: str = TEXT) -> Path:
    (folder / "a.txt").write_bytes(text.encode())
    path = folder / "a.ann"
    path.write_bytes(annotations.encode())
    return path


def test_mentions_links_and_tokens_cut_at_them(tmp_path: Path) -> None:
    annotations = (
        "T1\tPerson 0 9\tAnn Smith\nT2\tPerson 14 17\ther\nT3\tAnimal 18 21\tcat\nT4\tPerson 36 39\tShe\n"
        "T5\tPerson 22 27;28 34\tlover friend\n*\tEquiv T1 T2\nR1\tCoref Arg1:T4 Arg2:T2\t\n"
        "A1\tKnown T1\nR2\tLikes Arg1:T1 Arg2:T3\n"
    )
    path = pair(tmp_path, annotations)
    (document,) = read(path)
    assert document.tokens[:8] == ("Ann", "Smith", "met", "her", "cat", "-", "lover", "friend")
    assert document.sentence_starts == (0, 9)
    assert [[document.words(span) for span in cluster] for cluster in document.clusters] == [
        ["Ann Smith", "her", "She"],
        ["cat"],
        ["lover friend"],
    ]
    assert document.text == TEXT
    assert document.extra["brat"]["others"] == ["A1\tKnown T1", "R2\tLikes Arg1:T1 Arg2:T3"]
    write(document, tmp_path / "out", "brat")
    (again,) = read(tmp_path / "out" / "a.ann")
    assert again == document
    lines = (tmp_path / "out" / "a.ann").read_text().splitlines()
    assert sorted(lines) == sorted(annotations.replace("22 27;28 34", "22 34").splitlines())
    assert (tmp_path / "out" / "a.txt").read_text() == TEXT


def test_discontinuous_mentions(tmp_path: Path) -> None:
    (document,) = read(pair(tmp_path, "T1\tGroup 36 39;44 46\tShe he\nT2\tGroup 29 34;36 39\triend. She\n"))
    split = document.clusters[1][0]
    assert isinstance(split, SplitSpan)
    assert document.words(split) == "She … he"
    assert document.characters(split) == ((36, 39), (44, 46))


def test_clusters_that_changed_since(tmp_path: Path) -> None:
    """Links that no longer hold are left out, mentions that are new get identifiers of their own."""
    (document,) = read(
        pair(tmp_path, "T7\tPerson 0 9\tAnn Smith\nT2\tPerson 36 39\tShe\n*\tEquiv T7 T2\nA1\tKnown T2\n")
    )
    her = Span(3, 3)
    changed = document.with_clusters([[document.clusters[0][0], her]])
    write(changed, tmp_path / "out", "brat")
    assert (tmp_path / "out" / "a.ann").read_text().splitlines() == [
        "T7\tPerson 0 9\tAnn Smith",
        "T1\tMention 14 17\ther",
        "*\tEquiv T7 T1",
    ]


def test_one_span_with_two_types(tmp_path: Path) -> None:
    annotations = "T1\tPerson 0 9\tAnn Smith\nT2\tRole 0 9\tAnn Smith\nT3\tPerson 14 17\ther\n*\tEquiv T2 T3\n"
    faults: list[Fault] = []
    (document,) = read(pair(tmp_path, annotations), on_fault=faults.append)
    assert [len(cluster) for cluster in document.clusters] == [2]
    assert not faults
    write(document, tmp_path / "out", "brat")
    assert (tmp_path / "out" / "a.ann").read_text() == annotations


def test_documents_without_a_text_get_one(tmp_path: Path) -> None:
    document = Document.from_sentences(
        "nw/a", [["Ann", "ran", "."], ["She", "fell", "."]], [[(0, 0), (3, 3)], [(1, 4)]], part=1
    )
    assert write(document, tmp_path, "brat") == {}
    assert (tmp_path / "nw%2Fa.part1.txt").read_text() == "Ann ran .\nShe fell .\n"
    assert (tmp_path / "nw%2Fa.part1.ann").read_text() == (
        "T1\tMention 0 3\tAnn\nT2\tMention 4 9;10 18\tran . She fell\nT3\tMention 10 13\tShe\n*\tEquiv T1 T3\n"
    )
    (again,) = read(tmp_path / "nw%2Fa.part1.ann")
    assert (again.name, again.part, again.sentences, again.clusters) == (
        document.name,
        document.part,
        document.sentences,
        document.clusters,
    )
    assert again.extra == {}


def test_either_file_names_the_pair_packed_or_not(tmp_path: Path) -> None:
    path = pair(tmp_path, "T1\tPerson 0 9\tAnn Smith\n")
    (document,) = read(path)
    assert read_all(tmp_path / "a.txt", "brat") == [document]
    for file in (path, tmp_path / "a.txt"):
        file.with_name(file.name + ".gz").write_bytes(gzip.compress(file.read_bytes()))
        file.unlink()
    assert read_all(tmp_path / "a.ann.gz") == [document]
    write(document, tmp_path / "b.ann.gz")
    assert read_all(tmp_path / "b.ann.gz")[0].clusters == document.clusters


@pytest.mark.parametrize(
    ("annotations", "line", "what"),
    [
        ("T1\tPerson 0 99\tAnn\n", 1, "offsets 0 99 of T1 are outside the text of 60 characters"),
        ("T1\tPerson 5 5\t\n", 1, "offsets 5 5 of T1 are outside"),
        ("T1\tPerson zero 5\tAnn\n", 1, "'T1' needs a type and offsets"),
        ("T1 Person 0 3 Ann\n", 1, "'T1 Person 0 3 Ann' needs a type and offsets"),
        ("T1\tPerson 0 3\tAnn\nT1\tPerson 4 9\tSmith\n", 2, "T1 is used twice"),
        ("T1\tPerson 0 3\tAnn\n*\tEquiv T1 T9\n", 2, "T9 is linked but is not a mention"),
    ],
)
def test_faults_that_spoil_the_document(tmp_path: Path, annotations: str, line: int, what: str) -> None:
    faults: list[Fault] = []
    assert list(read(pair(tmp_path, annotations), on_fault=faults.append)) == []
    (fault,) = faults
    assert (fault.path, fault.line, fault.document) == (str(tmp_path / "a.ann"), line, "a")
    assert fault.what.startswith(what)
    with pytest.raises(FormatError, match="document a"):
        read_all(tmp_path / "a.ann")


def test_repair_leaves_out_a_bad_mark_or_link_and_keeps_the_document(tmp_path: Path) -> None:
    marks = "T1\tPerson 0 3\tAnn\nT2\tPerson 4 9\tSmith\nT2\tPerson 0 3\tAnn\nT3\tPerson 900 903\tAnn\nT4 Person\n"
    faults: list[Fault] = []
    path = pair(tmp_path, f"{marks}*\tEquiv T1 T2\n*\tEquiv T1 T3\n")
    (document,) = read(path, on_fault=faults.append, repair=True)
    assert document.clusters == ((Span(0, 0), Span(1, 1)),)
    assert [(fault.line, fault.fatal) for fault in faults] == [(3, False), (4, False), (5, False), (7, False)]
    assert not list(read(path, on_fault=faults.append))


def test_faults_that_are_repaired(tmp_path: Path) -> None:
    faults: list[Fault] = []
    path = pair(tmp_path, "T1\tPerson 0 3\tBob\nT2\tPerson 9 10\t\r\n", TEXT.replace("\n", "\r\n"))
    (document,) = read(path, on_fault=faults.append)
    assert [fault.what for fault in faults] == [
        "lines end in CRLF",
        "T1 quotes 'Bob', but its offsets hold 'Ann'",
        "lines end in CRLF",
        "T2 holds only white space, and was left out",
    ]
    assert document.text == TEXT.replace("\n", "\r\n")
    assert document.clusters == ((Span(0, 0),),)


def test_what_a_pair_needs(tmp_path: Path) -> None:
    path = pair(tmp_path, "")
    (tmp_path / "a.txt").unlink()
    with pytest.raises(FormatError, match=r"a\.txt is missing"):
        read_all(path)
    with pytest.raises(InputError, match="two files"):
        read_all(BytesIO(b""), "brat")
    with pytest.raises(InputError, match="several files"):
        write_stream([], BytesIO(), "brat")


def test_what_it_cannot_express_is_named() -> None:
    document = Document.from_sentences(
        "d",
        [["can't", "."], ["Go"]],
        speakers=("A", "A", None),
        genre="news",
        language="en",
        layers={"pos": ("a", "b", "c")},
    )
    assert FORMATS["brat"].losses(document) == {
        "token boundaries": 3,
        "speakers": 2,
        "genre": 1,
        "language": 1,
        "layer pos": 1,
    }
