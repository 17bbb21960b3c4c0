"""CoNLL-2012: the kinds of files there are, and what is wrong with some."""

from __future__ import annotations

from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corefine.document import Document, Span, SplitSpan
from corefine.errors import Fault, FormatError, LossError
from corefine.formats import FORMATS, losses, write_stream
from helpers.format_making import read_bytes, rendered, with_faults

HEAD = "#begin document (d); part 000\n"
END = "#end document\n"


def clusters_of(*cells: str) -> tuple[tuple[Span, ...], ...]:
    rows = "".join(f"d\t0\t{number}\tw{number}\t{cell}\n" for number, cell in enumerate(cells))
    (document,) = read_bytes(HEAD + rows + END, "conll")
    return document.clusters


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["(1)", "-", "(1)"], [[(0, 0), (2, 2)]]),
        (["(1", "-", "1)"], [[(0, 2)]]),
        (["(1|(2)", "1)"], [[(0, 1)], [(0, 0)]]),
        (["(1(2)", "1)"], [[(0, 1)], [(0, 0)]]),
        (["(1", "(2", "1)", "2)"], [[(0, 2)], [(1, 3)]]),
        (["(1(2", "1)2)"], [[(0, 1)]]),  # in two clusters: the first keeps it
        (["(1", "(1", "1)", "1)"], [[(0, 3), (1, 2)]]),
        (["(1", "1)(1", "1)"], [[(0, 1), (1, 2)]]),
        (["(1|(1", "1)|1)"], [[(0, 1)]]),
        (["(1(1", "1)1)"], [[(0, 1)]]),
        (["(x-y", "x-y)"], [[(0, 1)]]),
        (["-", "_", "*", ""], []),
    ],
)
def test_brackets(cells: list[str], expected: list[list[tuple[int, int]]]) -> None:
    assert clusters_of(*cells) == Document.from_sentences("d", [["w"] * len(cells)], expected).clusters


@pytest.mark.parametrize(
    ("line", "name", "part"),
    [
        ("#begin document (nw/x/00/a_0001); part 012", "nw/x/00/a_0001", 12),
        ("#begin document (LuoTestCase); ", "LuoTestCase", 0),
        ("#begin document (a (b); c); part 1", "a (b); c", 1),
        ("#begin document (a); part 003); part 004", "a); part 003", 4),
        ("# begin document GUM_bio_x", "GUM_bio_x", 0),
        ("#begin document (nw/dev//0); part 000", "nw/dev//0", 0),
        ("#begin document ()", "stdin", 0),
    ],
)
def test_names_and_parts(line: str, name: str, part: int) -> None:
    (document,) = read_bytes(f"{line}\nx\t0\t0\tw\t-\n{END}", "conll")
    assert (document.name, document.part) == (name, part)


TWELVE = """#begin document (nw/a); part 000
nw/a 0 0 Ann  NNP (TOP(S(NP*) -    -  -  Bo_B (PERSON) *      (ARG0*) (0)
nw/a 0 1 met  VBD (VP*       meet 01 1  Bo_B *        (V*)   *       -
nw/a 0 2 her  PRP (NP*))))   -    -  -  -    *        (ARG1*) (V*)   (0)

nw/a 0 0 Bye  UH  (TOP(INTJ*)) - - - - * -
#end document
"""


def test_twelve_columns_and_more() -> None:
    (document,) = read_bytes(TWELVE, "conll")
    assert document.tokens == ("Ann", "met", "her", "Bye")
    assert document.sentence_starts == (0, 3)
    assert document.genre == "nw"
    assert document.speakers == ("Bo_B", "Bo_B", None, None)
    assert document.layers["xpos"] == ("NNP", "VBD", "PRP", "UH")
    assert document.layers["parse"] == ("(TOP(S(NP*)", "(VP*", "(NP*))))", "(TOP(INTJ*))")
    assert document.layers["predicate"] == ("-", "meet", "-", "-")
    assert document.layers["arguments"] == ("* (ARG0*)", "(V*) *", "(ARG1*) (V*)", "-")
    assert document.clusters == ((Span(0, 0), Span(2, 2)),)
    again = rendered([document], "conll")
    assert read_bytes(again, "conll") == [document]
    assert [len(line.split("\t")) for line in again.splitlines()[1:]] == [14, 14, 14, 1, 12, 1, 1]


@pytest.mark.parametrize(
    ("rows", "tokens"),
    [
        (["0\tAnn\t(1)", "1\tmet\t-"], ("Ann", "met")),
        (["d\tAnn\t(1)", "d\tmet\t-"], ("Ann", "met")),
        (["Ann (1)", "met -"], ("Ann", "met")),
        (["d (1)", "d -"], ("_", "_")),
        (["d\t0\t0\tAnn\t(1)", "d\t0\t1\tmet\t-\t"], ("Ann", "met")),
        (["d\t0\t0\tAnn\t(1)\t", "d\t0\t1\tmet\t-\t"], ("Ann", "met")),
        (["d\t0\t0\tAnn\t_\t(1)", "d\t0\t1\tmet\t_\t"], ("Ann", "met")),
        (["d\t0\t0\tAnn B\t(1)", "d\t0\t1\tmet\t-"], ("Ann B", "met")),
        (["#d\t0\t0\tAnn\t(1)", "#d\t0\t1\tmet\t-"], ("Ann", "met")),
    ],
)
def test_short_kinds_and_trailing_tabs(rows: list[str], tokens: tuple[str, ...]) -> None:
    (document,) = read_bytes(HEAD + "\n".join(rows) + "\n" + END, "conll")
    assert document.tokens == tokens
    assert document.clusters == ((Span(0, 0),),)


GOOD = "#begin document (good); part 000\nd 0 0 w (1)\n#end document\n"


@pytest.mark.parametrize(
    ("text", "line", "token", "what"),
    [
        (HEAD + "d 0 0 w (1\n" + END, 2, 0, "entity 1 is opened here but not closed"),
        (HEAD + "d 0 0 w -\nd 0 1 w 1)\n" + END, 3, 1, "entity 1 is closed here but not open"),
        (HEAD + "d 0 0 w 1\n" + END, 2, 0, "'1' is neither a bracket"),
        (HEAD + "d 0 0 w ((1)\n" + END, 2, 0, "'(' is neither a bracket"),
        (HEAD + "d 0 0 w -\nd 0 w -\n" + END, 3, 1, "4 columns, where the sentence began with 5"),
        (HEAD + "word\n" + END, 2, 0, "1 columns, at least 2 needed"),
    ],
)
def test_faults_that_spoil_a_document(text: str, line: int, token: int, what: str) -> None:
    documents, faults = with_faults(text + GOOD, "conll")
    assert [document.name for document in documents] == ["good"]
    (fault,) = faults
    assert (fault.line, fault.token, fault.document, fault.fatal) == (line, token, "d", True)
    assert fault.what.startswith(what)
    with pytest.raises(FormatError, match="document d, token"):
        read_bytes(text + GOOD, "conll")


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        (b"\xef\xbb\xbf" + GOOD.encode(), 1, "a byte order mark at the start"),
        (GOOD.replace("\n", "\r\n").encode(), 1, "lines end in CRLF"),
        (GOOD.encode() + GOOD.encode(), 4, "another document of this file has the same name and part"),
        (b"#begin document (e); part 000\n#end document\n", 1, "the document has no tokens"),
        (GOOD.encode().replace(b"#end document\n", b""), None, "the document has no #end document"),
        (b"d 0 0 w -\n#end document\n", 1, "tokens before any #begin document"),
        (b"# a comment\n" + GOOD.encode(), 1, "a comment, which was left out"),
        (GOOD.replace("(1)", "(1)(1)").encode(), 2, "span 0-0 is in entity 1 twice, kept once"),
        (GOOD.replace("(1)", "(1)(2)").encode(), 2, "span 0-0 is in two clusters, kept in entity 1 and left out of 2"),
    ],
)
def test_faults_that_are_repaired(text: bytes, line: int | None, what: str) -> None:
    documents, faults = with_faults(text, "conll")
    assert len(documents) == text.count(b"#end") or not faults[0].line
    (fault,) = faults
    assert (fault.what, fault.line, fault.fatal) == (what, line, False)


def test_bad_utf8_spoils_only_its_document() -> None:
    bad = HEAD.encode() + b"d 0 0 caf\xe9 -\n" + END.encode()
    documents, (fault,) = with_faults(bad + GOOD.encode(), "conll")
    assert [document.name for document in documents] == ["good"]
    assert (fault.line, fault.token) == (2, 0)
    assert "byte 0xe9 at byte 10" in fault.what


def test_what_it_cannot_express_is_named() -> None:
    document = Document.from_sentences(
        "d",
        [["a\tb", "", "c", "d", "e"]],
        [[SplitSpan([(0, 0), (2, 2)]), (0, 3), (2, 4)]],
        genre="news",
        language="en",
        text="x",
        speakers=("-", None, None, None, None),
        layers={"lemma": ("x",) * 5},
        extra={"jsonl": {"split": "dev"}, "brat": {"mentions": [], "others": ["x"]}, "odd": 1},
    )
    expected = {
        "tokens with tabs or line breaks": 1,
        "empty tokens": 1,
        "source text": 1,
        "layer lemma": 1,
        "discontinuous mentions": 1,
        "crossing mentions of one entity": 1,
        "genre": 1,
        "language": 1,
        "speakers the column cannot hold": 1,
        "field split": 1,
        "other annotations": 1,
        "extra of odd": 1,
    }
    assert FORMATS["conll"].losses(document) == expected
    with pytest.raises(LossError, match=r"conll cannot express: .*discontinuous mentions \(1\)") as caught:
        write_stream(document, BytesIO(), "conll")
    assert caught.value.losses == expected
    stream = BytesIO()
    assert write_stream(document, stream, "conll", lossy=True) == expected
    (again,) = read_bytes(stream.getvalue(), "conll")
    assert again.tokens == ("a b", "_", "c", "d", "e")
    assert again.clusters == ((Span(0, 2), Span(0, 3)),)


@pytest.mark.parametrize("cell", ["(2", "2)", "(2)x"])
def test_repair_leaves_out_a_bad_bracket_and_keeps_the_document(cell: str) -> None:
    data = f"#begin document (a); part 000\na\t0\t0\tAnn\t(1)\na\t0\t1\tsaw\t{cell}\na\t0\t2\ther\t(1)\n{END}"
    faults: list[Fault] = []
    (document,) = read_bytes(data, "conll", on_fault=faults.append, repair=True)
    assert (document.clusters[0], [fault.fatal for fault in faults]) == (((0, 0), (2, 2)), [False])
    assert not read_bytes(data, "conll", on_fault=faults.append)


def test_files_of_eleven_and_fourteen_columns_keep_the_meaning_of_each() -> None:
    eleven = "a 0 0 Ann NNP (S* ann 01 1 Bo (1)".replace(" ", "\t")
    fourteen = "a 0 0 Ann NNP (S* ann 01 1 Bo (PER) (ARG0*) (V*) (1)".replace(" ", "\t")
    for row, ner, arguments in ((eleven, None, None), (fourteen, ("(PER)",), ("(ARG0*) (V*)",))):
        (document,) = read_bytes(f"#begin document (a); part 000\n{row}\n\n{END}", "conll")
        assert document.speakers == ("Bo",)
        assert (document.layers["xpos"], document.layers["sense"]) == (("NNP",), ("1",))
        assert (document.layers.get("ner"), document.layers.get("arguments")) == (ner, arguments)
        assert read_bytes(rendered([document], "conll"), "conll") == [document]


@given(st.lists(st.text("ab\t\n\r ", max_size=3)))
def test_many_cells_are_mended_like_each(cells: list[str]) -> None:
    assert list(losses.all_mended(cells)) == [losses.mended(cell) for cell in cells]
    document = Document.from_sentences("d", [cells] if cells else [])
    found = losses.in_columns(document, ())
    assert found["tokens with tabs or line breaks"] == sum(map(losses.breaks, cells))
    assert found["empty tokens"] == cells.count("")
