"""Our side of the comparison with fastcoref, in a process of its own, as fastcoref_side.py is the other.

    python fastcoref_our_side.py DOCUMENTS.json THREADS

For each line on standard input it predicts all documents and writes a line of JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from corefine.document import Document
from corefine.models.devices import use_threads
from corefine.models.load import load
from fastcoref_side import serve


def main(documents_file: str, threads: str) -> None:
    """The model that ships, from tokens to entities, one document after another."""
    use_threads(int(threads))
    tokens = json.loads(Path(documents_file).read_text(encoding="utf-8"))
    documents = [Document.from_sentences(str(number), [words]) for number, words in enumerate(tokens)]
    resolver = load()
    serve(lambda: resolver.predict(documents))


if __name__ == "__main__":
    main(*sys.argv[1:])
