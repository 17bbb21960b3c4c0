"""corefine in a spaCy pipeline."""

from __future__ import annotations

from pathlib import Path

import pytest
import spacy

from corefine.models.resolver import Resolver
from corefine.models.spacy_component import CorefineComponent, from_spacy
from corefine.models.storage.checkpoint import save_model
from helpers import tiny
from helpers.scripted import Scripted

TEXT = "Anna  slept.\n\nShe sang. Tom left."


def test_spacy_finds_the_component_by_its_name(tmp_path: Path) -> None:
    save_model(tmp_path, tiny.model())
    nlp = spacy.blank("en")
    nlp.add_pipe("corefine", config={"model": str(tmp_path), "device": "cpu", "prefix": "found"})
    doc = nlp("Anna slept . she sang . Tom left .")
    assert nlp.pipe_names == ["corefine"]
    assert all(name.startswith("found_") for name in doc.spans)


def test_entities_become_span_groups() -> None:
    nlp = spacy.blank("en")
    doc = CorefineComponent(Resolver(Scripted()))(nlp("a b c d e"))
    assert {name: [span.text for span in group] for name, group in doc.spans.items()} == {
        "coref_clusters_1": ["a", "c", "e"],
        "coref_clusters_2": ["b", "d"],
    }


def test_spaces_are_left_out_and_places_are_kept() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    doc = nlp(TEXT)
    document, places = from_spacy(doc)
    assert "".join(document.tokens) == "".join(TEXT.split())
    assert [doc[place].text for place in places] == list(document.tokens)
    assert [" ".join(sentence) for sentence in document.sentences] == ["Anna slept .", "She sang .", "Tom left ."]
    assert document.offsets is not None
    assert [TEXT[a:b] for a, b in document.offsets] == list(document.tokens)


@pytest.mark.parametrize("text", ["", "  \n "])
def test_nothing_in_nothing_out(text: str) -> None:
    doc = CorefineComponent(Resolver(Scripted()))(spacy.blank("en")(text))
    assert not doc.spans


def test_a_stream_of_docs() -> None:
    nlp = spacy.blank("en")
    docs = list(CorefineComponent(Resolver(Scripted())).pipe(nlp.pipe(["a b c", "d"]), batch_size=2))
    assert [len(doc.spans) for doc in docs] == [1, 0]
