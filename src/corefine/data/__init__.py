"""Corpora: which there are, getting them, and reading them with their splits."""

from __future__ import annotations

from corefine.data.corpus import Corpus, load_corpus
from corefine.data.registry import Entry, entry, names

__all__ = ["Corpus", "Entry", "entry", "load_corpus", "names"]
