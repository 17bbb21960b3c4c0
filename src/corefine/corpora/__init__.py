"""Corpora: which there are, getting them, and reading them with their splits."""

from __future__ import annotations

from corefine.corpora.corpus import Corpus, load_corpus
from corefine.corpora.registry import CorpusEntry, entry, names

__all__ = ["Corpus", "CorpusEntry", "entry", "load_corpus", "names"]
