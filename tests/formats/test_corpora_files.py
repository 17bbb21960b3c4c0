"""Every file of the corpora is read with the clusters of the JSON lines beside it, and no conversion loses them."""

from __future__ import annotations

import gzip
import logging
import tarfile
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from corefine.document import Document, Span, span_of
from corefine.errors import Fault
from corefine.formats import FORMATS, read_all, write
from helpers.format_making import read_bytes, rendered

CORPORA = {
    "corefud_es_ancora": (131, 45_888, 6_381),
    "corefud_ru_rucor": (18, 21_139, 2_297),
    "litbank": (100, 210_532, 29_103),
    "ontogum": (153, 148_618, 18_485),
    "openboek_nl": (9, 103_522, 23_633),
    "winobias": (3_168, 44_327, 6_423),
}
CONLLU = {
    "corefud_es_ancora/es_ancora-corefud-dev.conllu.gz": "corefud_es_ancora",
    "corefud_ru_rucor/ru_rucor-corefud-dev.conllu.gz": "corefud_ru_rucor",
    "litbank/en_litbank-corefud-dev.conllu.gz": "litbank",
    "ontogum/ontogum_dev.conllu.gz": "ontogum",
    "ontogum/ontogum_test.conllu.gz": "ontogum",
}
TARS = ("litbank/litbank", "openboek_nl/openboek", "winobias/winobias")


@cache
def reference(corpora: Path, name: str) -> dict[str, Document]:
    return {document.name: document for document in read_all(corpora / name / f"{name}.jsonl.gz")}


@cache
def conllu(path: Path) -> tuple[list[Document], list[Fault]]:
    faults: list[Fault] = []
    return read_all(path, on_fault=faults.append), faults


@cache
def conll(corpora: Path, name: str) -> list[Document]:
    """The documents of the original CoNLL files."""
    documents = []
    with tarfile.open(corpora / f"{name}_original_conll.tar.gz") as tar:
        for member in tar:
            file = tar.extractfile(member)
            if file is not None:
                documents += read_bytes(file.read(), "conll")
    return documents


def winobias_key(name: str) -> str:
    """nw/dev_type1/not_stereotype//12 is called dev_type1_anti_12 in the JSON lines."""
    _, kind, side, _, number = name.split("/")
    return f"{kind}_{'anti' if side == 'not_stereotype' else 'pro'}_{number}"


def assert_same(documents: Iterable[Document], expected: dict[str, Document]) -> None:
    for document in documents:
        twin = expected.get(document.name) or expected[f"{document.name}_brat"]
        assert document.tokens == twin.tokens
        assert document.sentence_starts == twin.sentence_starts
        assert document.clusters == twin.clusters, document.name


@pytest.mark.parametrize("name", CORPORA)
def test_json_lines_are_read_and_written_back(corpora: Path, name: str) -> None:
    documents = list(reference(corpora, name).values())
    mentions = sum(len(document.mentions) for document in documents)
    assert (len(documents), sum(map(len, documents)), mentions) == CORPORA[name]
    assert read_bytes(rendered(documents, "jsonl"), "jsonl") == documents


@pytest.mark.parametrize(("path", "name"), CONLLU.items())
def test_conllu_has_the_clusters_of_the_json_lines(corpora: Path, path: str, name: str) -> None:
    documents, faults = conllu(corpora / path)
    assert len(documents) in (131, 18, 10)
    assert_same(documents, reference(corpora, name))
    for document in documents:
        if name == "ontogum":
            twin = reference(corpora, name)[document.name]
            assert document.genre == twin.genre
            assert document.speakers == twin.speakers
    assert [fault.what for fault in faults] == (
        ["span 629-636 is in two clusters, kept in entity 1 and left out of 14"]
        if path.endswith("m_dev.conllu.gz")
        else []
    )


@pytest.mark.parametrize("name", TARS)
def test_original_conll_has_the_clusters_of_the_json_lines(corpora: Path, name: str) -> None:
    documents = conll(corpora, name)
    expected = reference(corpora, name.split("/")[0])
    assert len(documents) == len(expected)
    if name.startswith("winobias"):
        assert {document.speakers for document in documents if len(document) == 9} == {("Speaker#1",) * 9}
        documents = [replace(document, name=winobias_key(document.name)) for document in documents]
    assert_same(documents, expected)


def comes_back(documents: list[Document], format: str) -> None:
    """Directly and by way of JSON lines."""
    assert not any(FORMATS[format].losses(document) for document in documents)
    assert read_bytes(rendered(documents, format), format) == documents
    between = read_bytes(rendered(documents, "jsonl"), "jsonl")
    assert between == documents
    assert read_bytes(rendered(between, format), format) == documents


@pytest.mark.parametrize("name", TARS)
def test_conll_comes_back_whole(corpora: Path, name: str) -> None:
    """Clusters, names, parts, speakers, columns."""
    some = conll(corpora, name)[::4]
    comes_back([replace(document, part=number % 3) for number, document in enumerate(some)], "conll")


@pytest.mark.nightly
@pytest.mark.parametrize("name", TARS)
def test_all_conll_comes_back_whole(corpora: Path, name: str) -> None:
    comes_back(conll(corpora, name), "conll")


@pytest.mark.parametrize("split", ["dev", "test"])
def test_ontogum_conll_has_the_clusters_of_the_json_lines(corpora: Path, split: str) -> None:
    documents = read_all(corpora / "ontogum" / f"ontogum_{split}.conll.gz")
    assert len(documents) == 18
    assert_same(documents, reference(corpora, "ontogum"))


@pytest.mark.parametrize("path", CONLLU)
def test_conllu_comes_back_whole(corpora: Path, path: str) -> None:
    """Clusters, columns, comments, multiword tokens, empty nodes, zero mentions, attributes of mentions."""
    comes_back(conllu(corpora / path)[0][::3], "conllu")


@pytest.mark.nightly
@pytest.mark.parametrize("path", CONLLU)
def test_all_conllu_comes_back_whole(corpora: Path, path: str) -> None:
    comes_back(conllu(corpora / path)[0], "conllu")


def test_conllu_is_written_as_it_was(corpora: Path) -> None:
    """Byte for byte, where the file has brackets in the usual order."""
    path = corpora / "litbank" / "en_litbank-corefud-dev.conllu.gz"
    assert rendered(conllu(path)[0], "conllu").encode() == gzip.decompress(path.read_bytes())


# udapi, the CorefUD project's own library, as the reference


def udapi_documents(data: bytes) -> list[tuple[tuple[str, ...], set[frozenset[Span]]]]:
    """Words and clusters on the surface, document by document, as udapi reads a file."""
    from udapi.core.document import Document as UdapiDocument

    found = UdapiDocument()
    logging.disable(logging.WARNING)
    try:
        found.from_conllu_string(data.decode())
        entities = found.coref_entities
    finally:
        logging.disable(logging.NOTSET)
    words: list[list[str]] = []
    where: dict[object, tuple[int, int]] = {}
    for tree in found.trees:
        if tree.newdoc:
            words.append([])
        for node in tree.descendants:
            where[node] = (len(words) - 1, len(words[-1]))
            words[-1].append(node.form)
    clusters: list[set[frozenset[Span]]] = [set() for _ in words]
    for entity in entities:
        spans: dict[int, set[Span]] = {}
        for mention in entity.mentions:
            places = [where[node] for node in mention.words if not node.is_empty()]
            if places:
                spans.setdefault(places[0][0], set()).add(span_of([(token, token) for _, token in places]))
        for number, cluster in spans.items():
            clusters[number].add(frozenset(cluster))
    return [(tuple(w), c) for w, c in zip(words, clusters, strict=True)]


def as_sets(document: Document) -> set[frozenset[Span]]:
    return {frozenset(cluster) for cluster in document.clusters}


@pytest.mark.parametrize("path", CONLLU)
def test_udapi_reads_the_same(corpora: Path, path: str) -> None:
    documents, faults = conllu(corpora / path)
    reference = udapi_documents(gzip.decompress((corpora / path).read_bytes()))
    assert [document.tokens for document in documents] == [words for words, _ in reference]
    spoilt = {fault.document for fault in faults}
    for document, (_, clusters) in zip(documents, reference, strict=True):
        if document.name in spoilt:  # udapi keeps a span in two clusters
            assert len(as_sets(document) ^ clusters) <= 2
        else:
            assert as_sets(document) == clusters, document.name


def test_udapi_reads_what_was_written(corpora: Path, tmp_path: Path) -> None:
    """Documents that never were CoNLL-U: names, discontinuous mentions, nesting within an entity."""
    documents = [*reference(corpora, "corefud_ru_rucor").values(), *reference(corpora, "litbank").values()][:28]
    target = tmp_path / "written.conllu"
    lost = write(documents, target, lossy=True)
    assert lost.keys() <= {"field split"}
    for document, (words, clusters) in zip(documents, udapi_documents(target.read_bytes()), strict=True):
        assert words == document.tokens
        assert clusters == as_sets(document)
