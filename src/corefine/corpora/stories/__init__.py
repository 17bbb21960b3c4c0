"""The documents that ship with corefine: a dozen short stories with gold coreference, singletons included.

They were written for this project and have its licence. docs/stories.md says what counts as a mention.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from corefine.document import Document

__all__ = ["HELD_OUT", "load", "path"]

HELD_OUT = 3
"""A project holds out this many stories, the last ones, to score the model on."""


def path() -> Path:
    """The file of the stories, in JSON lines."""
    return Path(str(files(__name__) / "stories.jsonl"))


@cache
def load() -> tuple[Document, ...]:
    """All stories, in the order of the file."""
    from corefine import formats

    return tuple(formats.read(path()))
