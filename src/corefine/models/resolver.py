"""Texts or documents in, entities out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, overload

from corefine.annotation.revision import decode
from corefine.document import Cluster, Document, Span
from corefine.errors import InputError, InvalidSpanError
from corefine.formats import read
from corefine.formats.conllu.extra import without_zeros
from corefine.formats.tokens import text_of, tokenise
from corefine.links import Links
from corefine.prediction import Prediction
from corefine.scores.errors import mention_kind

One = str | Document | list[list[str]]
"""A text, a document, or sentences of tokens."""
Several = Path | list[str] | tuple[str, ...] | list[str | Document] | list[list[list[str]]] | Iterable[Document]


class Predictor(Protocol):
    """Anything that predicts documents: a model, a committee, rules."""

    def predict(self, document: Document) -> Prediction: ...


@dataclass(frozen=True, slots=True, repr=False)
class Result:
    """What a model found in one document.

    document      as it was given; its own clusters are not used
    prediction    the top spans, and the distribution of each over its antecedents
    clusters      entities of two or more mentions, in document order
    """

    document: Document
    prediction: Prediction
    clusters: tuple[Cluster, ...]

    @property
    def offsets(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """The entities as [start, end) characters of the text; a discontinuous mention from first to last."""
        found = ([self.document.characters(span) for span in cluster] for cluster in self.clusters)
        return tuple(tuple((parts[0][0], parts[-1][1]) for parts in cluster) for cluster in found)

    @property
    def strings(self) -> tuple[tuple[str, ...], ...]:
        """The entities as strings: of the text where there is one, else tokens joined by spaces."""
        if self.document.text is None or self.document.offsets is None:
            return tuple(tuple(map(self.document.words, cluster)) for cluster in self.clusters)
        text = self.document.text
        return tuple(tuple(text[start:end] for start, end in cluster) for cluster in self.offsets)

    @property
    def labelled(self) -> Document:
        """The document with the entities that were found. Zero mentions of a CoNLL-U source are not among them."""
        return without_zeros(self.document).with_clusters(self.clusters)

    def probability(self, mention: tuple[int, int], antecedent: tuple[int, int] | None) -> float:
        """The probability of an antecedent; None means "no antecedent". 0 if the model did not consider it."""
        for span in (mention, antecedent):
            if span is not None and not self.document.holds(Span(*span)):
                raise InvalidSpanError(f"span {Span(*span)} is outside document {self.document.key}")
        rows = {span: row for row, span in enumerate(self.prediction.spans)}
        row = rows.get(Span(*mention))
        if row is None:
            return 1.0 if antecedent is None else 0.0
        if antecedent is None:
            return float(self.prediction.probabilities[row, 0])
        columns = (self.prediction.candidates[row] == rows.get(Span(*antecedent), -2)).nonzero()[0]
        return float(self.prediction.probabilities[row, 1 + columns[0]]) if len(columns) else 0.0

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values: tokens and clusters and, if there is a text, character offsets and strings."""
        found: dict[str, Any] = {
            "doc_key": self.document.name,
            "sentences": [list(sentence) for sentence in self.document.sentences],
            "clusters": [[[span.start, span.end] for span in cluster] for cluster in self.clusters],
            "clusters_strings": [list(strings) for strings in self.strings],
        }
        if self.document.text is not None and self.document.offsets is not None:
            found["text"] = self.document.text
            found["clusters_offsets"] = [[list(pair) for pair in cluster] for cluster in self.offsets]
        return found

    def resolved_text(self) -> str:
        """The text with each mention replaced by the name of its entity, or else by its first description.

        Mentions inside other mentions are not replaced, nor are entities that only pronouns name.
        """
        text, offsets = text_of(self.document)
        pieces: list[str] = []
        at = 0
        named = {
            span: name for cluster in self.clusters if (name := self._name(cluster)) is not None for span in cluster
        }
        for span in sorted(named, key=lambda s: (s.start, -s.end)):
            start, end = offsets[span.start][0], offsets[span.end][1]
            if start >= at:
                name = named[span]
                if _is_possessive(self.document, span) and not name.endswith(_GENITIVE):
                    name += "'s"
                pieces += [text[at:start], name]
                at = end
        return "".join([*pieces, text[at:]])

    def _name(self, cluster: Cluster) -> str | None:
        """The text of the first mention that is a name, or else of the first that is no pronoun, if there is one."""
        kinds = {span: mention_kind(self.document, span) for span in cluster}
        best = min(cluster, key=lambda span: ("name", "nominal", "pronoun").index(kinds[span]))
        if kinds[best] == "pronoun":
            return None
        text, offsets = text_of(self.document)
        return text[offsets[best.start][0] : offsets[best.end][1]]

    def __repr__(self) -> str:
        """The entities in words; the prediction has too many numbers to be read."""
        return f"Result({self.document.key!r}, {[list(strings) for strings in self.strings]})"

    def _repr_html_(self) -> str:
        """The text with coloured entities, for notebooks."""
        from corefine.models.display import display

        return display(self)

    def given(self, links: Links) -> Result:
        """The entities when these links are certain; where they say nothing, the model decides."""
        return Result(self.document, self.prediction, decode(self.prediction, links))


class Resolver:
    """A loaded model; `name` is for messages."""

    def __init__(self, model: Predictor, name: str = "model") -> None:
        self.model = model
        self.name = name

    @overload
    def predict(self, what: str | Document) -> Result: ...
    @overload
    def predict(self, what: list[list[str]]) -> Result: ...
    @overload
    def predict(self, what: list[str | Document]) -> list[Result]: ...
    @overload
    def predict(self, what: Several) -> list[Result]: ...

    def predict(self, what: str | Document | list[list[str]] | Several) -> Result | list[Result]:
        """The entities of a text, a document or sentences of tokens. A list or a path gives a list of results."""
        if isinstance(what, str | Document):
            return self._one(what)
        if isinstance(what, Path):
            return list(self.stream(read(what)))
        given: Any = what  # anything at all, if a caller does not check types
        listed = list(given) if isinstance(given, Iterable) and not isinstance(given, bytes) else [given]
        if listed and all(map(_is_sentence, listed)):
            return self._one(listed)
        return list(self.stream(listed))

    def stream(self, documents: Iterable[One]) -> Iterator[Result]:
        """The entities of each document, one at a time, in their order."""
        return map(self._one, documents)

    def _one(self, what: One) -> Result:
        document = _document(what)
        prediction = self.model.predict(document)
        return Result(document, prediction, decode(prediction))


def _document(what: One) -> Document:
    if isinstance(what, Document):
        return what
    if isinstance(what, list) and all(map(_is_sentence, what)):
        return Document.from_sentences("text", filter(None, what))
    return from_text(what)  # type: ignore[arg-type]  # which refuses everything but a text


def _is_sentence(what: object) -> bool:
    return isinstance(what, list) and all(isinstance(token, str) for token in what)


_POSSESSIVE = frozenset("my your his her its our their whose".split())
_GENITIVE = ("'s", "’s")
_AFTER_OBJECT = frozenset(
    "a about across after again all also an and around as at away back because before but by down during for from here "
    "how if in into it now of off on or out over so than that the then there through to too until up what when where "
    "whether which while who why with without".split()
)
"""Words that follow "her" where it is an object ("told her that"), not where it is a possessive ("her dog")."""


def _is_possessive(document: Document, span: Span) -> bool:
    """Whether a name in place of this mention needs 's."""
    word = document.tokens[span.end].lower()
    if span.width > 1 or word not in _POSSESSIVE:
        return word.endswith(_GENITIVE)
    tags = document.layers.get("xpos")
    if tags and tags[span.start] in ("PRP", "PRP$"):
        return tags[span.start] == "PRP$"
    after = span.end + 1
    if word != "her" or after == len(document) or after in document.sentence_starts:
        return word != "her"
    following = document.tokens[after].lower()
    return following[:1].isalnum() and following not in _AFTER_OBJECT


def from_text(text: str, *, name: str = "text", language: str | None = None) -> Document:
    """A document from running text, with offsets into it."""
    if not isinstance(text, str):
        raise InputError(f"a text, a Document or sentences of tokens are needed, not {type(text).__name__}")
    words = tokenise(text, language)
    return Document(name, words.tokens, words.sentence_starts, language=language, text=text, offsets=words.offsets)
