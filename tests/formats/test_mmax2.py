"""MMAX2 projects as the tool lays them out: a project file, words, and a file for each level of markables."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from corefine.document import Document, Span, SplitSpan
from corefine.errors import Fault, FormatError, InputError
from corefine.formats import format_of, read, read_all
from helpers.mmax2_making import COREFERENCE, PATHS, SENTENCES, WORDS, level_xml, project_xml, words_xml


def project(folder: Path, *, words: bytes | None = None, subfolders: bool = True, **levels: bytes) -> Path:
    """The project `story` in this folder."""
    base, markables = (folder / "Basedata", folder / "Markables") if subfolders else (folder, folder)
    for each in (base, markables):
        each.mkdir(parents=True, exist_ok=True)
    (folder / "story.mmax").write_bytes(project_xml("story_words.xml"))
    (base / "story_words.xml").write_bytes(words_xml(WORDS) if words is None else words)
    (base / "words.dtd").write_text("<!ELEMENT words (word*)>")
    content = {"sentence": level_xml("sentence", SENTENCES), "coref": level_xml("coref", COREFERENCE)} | levels
    for level, data in content.items():
        if data:
            (markables / f"story_{level}_level.xml").write_bytes(data)
    return folder / "story.mmax"


def with_faults(path: Path) -> tuple[list[Document], list[Fault]]:
    faults: list[Fault] = []
    return list(read(path, on_fault=faults.append)), faults


@pytest.mark.parametrize("subfolders", [True, False])
def test_a_project(tmp_path: Path, subfolders: bool) -> None:
    path = project(tmp_path, subfolders=subfolders)
    assert format_of(path).name == "mmax2"
    (document,), faults = with_faults(path)
    assert document == Document.from_sentences(
        "story",
        [WORDS[:8], WORDS[8:]],
        [[(0, 0), (8, 8)], [SplitSpan([(2, 3), (5, 6)]), Span(11, 11)], [(5, 6)]],
    )
    assert [fault.what for fault in faults] == ["not read: attribute np_form of 2 markables"]
    assert not faults[0].fatal


def test_a_folder_and_an_archive_of_a_project(tmp_path: Path) -> None:
    path = project(tmp_path / "corpus")
    documents = read_all(path)
    assert read_all(tmp_path / "corpus") == documents
    with zipfile.ZipFile(tmp_path / "corpus.zip", "w") as archive:
        for file in sorted((tmp_path / "corpus").rglob("*")):
            archive.write(file, file.relative_to(tmp_path))
    assert read_all(tmp_path / "corpus.zip") == documents


def test_folders_that_common_paths_names(tmp_path: Path) -> None:
    path = project(tmp_path)
    documents = read_all(path)
    (tmp_path / "Basedata").rename(tmp_path / "texts")
    (tmp_path / "Markables").rename(tmp_path / "levels")
    (tmp_path / "common_paths.xml").write_text(PATHS.format(words="texts/", markables="./levels"))
    assert read_all(path) == documents


def test_nothing_outside_the_project_is_read(tmp_path: Path) -> None:
    project(tmp_path / "secret", subfolders=False)
    path = tmp_path / "mine" / "story.mmax"
    path.parent.mkdir()
    path.write_bytes(project_xml("../secret/story_words.xml"))
    (path.parent / "common_paths.xml").write_text(PATHS.format(words="../secret", markables=str(tmp_path / "secret")))
    with pytest.raises(FormatError, match=r"story_words\.xml is missing"):
        read_all(path)


def test_other_schemes_and_encodings(tmp_path: Path) -> None:
    sets = [(span, {"coref_set": each["coref_class"]}) for span, each in COREFERENCE[:4]]
    path = project(
        tmp_path, words=words_xml(WORDS, "ISO-8859-1"), coref=b"", discourse=level_xml("discourse", sets),
        chunk=level_xml("chunk", [("word_1..word_2", {"tag": "NP"})]),
    )  # fmt: skip
    (document,), faults = with_faults(path)
    assert document.tokens == tuple(WORDS)
    assert len(document.clusters) == 2
    assert [fault.what for fault in faults] == ["not read: level chunk"]


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    (document,), faults = with_faults(project(tmp_path / "a", coref=b"", sentence=b""))
    assert document.sentence_starts == (0,)
    assert document.clusters == ()
    assert [fault.what for fault in faults] == [
        "no level has coref_class or coref_set, so there are no entities (levels: none)",
        "there is no level `sentence`: all words are read as one sentence",
    ]
    with (tmp_path / "a" / "story.mmax").open("rb") as stream, pytest.raises(InputError, match="several files"):
        read_all(stream)


@pytest.mark.parametrize(
    ("level", "message"),
    [
        (level_xml("coref", [("word_1..word_99", {"coref_class": "set_1"})]), "names words that do not exist"),
        (level_xml("coref", [("word_5..word_2", {"coref_class": "set_1"})]), "names words that do not exist"),
        (level_xml("coref", COREFERENCE)[:-20], "this is not XML"),
        (b'<!DOCTYPE m [<!ENTITY a "b">]><markables/>', "the entity a is declared"),
        (b'<?xml version="1.0" encoding="klingon"?><markables/>', "encoding"),
    ],
)
def test_faults_have_file_and_line(tmp_path: Path, level: bytes, message: str) -> None:
    documents, faults = with_faults(project(tmp_path, coref=level))
    assert not documents
    (fatal,) = [fault for fault in faults if fault.fatal]
    assert message in fatal.what
    assert str(fatal.path).endswith("story_coref_level.xml")
    assert fatal.document == "story"
    assert fatal.line is not None


def test_a_bad_span_costs_its_markable_alone_when_repaired(tmp_path: Path) -> None:
    bad = [*COREFERENCE, ("word_77", {"coref_class": "set_1"})]
    (document,) = read_all(project(tmp_path, coref=level_xml("coref", bad)), repair=True)
    assert document.clusters == read_all(project(tmp_path / "sound"))[0].clusters
