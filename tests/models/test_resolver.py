"""The front door: texts and documents in, entities out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import corefine
from corefine.annotation.labels import Labels
from corefine.document import Document, Span
from corefine.errors import InputError, InvalidSpanError, ModelError
from corefine.links import Cannot, Links, Must
from corefine.models import rules
from corefine.models.committee import save_committee
from corefine.models.resolver import Resolver, Result, from_text
from corefine.models.storage.checkpoint import save_model
from corefine.models.training.trainer import train
from helpers import tiny
from helpers.scripted import Scripted

TEXT = "Anna slept. She sang,  and Tom left."


def scripted(words: str = "a b c d e") -> Result:
    return Resolver(Scripted()).predict(Document.from_sentences("d", [words.split()]))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model")
    model = tiny.model()
    list(train(model, list(map(Labels, tiny.documents(6))), tiny.TRAINING))
    save_model(path, model)
    return path


def test_entities_as_spans_strings_and_offsets() -> None:
    result = scripted()
    assert result.clusters == ((Span(0, 0), Span(2, 2), Span(4, 4)), (Span(1, 1), Span(3, 3)))
    assert result.strings == (("a", "c", "e"), ("b", "d"))
    assert result.labelled.clusters == result.clusters
    assert result.labelled.tokens == result.document.tokens


ZEROS = """# newdoc id = a
# global.Entity = eid-etype-head-other
# sent_id = 1
1\tAnna\t_\tPROPN\t_\t_\t2\tnsubj\t_\tEntity=(e1-person-1-)
2\tsang\t_\tVERB\t_\t_\t0\troot\t_\t_
2.1\t_\t_\tPRON\t_\t_\t_\t_\t2:nsubj\tEntity=(e1-person-1-)
3\tfor\t_\tADP\t_\t_\t4\tcase\t_\t_
3.1\t_\t_\tPRON\t_\t_\t_\t_\t4:det\tEntity=(e2-person-2-
4\tTom\t_\tPROPN\t_\t_\t2\tobl\t_\tEntity=e2)

"""


def test_zero_mentions_of_the_source_are_not_predictions(tmp_path: Path) -> None:
    """They are gold labels that the model did not find: with them, a score would be too high."""
    path = tmp_path / "gold.conllu"
    path.write_text(ZEROS)
    (document,) = corefine.read_all(path)
    found = Result(document, rules.predict(document), ((Span(0, 0), Span(3, 3)),)).labelled
    corefine.write([found], tmp_path / "found.conllu")
    written = (tmp_path / "found.conllu").read_text()
    assert [line.split("\t")[0] for line in written.splitlines() if "Entity=(" in line] == ["1", "4"]
    assert "2.1\t_" in written
    corefine.write([document], tmp_path / "again.conllu")
    assert (tmp_path / "again.conllu").read_text() == ZEROS


def test_offsets_point_into_the_text() -> None:
    result = Resolver(Scripted()).predict(TEXT)
    assert result.document.text == TEXT
    assert [[TEXT[start:end] for start, end in cluster] for cluster in result.offsets] == [
        list(cluster) for cluster in result.strings
    ]
    assert "Tom" in {string for cluster in result.strings for string in cluster}


def test_a_document_without_text_has_no_offsets_but_strings() -> None:
    result = scripted()
    with pytest.raises(InputError, match="no character offsets"):
        _ = result.offsets
    assert result.strings


def test_probabilities_of_links() -> None:
    result = scripted()
    assert result.probability((3, 3), (1, 1)) == pytest.approx(0.7)
    assert result.probability((3, 3), (2, 2)) == pytest.approx(0.1)
    assert result.probability((3, 3), None) == pytest.approx(0.2)
    assert result.probability((3, 3), (0, 0)) == 0  # not among its candidates
    assert result.probability((3, 4), (0, 0)) == 0  # not a top span
    assert result.probability((3, 4), None) == 1
    with pytest.raises(InvalidSpanError, match="9-9 is outside"):
        result.probability((9, 9), None)


def test_prediction_given_answers() -> None:
    links = Links()
    links.add(1, Cannot(Span(0, 0), Span(2, 2)))
    links.add(2, Must(Span(0, 0), Span(1, 1)))
    given = scripted().given(links)
    assert given.clusters == ((Span(0, 0), Span(1, 1), Span(3, 3)), (Span(2, 2), Span(4, 4)))


def test_one_or_many() -> None:
    resolver = Resolver(Scripted())
    assert isinstance(resolver.predict("a b c"), Result)
    assert [len(result.document) for result in resolver.predict(["a b", "c"])] == [2, 1]
    assert [len(result.document) for result in resolver.predict(iter([Document.from_sentences("d", [["x"]])]))] == [1]
    lazy = resolver.stream(iter(["a b", 5]))  # type: ignore[list-item]
    assert len(next(lazy).document) == 2
    with pytest.raises(InputError, match="not int"):
        next(lazy)


def test_loading_by_path(folder: Path) -> None:
    result = corefine.load(folder, device="cpu").predict(tiny.document(0))
    assert len(result.prediction) > 0


def test_loading_a_committee(tmp_path: Path) -> None:
    for name in ("member-0", "member-1"):
        save_model(tmp_path / name, tiny.model(seed=int(name[-1])))
    save_committee(tmp_path, ["member-0", "member-1"])
    prediction = corefine.load(tmp_path, device="cpu").predict(tiny.document(0)).prediction
    assert prediction.members is not None


def test_a_folder_without_a_model(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="holds no model"):
        corefine.load(tmp_path)


def test_a_device_this_machine_lacks(folder: Path) -> None:
    with pytest.raises(InputError, match="no device 'abacus'"):
        corefine.load(folder, device="abacus")


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    code = "import corefine, sys; corefine.load; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_missing_extra_is_named() -> None:
    code = (
        "import importlib.util as u, corefine\n"
        "real = u.find_spec\n"
        "import corefine.models.load as e\n"
        "e.find_spec = lambda name: None if name == 'torch' else real(name)\n"
        "try: corefine.load()\n"
        "except corefine.CorefineError as error: print(error)"
    )
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert "torch" in found.stdout
    assert "corefine[model]" in found.stdout


def test_text_keeps_every_character() -> None:
    document = from_text("Ünï  cödé.\n\nNew paragraph")
    assert document.text is not None
    assert document.offsets is not None
    assert [document.text[a:b] for a, b in document.offsets] == list(document.tokens)
