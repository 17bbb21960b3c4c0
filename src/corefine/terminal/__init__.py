"""Annotating in a terminal, for people on SSH: `corefine annotate --terminal`.

app        the questions
review     the entities of a document: split, merge, move, remove
screens    the history and the guidelines
text       a document's sentences with marks
"""

from corefine.terminal.app import Terminal, run

__all__ = ["Terminal", "run"]
