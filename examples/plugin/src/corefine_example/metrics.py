"""A metric: mention detection by last words. It counts one document; corefine adds the counts up."""

from __future__ import annotations

from corefine.document import Document
from corefine.scores import Tally


def last_words(key: Document, response: Document) -> Tally:
    wanted = {span.end for span in key.mentions}
    found = {span.end for span in response.mentions}
    return Tally(len(wanted & found), len(wanted), len(wanted & found), len(found))
