"""Documents for the tests of formats: drawn at random, and small ones by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from io import BytesIO
from typing import Any

from hypothesis import strategies as st

from corefine.document import Document, Span, normalise, span_of
from corefine.errors import Fault
from corefine.formats import FORMATS, read

ANY_TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=8)
WORDS = st.one_of(
    st.sampled_from(["the", "a", "Анна", "l'", "(", ")", "-", "_", "*", "#", "|", "1", "(1)", "\u00a0", "a b", "𝒳"]),
    st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=5),
)
NAMES = st.text("ab/(); part01#_-.%é", min_size=1, max_size=10).map(str.strip).filter(bool)


def read_bytes(data: bytes | str, format: str, **options: Any) -> list[Document]:
    data = data.encode() if isinstance(data, str) else data
    return list(read(BytesIO(data), format, **options))


def with_faults(data: bytes | str, format: str) -> tuple[list[Document], list[Fault]]:
    faults: list[Fault] = []
    return read_bytes(data, format, on_fault=faults.append), faults


def as_bytes(content: str | bytes) -> bytes:
    return content if isinstance(content, bytes) else content.encode()


def rendered(documents: Iterable[Document], format: str) -> str:
    (render,) = FORMATS[format].files.values()
    return "".join(str(render(document)) for document in documents)


@st.composite
def clusters(draw: st.DrawFn, size: int, split: bool) -> tuple[tuple[Span, ...], ...]:
    """Up to four clusters over so many tokens; spans nest and cross as they like, but none is in two."""
    if not size:
        return ()
    index = st.integers(0, size - 1)
    plain: st.SearchStrategy[Span] = st.tuples(index, index).map(lambda pair: Span(min(pair), max(pair)))
    pieces = st.sets(index, min_size=1, max_size=4).map(lambda tokens: span_of([(t, t) for t in tokens]))
    spans = plain | pieces if split else plain
    found = draw(st.lists(spans, max_size=8, unique=True))
    owners = draw(st.lists(st.integers(0, 3), min_size=len(found), max_size=len(found)))
    return normalise([[span for span, owner in zip(found, owners, strict=True) if owner == n] for n in range(4)])


@st.composite
def documents(
    draw: st.DrawFn,
    *,
    words: st.SearchStrategy[str] = WORDS,
    names: st.SearchStrategy[str] = NAMES,
    split: bool = True,
    layers: tuple[str, ...] = (),
    further: Callable[[st.DrawFn, int], dict[str, Any]] = lambda *_: {},
) -> Document:
    sentences = draw(st.lists(st.lists(words, min_size=1, max_size=6), max_size=3))
    size = sum(map(len, sentences))
    fields: dict[str, Any] = {"part": draw(st.sampled_from([0, 0, 1, 12]))}
    if size and layers:
        chosen = draw(st.lists(st.sampled_from(layers), unique=True))
        cells = st.text("abc:=", min_size=1, max_size=4)
        fields["layers"] = {name: tuple(draw(cells) for _ in range(size)) for name in chosen}
    return Document.from_sentences(draw(names), sentences, draw(clusters(size, split)), **fields, **further(draw, size))
