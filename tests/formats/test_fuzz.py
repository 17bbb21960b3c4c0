"""Whatever the bytes: documents or a clean error, never a crash, and with `on_fault` no error at all."""

from __future__ import annotations

import gzip
import tempfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corefine.document import Document
from corefine.errors import CorefineError, Fault, InputError
from corefine.formats import FORMATS, read
from helpers.format_making import as_bytes

CONLL = """#begin document (nw/a (b)); part 001
nw/a 1 0 Ann NNP (S* - - - Bo * (1|(2
nw/a 1 1 met VBD * - - - Bo * 2)

nw/a\t1\t0\the\tPRP\t*\t-\t-\t-\t-\t*\t(1)1)|(3(3
nw/a\t1\t1\t.\t.\t*\t-\t-\t-\t-\t*\t3)3)
#end document
#begin document (x);
0\tword\t(a-1)
1\tword\t-\t
"""

CONLLU = """# newdoc id = a
# global.Entity = eid-etype-head-other
# meta::genre = news
# speaker = Ann
# text = del el
1-2\tdel\t_\t_\t_\t_\t_\t_\t_\t_
1\tde\tde\tADP\t_\t_\t2\tcase\t_\tEntity=(e1-person-1-x:y(e2[1/2]--1)
2\tel\tel\tDET\t_\t_\t0\troot\t_\tEntity=e1)|SpaceAfter=No
2.1\t_\t_\tPRON\t_\t_\t_\t_\t0:x\tEntity=(e1-person-1)
3\tc\tc\tX\t_\t_\t0\troot\t_\tEntity=(e2[2/2]--1)

# newdoc id = b
# part = 3
1\tde\tde\tADP\t_\t_\t2\tcase\t_\t_

"""

JSONL = """{"doc_key": "a", "sentences": [["Ann", "met"], ["her"]], "clusters": [[[0, 0], [2, 2]]], "speakers": [["x", "x"], ["-"]]}
{"doc_key": "b_1", "name": "b", "part": 1, "tokens": ["a", "b", "c"], "clusters": [[[0, 2]], []], "split": "dev",
{"text": "Ann met her.", "clusters": [[[0, 3], [8, 11]]], "clusters_strings": [["Ann", "her"]], "lang": "en"}
{"doc_key": "d", "sentences": [["a", "b", "c"]], "clusters": [[[0, 2]]], "discontinuous": [{"cluster": 0, "parts": [[0, 0], [2, 2]], "hull_in_clusters": true}], "extra": {"conllu": {"rows": [[0, 1, "1-2", "a"]], "mentions": [["z0-1", "e1"]]}}, "layers": {"xpos": [["A", "B", "C"]]}, "text": "abc", "offsets": [[0, 1], [1, 2], [2, 3]]}
"""  # noqa: E501

TEXT = "Ann met her sister. She was (very) glad!\r\n\r\nAt http://a.b/c?d they parted...\n"

ANN = """T1\tPerson 0 3\tAnn
T2\tPerson 8 11\ther
T3\tPerson 20 23;31 39\tShe (very)
*\tEquiv T1 T2
R1\tCoref Arg1:T3 Arg2:T1\t
A1\tNegation T1
#1\tAnnotatorNotes T1\tyes
"""

SAMPLES = {"conll": CONLL, "conllu": CONLLU, "jsonl": JSONL, "text": TEXT, "brat": ANN}
SNIPPETS = [
    b"(",
    b")",
    b"|",
    b"-",
    b"\t",
    b"\n",
    b"\r\n",
    b"\n\n",
    b" ",
    b"(1",
    b"1)",
    b"[1/2]",
    b"[",
    b"]",
    b"{",
    b"}",
    b'"',
]
SNIPPETS += [
    b"\\ud800",
    b"\xff",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"\x00",
    b"\x1f\x8b",
    b"0",
    b"-1",
    b"9" * 30,
    b"1e9",
    b"null",
]
SNIPPETS += [
    b"# newdoc",
    b"#begin document (",
    b"#end document",
    b"Entity=",
    b"T1",
    b";",
    b"#",
    b"_",
    b"*",
    b"z0",
    b"\xe2\x80\xa8",
]


@st.composite
def mutated(draw: st.DrawFn, sample: bytes) -> bytes:
    """A sound file with some pieces cut out, doubled, moved or put in."""
    data = sample
    for _ in range(draw(st.integers(1, 6))):
        begin = draw(st.integers(0, len(data)))
        end = draw(st.integers(begin, min(len(data), begin + 60)))
        kind = draw(st.sampled_from(["cut", "double", "put", "replace", "move"]))
        snippet = draw(st.sampled_from(SNIPPETS))
        at = draw(st.integers(0, len(data)))
        piece = data[begin:end]
        if kind == "cut":
            data = data[:begin] + data[end:]
        elif kind == "double":
            data = data[:end] + piece + data[end:]
        elif kind == "put":
            data = data[:begin] + snippet + data[begin:]
        elif kind == "replace":
            data = data[:begin] + snippet + data[end:]
        else:
            data = data[:at] + piece + data[at:]
    return data


def documents_of(data: bytes, format: str, faults: list[Fault] | None) -> Iterator[Document]:
    on_fault = None if faults is None else faults.append
    if format != "brat":
        yield from read(BytesIO(data), format, on_fault=on_fault)
        return
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "a.txt").write_bytes(TEXT.encode())
        Path(folder, "a.ann").write_bytes(data)
        yield from read(Path(folder, "a.ann"), on_fault=on_fault)


def survives(data: bytes, format: str) -> None:
    faults: list[Fault] = []
    sound = list(documents_of(data, format, faults))
    try:
        strict = list(documents_of(data, format, None))
    except CorefineError:
        assert any(fault.fatal for fault in faults)
    else:
        assert strict == sound
        assert not any(fault.fatal for fault in faults)
    for document in sound:
        for other in map(FORMATS.__getitem__, sorted({format, "jsonl", "conll", "conllu"})):
            try:
                other.losses(document)
                for render in other.files.values():
                    as_bytes(render(document))
            except InputError as error:
                assert "extra" in str(error)  # noqa: PT017


@pytest.mark.parametrize("format", SAMPLES)
@settings(max_examples=200)
@given(data=st.binary(max_size=300))
def test_any_bytes(format: str, data: bytes) -> None:
    survives(data, format)


@pytest.mark.parametrize("format", SAMPLES)
@settings(max_examples=200)
@given(data=st.data())
def test_damaged_files(format: str, data: st.DataObject) -> None:
    survives(data.draw(mutated(SAMPLES[format].encode())), format)


@pytest.mark.parametrize("format", ["conll", "conllu", "jsonl", "text"])
@settings(max_examples=50)
@given(data=st.data())
def test_damaged_gzip(format: str, data: st.DataObject) -> None:
    survives(data.draw(mutated(gzip.compress(SAMPLES[format].encode(), mtime=0))), format)


@pytest.mark.nightly
@pytest.mark.parametrize("format", SAMPLES)
@settings(max_examples=2000)
@given(data=st.data())
def test_any_bytes_at_length(format: str, data: st.DataObject) -> None:
    survives(data.draw(st.binary(max_size=2000)), format)


@pytest.mark.nightly
@pytest.mark.parametrize("format", SAMPLES)
@settings(max_examples=2000)
@given(data=st.data())
def test_damaged_files_at_length(format: str, data: st.DataObject) -> None:
    survives(data.draw(mutated(SAMPLES[format].encode() * 2)), format)
