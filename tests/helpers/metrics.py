"""A metric as a user may write it."""

from __future__ import annotations

from corefine.document import Document
from corefine.scores import Tally


def mentions(key: Document, response: Document) -> Tally:
    wanted, found = set(key.mentions), set(response.mentions)
    return Tally(len(wanted & found), len(wanted), len(wanted & found), len(found))
