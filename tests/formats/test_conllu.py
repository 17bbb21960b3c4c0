"""CoNLL-U with CorefUD's entities: nodes that are no tokens, fields in any order, mentions in pieces."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corefine.document import Document, Span, SplitSpan
from corefine.errors import InputError
from corefine.formats import FORMATS
from corefine.formats.conllu.scan import is_utf8
from helpers.format_making import read_bytes, rendered, with_faults


def conllu(*rows: str, fields: str | None = "eid-etype-head-other", name: str = "d") -> str:
    """A document of one sentence; a row is `id form` and perhaps MISC."""
    lines = [f"# newdoc id = {name}"] + ([f"# global.Entity = {fields}"] if fields else [])
    for row in rows:
        id_, form, *misc = row.split(" ")
        lines.append("\t".join([id_, form, *"_______", misc[0] if misc else "_"]))
    return "\n".join(lines) + "\n\n"


def clusters_of(*rows: str, fields: str = "eid-etype-head-other") -> tuple[tuple[Span, ...], ...]:
    (document,) = read_bytes(conllu(*rows, fields=fields), "conllu")
    return document.clusters


def test_words_are_tokens_and_other_rows_are_kept() -> None:
    text = conllu(
        "1-2 del", "1 de Entity=(e1-person-1", "2 el Entity=e1)", "2.1 _ Entity=(e1--1)", "3 x A=b|Entity=(e2)|Z=y"
    )
    (document,) = read_bytes(text, "conllu")
    assert document.tokens == ("de", "el", "x")
    assert document.clusters == ((Span(0, 1),), (Span(2, 2),))
    assert document.layers == {"misc": ("_", "_", "A=b|Z=y")}
    assert document.extra["conllu"] == {
        "global": "eid-etype-head-other",
        "rows": [[0, 0, "1-2", "del" + "\t_" * 8], [0, 2, "2.1", "_" + "\t_" * 8]],
        "mentions": [["0-1", "e1-person-1"], ["z1-z1", "e1--1"], ["2-2", "e2"]],
    }
    assert rendered([document], "conllu") == text
    assert FORMATS["conll"].losses(document)["zero mentions"] == 1


@pytest.mark.parametrize(
    ("fields", "opening"),
    [
        ("eid", "e1"),
        ("GRP-etype", "e1-person"),
        ("etype-eid-head", "person-e1-1"),
        ("entity-GRP-infstat", "person-e1-new"),
    ],
)
def test_fields_in_any_order(fields: str, opening: str) -> None:
    rows = (f"1 a Entity=({opening}", "2 b Entity=e1)", f"3 c Entity=({opening})")
    assert clusters_of(*rows, fields=fields) == ((Span(0, 1), Span(2, 2)),)
    text = conllu(*rows, fields=fields)
    assert rendered(read_bytes(text, "conllu"), "conllu") == text


def test_fields_hold_until_others_are_declared() -> None:
    first = conllu("1 a Entity=(person-e1)", fields="etype-eid")
    second = conllu("1 a Entity=(place-e2)", fields=None, name="e")
    documents, faults = with_faults(first + second, "conllu")
    assert [document.clusters for document in documents] == [((Span(0, 0),),)] * 2
    assert not faults


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (["1 a Entity=(e1[1/2]--1)", "2 b", "3 c Entity=(e1[2/2]--1)"], [[SplitSpan([(0, 0), (2, 2)])]]),
        (
            ["1 a Entity=(e1[1/2]--1", "2 b Entity=e1[1/2])", "3 c", "4 d Entity=(e1[2/2]--1)(e1--1)"],
            [[SplitSpan([(0, 1), (3, 3)]), Span(3, 3)]],
        ),
        (["1 a Entity=(e1[1/2]--1)", "2 b Entity=(e1[2/2]--1)"], [[Span(0, 1)]]),
        (["1 a Entity=(e1(e2", "2 b Entity=e1)e2)", "3 c Entity=(e2)"], [[Span(0, 1)], [Span(2, 2)]]),
        (["1 a Entity=(e1(e1", "2 b Entity=e1)", "3 c Entity=e1)"], [[Span(0, 1), Span(0, 2)]]),
        (["0.1 _ Entity=(e1", "1 a Entity=e1)", "2 b Entity=(e1)"], [[Span(0, 0), Span(1, 1)]]),
        (["1 a Entity=(e1", "1.1 _ Entity=e1)", "2 b Entity=(e1)"], [[Span(0, 0), Span(1, 1)]]),
        (["0.1 _ Entity=(e1", "1 a Entity=(e2)e1)", "2 b Entity=(e1)"], [[Span(0, 0)], [Span(1, 1)]]),
        (["1 Entity=(e1) Foo=Entity=(e2)|Entity=(e3)"], [[Span(0, 0)]]),
    ],
)
def test_mentions(rows: list[str], expected: list[list[Span]]) -> None:
    text = conllu(*rows)
    (document,) = read_bytes(text, "conllu", on_fault=lambda _: None)
    assert document.clusters == Document.from_sentences("d", [["w"] * len(document)], expected).clusters
    (again,) = read_bytes(rendered([document], "conllu"), "conllu", on_fault=lambda _: None)
    assert again == document


def test_comments_that_are_fields_of_a_document() -> None:
    text = """# newdoc id = d
# global.Entity = GRP-head
# part = 2
# genre = news
# lang = es
# text = Hola
# speaker = Ana
1\tHola\t_\t_\t_\t_\t_\t_\t_\tEntity=(e1)

1\tAdiós\t_\t_\t_\t_\t_\t_\t_\tEntity=(e1)

"""
    (document,) = read_bytes(text, "conllu")
    assert (document.part, document.genre, document.language) == (2, "news", "es")
    assert document.speakers == ("Ana", None)
    assert document.extra["conllu"]["comments"] == [["# text = Hola"], []]
    assert rendered([document], "conllu") == text


def test_documents_without_names() -> None:
    row = "1\ta" + "\t_" * 8 + "\n\n"
    assert [d.name for d in read_bytes(row + row + "# newdoc\n" + row, "conllu")] == ["stdin", "stdin-2"]
    late = "# sent_id = 1\n# newdoc id = x\n" + row + "# sent_id = 1\n# newdoc id = y\n" + row
    assert [d.name for d in read_bytes(late, "conllu")] == ["x", "y"]
    assert [len(d) for d in read_bytes("# newdocument = x\n" + row + "# newdocx\n" + row, "conllu")] == [2]


def test_documents_larger_than_a_block() -> None:
    """Batches end where documents do, whatever the size of what is read at a time."""
    rows = "".join(f"# text = s{n}\n1\tw{n}\t_\t_\t_\t_\t_\t_\t_\tEntity=(e1)\n\n" for n in range(3000))
    text = "".join(f"# newdoc id = d{n}\n# global.Entity = eid\n{rows}" for n in range(3)) + conllu("1 z", name="last")
    documents = read_bytes(text, "conllu")
    assert [len(document) for document in documents] == [3000, 3000, 3000, 1]
    assert len(documents[1].clusters[0]) == 3000
    assert read_bytes(rendered(documents, "conllu"), "conllu") == documents


@pytest.mark.parametrize(
    ("bad", "line", "token", "what"),
    [
        (conllu("1 a Entity=(e1"), 3, 0, "entity e1 is opened here but not closed"),
        (conllu("1 a", "2 b Entity=e1)"), 4, 1, "entity e1 is closed here but not open"),
        (conllu("1 a Entity=e1"), 3, 0, "'e1' is not a bracket"),
        (conllu("1 a Entity="), 3, 0, "'' is not a bracket"),
        (conllu("1 a Entity=(-person)"), 3, 0, "'(-person)' does not name its entity in field 1"),
        (conllu("1 a Entity=(e1[2/2])"), 3, 0, "part 2 of 2 of a mention of entity e1, without part 1"),
        (conllu("1 a Entity=(e1[1/2])"), 3, 0, "a mention of entity e1 lacks part 2 of 2"),
        (conllu("1 a").replace("\t_\n", "\n"), 3, 0, "9 columns, where CoNLL-U has 10"),
        (conllu("1 a", "x b"), 4, 1, "'x' is not the id"),
        (conllu("1 a", "3 b"), 4, 1, "this word of the sentence has the id 3, not 2"),
        (conllu("2 a"), 3, 0, "this word of the sentence has the id 2, not 1"),
        (conllu("1 a").replace("\ta\t", "\t\t"), 3, 0, "a word without a form"),
        (conllu("1.1 a"), 4, 0, "a sentence without words"),
    ],
)
def test_faults_that_spoil_a_document(bad: str, line: int, token: int, what: str) -> None:
    before, after = conllu("1 x", name="before"), conllu("1 y", name="after")
    documents, faults = with_faults(before + bad + after, "conllu")
    assert [document.name for document in documents] == ["before", "after"]
    assert (faults[0].line, faults[0].token, faults[0].document) == (line + 4, token, "d")
    assert faults[0].what.startswith(what)


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        (b"\xef\xbb\xbf" + conllu("1 a").encode(), 1, "a byte order mark at the start"),
        (conllu("1 a").replace("\n", "\r\n").encode(), 1, "lines end in CRLF"),
        (conllu("1 a").replace("\n\n", "\n \t \n\n").encode(), 1, "lines of white space, which were read as empty"),
        ((conllu("1 a") + conllu("1 b")).encode(), 5, "another document of this file has the same name and part"),
        (b"# newdoc id = d\n\n", 1, "the document has no tokens"),
        (conllu("1 a Entity=(e1)(e1)").encode(), 3, "span 0-0 is in entity e1 twice, kept once"),
    ],
)
def test_faults_that_are_repaired(text: bytes, line: int, what: str) -> None:
    documents, (fault,) = with_faults(text, "conllu")
    assert len(documents) >= 1
    assert (fault.what, fault.line, fault.fatal) == (what, line, False)


def test_bad_utf8_spoils_only_its_document() -> None:
    bad = conllu("1 a", "2 b").encode().replace(b"\tb\t", b"\tcaf\xe9\t")
    documents, (fault,) = with_faults(bad + conllu("1 y", name="after").encode(), "conllu")
    assert [document.name for document in documents] == ["after"]
    assert fault.line == 4
    assert "byte 0xe9" in fault.what


def test_other_clusters_keep_names_and_attributes_where_they_can() -> None:
    text = conllu(
        "1 a Entity=(e7-person-1-x:y)", "2 b Entity=(e7-person-1)", "3 c Entity=(e8-place-1)", "3.1 _ Entity=(e7)"
    )
    (document,) = read_bytes(text, "conllu")
    changed = document.with_clusters([[(0, 0), (2, 2), (0, 1)], [(1, 1)]])
    written = rendered([changed], "conllu")
    (again,) = read_bytes(written, "conllu")
    assert again.clusters == changed.clusters
    assert "(e7-person-1-x:y)" in written
    assert "(e8-place-1)" not in written
    assert "3.1\t_" + "\t_" * 7 + "\tEntity=(e7)" in written


def test_extra_that_no_reader_left_is_refused() -> None:
    (document,) = read_bytes(conllu("1 a"), "conllu")
    for content in ({"rows": 3}, {"rows": [[0, 0, "x", "y"]]}, {"mentions": [["0-9", "e1"]]}, {"global": "(("}, 5):
        with pytest.raises(InputError, match="not what a CoNLL-U reader leaves"):
            rendered([replace(document, extra={"conllu": content})], "conllu")


def test_what_it_cannot_express_is_named() -> None:
    document = Document.from_sentences(
        " d",
        [["a", "b", "c", "d", "e", "f"]],
        [[(0, 2), (1, 3)], [SplitSpan([(0, 0), (4, 4)]), SplitSpan([(1, 1), (5, 5)])]],
        speakers=("A", "B", "B", "B", "B", "B"),
        text="x",
        layers={"odd": ("1",) * 6, "misc": ("Entity=(x)", *"_____")},
    )
    assert FORMATS["conllu"].losses(document) == {
        "names that a comment cannot hold": 1,
        "crossing mentions of one entity": 2,
        "sentences with several speakers": 1,
        "source text": 1,
        "layer odd": 1,
        "attributes of layer misc called Entity": 1,
    }
    (again,) = read_bytes(rendered([document], "conllu"), "conllu")
    assert again.clusters == ((Span(0, 2),), (SplitSpan([(0, 0), (4, 4)]),))


def test_bridging_and_split_antecedents_point_only_to_entities_that_exist() -> None:
    """udapi, the reference, refuses a file in which they do not."""
    rows = ["(e1)", "(e2)", "(e3)"]
    lines = [
        f"{n}\tw{n}\t_\tX\t_\t_\t0\troot\t_\t{'Bridge=e1<e3:part|' if n == 3 else ''}Entity={cell}"
        f"{'|SplitAnte=e1<e3,e2<e3' if n == 3 else ''}"
        for n, cell in enumerate(rows, start=1)
    ]
    data = "\n".join(["# newdoc id = a", "# global.Entity = eid", "# sent_id = 1", *lines, "", ""])
    (document,) = read_bytes(data, "conllu")
    assert "Bridge=e1<e3:part|Entity=(e3)|SplitAnte=e1<e3,e2<e3" in rendered([document], "conllu")
    for clusters, expected in (
        ([[(0, 0)], [(2, 2)]], "Bridge=e1<e3:part|Entity=(e3)|SplitAnte=e1<e3"),
        ([[(1, 1)], [(2, 2)]], "Entity=(e3)|SplitAnte=e2<e3"),
        ([[(0, 0)], [(1, 1)]], "\t_\n"),
    ):
        written = rendered([document.with_clusters(clusters)], "conllu")
        assert expected in written
        udapi = pytest.importorskip("udapi.core.document").Document()
        udapi.from_conllu_string(written)
        assert len(udapi.coref_entities) == 2


def test_a_new_mention_has_the_head_that_the_tree_gives_it() -> None:
    """By CorefUD's conventions, mentions with other boundaries match by their heads."""
    (document,) = read_bytes(conllu("1 the", "2 old", "3 house", "4 fell", fields="eid-head"), "conllu")
    document = replace(document, layers={"head": ("3", "3", "4", "0")})
    written = rendered([document.with_clusters([[(0, 2), (2, 2), (0, 3)]])], "conllu")
    assert re.findall(r"\(e\w+-?(\d*)", written) == ["4", "3", ""]
    odd = replace(document, layers={"head": ("2", "1", "x", "9" * 9)}).with_clusters([[(0, 1), (2, 3)]])
    assert re.findall(r"\(e\w+-?(\d*)", rendered([odd], "conllu")) == ["", ""]


BYTES = [char.encode() for char in "aéжך—한𝄞"] + [bytes([byte]) for byte in range(0x7F, 0x100)]


@given(st.lists(st.sampled_from(BYTES), max_size=12).map(b"".join))
def test_bytes_are_utf8_if_python_says_so(data: bytes) -> None:
    for around in (b"", "ж".encode(), "—".encode()):
        text = around + data + around
        try:
            text.decode()
        except UnicodeDecodeError:
            assert not is_utf8(text)
        else:
            assert is_utf8(text)


def test_brackets_that_share_a_value_keep_their_fields() -> None:
    """Of two mentions of one entity that open at one word, the shorter is closed first: it takes the second bracket."""
    rows = ("1 a Entity=(e1-x-1(e1-y-2(e2)", "2 b Entity=e1)", "3 c Entity=e1)(e2", "4 d Entity=e2)")
    text = conllu(*rows)
    (document,) = read_bytes(text, "conllu")
    assert document.clusters == ((Span(0, 0), Span(2, 3)), (Span(0, 1), Span(0, 2)))
    assert document.extra["conllu"]["mentions"] == [
        ["0-0", "e2"],
        ["0-1", "e1-y-2"],
        ["0-2", "e1-x-1"],
        ["2-3", "e2"],
    ]
    assert rendered([document], "conllu") == text


def test_a_document_may_begin_anywhere_in_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "".join(conllu(f"1 {word} Entity=(e1)", f"2 {word}", name=word) for word in ("a", "bb", "ccc", "d" * 50))
    whole = read_bytes(text, "conllu")
    assert [document.name for document in whole] == ["a", "bb", "ccc", "d" * 50]
    for size in range(1, len(text) + 1):
        monkeypatch.setattr("corefine.formats.conllu.reader.BLOCK", size)
        assert read_bytes(text, "conllu") == whole
        assert rendered(read_bytes(text, "conllu"), "conllu") == text
