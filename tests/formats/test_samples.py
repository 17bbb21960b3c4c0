"""Real files of other tools are read as those tools mean them, and come back when they are written again."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from corefine.document import Document
from corefine.errors import Fault, FormatError
from corefine.formats import FORMATS, format_of, read_all, write
from corefine.formats.tokens import text_of

Counts = tuple[int, int]
"""Mentions and entities."""

SAMPLES: dict[str, tuple[str, Counts]] = {
    "label-studio/kiji_sample_predictions.json": ("label-studio", (5, 3)),
    "prodigy/rel_component_annotations_first12.jsonl": ("prodigy", (41, 41)),
    "doccano/export_example.jsonl": ("doccano", (4, 4)),
    "doccano/import_example.jsonl": ("doccano", (4, 4)),
    "doccano/import_test_example.jsonl": ("doccano", (4, 4)),
    "webanno-tsv3/testSimpleChain.tsv": ("webanno", (3, 1)),
    "webanno-tsv3/testMultiTokenChain.tsv": ("webanno", (2, 1)),
    "webanno-tsv3/testStackedChain.tsv": ("webanno", (3, 1)),  # the second chain has the spans of the first
    "webanno-tsv3/testSubtokenChain.tsv": ("webanno", (3, 1)),
    "webanno-tsv3/kafka_coref.tsv": ("webanno", (567, 88)),  # 84 of 651 mentions are in two chains
    "webanno-tsv3/no_chains_example2.tsv": ("webanno", (0, 0)),
    "uima-xmi/testSimpleChain.xmi": ("xmi", (3, 1)),
    "uima-xmi/testMultiTokenChain.xmi": ("xmi", (2, 1)),
    "uima-xmi/testStackedChain.xmi": ("xmi", (3, 1)),
    "uima-xmi/testSubtokenChain.xmi": ("xmi", (3, 1)),
    "uima-xmi/corefannotator_Evander_Act1.xmi.gz": ("xmi", (715, 64)),  # 79 of 794 mentions are in two entities
    "uima-xmi/cas-json_text_and_annotations.json": ("uima-json", (0, 0)),
    "uima-xmi/cas-json_tsv3-testSimpleSlotFeature.json": ("uima-json", (0, 0)),
    "litbank-brat/1064_the_masque_of_the_red_death_brat.ann": ("brat", (130, 44)),
    "litbank-brat/11_alices_adventures_in_wonderland_brat.ann": ("brat", (226, 53)),
    "litbank-brat/1342_pride_and_prejudice_brat.ann": ("brat", (366, 44)),
    "litbank-brat/1661_the_adventures_of_sherlock_holmes_brat.ann": ("brat", (283, 49)),
    "tei/corefannotator_test.xml": ("tei", (2, 1)),
    "tei/gerdracor_Emilia_Act1_Scene3.xml": ("tei", (17, 7)),
    "tei/gerdracor_Jon_Act3_Scene1.xml": ("tei", (3, 2)),
    "tei/gerdracor_Lucie_Act2_Scene8.xml": ("tei", (19, 10)),  # one of 20 elements wraps another
    "tei/gerdracor_Sara_Act5_Scene11.xml": ("tei", (16, 8)),
    "conll-ua/TC-PA.key": ("conllua", (7, 4)),
    "conll-ua/TC-PA-1.sys": ("conllua", (7, 4)),
    "conll-ua/TC-PB.key": ("conllua", (8, 5)),
    "conll-ua/original-conll_TC-A.key": ("conllua", (6, 3)),
    "conll-ua/original-conll_TC-B.key": ("conllua", (5, 2)),
    "conll-ua/discontinuous_TC-O.key": ("conllua", (6, 3)),
    "booknlp/pp.tokens": ("booknlp", (1443, 306)),
    "corenlp/node-corenlp_corefs.json": ("corenlp", (7, 3)),
    "corenlp/oopcorenlp_STANFORD_GettysburgAddress.json": ("corenlp", (28, 8)),
}


def read_sample(path: Path) -> tuple[list[Document], list[Fault]]:
    faults: list[Fault] = []
    return read_all(path, on_fault=faults.append), faults


def counts(documents: list[Document]) -> Counts:
    return sum(len(each.mentions) for each in documents), sum(len(each.clusters) for each in documents)


@pytest.mark.parametrize(("path", "expected"), SAMPLES.items())
def test_a_real_file_is_recognised_and_read(format_samples: Path, path: str, expected: tuple[str, Counts]) -> None:
    format, numbers = expected
    assert format_of(format_samples / path).name == format
    documents, faults = read_sample(format_samples / path)
    assert not [fault for fault in faults if fault.fatal]
    assert counts(documents) == numbers


@pytest.mark.parametrize("path", SAMPLES)
def test_a_real_file_comes_back(format_samples: Path, path: str, tmp_path: Path) -> None:
    documents, _ = read_sample(format_samples / path)
    format = FORMATS[SAMPLES[path][0]]
    target = tmp_path / f"again{format.endings[0]}" if format.many else tmp_path / "again"
    assert not write(documents, target, format.name, lossy=True).keys() - {"speakers"}
    if not format.many:
        target = next(file for file in sorted(target.iterdir()) if file.name.endswith(format.endings[0]))
    again = read_all(target, format.name)
    if format.name == "booknlp":  # who speaks is in .quotes, which is not written
        documents = [replace(document, speakers=None) for document in documents]
    assert again == documents
    by_way_of = tmp_path / "between.jsonl"
    assert write(documents, by_way_of) == {}
    assert read_all(by_way_of, "jsonl") == documents


def words(documents: list[Document]) -> list[list[list[str]]]:
    """The words of every mention of entities with several."""
    return [[[d.words(span) for span in c] for c in d.clusters if len(c) > 1] for d in documents]


def test_label_studio_relations_join_regions(format_samples: Path) -> None:
    documents, faults = read_sample(format_samples / "label-studio/kiji_sample_predictions.json")
    assert words(documents) == [[["John Smith", "He"], ["Mary", "her"]]]
    assert [fault.what for fault in faults] == [
        "ent-5 quotes 'john.smith@example.com', but its offsets 68-90 hold 'mith@example.com.'; it was found at 62-84"
    ]


@pytest.mark.parametrize("path", ["prodigy/rel_component_annotations_first12.jsonl", "doccano/import_example.jsonl"])
def test_relations_of_other_kinds_join_nothing_and_are_named(format_samples: Path, path: str) -> None:
    documents, faults = read_sample(format_samples / path)
    assert words(documents) == [[] for _ in documents]
    assert all("no relation is called coreference" in fault.what for fault in faults)
    assert faults


def test_corenlp_tokens_are_those_of_the_text(format_samples: Path) -> None:
    (document,), _ = read_sample(format_samples / "corenlp/oopcorenlp_STANFORD_GettysburgAddress.json")
    assert len(document.sentence_starts) == 10
    assert document.text is not None
    assert document.text.startswith("Four score and seven years ago")
    assert document.layers["xpos"][:3] == ("CD", "NN", "CC")


def coref_manual(folder: Path) -> Path:
    """A task as Prodigy's `coref.manual` writes it."""
    text = "Ann met her sister. She smiled."
    tokens = [("Ann", 0), ("met", 4), ("her", 8), ("sister", 12), (".", 18), ("She", 20), ("smiled", 24), (".", 30)]
    listed = [{"text": w, "start": at, "end": at + len(w), "id": n, "ws": True} for n, (w, at) in enumerate(tokens)]

    def span(first: int, last: int) -> dict[str, object]:
        start, end = listed[first]["start"], listed[last]["end"]
        return {"start": start, "end": end, "token_start": first, "token_end": last, "label": None}

    def relation(head: tuple[int, int], child: tuple[int, int]) -> dict[str, object]:
        ends = {"head": head[1], "child": child[1], "head_span": span(*head), "child_span": span(*child)}
        return {**ends, "label": "COREF", "color": "#c5bdf4"}

    relations = [relation((0, 0), (2, 2)), relation((2, 3), (5, 5))]
    task = {"text": text, "tokens": listed, "_view_id": "relations", "relations": relations, "answer": "accept"}
    rejected = {**task, "answer": "reject"}
    path = folder / "coref.jsonl"
    path.write_text(f"{json.dumps(task)}\n{json.dumps(rejected)}\n")
    return path


def test_prodigy_coref_manual(tmp_path: Path) -> None:
    path = coref_manual(tmp_path)
    assert format_of(path).name == "prodigy"
    documents, faults = read_sample(path)
    assert words(documents) == [[["Ann", "her"], ["her sister", "She"]]]
    assert [fault.what for fault in faults] == ["the answer is reject: the task was left out"]


RESOLVERS: dict[str, Callable[[], dict[str, object]]] = {
    "preco": lambda: {
        "id": "high4396",
        "sentences": [["Ann", "met", "her", "sister", "."], ["She", "smiled", "."]],
        "mention_clusters": [[[0, 0, 1], [0, 2, 3]], [[0, 2, 4], [1, 0, 1]]],
    },
    "maverick": lambda: {
        "tokens": "Ann met her sister . She smiled .".split(),
        "clusters_token_offsets": [[[0, 0], [2, 2]], [[2, 3], [5, 5]]],
        "clusters_char_offsets": None,
        "clusters_token_text": [["Ann", "her"], ["her sister", "She"]],
        "clusters_char_text": None,
    },
    "allennlp": lambda: {
        "document": "Ann met her sister . She smiled .".split(),
        "clusters": [[[0, 0], [2, 2]], [[2, 3], [5, 5]]],
        "top_spans": [[0, 0], [2, 2]],
        "predicted_antecedents": [-1, 0],
    },
}


@pytest.mark.parametrize("format", RESOLVERS)
@pytest.mark.parametrize("indent", [None, 1])
def test_json_of_resolvers(format: str, indent: int | None, tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    path.write_text(json.dumps(RESOLVERS[format](), indent=indent))
    assert format_of(path).name == format
    documents, faults = read_sample(path)
    assert not faults
    assert words(documents) == [[["Ann", "her"], ["her sister", "She"]]]
    assert write(documents, tmp_path / "again.jsonl", format) == {}
    assert read_all(tmp_path / "again.jsonl") == documents


def test_the_export_of_an_inception_project(format_samples: Path, tmp_path: Path) -> None:
    """A document for each annotator, as TSV or as a zip of XMI; other files of the project are no documents."""
    chain = format_samples / "webanno-tsv3/testSimpleChain.tsv"
    inner = tmp_path / "admin.zip"
    with zipfile.ZipFile(inner, "w") as archive:
        archive.write(format_samples / "uima-xmi/testMultiTokenChain.xmi", "admin.xmi")
    export = tmp_path / "export.zip"
    with zipfile.ZipFile(export, "w") as archive:
        archive.writestr("exportedproject42.json", '{"name": "p"}')
        archive.writestr("source/story.txt", "This is a test .")
        archive.write(chain, "annotation/story.txt/ann.tsv")
        archive.write(inner, "annotation/story.txt/admin.zip")
        archive.write(chain, "curation/story.txt/CURATION_USER.tsv")
        archive.writestr("annotation_ser/story.txt/ann.ser", b"\xac\xed")
    documents, faults = read_sample(export)
    assert {d.name: len(d.mentions) for d in documents} == {
        "story.txt/ann": 3,
        "story.txt/admin": 2,
        "story.txt/CURATION_USER": 3,
    }
    assert all(not fault.fatal and str(export) in str(fault.path) for fault in faults)


def test_cassis_reads_what_was_written(tmp_path: Path) -> None:
    """dkpro-cassis, the reference: chains with their links, places counted as Java counts."""
    cassis = pytest.importorskip("cassis")
    document = Document.from_sentences("a", [["𝒳", "saw", "Ann", "."], ["She", "left"]], [[(2, 2), (4, 4)], [(0, 0)]])
    write(document, tmp_path / "a.xmi")
    typesystem = cassis.load_typesystem((tmp_path / "a.typesystem.xml").read_text("utf-8"))
    cas = cassis.load_cas_from_xmi((tmp_path / "a.xmi").read_text("utf-8"), typesystem)
    chains = cas.select("de.tudarmstadt.ukp.dkpro.core.api.coref.type.CoreferenceChain")
    found = []
    for chain in chains:
        link, words = chain.first, []
        while link is not None:
            words.append(link.get_covered_text())
            link = link.next
        found.append(words)
    assert sorted(found) == [["Ann", "She"], ["𝒳"]]
    assert 'begin="7"' in (tmp_path / "a.xmi").read_text("utf-8")  # Ann, after a character of two units
    assert read_all(tmp_path / "a.xmi") == [replace(document, **_with_text(document))]


def _with_text(document: Document) -> dict[str, object]:
    text, offsets = text_of(document)
    return {"text": text, "offsets": tuple(offsets)}


def test_spacy_reads_what_was_written(tmp_path: Path) -> None:
    from spacy.tokens import DocBin
    from spacy.vocab import Vocab

    document = Document.from_sentences("a", [["Ann", "left", "."], ["She", "smiled"]], [[(0, 0), (3, 3)]], genre="x")
    path = tmp_path / "a.spacy"
    assert write([document, replace(document, name="b")], path) == {}
    docs = list(DocBin().from_disk(path).get_docs(Vocab()))
    assert [span.text for span in docs[0].spans["coref_clusters_1"]] == ["Ann", "She"]
    assert [sentence.text for sentence in docs[0].sents][1].strip() == "She smiled"
    assert read_all(path) == [document, replace(document, name="b")]


def test_a_docbin_with_the_clusters_of_fastcoref_or_heads_alone(tmp_path: Path) -> None:
    """fastcoref's component sets `doc._.coref_clusters`, the experimental one of spaCy groups of heads."""
    import spacy
    from spacy.tokens import DocBin

    doc = spacy.blank("en")("Ann left.\n\nShe smiled.")
    doc.user_data["._.", "coref_clusters", None, None] = [[(0, 3), (11, 14)]]
    doc.user_data["._.", "coref_chains", None, None] = [[0, 4]]
    for token in doc:
        token.is_sent_start = token.i in (0, 3)
    path = tmp_path / "a.spacy"
    DocBin(docs=[doc], store_user_data=True).to_disk(path)
    (document,), (fault,) = read_sample(path)
    assert (document.clusters, document.sentence_starts) == ((((0, 0), (3, 3)),), (0, 3))
    assert fault.what == "doc._.coref_chains may hold coreference, which was not read"
    doc.spans["coref_head_clusters_1"] = [doc[0:1], doc[5:6]]
    DocBin(docs=[doc]).to_disk(path)
    assert read_all(path)[0].clusters == (((0, 0), (4, 4)),)


def test_tei_keeps_its_markup_and_takes_new_mentions(format_samples: Path, tmp_path: Path) -> None:
    (document,), _ = read_sample(format_samples / "tei/corefannotator_test.xml")
    path = tmp_path / "a.xml"
    write(document.with_clusters([*document.clusters, [(6, 6)]]), path)
    text = path.read_text("utf-8")
    assert text.partition("<text>")[2] == (
        '<rs ref="#dog">The dog</rs> barks. <rs ref="#dog">It</rs> is <rs ref="#e1">hungry</rs>.</text>'
    )
    assert write(document.with_clusters([[(0, 1)], [(1, 2)]]), path, lossy=True) == {"crossing mentions": 1}


def test_tei_drops_every_element_around_words_that_are_no_mention_any_more(
    format_samples: Path, tmp_path: Path
) -> None:
    """One word is in two elements. The second stayed, and made the word a mention again."""
    (document,), _ = read_sample(format_samples / "tei/gerdracor_Lucie_Act2_Scene8.xml")
    write([document.with_clusters([])], tmp_path / "none", "tei")
    assert not read_all(next((tmp_path / "none").iterdir()))[0].clusters


@pytest.mark.parametrize(
    ("format", "bad"),
    [
        ("preco", {"id": "d", "sentences": [["Ann", "sat"]], "mention_clusters": [[[0, 0, 1], [0, 1, 9], [1, 0]]]}),
        ("maverick", {"tokens": ["Ann", "sat"], "clusters_token_offsets": [[[0, 0], [1, 9], [1]]]}),
        ("allennlp", {"document": ["Ann", "sat"], "clusters": [[[0, 0], [1, 9], [1]]]}),
        (
            "corenlp",
            {
                "sentences": [{"tokens": [{"word": "Ann"}, {"word": "sat"}]}],
                "corefs": {
                    "1": [
                        {"sentNum": 1, "startIndex": 1, "endIndex": 2},
                        {"sentNum": 1, "startIndex": 2, "endIndex": 9},
                        {"sentNum": 3, "startIndex": 1, "endIndex": 2},
                    ]
                },
            },
        ),
    ],
)
def test_repair_leaves_out_a_bad_mention_and_keeps_the_document(
    format: str, bad: dict[str, object], tmp_path: Path
) -> None:
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(bad))
    faults: list[Fault] = []
    (document,) = read_all(path, on_fault=faults.append, repair=True)
    assert format_of(path).name == format
    assert document.clusters == (((0, 0),),)
    assert [fault.fatal for fault in faults] == [False, False]
    assert not read_all(path, on_fault=faults.append)


def test_repair_leaves_out_a_mention_outside_the_text_of_a_cas(format_samples: Path, tmp_path: Path) -> None:
    path = tmp_path / "bad.xmi"
    path.write_text(
        (format_samples / "uima-xmi/testSimpleChain.xmi").read_text().replace('end="4" next', 'end="400" next')
    )
    (document,) = read_all(path, on_fault=lambda _: None, repair=True)
    assert counts([document]) == (2, 1)
    assert not read_all(path, on_fault=lambda _: None)


def test_litbank_chains_stay_types_when_entities_change(format_samples: Path, tmp_path: Path) -> None:
    (document,), _ = read_sample(format_samples / "litbank-brat/1064_the_masque_of_the_red_death_brat.ann")
    merged = document.with_clusters([document.clusters[0] + document.clusters[1], *document.clusters[2:]])
    write(merged, tmp_path / "a.ann")
    (again,) = read_all(tmp_path / "a.ann")
    assert again.clusters == merged.clusters
    assert "Equiv" not in (tmp_path / "a.ann").read_text("utf-8")


@pytest.mark.parametrize("field", ["mention_clusters", "relations", "clusters_token_offsets", "coref_chains"])
def test_json_lines_refuse_coreference_under_other_names(field: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"doc_key": "a", "sentences": [["a", "b"]], field: [[[0, 0], [1, 1]]]}))
    with pytest.raises(FormatError, match=field):
        read_all(path, "jsonl")
