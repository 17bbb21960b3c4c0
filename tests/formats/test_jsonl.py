"""JSON lines: our own, and what users of e2e-coref, s2e and fastcoref have."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corefine.document import Document, Span, SplitSpan
from corefine.errors import Fault, FormatError, InputError
from corefine.formats import find_files, read
from corefine.formats.fields import WrongError, as_pair, as_pairs
from helpers.format_making import read_bytes, rendered, with_faults


def one(**fields: Any) -> Document:
    (document,) = read_bytes(json.dumps(fields), "jsonl")
    return document


def test_sentences_and_clusters() -> None:
    document = one(
        doc_key="nw/a_0",
        sentences=[["Ann", "met"], ["her"]],
        clusters=[[[0, 0], [2, 2]]],
        speakers=[["Bo", "Bo"], [""]],
        genre="nw",
        lang="en",
        split="dev",
    )
    assert document == Document.from_sentences(
        "nw/a_0",
        [["Ann", "met"], ["her"]],
        [[(0, 0), (2, 2)]],
        speakers=("Bo", "Bo", None),
        genre="nw",
        language="en",
        extra={"jsonl": {"split": "dev"}},
    )
    assert json.loads(rendered([document], "jsonl")) == {
        "doc_key": "nw/a_0",
        "split": "dev",
        "genre": "nw",
        "lang": "en",
        "sentences": [["Ann", "met"], ["her"]],
        "speakers": [["Bo", "Bo"], [None]],
        "clusters": [[[0, 0], [2, 2]]],
    }


def test_part_beside_a_key_that_stays_unique() -> None:
    document = Document.from_sentences("nw/a", [["x"]], part=3)
    record = json.loads(rendered([document], "jsonl"))
    assert (record["doc_key"], record["name"], record["part"]) == ("nw/a_3", "nw/a", 3)
    assert read_bytes(json.dumps(record), "jsonl") == [document]
    assert one(doc_key="x", name="Title", part=3, tokens=["a"]).extra == {"jsonl": {"name": "Title", "part": 3}}
    assert one(doc_key="a_1", tokens=["a"]).name == "a_1"


def test_flat_tokens_of_fastcoref_and_flat_speakers() -> None:
    document = one(doc_key="a", tokens=["Ann", "met", "her"], clusters=[[[0, 0], [2, 2]]], speakers=["x", None, "x"])
    assert document.sentences == (("Ann", "met", "her"),)
    assert document.speakers == ("x", None, "x")
    assert one(tokens=["a"], speakers=["-"]).speakers is None


def test_text_and_characters_of_fastcoref() -> None:
    text = "We are so happy. We're using ourpackage!"
    clusters = [[[0, 2], [17, 19], [29, 32]]]
    strings = [["We", "We", "our"]]
    document = one(text=text, clusters=clusters, clusters_strings=strings)
    assert document.name == "stdin-1"
    assert document.tokens == ("We", "are", "so", "happy", ".", "We", "'re", "using", "our", "package", "!")
    assert document.sentence_starts == (0, 5)
    assert [document.words(span) for span in document.clusters[0]] == strings[0]
    assert all(text[a:z] == token for token, (a, z) in zip(document.tokens, document.offsets or (), strict=True))
    assert read_bytes(rendered([document], "jsonl"), "jsonl") == [document]
    documents, (fault,) = with_faults(json.dumps({"text": text, "clusters": clusters, "clusters_strings": []}), "jsonl")
    assert len(documents) == 1
    assert fault.what.startswith("clusters_strings are not")


def test_a_language_that_does_not_exist_spoils_its_document_alone() -> None:
    lines = [json.dumps({"text": "Ann slept.", "lang": lang}) for lang in ("n", "en")]
    documents, (fault,) = with_faults("\n".join(lines), "jsonl")
    assert [document.name for document in documents] == ["stdin-2"]
    assert fault.what.startswith("no rules for the language 'n'")
    assert fault.line == 1


def test_discontinuous_mentions_stand_as_their_hull_where_they_can() -> None:
    split, other = SplitSpan([(0, 0), (2, 2)]), SplitSpan([(0, 1), (4, 4)])
    document = Document.from_sentences("d", [list("abcde")], [[split, (4, 4)], [other, (0, 2)]])
    record = json.loads(rendered([document], "jsonl"))
    assert record["clusters"] == [[[4, 4]], [[0, 2], [0, 4]]]
    assert record["discontinuous"] == [
        {"cluster": 0, "parts": [[0, 0], [2, 2]], "hull_in_clusters": False},
        {"cluster": 1, "parts": [[0, 1], [4, 4]], "hull_in_clusters": True},
    ]
    assert read_bytes(json.dumps(record), "jsonl") == [document]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("{", "this is not JSON"),
        ("[1]", "a list where an object is needed"),
        ("null", "a null where"),
        ("[" * 100_000, "brackets are nested too deeply"),
        ('{"tokens": ["\\ud800"]}', "a \\u escape is half of a character"),
        ('{"tokens": [' + "9" * 5000 + "]}", "this is not JSON"),
        ("{}", "the document has none of sentences, tokens and text"),
        ('{"tokens": "a"}', "tokens is a string"),
        ('{"tokens": [1]}', "a token that is not a string"),
        ('{"sentences": ["a"]}', "sentences holds a string where a list is needed"),
        ('{"tokens": ["a"], "clusters": [[[0]]]}', "clusters holds [0] where [start, end] is needed"),
        ('{"tokens": ["a"], "clusters": [[[0, true]]]}', "clusters holds [0, True]"),
        ('{"tokens": ["a"], "clusters": [[[0, 1]]]}', "span 0-1 of entity 0 is outside the 1 tokens"),
        ('{"tokens": ["a"], "clusters": [[[-1, 0]]]}', "span -1-0 of entity 0 is outside"),
        ('{"tokens": ["a"], "speakers": ["x", "y"]}', "speakers has 2 entries for 1 tokens"),
        ('{"tokens": ["a"], "speakers": [3]}', "speakers has an entry that is not a string"),
        ('{"tokens": ["a"], "layers": {"pos": [["a", "b"]]}}', "layer pos has 2 entries"),
        ('{"tokens": ["a"], "layers": 3}', "layers is a number"),
        ('{"tokens": ["a"], "extra": true}', "extra is a boolean"),
        ('{"tokens": ["a"], "text": "x", "offsets": [[0, 2]]}', "offsets 0-2 of token 0 are out of order or outside"),
        ('{"tokens": ["a"], "offsets": [[0, 1]]}', "offsets without a text"),
        ('{"text": "abc", "clusters": [[[1, 9]]]}', "characters 1-9 are outside the text"),
        ('{"text": "abc", "clusters": [[[2, 2]]]}', "characters 2-2 are outside the text or in the wrong order"),
        (
            '{"tokens": ["a"], "discontinuous": [{"cluster": 0, "parts": [[0, 0]]}]}',
            "an entry of discontinuous does not",
        ),
        (
            '{"tokens": ["a"], "clusters": [[]], "discontinuous": [{"cluster": 0, "parts": []}]}',
            "an entry of discontinuous",
        ),
    ],
)
def test_faults_that_spoil_a_document(line: str, what: str) -> None:
    documents, faults = with_faults(f'\n{line}\n{{"doc_key": "good", "tokens": ["a"]}}\n', "jsonl")
    assert [document.name for document in documents] == ["good"]
    assert faults[0].line == 2
    assert faults[0].what.startswith(what), faults[0].what
    with pytest.raises(FormatError, match="<stdin>:2"):
        read_bytes(f"\n{line}\n", "jsonl")


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ('{"sentences": [["a"], []]}', "a sentence without tokens, which was left out"),
        ('{"sentences": []}', "the document has no tokens"),
        ('{"tokens": ["a"], "clusters": [[[0, 0], [0, 0]]]}', "span 0-0 is in entity 0 twice, kept once"),
        ('{"tokens": ["a"], "clusters": [[[0, 0]], [[0, 0]]]}', "span 0-0 is in two clusters, kept in entity 0"),
        ('{"text": "a  b", "clusters": [[[1, 3]]]}', "a mention of white space, which was left out"),
    ],
)
def test_faults_that_are_repaired(line: str, what: str) -> None:
    (document,), (fault,) = with_faults(line, "jsonl")
    assert not fault.fatal
    assert fault.what.startswith(what)
    assert document.clusters in ((), ((Span(0, 0),),))


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("several", [False, True])
def test_a_json_file_may_be_one_text(indent: int | None, several: bool, tmp_path: Path) -> None:
    """As `json.dump` writes it. What it is shows in its fields, whatever its ending."""
    records = [{"sentences": [["Ann", "sat"], ["She", "sang"]], "clusters": [[[0, 0], [2, 2]]]}] * (2 if several else 1)
    path = tmp_path / "made.json"
    path.write_text(json.dumps(records if several else records[0], indent=indent))
    documents = list(read(path))
    assert [document.name for document in documents] == ["made-1", "made-2"][: len(records)]
    assert all(document.clusters == ((Span(0, 0), Span(2, 2)),) for document in documents)
    assert [found.path for found in find_files([str(tmp_path)])] == [path]


def test_a_text_alone_does_not_make_a_json_file_a_document(tmp_path: Path) -> None:
    """As in Label Studio's short export, whose labels would be lost."""
    path = tmp_path / "made.json"
    path.write_text(json.dumps([{"text": "Ann sat.", "label": [{"start": 0, "end": 3, "labels": ["Person"]}]}]))
    with pytest.raises(InputError, match="does not look like jsonl"):
        list(read(path))


def test_a_first_line_that_is_cut_off_spoils_only_itself() -> None:
    documents, (fault,) = with_faults('{"tokens": ["a"\n{"tokens": ["b"]}\n', "jsonl")
    assert [document.tokens for document in documents] == [("b",)]
    assert fault.line == 1


@pytest.mark.parametrize(
    ("record", "clusters"),
    [
        ('{"tokens": ["a", "b"], "clusters": [[[0, 0], [1]], [[7, 8]]]}', (((0, 0),),)),
        ('{"text": "a b", "clusters": [[[0, 1], [2, 9]]]}', (((0, 0),),)),
    ],
)
def test_repair_leaves_out_a_bad_span_and_keeps_the_document(record: str, clusters: tuple[object, ...]) -> None:
    faults: list[Fault] = []
    (document,) = read_bytes(record, "jsonl", on_fault=faults.append, repair=True)
    assert document.clusters == clusters
    assert faults
    assert all(fault.what.endswith("; left out") and not fault.fatal for fault in faults)
    assert not read_bytes(record, "jsonl", on_fault=faults.append)


def test_bad_utf8_spoils_only_its_line() -> None:
    documents, (fault,) = with_faults(b'{"tokens": ["\xff"]}\n{"tokens": ["a"]}', "jsonl")
    assert len(documents) == 1
    assert fault.line == 1
    assert fault.what.startswith("bad UTF-8")


@pytest.mark.parametrize(
    ("field", "fields"),
    [
        ("gold.clusters", {"gold": {"clusters": [[[0, 0], [2, 2]]]}}),
        ("annotations.cluster", {"annotations": [{"start": 0, "end": 3, "cluster": 1}]}),
        ("predicted_clusters", {"predicted_clusters": [[[0, 0], [2, 2]]]}),
        ("antecedents", {"antecedents": [-1, -1, 0]}),
        ("links", {"links": [[[2, 2], [0, 0]]]}),
    ],
)
def test_coreference_under_other_names_is_refused_by_name(field: str, fields: dict[str, Any]) -> None:
    with pytest.raises(FormatError, match=f"the field {field} seems to hold coreference"):
        one(tokens=["Ann", "met", "her"], **fields)
    documents, faults = with_faults(json.dumps({"tokens": ["Ann"], "clusters": [], **fields}), "jsonl")
    assert [document.clusters for document in documents] == [()]
    assert f"clusters is empty, but the field {field}" in faults[0].what
    assert one(tokens=["Ann", "met", "her"], clusters=[[[0, 0]]], **fields).clusters == (((0, 0),),)


def test_links_to_pages_are_no_coreference() -> None:
    documents, faults = with_faults(b'{"tokens": ["a"], "links": ["https://example.org"]}', "jsonl")
    assert len(documents) == 1
    assert not faults


def test_other_objects_are_kept() -> None:
    fields = {"meta": {"year": 1, "tags": ["a"]}, "events": [{"start": 0, "type": "x"}], "gold": {}}
    assert one(tokens=["Ann"], **fields).extra == {"jsonl": fields}


@given(st.lists(st.one_of(st.lists(st.integers(-1, 9), min_size=2, max_size=2), st.sampled_from([[], [1], [1, True]]))))
def test_many_pairs_are_read_like_each(values: list[Any]) -> None:
    try:
        expected = [as_pair(value, "offsets") for value in values]
    except WrongError as error:
        with pytest.raises(WrongError, match=re.escape(str(error))):
            as_pairs(values, "offsets")
    else:
        assert as_pairs(values, "offsets") == expected
