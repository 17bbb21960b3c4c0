from __future__ import annotations

import json
from pathlib import Path

import pytest
import spacy
from typer.testing import CliRunner

from corefine import score, write
from corefine.cli import app
from corefine.document import Document, Span
from corefine.errors import InputError
from corefine.models.tagging import with_tags
from corefine.scores.pronouns import is_pronoun
from helpers.small import finish, rules, short_stories

DOCUMENT = Document.from_sentences("d", [["Zyx", "saw", "him", "."], ["It", "", "ran"]], [[(0, 0), (4, 4)]])


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A pipeline for which the only pronoun is "Zyx"."""
    made = spacy.blank("en")
    ruler = made.add_pipe("attribute_ruler")
    ruler.add([[{"LOWER": "zyx"}]], {"POS": "PRON", "TAG": "PRP"})  # type: ignore[attr-defined]
    ruler.add([[{"LOWER": {"NOT_IN": ["zyx"]}}]], {"POS": "NOUN", "TAG": "NN"})  # type: ignore[attr-defined]
    folder = tmp_path_factory.mktemp("pipeline")
    made.to_disk(folder)
    return str(folder)


def test_the_tagger_decides_what_a_pronoun_is(pipeline: str) -> None:
    [tagged] = with_tags([DOCUMENT], pipeline)
    assert [is_pronoun(tagged, Span(token, token)) for token in (0, 2, 4)] == [True, False, False]
    assert [is_pronoun(DOCUMENT, Span(token, token)) for token in (0, 2, 4)] == [False, True, True]
    assert tagged.tokens == DOCUMENT.tokens
    empty = DOCUMENT.with_clusters([])
    assert score([tagged], [empty], pronouns=True).b3.recall == 0
    nothing = [[(1, 1), (2, 2)]]
    key = Document.from_sentences("d", [["saw", "him", "them"]], nothing)
    assert score(with_tags([key], pipeline), [key], pronouns=True).b3.f1 == 0  # no cluster with a pronoun is left


def test_the_command_takes_a_tagger(pipeline: str, tmp_path: Path) -> None:
    path = tmp_path / "key.jsonl"
    write([DOCUMENT], path)
    for options, recall in ((["--tagger", pipeline], 100.0), ([], 100.0)):
        result = CliRunner().invoke(app, ["score", str(path), str(path), "--pronouns", "--json", *options])
        assert json.loads(result.stdout)["b3"]["recall"] == recall
    other = tmp_path / "other.jsonl"
    write([Document.from_sentences("d", [["saw", "him", "them"]], [[(1, 1), (2, 2)]])], other)
    result = CliRunner().invoke(app, ["score", str(other), str(other), "--pronouns", "--json", "--tagger", pipeline])
    assert json.loads(result.stdout)["b3"]["recall"] == 0  # for this pipeline, none of its clusters has a pronoun


def test_a_run_scores_pronouns_by_its_tagger(pipeline: str, tmp_path: Path) -> None:
    lists = finish(rules(documents=3), tmp_path / "lists", short_stories())
    tagger = finish(rules(documents=3, tagger=pipeline), tmp_path / "tagger", short_stories())
    assert tagger[-1].scores["dev"].conll_f1 == lists[-1].scores["dev"].conll_f1
    assert tagger[-1].scores["dev"].pronoun_f1 == 0 < lists[-1].scores["dev"].pronoun_f1


def test_a_pipeline_that_is_not_there_or_has_no_tagger_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="spaCy cannot load the pipeline 'en_no_such'"):
        list(with_tags([DOCUMENT], "en_no_such"))
    spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(InputError, match="sets no parts of speech"):
        list(with_tags([DOCUMENT], str(tmp_path / "blank")))
