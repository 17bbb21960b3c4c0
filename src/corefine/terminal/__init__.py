"""The same session in a terminal, for people on SSH: `corefine annotate --terminal`.

app           the questions
review        the entities of a document: split, merge, move, remove
history       what one has said, and taking it back
guidelines    what the project's owner wrote
text          a document's sentences with marks
watch         how long answers take
"""

from corefine.terminal.app import Terminal, run

__all__ = ["Terminal", "run"]
