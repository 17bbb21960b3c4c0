"""Corpora: the registry, downloads and their hashes, conversion, and reading them with their splits."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import tarfile
from pathlib import Path

import pytest

from corefine.corpora import Corpus, entry, load_corpus, names
from corefine.corpora.corpus import MIRROR
from corefine.corpora.fetch import HASHES, fetch, https
from corefine.corpora.prepare import get
from corefine.corpora.registry import SPLITS
from corefine.document import Document
from corefine.errors import FormatError, InputError
from corefine.files import HOME

ORIGINALS = {
    "litbank": ("litbank/litbank_original_conll.tar.gz", "coref/conll/"),
    "openboek_nl": ("openboek_nl/openboek_original_conll.tar.gz", "coref/"),
    "winobias": ("winobias/winobias_original_conll.tar.gz", "WinoBias/wino/data/conll_format/"),
    "corefud_es_ancora": ("corefud_es_ancora/es_ancora-corefud-dev.conllu.gz", ""),
    "corefud_ru_rucor": ("corefud_ru_rucor/ru_rucor-corefud-dev.conllu.gz", ""),
}

GAP_HEADER = "ID\tText\tPronoun\tPronoun-offset\tA\tA-offset\tA-coref\tB\tB-offset\tB-coref\tURL\n"
GAP_ROW = (
    "x-1\tAnna Smith met Eve's aunt. She left.\tShe\t27\tAnna Smith\t0\tTRUE\tEve\t15\tFALSE\thttps://example.org\n"
)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(HOME, str(tmp_path / "home"))
    monkeypatch.delenv(MIRROR, raising=False)
    return tmp_path / "home"


class Internet:
    """The public sources, played by files: path in a repository -> content."""

    def __init__(self, content: dict[str, bytes]) -> None:
        self.content = content
        self.asked: list[str] = []

    def __call__(self, url: str) -> bytes:
        found = re.fullmatch(r"https://raw\.githubusercontent\.com/[\w-]+/[\w-]+/[0-9a-f]{40}/(.+)", url)
        assert found, url
        self.asked.append(found.group(1))
        return self.content[found.group(1)]


def originals(corpora: Path, name: str) -> Internet:
    """The upstream files of a corpus, unpacked from what a mirror keeps of them."""
    packed, folder = ORIGINALS[name]
    if packed.endswith(".tar.gz"):
        with tarfile.open(corpora / packed) as archive:
            content = {
                folder + Path(member.name).name: member_file.read()
                for member in archive
                if (member_file := archive.extractfile(member)) is not None
            }
        return Internet(content)
    (path,) = (path for split in entry(name).files.values() for path in split)
    return Internet({path: gzip.decompress((corpora / packed).read_bytes())})


def everything(corpus: Corpus) -> dict[str, tuple[str, Document]]:
    return {document.name: (split, document) for split in SPLITS for document in corpus.split(split)}


@pytest.mark.parametrize("name", names())
def test_every_entry_is_complete(name: str) -> None:
    found = entry(name)
    assert found.repository.startswith("https://github.com/")
    assert re.fullmatch("[0-9a-f]{40}", found.commit)
    assert all((found.title, found.licence, found.citation, found.note, found.language))
    assert set(found.files) <= set(SPLITS)
    paths = [path for split in found.files.values() for path in split]
    assert paths
    assert len(paths) == len(set(paths))
    assert all(re.fullmatch("[0-9a-f]{64}|", sha) for split in found.files.values() for sha in split.values())


@pytest.mark.parametrize("name", [name for name in names() if name != "gap"])
def test_a_mirror_is_read_with_its_splits(corpora: Path, name: str) -> None:
    corpus = load_corpus(name, mirror=corpora)
    with gzip.open(corpora / name / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        expected = [json.loads(line) for line in file]
    for split in SPLITS:
        assert [document.name for document in corpus.split(split)] == [
            record["doc_key"] for record in expected if record["split"] == split
        ]
    assert corpus.licence == entry(name).licence


def test_the_environment_names_a_mirror(corpora: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MIRROR, str(corpora))
    corpus = load_corpus("litbank")
    assert (len(corpus.train), len(corpus.dev), len(corpus.test)) == (80, 10, 10)


@pytest.mark.parametrize("name", ORIGINALS)
def test_downloading_gives_what_the_mirror_has(corpora: Path, name: str) -> None:
    """The whole public way, upstream files and all, against an independent conversion of the same corpus."""
    got = get(name, download=originals(corpora, name))
    assert got.unknown == {}
    here, mirrored = everything(load_corpus(name)), everything(load_corpus(name, mirror=corpora))
    assert here.keys() == mirrored.keys()
    for key, (split, document) in mirrored.items():
        found_split, found = here[key]
        assert found_split == split
        assert (found.tokens, found.genre) == (document.tokens, document.genre)
        assert found.clusters == document.clusters, key
        assert found.language == entry(name).language


def test_getting_from_a_mirror(corpora: Path, home: Path) -> None:
    got = get("openboek_nl", mirror=corpora)
    assert got.documents == {"test": 9}
    assert got.folder == home / "corpora" / "openboek_nl"
    assert json.loads((got.folder / "corpus.json").read_text())["licence"].startswith("CC BY")
    assert len(load_corpus("openboek_nl").test) == 9


def test_files_are_downloaded_once(corpora: Path) -> None:
    internet = originals(corpora, "openboek_nl")
    get("openboek_nl", download=internet)
    get("openboek_nl", download=internet)
    assert len(internet.asked) == 9


def test_a_file_with_another_hash_is_refused_and_not_kept(corpora: Path, home: Path) -> None:
    internet = originals(corpora, "openboek_nl")
    path = next(iter(entry("openboek_nl").files["test"]))
    internet.content[path] += b"\n"
    with pytest.raises(InputError, match=r"SHA-256 [0-9a-f]{64}, but the registry says"):
        get("openboek_nl", download=internet)
    assert not (home / "corpora" / "openboek_nl" / "source" / path).exists()
    with pytest.raises(InputError, match="not here yet"):
        load_corpus("openboek_nl")


def test_an_altered_file_on_disk_is_downloaded_again(corpora: Path, home: Path) -> None:
    internet = originals(corpora, "openboek_nl")
    get("openboek_nl", download=internet)
    path = internet.asked[0]
    (home / "corpora" / "openboek_nl" / "source" / path).write_bytes(b"altered")
    get("openboek_nl", download=internet)
    assert internet.asked.count(path) == 2


def gap(rows: str = GAP_ROW) -> Internet:
    content = (GAP_HEADER + rows).encode()
    return Internet({path: content for split in entry("gap").files.values() for path in split})


def test_an_unknown_hash_is_taken_once_and_held_to(home: Path) -> None:
    got = get("gap", download=gap())
    sha256 = hashlib.sha256((GAP_HEADER + GAP_ROW).encode()).hexdigest()
    assert got.unknown == {f"gap-{part}.tsv": sha256 for part in ("development", "validation", "test")}
    folder = home / "corpora" / "gap" / "source"
    assert json.loads((folder / HASHES).read_text()) == got.unknown
    (folder / "gap-test.tsv").unlink()
    with pytest.raises(InputError, match="the first download"):
        get("gap", download=gap(GAP_ROW.replace("x-1", "x-2")))


def test_a_damaged_file_of_hashes_is_said(home: Path) -> None:
    get("gap", download=gap())
    (home / "corpora" / "gap" / "source" / HASHES).write_text("{")
    with pytest.raises(InputError, match="is damaged"):
        list(fetch(entry("gap"), home / "corpora" / "gap" / "source", download=gap()))


def test_gap_rows_become_documents() -> None:
    get("gap", download=gap())
    corpus = load_corpus("gap")
    (document,) = corpus.test
    assert corpus.partial
    assert document.text == "Anna Smith met Eve's aunt. She left."
    assert [document.words(span) for span in document.clusters[0]] == ["Anna Smith", "She"]
    assert document.words(document.mentions[0]) == "Anna Smith"
    assert document.extra["gap"]["B"] == [3, 3]
    assert document.tokens[3] == "Eve"


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        (GAP_ROW.replace("\t27\t", "\t28\t"), "'She' is not at character 28"),
        (GAP_ROW.replace("\t27\t", "\tx\t"), "is not at character x"),
    ],
)
def test_a_wrong_gap_row_is_named(rows: str, what: str) -> None:
    with pytest.raises(FormatError, match=what) as raised:
        get("gap", download=gap(rows))
    assert raised.value.fault.line == 2


def test_ontogum_names_its_genres_and_drops_strays() -> None:
    """What no mirror has the originals of: the conversion, on a small file of the same shape."""
    conll = (
        b"#begin document (GUM_voyage_athens); part 0\n"
        b"GUM_voyage_athens\t0\t0\tAthens\t-\t(1)\n"
        b"GUM_voyage_athens\t0\t1\tit\t-\t(1)\n"
        b"GUM_voyage_athens\t0\t2\tsea\t-\t(2)\n\n"
        b"#end document\n"
    )
    internet = Internet({path: conll for split in entry("ontogum").files.values() for path in split})
    got = get("ontogum", download=internet)
    assert got.documents == {"train": 117, "dev": 18, "test": 18}
    assert len(got.unknown) == 153
    document = next(d for d in load_corpus("ontogum").train if d.genre == "voyage")
    assert document.extra["jsonl"]["text_licence"] == "CC BY-SA 3.0"
    assert [[document.words(span) for span in cluster] for cluster in document.clusters] == [["Athens", "it"]]


def test_a_folder_in_the_layout_of_conll_2012(tmp_path: Path) -> None:
    for split, document in (("train", "t1"), ("development", "d1"), ("test", "x1")):
        folder = tmp_path / "v4" / "data" / split / "data" / "english" / "annotations" / "bc"
        folder.mkdir(parents=True)
        text = (
            f"#begin document (bc/{document}); part 000\nbc/{document} 0 0 Anna NNP * - - - - * (1)\n\n#end document\n"
        )
        (folder / f"{document}.v4_gold_conll").write_text(text)
        (folder / f"{document}.v4_auto_conll").write_text(text.replace("(1)", "-"))
        (folder / f"{document}.v4_gold_skel").write_text("not for reading")
    corpus = load_corpus(tmp_path)
    assert [d.name for d in (*corpus.train, *corpus.dev, *corpus.test)] == ["bc/t1", "bc/d1", "bc/x1"]
    assert all(d.clusters for d in corpus.train)


def test_files_named_by_their_split(tmp_path: Path) -> None:
    for name in ("train.english", "dev.english", "test"):
        line = json.dumps({"doc_key": name, "sentences": [["a"]], "clusters": []})
        (tmp_path / f"{name}.jsonl").write_text(line + "\n")
    corpus = load_corpus(tmp_path)
    assert [len(corpus.split(split)) for split in SPLITS] == [1, 1, 1]


def test_one_file_without_splits_is_all_train(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text('{"doc_key": "a", "sentences": [["x"]]}\n')
    assert [document.name for document in load_corpus(path).train] == ["a"]


@pytest.mark.parametrize("what", ["nowhere", "empty"])
def test_nothing_there_is_said(tmp_path: Path, what: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"neither a file, a folder, nor a corpus|no file of a known format"):
        load_corpus(tmp_path / what)


def test_a_corpus_that_is_not_here_says_how_to_get_it() -> None:
    with pytest.raises(InputError, match="corefine data get litbank"):
        load_corpus("litbank")


def test_a_mirror_that_lacks_it_or_altered_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a folder"):
        load_corpus("litbank", mirror=tmp_path / "no")
    with pytest.raises(InputError, match="has no litbank"):
        load_corpus("litbank", mirror=tmp_path)
    (tmp_path / "litbank").mkdir()
    (tmp_path / "litbank" / "litbank.jsonl.gz").write_bytes(gzip.compress(b"{}"))
    with pytest.raises(InputError, match="but the registry says"):
        load_corpus("litbank", mirror=tmp_path)


def test_an_unknown_split_or_corpus() -> None:
    with pytest.raises(InputError, match="no split 'training'"):
        Corpus("x", ()).split("training")
    with pytest.raises(InputError, match="no corpus 'wikicoref'"):
        get("wikicoref")


def test_unreachable_addresses_are_an_input_error(monkeypatch: pytest.MonkeyPatch) -> None:
    import urllib.error

    from corefine.corpora import fetch as module

    tries: list[str] = []

    class Opener:
        def open(self, url: str, timeout: float) -> io.BytesIO:
            tries.append(url)
            if "gone" in url:
                raise urllib.error.HTTPError(url, 404, "Not Found", {}, None)  # type: ignore[arg-type]
            raise urllib.error.URLError("no route")

    monkeypatch.setattr(module, "_opener", Opener)
    monkeypatch.setattr(module.time, "sleep", lambda _: None)
    with pytest.raises(InputError, match=r"cannot be reached.*--mirror"):
        https("https://example.org/a")
    assert len(tries) == 3
    with pytest.raises(InputError, match="404 Not Found"):
        https("https://example.org/gone")
    assert len(tries) == 4


def held_out(*numbers: int) -> tuple[Document, ...]:
    return tuple(Document.from_sentences(f"text-{number}", [["One", "."]]) for number in numbers)


def test_held_out_documents_are_divided_by_their_names() -> None:
    corpus = Corpus("own", (), dev=held_out(*range(10)))
    divided = corpus.divided()
    splits = (divided.train, divided.dev, divided.test)
    assert [len(split) for split in splits] == [6, 2, 2]
    assert {document.name for split in splits for document in split} == {document.name for document in corpus.dev}
    again = Corpus("own", (), test=held_out(*reversed(range(10)))).divided()
    for split in SPLITS:
        assert {each.name for each in again.split(split)} == {each.name for each in divided.split(split)}
    assert divided.divided() is divided


def test_test_documents_stay_test_documents() -> None:
    divided = Corpus("own", (), dev=held_out(*range(5)), test=held_out(7, 8)).divided()
    assert (len(divided.train), len(divided.dev)) == (4, 1)
    assert divided.test == held_out(7, 8)
    with pytest.raises(InputError, match="own has no training documents, and too few others"):
        Corpus("own", (), dev=held_out(1, 2)).divided()
