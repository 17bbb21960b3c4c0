"""What people try first in Python works."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import corefine
from corefine.corpora.stories import load as stories
from corefine.document import Document
from corefine.models import display, rules
from corefine.models.resolver import Resolver, Result


class Rules:
    """The rules as a model."""

    def predict(self, document: Document) -> corefine.Prediction:
        return rules.predict(document)


TEXT = "Mary Jones met her sister. Mary Jones waved."


@pytest.fixture
def resolver() -> Resolver:
    return Resolver(Rules(), "rules")


def test_predict_takes_texts_tokens_documents_and_files(resolver: Resolver, tmp_path: Path) -> None:
    assert isinstance(resolver.predict(TEXT), Result)
    split = resolver.predict([["Mary", "Jones", "slept", "."], ["Mary", "Jones", "woke", "."]])
    assert len(split.document.sentence_starts) == 2
    path = tmp_path / "a.txt"
    path.write_text(TEXT)
    assert [result.document.name for result in resolver.predict(path)] == ["a"]
    mixed: list[str | Document] = [TEXT, Document.from_text(TEXT, "b")]
    assert [result.document.name for result in resolver.predict(mixed)] == ["text", "b"]


def test_read_a_folder_and_score_paths(tmp_path: Path) -> None:
    documents = stories()[:2]
    for number, document in enumerate(documents):
        corefine.write(document, tmp_path / f"{number}.jsonl")
    assert [document.name for document in corefine.read(tmp_path)] == [document.name for document in documents]
    assert corefine.score(tmp_path, str(tmp_path)).conll_f1 == pytest.approx(100)


def test_a_session_with_a_number_of_questions() -> None:
    document = stories()[0]
    session = corefine.Session(document, rules.predict(document), budget=2)
    asked = 0
    while session.next_question() is not None:
        session.answer(corefine.annotation.question.Answer.yes())
        asked += 1
    assert asked == 2


def result_of(sentences: list[list[str]], clusters: list[list[tuple[int, int]]]) -> Result:
    document = Document.from_sentences("d", sentences, clusters)
    return Result(document, rules.predict(document), document.clusters)


def test_resolved_text_has_names_in_place_of_mentions() -> None:
    result = result_of(
        [["She", "met", "Mary", "Jones", "."], ["Her", "dog", "saw", "it", "."]],
        [[(0, 0), (2, 3), (5, 5)], [(5, 6), (8, 8)]],
    )
    assert result.resolved_text() == "Mary Jones met Mary Jones .\nHer dog saw Her dog .\n"
    pronouns = result_of([["Mary", "fed", "her", "dog", "."]], [[(0, 0), (2, 2)]])
    assert pronouns.resolved_text() == "Mary fed Mary's dog .\n"


def test_an_entity_that_only_pronouns_name_is_not_replaced() -> None:
    result = result_of([["She", "waved", "."], ["Then", "she", "left", "."]], [[(0, 0), (4, 4)]])
    assert result.resolved_text() == "She waved .\nThen she left .\n"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["Mary", "came", ".", "He", "waved", "at", "her", "."], "Mary came . He waved at Mary .\n"),
        (["Mary", "came", ".", "He", "told", "her", "that"], "Mary came . He told Mary that\n"),
        (["Mary", "came", ".", "He", "saw", "her"], "Mary came . He saw Mary\n"),
        (["Mary", "came", ".", "He", "saw", "her", "dog"], "Mary came . He saw Mary's dog\n"),
        (["Mary", "came", ".", "He", "saw", "his", "."], "Mary came . He saw Mary's .\n"),
    ],
)
def test_resolved_text_tells_her_from_her(words: list[str], expected: str) -> None:
    pronoun = next(at for at, word in enumerate(words) if word in ("her", "his"))
    assert result_of([words], [[(0, 0), (pronoun, pronoun)]]).resolved_text() == expected


def test_a_result_can_be_read() -> None:
    result = result_of([["Mary", "fed", "her", "dog"]], [[(0, 0), (2, 2)]])
    assert repr(result) == "Result('d', [['Mary', 'her']])"


def test_a_result_as_plain_values(resolver: Resolver) -> None:
    found = json.loads(json.dumps(resolver.predict(TEXT).to_dict()))
    assert found["text"] == TEXT
    assert [len(cluster) for cluster in found["clusters"]] == [len(strings) for strings in found["clusters_strings"]]


def test_a_notebook_shows_entities_in_colour() -> None:
    result = result_of([["<b>", "saw", "Ann"], ["She", "left"]], [[(2, 2), (3, 3)]])
    shown = result._repr_html_()
    assert shown.count('title="entity 1"') == 2
    assert "<b>" not in shown
    assert corefine.display(result.labelled)._repr_html_() == shown
    assert corefine.display(result) == shown


def test_a_notebook_shows_the_text_as_it_is_and_mentions_that_cross() -> None:
    shown = corefine.display(Document.from_text("Ann's dog (old).", "d"))
    assert ">Ann&#x27;s dog (old).<" in shown
    crossing = result_of([["a", "b", "c"], ["d", "e"]], [[(0, 1)], [(1, 3)]])._repr_html_()
    outer, inner = (f'<span style="{_style(number)}" title="entity {number}">' for number in (1, 2))
    assert f"{outer}<sub>1</sub>a {inner}<sub>2</sub>b</span></span>{inner} c</span><br>{inner}d</span> e" in crossing


def _style(number: int) -> str:
    return display._MARK.format(colour=display.COLOURS[number - 1])


def test_a_resolver_can_be_pickled(resolver: Resolver) -> None:
    again = pickle.loads(pickle.dumps(resolver))
    assert again.predict(TEXT).clusters == resolver.predict(TEXT).clusters


PROGRAM = """
from pathlib import Path
import corefine
resolver = corefine.load()
one = resolver.predict("a text").clusters
split = resolver.predict([["a", "text"]]).clusters
files = [each.clusters for each in resolver.predict(Path("a"))]
mixed = [each.clusters for each in resolver.predict(["a", corefine.Document.from_text("b")])]
scores: corefine.Scores = corefine.score("a", Path("b"))
"""


@pytest.mark.nightly
def test_the_interface_under_strict_types(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    source = str(Path(corefine.__file__).parents[1])
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", str(program)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"MYPYPATH": source, "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
    )
    assert run.returncode == 0, run.stdout + run.stderr
