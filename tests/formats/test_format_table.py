"""The table of formats is true, and docs/formats.md has it."""

from __future__ import annotations

from pathlib import Path

import pytest

from corefine.document import Document, SplitSpan
from corefine.formats import FORMATS, format_of, read
from corefine.formats.expresses import ANY
from make_format_table import PAGE, with_table

PLAIN = Document.from_sentences("a", [["Ann", "saw", "Bo", "."], ["She", "left", "."]], [[(0, 0), (4, 4)]])
WITH = {
    "crossing": {"clusters": [[(0, 2), (1, 3)]]},
    "discontinuous": {"clusters": [[SplitSpan([(0, 0), (2, 2)]), (4, 4)]]},
    "speakers": {"speakers": ("Ann",) * 7},
    "genre": {"genre": "novel"},
    "language": {"language": "en"},
    "part": {"part": 3},
}


@pytest.mark.parametrize("field", WITH)
@pytest.mark.parametrize("name", [name for name, each in FORMATS.items() if each.files])
def test_what_the_table_says_is_lost_and_nothing_else(name: str, field: str) -> None:
    given = dict(WITH[field])
    clusters = given.pop("clusters", [])
    fields = {key: getattr(PLAIN, key) for key in ("name", "tokens", "sentence_starts")}
    bare = Document(**fields).with_clusters(clusters)
    document = Document(**fields, **given).with_clusters(clusters)
    format = FORMATS[name]
    if field in ("crossing", "discontinuous"):
        found = format.losses(document) - format.losses(bare.with_clusters([]))
    else:
        found = format.losses(document) - format.losses(bare)
    able = bool(getattr(format.expresses, field)) and format.expresses.entities
    if field in ("speakers", "genre", "language", "part"):
        able = bool(getattr(format.expresses, field))
    assert bool(found) != able, found


@pytest.mark.parametrize("name", [name for name, each in FORMATS.items() if each.files])
def test_layers(name: str) -> None:
    format = FORMATS[name]
    for layer in ("xpos", "lemma", "something"):
        fields = {key: getattr(PLAIN, key) for key in ("name", "tokens", "sentence_starts")}
        document = Document(**fields, layers={layer: ("X",) * 7})
        able = format.expresses.layers == ANY or layer in format.expresses.layers
        assert bool(format.losses(document) - format.losses(Document(**fields))) != able


def test_the_page_has_the_table() -> None:
    page = PAGE.read_text("utf-8")
    assert with_table(page) == page, "run python tools/make_format_table.py"


def test_content_tells_the_format_of_a_stream_and_of_a_file_without_ending(tmp_path: Path) -> None:
    for name in ("conll", "conllu", "jsonl", "preco", "tei", "webanno", "label-studio", "corenlp"):
        format = FORMATS[name]
        path = tmp_path / "something"
        content = "".join(map(str, format.bundle([next(iter(format.files.values()))(PLAIN)])))
        path.write_text(content)
        assert format_of(path).name == name
        with path.open("rb") as stream:
            assert [document.clusters for document in read(stream)] == [PLAIN.clusters]
