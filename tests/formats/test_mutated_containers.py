"""Damaged files of the formats that test_mutated.py leaves out: packed ones, and those that are only read."""

from __future__ import annotations

import io
import random
import zipfile
import zlib
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from corefine.formats import FORMATS
from helpers import mutating
from helpers.mmax2_making import COREFERENCE, SENTENCES, WORDS, level_xml, project_xml, words_xml

CASES = 60
MANY = 1000

MMAX2 = {
    "story.mmax": project_xml("story_words.xml"),
    "story_words.xml": words_xml(WORDS),
    "story_sentence_level.xml": level_xml("sentence", SENTENCES),
    "story_coref_level.xml": level_xml("coref", COREFERENCE),
}


def zipped(files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return stream.getvalue()


@cache
def bins() -> list[bytes]:
    renders = FORMATS["spacy"].files.values()
    return [
        data for document in mutating.documents() for render in renders if isinstance(data := render(document), bytes)
    ]


def mutated_project(rng: random.Random) -> dict[str, bytes]:
    name = rng.choice(sorted(MMAX2))
    return MMAX2 | {name: mutating.mutated(rng, MMAX2[name])}


def mutated_archive(rng: random.Random) -> dict[str, bytes]:
    """Bytes of the archive changed, or those of a file in it."""
    _, files = rng.choice(mutating.sound_files())
    if rng.random() < 0.3:
        return {"a.zip": mutating.mutated(rng, zipped(files))}
    name = rng.choice(sorted(files))
    return {"a.zip": zipped(files | {name: mutating.mutated(rng, files[name])})}


def mutated_bin(rng: random.Random) -> dict[str, bytes]:
    """Bytes of a DocBin changed, those inside its compression, or the values that corefine stores in a doc."""
    from spacy.tokens import DocBin
    from spacy.vocab import Vocab

    data = rng.choice(bins())
    kind = rng.random()
    if kind < 0.2:
        return {"a.spacy": mutating.mutated(rng, data)}
    if kind < 0.5:
        return {"a.spacy": zlib.compress(mutating.mutated(rng, zlib.decompress(data)))}
    (doc,) = DocBin(store_user_data=True).from_bytes(data).get_docs(Vocab())
    stored: dict[Any, Any] = doc.user_data
    stored["corefine"] = mutating.mutated_json(rng, stored["corefine"].encode()).decode("utf-8", "replace")
    return {"a.spacy": DocBin(store_user_data=True, docs=[doc]).to_bytes()}


MUTATED = {"mmax2": mutated_project, "zip": mutated_archive, "spacy": mutated_bin}


def cases(source: str, numbers: range) -> Iterator[mutating.Case]:
    targets = [each.name for each in FORMATS.values() if each.files]
    for number in numbers:
        rng = random.Random(f"{source} {number}")
        lossy, skip_faulty = rng.random() < 0.5, rng.random() < 0.5
        yield mutating.Case(number, source, rng.choice(targets), MUTATED[source](rng), lossy, skip_faulty)


def test_every_format_is_mutated() -> None:
    """Here or in test_mutated.py, which takes its cases from `sound_files`."""
    assert {source for source, _ in mutating.sound_files()} | MUTATED.keys() == FORMATS.keys()


@pytest.mark.parametrize("source", MUTATED)
def test_damaged_containers_are_converted_soundly_or_refused(source: str) -> None:
    outcome = mutating.run_cases(cases(source, range(CASES)))
    assert not outcome.failures, str(outcome)
    assert outcome.converted > CASES / 20


@pytest.mark.nightly
@pytest.mark.parametrize("source", MUTATED)
def test_many_damaged_containers(source: str) -> None:
    outcome = mutating.run_cases(cases(source, range(CASES, CASES + MANY)))
    assert not outcome.failures, str(outcome)
