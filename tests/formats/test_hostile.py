"""Input made to hurt is read, or refused, in time that grows with its size and no faster.

A limit of so many seconds of processor time only catches what grows with the square; each case takes well under one.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import pytest

from corefine.document import Document, Span, SplitSpan
from corefine.formats import FORMATS
from helpers.format_making import read_bytes, rendered

MANY = 100_000
SECONDS = 30


@pytest.fixture(autouse=True)
def _in_time() -> Iterator[None]:
    began = time.process_time()
    yield
    assert time.process_time() - began < SECONDS


def conll(cell: str, *more: str) -> str:
    rows = "".join(f"d\t0\t0\tw\t{c}\n" for c in (cell, *more))
    return f"#begin document (d); part 000\n{rows}#end document\n"


def conllu(misc: str) -> str:
    return f"# newdoc id = d\n# global.Entity = eid\n1\tw{'	_' * 7}\t{misc}\n\n"


@pytest.mark.parametrize(
    ("data", "format"),
    [
        (conll("(" * MANY), "conll"),
        (conll(")" * MANY), "conll"),
        (conll("(1" * MANY), "conll"),
        (conll("1)" * MANY), "conll"),
        (conll("(1" * MANY, "1)" * MANY), "conll"),
        (conll("(1)" * MANY), "conll"),
        (conll("x" * 5_000_000), "conll"),
        (conll("|" * MANY), "conll"),
        ("#begin document (" + "); part " * MANY + "\n", "conll"),
        ("#begin document" + " " * 1_000_000 + "x\ty\n", "conll"),
        ("#begin document (x)" + " " * 1_000_000 + "x\n", "conll"),
        ("x " * MANY + "\n", "conll"),
        ("x\t" * MANY + "\n", "conll"),
        ("\n" * MANY, "conll"),
        (conllu("Entity=" + "(" * MANY), "conllu"),
        (conllu("Entity=" + "(e1" * MANY), "conllu"),
        (conllu("Entity=" + "e1)" * MANY), "conllu"),
        (conllu("Entity=" + "(e1[1/2])" * 20_000), "conllu"),
        (conllu("Entity=" + "(e1[1/2])" * 20_000 + "(e1[2/2])" * 20_000), "conllu"),
        (conllu("|" * MANY), "conllu"),
        (conllu("Entity=" * MANY), "conllu"),
        ("# newdoc\n\n" * 20_000, "conllu"),
        ("# newdoc\n" * MANY, "conllu"),
        ("#" * 5_000_000, "conllu"),
        ("\t" * 1_000_000, "conllu"),
        (" \n" * MANY, "conllu"),
        ("[" * MANY, "jsonl"),
        ('{"a":' * MANY, "jsonl"),
        ('{"tokens": ["' + "x" * 5_000_000 + '"]}', "jsonl"),
        (json.dumps({"tokens": ["a"] * 1000, "clusters": [[[0, 999]] * 50_000]}), "jsonl"),
        (
            json.dumps(
                {
                    "tokens": ["a"] * 20_000,
                    "clusters": [[[n, n + 2] for n in range(19_000)]],
                    "discontinuous": [
                        {"cluster": 0, "parts": [[n, n], [n + 2, n + 2]], "hull_in_clusters": True}
                        for n in range(19_000)
                    ],
                }
            ),
            "jsonl",
        ),
        (json.dumps({"text": "ab " * 20_000, "clusters": [[[n, n + 1] for n in range(0, 30_000, 3)]]}), "jsonl"),
    ],
    ids=range(32),
)
def test_reading(data: str, format: str) -> None:
    faults = []
    for document in read_bytes(data, format, on_fault=faults.append):
        assert isinstance(document, Document)


@pytest.mark.parametrize("format", FORMATS)
def test_writing(format: str) -> None:
    """Nested, crossing and discontinuous mentions by the thousand."""
    size = 4_000
    nested = [Span(n, size - 1 - n) for n in range(size // 2)]
    crossing = [Span(n, n + size // 2) for n in range(1, size // 2, 2)]
    pieces = [SplitSpan([(n, n), (n + 2, n + 2)]) for n in range(size - 2)]
    document = Document.from_sentences("d", [["w"] * (size // 4)] * 4, [nested, crossing, pieces])
    assert FORMATS[format].losses(document) is not None
    for render in FORMATS[format].files.values():
        assert render(document)
    if format == "jsonl":
        assert read_bytes(rendered([document], format), format) == [document]
