"""Tokens and the text they are cut from: what differs or overlaps is said."""

from __future__ import annotations

import json
from dataclasses import replace
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corefine.document import Document, Span
from corefine.errors import FormatError
from corefine.formats import FORMATS, read
from corefine.formats.tokens import Tokens, divided, sentences_by_rules, tokenise
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


def sentences(words: Tokens) -> list[str]:
    ends = [*words.sentence_starts[1:], len(words.tokens)]
    return [" ".join(words.tokens[start:end]) for start, end in zip(words.sentence_starts, ends, strict=True)]


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "Go. “I know,” she said. (She lied.)", ["Go .", "“ I know , ” she said .", "( She lied . )"]),
        ("en", 'Go. "I know," she said. "Yes."', ["Go .", '" I know , " she said .', '" Yes . "']),
        ("en", "Go. 'I know,' she said. 'Yes.'", ["Go .", "' I know , ' she said .", "' Yes . '"]),
        ("en", 'Go . " I know , " she said . " Yes . "', ["Go .", '" I know , " she said .', '" Yes . "']),
        ("en", 'Go.\n\n"I know.\n\n"Yes." No.', ["Go .", '" I know .', '" Yes . "', "No ."]),
        ("es", "Ana llegó. ¿Qué dijo? —No.", ["Ana llegó .", "¿ Qué dijo ?", "— No ."]),
        ("de", "Geh. „Ja.“ Er ging. »Nein.« Er kam.", ["Geh .", "„ Ja . “", "Er ging .", "» Nein . «", "Er kam ."]),
        ("fr", "Va. « Oui. » Puis il va.", ["Va .", "« Oui . »", "Puis il va ."]),
        ("zh", "他走了。“我知道。”（他笑了。）", ["他 走 了 。", "“ 我 知 道 。 ”", "（ 他 笑 了 。 ）"]),
    ],
)
def test_a_sentence_begins_with_the_marks_that_open_it(language: str, text: str, expected: list[str]) -> None:
    assert sentences(tokenise(text, language)) == expected


def test_opening_marks_are_found_without_spaces_too() -> None:
    tokens = ("Go", ".", "“", "I", "know", ".", "”", "(", "Yes", ".", ")", "No", ".")
    assert sentences_by_rules(tokens, "en") == (0, 2, 7, 11)


@given(st.lists(st.sampled_from(["Go", ".", "“", "”", '"', "„", "(", "\n\n", " ", "?", "'"]), max_size=30))
def test_no_sentence_is_empty(pieces: list[str]) -> None:
    words = tokenise("".join(pieces), "en")
    starts = list(words.sentence_starts)
    assert starts == sorted(set(starts))
    assert starts[:1] == ([0] if words.tokens else [])
    assert all(start < len(words.tokens) for start in starts)
