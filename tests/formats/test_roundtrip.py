"""What a format says it can express comes back as it was; what it cannot, it can still write."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from corefine.document import Document, Span
from corefine.errors import InputError
from corefine.formats import FORMATS, read_all, write
from corefine.formats.conll import LAYERS as CONLL_LAYERS
from corefine.formats.conllu.extra import LAYERS as CONLLU_LAYERS
from helpers.format_making import ANY_TEXT, NAMES, as_bytes, documents, read_bytes, rendered

SPEAKERS = st.sampled_from(["Ann", "Bo B.", "Анна", "#1"])
JSON = st.recursive(st.none() | st.booleans() | st.integers(-9, 9) | ANY_TEXT, lambda x: st.lists(x, max_size=2))


def speakers_by_token(draw: st.DrawFn, size: int) -> dict[str, Any]:
    if not size or draw(st.booleans()):
        return {}
    return {"speakers": (draw(SPEAKERS), *(draw(SPEAKERS | st.none()) for _ in range(size - 1)))}


def anything(draw: st.DrawFn, size: int) -> dict[str, Any]:
    """Fields that only JSON lines has a place for."""
    fields = speakers_by_token(draw, size)
    fields["genre"] = draw(st.none() | ANY_TEXT)
    fields["language"] = draw(st.sampled_from([None, "en", "xx"]))
    fields["text"] = draw(st.none() | ANY_TEXT)
    if fields["text"] is not None and draw(st.booleans()):
        fields["offsets"] = ((0, len(fields["text"])),) * size
    keys = st.text("abc_", min_size=1, max_size=3)
    fields["extra"] = {k: v for k, v in draw(st.dictionaries(keys, JSON, max_size=2)).items() if v is not None}
    if unknown := draw(st.dictionaries(keys.map("x_".__add__), JSON, max_size=2)):
        fields["extra"]["jsonl"] = unknown
    return fields


ANYTHING = documents(words=ANY_TEXT, names=ANY_TEXT, layers=("lemma", "odd", "xpos"), further=anything)


@given(ANYTHING)
def test_json_lines_keep_everything(document: Document) -> None:
    assume(not FORMATS["jsonl"].losses(document))
    assert read_bytes(rendered([document], "jsonl"), "jsonl") == [document]


@given(documents(names=NAMES, split=False, layers=CONLL_LAYERS, further=speakers_by_token))
def test_conll(document: Document) -> None:
    assume(not FORMATS["conll"].losses(document))
    assert read_bytes(rendered([document], "conll"), "conll") == [document]


def conllu_fields(draw: st.DrawFn, size: int) -> dict[str, Any]:
    fields: dict[str, Any] = {"genre": draw(st.none() | NAMES), "language": draw(st.sampled_from([None, "en"]))}
    if size and draw(st.booleans()):
        fields["speakers"] = (draw(SPEAKERS),) * size
    return fields


@given(documents(names=NAMES, layers=CONLLU_LAYERS, further=conllu_fields))
def test_conllu(document: Document) -> None:
    assume(not FORMATS["conllu"].losses(document))
    again = read_bytes(rendered([document], "conllu"), "conllu")
    assert again == [document]


ENGLISH = ("Ann", "met", "her", "sister", "Zoë", "don't", ".", "a-b")
PLAIN = documents(words=st.sampled_from([*ENGLISH, "Анна"]))


@given(documents(words=st.sampled_from(ENGLISH)))  # Cyrillic words would bring the rules of another language
def test_brat_keeps_mentions_whatever_becomes_of_tokens(document: Document) -> None:
    with tempfile.TemporaryDirectory() as folder:
        lost = write(document, folder, "brat", lossy=True)
        (path,) = Path(folder).glob("*.ann")
        (again,) = read_all(path)
        write(again, Path(folder) / "again", "brat")
        (twice,) = read_all(next(Path(folder, "again").glob("*.ann")))
    assert (again.name, again.part) == (document.name, document.part)
    assert [list(map(again.words, cluster)) for cluster in again.clusters] == [
        [" … ".join(_split_up(document, part) for part in span.parts) for span in cluster]
        for cluster in document.clusters
    ]
    if not lost:
        assert (again.tokens, again.sentence_starts, again.clusters) == (
            document.tokens,
            document.sentence_starts,
            document.clusters,
        )
    assert twice == again


def _split_up(document: Document, part: Span) -> str:
    """The words of a part as the rules for English split them."""
    words = " ".join(document.tokens[part.start : part.end + 1])
    return words.replace("don't", "do n't").replace("a-b", "a - b")


@given(PLAIN, st.sampled_from(["en", None]))
def test_text_keeps_the_text(document: Document, language: str | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write(document, folder, "text", lossy=True)
        (path,) = Path(folder).glob("*.txt")
        (again,) = read_all(path, language=language)
        assert write(again, Path(folder) / "again.txt", lossy=True).keys() <= {"language"}
        assert Path(folder, "again.txt").read_bytes() == path.read_bytes()
    assert again.text is not None
    assert again.text.split() == " ".join(document.tokens).split()
    assert all(again.text[a:z] == token for token, (a, z) in zip(again.tokens, again.offsets or (), strict=True))


@pytest.mark.parametrize("format", FORMATS)
@settings(max_examples=15)
@given(document=ANYTHING)
def test_what_cannot_be_expressed_can_still_be_written(format: str, document: Document) -> None:
    found = FORMATS[format]
    try:
        found.losses(document)
        for render in found.files.values():
            as_bytes(render(document))
    except InputError as error:
        assert "extra" in str(error)  # noqa: PT017


@given(ANYTHING)
def test_losses_are_all_there_is_to_lose(document: Document) -> None:
    """A document without what conll says it loses loses nothing, and comes back."""
    bare = Document(document.name, document.tokens, document.sentence_starts, document.clusters, document.part)
    for format in ("conll", "conllu"):
        again = read_bytes(rendered([bare], format), format)
        if not FORMATS[format].losses(bare):
            assert again == [bare]
        else:
            assert len(again) == 1
            assert again[0].sentence_starts == bare.sentence_starts
