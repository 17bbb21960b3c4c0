from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from corefine.corpora import Corpus
from corefine.document import Document
from corefine.errors import InputError
from corefine.formats import write
from corefine.simulation import splits
from helpers.small import rules, stories


def saved(documents: list[Document], path: Path) -> str:
    write(documents, path)
    return str(path)


def test_the_plan_depends_on_the_seed_and_not_on_what_is_asked() -> None:
    corpus = stories()
    assert splits.plan(corpus, rules()) == splits.plan(corpus, rules(protocol="pairwise", questions=3))
    assert splits.plan(corpus, rules()) != splits.plan(corpus, rules(seed=1))


def test_every_document_is_planned_once() -> None:
    corpus = stories()
    planned = splits.plan(corpus, rules(documents_per_round=3))
    rounds = [document for round in planned.rounds for document in round]
    assert sorted(each.name for each in (*planned.initial, *rounds)) == sorted(each.name for each in corpus.train)
    assert len(planned.initial) == 2
    assert [len(round) for round in planned.rounds] == [3, 3]
    assert len(splits.plan(corpus, rules(rounds=2)).rounds) == 2


@pytest.mark.parametrize("split", ["dev", "test"])
def test_a_corpus_of_one_held_out_split_is_divided(split: str, monkeypatch: pytest.MonkeyPatch) -> None:
    documents = stories().train
    only = {"train": (), "dev": (), "test": (), split: documents}
    monkeypatch.setattr(splits, "load_corpus", lambda name, **_: Corpus(name, **only))
    corpus = splits.load("corefud")
    assert {len(corpus.train), len(corpus.dev), len(corpus.test)} == {len(documents) - 4, 2}
    assert {each.name for each in (*corpus.train, *corpus.dev, *corpus.test)} == {each.name for each in documents}


def test_a_corpus_without_gold_is_refused(tmp_path: Path) -> None:
    bare = [replace(document, clusters=()) for document in stories().train]
    with pytest.raises(InputError, match="no gold coreference"):
        splits.load(saved(bare, tmp_path / "bare.jsonl"))
    alone = [document.with_clusters([[span] for span in document.mentions]) for document in stories().train]
    with pytest.raises(InputError, match="no gold coreference"):
        splits.load(saved(alone, tmp_path / "singletons.jsonl"))


def test_what_has_no_development_documents_holds_some_out(tmp_path: Path) -> None:
    corpus = splits.load(saved(list(stories().train), tmp_path / "own.jsonl"))
    assert (len(corpus.train), len(corpus.dev), len(corpus.test)) == (6, 2, 0)
    with pytest.raises(InputError, match="too few"):
        splits.load(saved(list(stories().train[:1]), tmp_path / "one.jsonl"))


def test_a_corpus_with_some_chains_only_is_refused(corpora: Path) -> None:
    from corefine.simulation.splits import load

    with pytest.raises(InputError, match="only some chains"):
        load("winobias", mirror=corpora)


def test_no_documents_left_to_annotate_is_refused() -> None:
    corpus = replace(stories(), train=stories().train[:1])
    with pytest.raises(InputError, match="leave none to annotate"):
        splits.plan(corpus, rules())


def test_a_start_without_coreference_is_refused() -> None:
    bare = tuple(replace(document, clusters=()) for document in stories().train)
    with pytest.raises(InputError, match="labelled from the start"):
        splits.plan(Corpus("bare", bare, stories().dev), rules())


def test_the_fingerprint_sees_texts_gold_and_splits() -> None:
    corpus = stories()
    first = corpus.train[0]
    other_gold = replace(corpus, train=(first.with_clusters(first.clusters[1:]), *corpus.train[1:]))
    other_text = replace(
        corpus, train=(replace(first, tokens=("Other", *first.tokens[1:]), text=None, offsets=None), *corpus.train[1:])
    )
    other_split = replace(corpus, train=corpus.train[1:], dev=(*corpus.dev, first))
    seen = {splits.fingerprint(each) for each in (corpus, other_gold, other_text, other_split)}
    assert len(seen) == 4
    assert splits.fingerprint(stories()) == splits.fingerprint(corpus)
