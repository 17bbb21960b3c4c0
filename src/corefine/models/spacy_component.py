"""corefine in a spaCy pipeline: `nlp.add_pipe("corefine")` puts every entity into `doc.spans`.

spaCy finds the component through an entry point. It loads all entry points whenever a pipeline is made, so this module
imports nothing heavy and works without the extra "model".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from spacy.language import Language
from spacy.tokens import Doc

from corefine.document import Document

if TYPE_CHECKING:
    from corefine.models.resolver import Resolver

PREFIX = "coref_clusters"


class CorefineComponent:
    """Sets `doc.spans["coref_clusters_1"]` and so on, one group for each entity, in document order."""

    def __init__(self, resolver: Resolver, prefix: str = PREFIX) -> None:
        self.resolver = resolver
        self.prefix = prefix

    def __call__(self, doc: Doc) -> Doc:
        document, places = from_spacy(doc)
        for number, cluster in enumerate(self.resolver.predict(document).clusters, start=1):
            spans = [doc[places[span.start] : places[span.end] + 1] for span in cluster]
            doc.spans[f"{self.prefix}_{number}"] = spans
        return doc

    def pipe(self, stream: Iterable[Doc], **_: Any) -> Iterator[Doc]:
        """spaCy calls this for `nlp.pipe`."""
        return map(self, stream)


def from_spacy(doc: Doc) -> tuple[Document, list[int]]:
    """A spaCy doc as a `Document` without tokens of white space, and the position of each token in the doc."""
    kept = [token for token in doc if not token.is_space]
    starts = [0] if kept else []
    if doc.has_annotation("SENT_START"):
        begun = False
        for position, token in enumerate(kept):
            before = kept[position - 1].i if position else -1
            begun = any(doc[i].is_sent_start for i in range(before + 1, token.i + 1))
            if begun and position:
                starts.append(position)
    document = Document(
        name="spacy",
        tokens=tuple(token.text for token in kept),
        sentence_starts=tuple(starts),
        language=doc.lang_ or None,
        text=doc.text,
        offsets=tuple((token.idx, token.idx + len(token)) for token in kept),
    )
    return document, [token.i for token in kept]


@Language.factory(
    "corefine", assigns=["doc.spans"], default_config={"model": "starter", "device": "auto", "prefix": PREFIX}
)
def make_component(nlp: Language, name: str, model: str, device: str, prefix: str) -> CorefineComponent:  # noqa: ARG001
    """What `nlp.add_pipe("corefine", config={...})` calls."""
    from corefine.models.load import load

    return CorefineComponent(load(model, device=device), prefix)
