"""Documents and spans, which all other modules use.

A `Document` is immutable. It has tokens, sentences and clusters (gold, predicted or annotated). It knows nothing of
files (see `formats`), models or answers.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from itertools import chain, pairwise
from operator import le, lt
from typing import Any, NamedTuple, Protocol, Self

from corefine.errors import DocumentError

MOST_PARTS = 10**18
"""Part numbers are below this, so that every format and database can store them."""


class Span(NamedTuple):
    """Tokens `start` to `end` of a document, both inclusive. Document order is the order of the pairs."""

    start: int
    end: int

    @property
    def parts(self) -> tuple[Span, ...]:
        """The contiguous parts: the span itself, unless it is a `SplitSpan`."""
        return (self,)

    @property
    def hull(self) -> Span:
        """The contiguous span from the first to the last token."""
        return self

    @property
    def width(self) -> int:
        return self.end - self.start + 1

    def __str__(self) -> str:
        return f"{self.start}-{self.end}"


class SplitSpan(Span):
    """A discontinuous span. It unpacks and sorts like its hull, but equals only a span with the same parts."""

    _parts: tuple[Span, ...]

    def __new__(cls, parts: Iterable[tuple[int, int]]) -> Self:
        ordered = tuple(Span(*part) for part in parts)
        if len(ordered) < 2:
            raise DocumentError("a discontinuous span has at least two parts; use Span for one")
        for left, right in pairwise(ordered):
            if left.start > left.end or left.end + 1 >= right.start or right.start > right.end:
                raise DocumentError(f"parts {left} and {right} are not in order with a gap between them")
        self = super().__new__(cls, ordered[0].start, ordered[-1].end)
        self._parts = ordered
        return self

    @property
    def parts(self) -> tuple[Span, ...]:
        return self._parts

    @property
    def hull(self) -> Span:
        return Span(self.start, self.end)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SplitSpan) and self._parts == other._parts

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self._parts)

    def __str__(self) -> str:
        return "+".join(map(str, self._parts))

    def __repr__(self) -> str:
        return f"SplitSpan({[tuple(part) for part in self._parts]})"

    def __reduce__(self) -> tuple[type[SplitSpan], tuple[tuple[Span, ...]]]:
        return SplitSpan, (self._parts,)


def span_of(parts: Sequence[tuple[int, int]]) -> Span:
    """The span of these parts. Touching parts are joined; a span without gaps is a plain `Span`."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(parts):
        if joined and start <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return Span(*joined[0]) if len(joined) == 1 else SplitSpan(joined)


Cluster = tuple[Span, ...]


class Deferred(Mapping[str, Any]):
    """A mapping that is made on first use, for the parts of a file that few callers need.

    `Document` does not check the lengths of deferred layers: the reader must.
    """

    __slots__ = ("_made", "_make")

    def __init__(self, make: Callable[[], Mapping[str, Any]]) -> None:
        self._make = make
        self._made: Mapping[str, Any] | None = None

    def _content(self) -> Mapping[str, Any]:
        if self._made is None:
            self._made = self._make()
        return self._made

    def __getitem__(self, key: str) -> Any:
        return self._content()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._content())

    def __len__(self) -> int:
        return len(self._content())

    def __reduce__(self) -> tuple[type[dict[str, Any]], tuple[dict[str, Any]]]:
        return dict, (dict(self._content()),)


@dataclass(frozen=True, slots=True)
class Document:
    """One text with its entities.

    name, part         identify the document within a corpus
    tokens             the words, in order
    sentence_starts    index of each sentence's first token, starting with 0; empty for an empty document
    clusters           the spans of each entity in document order; singletons are clusters of one
    speakers           one for each token (None: nobody or unknown), or None if the source has no speakers
    genre, language    if known
    text, offsets      the source text, and the [start, end) characters of each token in it
    layers             other columns of the source, one string for each token ("pos", "lemma", ...)
    extra              details of one format, kept for writing it back; JSON values by format name
    """

    name: str
    tokens: tuple[str, ...]
    sentence_starts: tuple[int, ...]
    clusters: tuple[Cluster, ...] = ()
    part: int = 0
    speakers: tuple[str | None, ...] | None = None
    genre: str | None = None
    language: str | None = None
    text: str | None = field(default=None, repr=False)
    offsets: tuple[tuple[int, int], ...] | None = field(default=None, repr=False)
    layers: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False, repr=False)
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)

    def __post_init__(self) -> None:
        for problem in self._problems():
            raise DocumentError(f"document {self.key}: {problem}")

    @classmethod
    def from_sentences(
        cls,
        name: str,
        sentences: Iterable[Sequence[str]],
        clusters: Iterable[Iterable[tuple[int, int]]] = (),
        **fields: Any,
    ) -> Document:
        """A document from sentences of tokens. Clusters may be plain pairs, in any order."""
        tokens: list[str] = []
        starts: list[int] = []
        for sentence in sentences:
            starts.append(len(tokens))
            tokens.extend(sentence)
        return cls(name, tuple(tokens), tuple(starts), normalise(clusters), **fields)

    @classmethod
    def from_text(cls, text: str, name: str = "text", *, language: str | None = None) -> Document:
        """A document from running text, split into tokens and sentences by the rules of its language."""
        # `formats` imports this module, so its rules are imported late
        words = import_module("corefine.formats.tokens").tokenise(text, language)
        return cls(name, words.tokens, words.sentence_starts, language=language, text=text, offsets=words.offsets)

    @property
    def key(self) -> str:
        """Name and part as one string, for messages."""
        return document_key(self.name, self.part)

    @property
    def sentences(self) -> tuple[tuple[str, ...], ...]:
        return tuple(self.tokens[span.start : span.end + 1] for span in self.sentence_spans)

    @property
    def sentence_spans(self) -> tuple[Span, ...]:
        return tuple(Span(start, end - 1) for start, end in pairwise((*self.sentence_starts, len(self.tokens))))

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def mentions(self) -> list[Span]:
        """All mentions of all clusters, in document order."""
        return sorted((span for cluster in self.clusters for span in cluster), key=document_order)

    def words(self, span: Span) -> str:
        """The tokens of a span, joined by spaces, with an ellipsis for each gap."""
        return " … ".join(" ".join(self.tokens[part.start : part.end + 1]) for part in span.parts)

    def characters(self, span: Span) -> tuple[tuple[int, int], ...]:
        """The [start, end) characters of each part of a span in the source text."""
        if self.offsets is None:
            raise DocumentError(f"document {self.key} has no character offsets")
        return tuple((self.offsets[part.start][0], self.offsets[part.end][1]) for part in span.parts)

    def with_clusters(self, clusters: Iterable[Iterable[tuple[int, int]]]) -> Document:
        """The same document with other entities."""
        return replace(self, clusters=normalise(clusters))

    def without_singletons(self) -> Document:
        return replace(self, clusters=tuple(cluster for cluster in self.clusters if len(cluster) > 1))

    def sentence_of(self, span: Span) -> int:
        """The number of the sentence in which a span starts."""
        return bisect_right(self.sentence_starts, span.start) - 1

    def holds(self, span: Span) -> bool:
        """Whether the span lies within the document."""
        return 0 <= span.start <= span.end < len(self.tokens)

    def _problems(self) -> Iterator[str]:
        """What is wrong with the document, if anything."""
        size = len(self.tokens)
        starts = self.sentence_starts
        if abs(self.part) >= MOST_PARTS:
            yield "its part has more than 18 digits"
        if (starts[0] != 0 if starts else size > 0) or not all(map(lt, starts, (*starts[1:], size))):
            yield "sentence starts must begin at 0, increase, and leave no sentence empty"
        if self.speakers is not None and len(self.speakers) != size:
            yield f"{len(self.speakers)} speakers for {size} tokens"
        if not isinstance(self.layers, Deferred):
            for layer, column in self.layers.items():
                if len(column) != size:
                    yield f"layer {layer!r} has {len(column)} entries for {size} tokens"
        yield from self._offset_problems()
        spans = tuple(chain.from_iterable(self.clusters))
        outside = [span for span in spans if not 0 <= span[0] <= span[1] < size]
        if outside or not all(self.clusters) or len(set(spans)) < len(spans):
            yield from self._cluster_problems()

    def _cluster_problems(self) -> Iterator[str]:
        """What exactly is wrong with the clusters."""
        size = len(self.tokens)
        owner: dict[Span, int] = {}
        for number, cluster in enumerate(self.clusters):
            if not cluster:
                yield f"cluster {number} is empty"
            for span in cluster:
                if not self.holds(span):
                    yield f"span {span} is outside its {size} tokens"
                elif span in owner:
                    twice = "twice in one cluster" if owner[span] == number else "in two clusters"
                    yield f"span {span} ({self.words(span)!r}) is {twice}"
                owner[span] = number

    def _offset_problems(self) -> Iterator[str]:
        if self.offsets is None:
            return
        if self.text is None:
            yield "offsets without a text"
            return
        if len(self.offsets) != len(self.tokens):
            yield f"{len(self.offsets)} offsets for {len(self.tokens)} tokens"
        if self.offsets:
            starts, ends = zip(*self.offsets, strict=True)
            if starts[0] >= 0 and max(ends) <= len(self.text) and _increase(starts) and all(map(le, starts, ends)):
                return
        before = 0
        for token, (start, end) in enumerate(self.offsets):
            if not before <= start <= end <= len(self.text):
                yield f"offsets {start}-{end} of token {token} are out of order or outside the text"
                return
            before = start


class Labelled(Protocol):
    """What holds a document with entities, such as the result of a prediction."""

    @property
    def labelled(self) -> Document: ...


Documents = Document | Labelled | Iterable[Document | Labelled]


def documents_of(what: Documents) -> Iterator[Document]:
    """The documents that are given, or that the given results hold."""
    for each in what if isinstance(what, Iterable) else [what]:
        yield each if isinstance(each, Document) else each.labelled


def _increase(numbers: Sequence[int]) -> bool:
    """Whether none is smaller than the one before it."""
    return all(map(le, numbers, numbers[1:]))


def document_key(name: str, part: int) -> str:
    return f"{name} part {part}" if part else name


def document_order(span: Span) -> tuple[int, int, tuple[Span, ...]]:
    """Sort key: the order of spans; spans with the same hull are ordered by their parts."""
    return (span.start, span.end, span.parts)


def normalise(clusters: Iterable[Iterable[tuple[int, int]]]) -> tuple[Cluster, ...]:
    """Clusters in document order: spans sorted and without repeats, clusters sorted by first span."""
    listed: list[list[Any]] = [list(cluster) for cluster in clusters]
    kinds = set(map(type, chain.from_iterable(listed)))
    if kinds <= {Span}:  # plain spans sort as they are
        return tuple(sorted([tuple(sorted(set(c)) if len(c) > 1 else c) for c in listed if c]))
    spans = ({span if isinstance(span, Span) else Span(*span) for span in cluster} for cluster in listed)
    ordered = (tuple(sorted(cluster, key=document_order)) for cluster in spans if cluster)
    return tuple(sorted(ordered, key=lambda cluster: document_order(cluster[0])))
