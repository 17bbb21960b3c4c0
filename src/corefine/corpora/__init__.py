"""Corpora: which there are, getting them, and reading them with their splits."""

from __future__ import annotations

from corefine.corpora.corpus import Corpus, load_corpus
from corefine.corpora.registry import Entry, entry, names

__all__ = ["Corpus", "Entry", "entry", "load_corpus", "names"]
