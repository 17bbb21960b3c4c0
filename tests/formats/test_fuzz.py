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
from helpers.format_samples import SAMPLES, SNIPPETS, TEXT


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
@settings(max_examples=25)  # setting up takes most of the time; the marked run has many more
@given(data=st.binary(max_size=300))
def test_any_bytes(format: str, data: bytes) -> None:
    survives(data, format)


@pytest.mark.parametrize("format", SAMPLES)
@settings(max_examples=20)  # test_mutated.py has many more
@given(data=st.data())
def test_damaged_files(format: str, data: st.DataObject) -> None:
    survives(data.draw(mutated(SAMPLES[format].encode())), format)


@pytest.mark.parametrize("format", ["conll", "conllu", "jsonl", "text"])
@settings(max_examples=20)
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
