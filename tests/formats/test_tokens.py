"""Tokens and the text they are cut from: what differs or overlaps is said."""

from __future__ import annotations

import json
from dataclasses import replace
from io import BytesIO

import pytest

from corefine.document import Document, Span
from corefine.errors import FormatError
from corefine.formats import FORMATS, read
from corefine.formats.tokens import Tokens, divided
from helpers.format_making import read_bytes, rendered, with_faults

DOCUMENT = Document.from_text("Ann left her boat.", name="a").with_clusters([[(0, 0), (2, 2)]])


@pytest.mark.parametrize("format", ["tei", "brat", "text", "webanno", "xmi"])
def test_a_token_that_is_not_what_the_text_says_is_a_loss(format: str) -> None:
    differing = replace(DOCUMENT, tokens=("Ann", "leaves", *DOCUMENT.tokens[2:]))
    assert FORMATS[format].losses(differing)["tokens that differ from the text"] == 1


def test_overlapping_tokens_of_webanno_are_a_fault() -> None:
    rows = ["1-1\t0-6\tAnn\t", "1-2\t4-8\tleft\t", "1-3\t8-9\t.\t"]
    lines = ["#FORMAT=WebAnno TSV 3.3", "", "", "#Text=Ann left.", *rows, ""]
    with pytest.raises(FormatError, match=r":6, .*4-8 begins before"):
        list(read(BytesIO("\n".join(lines).encode()), "webanno"))


def test_overlapping_tokens_are_not_divided() -> None:
    words = Tokens(("of", "the"), ((0, 3), (1, 3)), (0,))
    assert divided(words, [2], "des") == words
    document = replace(DOCUMENT, offsets=((0, 6), *DOCUMENT.offsets[1:]))
    assert FORMATS["label-studio"].losses(document) == {"overlapping tokens": 1}


def test_a_token_with_a_line_break_is_a_loss_of_webanno() -> None:
    document = Document.from_sentences("a", [["Ann", "le\nft"]])
    assert FORMATS["webanno"].losses(document)["tokens with tabs or line breaks"] == 1


def test_tokens_of_white_space_are_in_no_mention_of_a_cas() -> None:
    pytest.importorskip("cassis")
    white = replace(DOCUMENT, tokens=(" ", *DOCUMENT.tokens), offsets=((0, 1), *shifted(1)), text=f" {DOCUMENT.text}")
    document = replace(white, clusters=((Span(0, 0),), (Span(0, 1), Span(3, 3))))
    assert FORMATS["uima-json"].losses(document) == {"tokens of white space": 1}
    [again], faults = with_faults(rendered([document], "uima-json"), "uima-json")
    assert (again.clusters, faults) == (DOCUMENT.clusters, [])


def test_a_language_of_a_cas_that_is_no_text_is_left_out() -> None:
    pytest.importorskip("cassis")
    written = rendered([replace(DOCUMENT, language="de")], "uima-json")
    assert '"language": "de"' in written
    [again], faults = with_faults(written.replace('"language": "de"', '"language": 3'), "uima-json")
    assert again.language is None
    assert [fault.what for fault in faults] == ["a language that is not text, which was left out"]


def shifted(by: int) -> list[tuple[int, int]]:
    return [(start + by, end + by) for start, end in DOCUMENT.offsets or ()]


def test_labels_of_a_relation_that_are_no_list_are_no_label() -> None:
    regions = [
        {"id": id_, "type": "labels", "value": {"start": start, "end": start + 3, "labels": ["M"]}}
        for id_, start in (("a", 0), ("b", 9))
    ]
    relation = {"type": "relation", "from_id": "b", "to_id": "a", "labels": {"start": 0}}
    task = {"data": {"text": "Ann left her boat."}, "predictions": [{"result": [*regions, relation]}]}
    [document] = read_bytes(json.dumps([task]), "label-studio")
    assert document.clusters == DOCUMENT.clusters
