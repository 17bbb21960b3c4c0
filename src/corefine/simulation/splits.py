"""The documents of a run: labelled from the start, annotated in a round, or scored."""

from __future__ import annotations

import hashlib
import json
import math
import random
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from corefine.corpora import Corpus, load_corpus
from corefine.document import Document
from corefine.errors import InputError
from corefine.simulation.config import GOLD, SimulationConfig

STORIES = "stories"
ROUND_SHARE = 0.1
"""Share of the training documents annotated in each round: 280 of 2,802 in the paper."""

HELD_OUT = 0.2
"""Share of the documents that is held out for scoring if a corpus has no development documents."""


def load(name: str, *, mirror: Path | None = None) -> Corpus:
    """The corpus of that name or path. Raises if it cannot be used: gold must answer, and there must be scores."""
    corpus = _stories() if name == STORIES else load_corpus(name, mirror=mirror).divided()
    if corpus.partial:
        raise InputError(f"{corpus.name} has only some chains of each document annotated, so gold cannot answer")
    twice = [name for name, count in Counter(document.key for document in corpus.train).items() if count > 1]
    if twice:
        raise InputError(f"{corpus.name} has several training documents named {twice[0]}")
    if not corpus.dev:
        corpus = _hold_out(corpus)
    for split, documents in (("train", corpus.train), ("dev", corpus.dev)):
        if not any(len(cluster) > 1 for document in documents for cluster in document.clusters):
            raise InputError(
                f"the {split} documents of {corpus.name} have no gold coreference, which gives the answers"
            )
    return corpus


def _stories() -> Corpus:
    from corefine.corpora.stories import load as load_stories

    documents = load_stories()
    return Corpus(STORIES, train=documents[:-4], dev=documents[-4:-2], test=documents[-2:])


def _hold_out(corpus: Corpus) -> Corpus:
    """The last documents of the corpus become development documents."""
    count = max(1, round(HELD_OUT * len(corpus.train)))
    if len(corpus.train) <= count + 1:
        raise InputError(f"{corpus.name} has too few training documents to hold some out: {len(corpus.train)}")
    return replace(corpus, train=corpus.train[:-count], dev=corpus.train[-count:])


@dataclass(frozen=True, slots=True)
class Plan:
    """The training documents in the order of a seed: labelled from the start, then those asked about in each round."""

    initial: tuple[Document, ...]
    rounds: tuple[tuple[Document, ...], ...]


def plan(corpus: Corpus, config: SimulationConfig) -> Plan:
    """The plan of a seed, which is the same for all protocols, selectors and budgets."""
    documents = list(corpus.train)
    random.Random(f"corefine/{config.seed}").shuffle(documents)
    if config.documents:
        documents = documents[: config.documents]
    count = max(1, round(config.initial * len(documents))) if config.initial else 0
    initial, pool = documents[:count], documents[count:]
    if not pool:
        raise InputError(f"{corpus.name}: {len(documents)} training documents leave none to annotate: lower --initial")
    if initial and not any(len(cluster) > 1 for document in initial for cluster in document.clusters):
        raise InputError(f"none of the {count} documents labelled from the start has coreference: raise --initial")
    if config.spread and config.asks:
        return Plan(tuple(initial), (tuple(pool),) * config.rounds)
    if config.rounds or config.protocol == GOLD:
        size = math.ceil(len(pool) / (1 if config.protocol == GOLD else config.rounds))
    else:
        size = config.documents_per_round or max(1, round(ROUND_SHARE * len(documents)))
    rounds = (tuple(pool[at : at + size]) for at in range(0, len(pool), size))
    return Plan(tuple(initial), tuple(rounds))


def fingerprint(corpus: Corpus) -> str:
    """A hash of all texts and all gold clusters, by split."""
    digest = hashlib.sha256()
    for split in (corpus.train, corpus.dev, corpus.test):
        digest.update(json.dumps([described(document) for document in split], ensure_ascii=True).encode())
    return digest.hexdigest()


def described(document: Document) -> list[object]:
    """A document's name, text and clusters as JSON values."""
    clusters = [[[tuple(part) for part in span.parts] for span in cluster] for cluster in document.clusters]
    return [document.key, document.tokens, document.sentence_starts, clusters]
