from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from small import rules, stories

from corefine.data import Corpus
from corefine.document import Document
from corefine.errors import InputError
from corefine.formats import write
from corefine.simulation import corpora


def saved(documents: list[Document], path: Path) -> str:
    write(documents, path)
    return str(path)


def test_the_plan_depends_on_the_seed_and_not_on_what_is_asked() -> None:
    corpus = stories()
    assert corpora.plan(corpus, rules()) == corpora.plan(corpus, rules(protocol="pairwise", questions=3))
    assert corpora.plan(corpus, rules()) != corpora.plan(corpus, rules(seed=1))


def test_every_document_is_planned_once() -> None:
    corpus = stories()
    planned = corpora.plan(corpus, rules(documents_per_round=3))
    rounds = [document for round in planned.rounds for document in round]
    assert sorted(each.name for each in (*planned.initial, *rounds)) == sorted(each.name for each in corpus.train)
    assert len(planned.initial) == 2
    assert [len(round) for round in planned.rounds] == [3, 3]
    assert len(corpora.plan(corpus, rules(rounds=2)).rounds) == 2


def test_a_corpus_without_gold_is_refused(tmp_path: Path) -> None:
    bare = [replace(document, clusters=()) for document in stories().train]
    with pytest.raises(InputError, match="no gold coreference"):
        corpora.load(saved(bare, tmp_path / "bare.jsonl"))
    alone = [document.with_clusters([[span] for span in document.mentions]) for document in stories().train]
    with pytest.raises(InputError, match="no gold coreference"):
        corpora.load(saved(alone, tmp_path / "singletons.jsonl"))


def test_what_has_no_development_documents_holds_some_out(tmp_path: Path) -> None:
    corpus = corpora.load(saved(list(stories().train), tmp_path / "own.jsonl"))
    assert (len(corpus.train), len(corpus.dev), len(corpus.test)) == (6, 2, 0)
    with pytest.raises(InputError, match="too few"):
        corpora.load(saved(list(stories().train[:1]), tmp_path / "one.jsonl"))


def test_a_corpus_with_some_chains_only_is_refused(corpora: Path) -> None:
    from corefine.simulation.corpora import load

    with pytest.raises(InputError, match="only some chains"):
        load("winobias", mirror=corpora)


def test_no_documents_left_to_annotate_is_refused() -> None:
    corpus = replace(stories(), train=stories().train[:1])
    with pytest.raises(InputError, match="leave none to annotate"):
        corpora.plan(corpus, rules())


def test_a_start_without_coreference_is_refused() -> None:
    bare = tuple(replace(document, clusters=()) for document in stories().train)
    with pytest.raises(InputError, match="labelled from the start"):
        corpora.plan(Corpus("bare", bare, stories().dev), rules())


def test_the_fingerprint_sees_texts_gold_and_splits() -> None:
    corpus = stories()
    first = corpus.train[0]
    other_gold = replace(corpus, train=(first.with_clusters(first.clusters[1:]), *corpus.train[1:]))
    other_text = replace(
        corpus, train=(replace(first, tokens=("Other", *first.tokens[1:]), text=None, offsets=None), *corpus.train[1:])
    )
    other_split = replace(corpus, train=corpus.train[1:], dev=(*corpus.dev, first))
    seen = {corpora.fingerprint(each) for each in (corpus, other_gold, other_text, other_split)}
    assert len(seen) == 4
    assert corpora.fingerprint(stories()) == corpora.fingerprint(corpus)
