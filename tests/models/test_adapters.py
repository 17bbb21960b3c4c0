"""Other resolvers as models: clusters, fastcoref, spaCy pipelines."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from corefine.annotation.session import Session
from corefine.corpora import stories
from corefine.document import Document, Span
from corefine.formats import write
from corefine.models.adapters import CharacterPredictor, SpacyPredictor, fastcoref, from_clusters
from corefine.models.resolver import Resolver

STORY = Document.from_sentences("a", [["Ann", "saw", "Bo", "."], ["Ann", "left"]], [[(0, 0), (4, 4)]])


def test_clusters_make_a_prediction_that_decodes_to_them() -> None:
    document = Document.from_sentences("a", [list("abcdefgh")], [[(0, 0), (3, 4), (6, 6)], [(1, 2), (7, 7)]])
    result = Resolver(SimpleNamespace(predict=lambda each: from_clusters(each.clusters))).predict(document)
    assert result.clusters == document.clusters
    assert result.probability((7, 7), (1, 2)) > 0.9


def test_a_resolver_of_characters_as_a_model() -> None:
    result = Resolver(CharacterPredictor(lambda _: [[(0, 3), (15, 18)]])).predict("Ann saw Bo on. Ann left.")
    assert result.strings == (("Ann", "Ann"),)
    assert result.offsets == (((0, 3), (15, 18)),)


def test_fastcoref_as_a_model() -> None:
    """What fastcoref returns: spans of pieces with their rows and words, and scores, of which the last is "none"."""
    spans = {(1, 1): (0, (0, 1)), (3, 3): (1, (2, 3)), (5, 5): (2, (4, 5)), (6, 6): (3, (4, 5)), (0, 0): (None, None)}
    scores = np.array(
        [
            [-1e4, -1e4, -1e4, -1e4, 9.0, 0.0],
            [1.0, -1e4, -1e4, -1e4, 9.0, 0.0],
            [2.0, -1.0, -1e4, -1e4, 9.0, 0.0],
            [3.0, -1.0, 5.0, -1e4, 9.0, 0.0],
            [9.0, 9.0, 9.0, 9.0, 9.0, 0.0],
        ]
    )

    def predict(texts: list[list[str]], *, is_split_into_words: bool) -> list[SimpleNamespace]:
        assert is_split_into_words
        assert texts == [list(STORY.tokens)]
        return [SimpleNamespace(char_map=spans, coref_logit=scores)]

    result = Resolver(fastcoref(SimpleNamespace(predict=predict))).predict(STORY)
    assert result.prediction.spans == (Span(0, 0), Span(2, 2), Span(4, 4))
    assert result.clusters == ((Span(0, 0), Span(2, 2), Span(4, 4)),)
    odds = np.exp([0.0, 1.0])
    assert result.probability((2, 2), (0, 0)) == pytest.approx(odds[1] / odds.sum())
    # the last word is two pieces, each of them a top span: the second, which links more, counts without the first
    row = np.exp([0.0, 3.0, -1.0])
    assert result.probability((4, 4), (0, 0)) == pytest.approx((row / row.sum())[1])
    assert result.probability((4, 4), None) == pytest.approx((row / row.sum())[0])


def test_fastcoref_is_not_asked_about_no_words() -> None:
    assert Resolver(fastcoref(SimpleNamespace())).predict(Document("empty", (), ())).clusters == ()


@pytest.fixture
def fastcoref_python() -> str:
    """The Python of an environment that has fastcoref, which needs older versions of others than corefine's tests."""
    python = os.environ.get("COREFINE_FASTCOREF_PYTHON")
    if not python:
        pytest.skip("COREFINE_FASTCOREF_PYTHON does not name the Python of an environment that has fastcoref")
    return python


def test_the_architecture_of_fastcoref_as_a_model(fastcoref_python: str, tmp_path: Path) -> None:
    """fastcoref itself, small and with random weights: its entities and its probabilities come through."""
    root = Path(__file__).parents[2]
    path = tmp_path / "stories.jsonl"
    documents = stories.load()[:3]
    write(documents, path, lossy=True)
    command = [fastcoref_python, str(root / "tests" / "helpers" / "fastcoref_trial.py"), str(path)]
    environment = {**os.environ, "PYTHONPATH": str(root / "src"), "OMP_NUM_THREADS": "1"}
    run = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-3000:]
    told = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    assert len(told) == len(documents)
    for found in told:
        assert len(found["ours"]) > 1
        assert sorted(found["ours"]) == sorted(found["expected"])
        if found["theirs"] is not None:  # no special piece is a mention, as it may be with random weights
            assert sorted(found["ours"]) == sorted(map(sorted, found["theirs"]))
        compared = found["found"].keys() & found["probabilities"].keys()
        assert len(compared) > 0.95 * len(found["found"]) > 10  # all but ties
        for pair in compared:
            assert found["found"][pair] == pytest.approx(found["probabilities"][pair], rel=1e-4, abs=1e-6)


def test_a_session_asks_what_fastcoref_is_unsure_of() -> None:
    scores = np.array([[-1e4, -1e4, -1e4, 0.0], [5.0, -1e4, -1e4, 0.0], [0.1, 0.0, -1e4, 0.0]])
    spans = {(n, n): (n, (2 * n, 2 * n + 1)) for n in range(3)}
    model = SimpleNamespace(predict=lambda *_, **__: [SimpleNamespace(char_map=spans, coref_logit=scores)])
    question = Session(STORY, fastcoref(model).predict(STORY)).next_question()
    assert question is not None
    assert question.mention == Span(4, 4)


def test_a_spacy_pipeline_as_a_model() -> None:
    import spacy
    from spacy.language import Language

    @Language.component("test_coref")
    def component(doc: spacy.tokens.Doc) -> spacy.tokens.Doc:
        doc.spans["coref_clusters_1"] = [doc[0:1], doc[4:5]]
        return doc

    nlp = spacy.blank("en")
    nlp.add_pipe("test_coref")
    assert Resolver(SpacyPredictor(nlp)).predict(STORY).strings == (("Ann", "Ann"),)
