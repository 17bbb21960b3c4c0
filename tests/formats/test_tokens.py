"""Tokens and the text they are cut from: what differs or overlaps is said."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO

import pytest

from corefine.document import Document
from corefine.errors import FormatError
from corefine.formats import FORMATS, read
from corefine.formats.tokens import Tokens, divided

DOCUMENT = Document.from_text("Ann left her boat.", name="a").with_clusters([[(0, 0), (2, 2)]])


@pytest.mark.parametrize("format", ["tei", "brat", "text", "webanno", "xmi"])
def test_a_token_that_is_not_what_the_text_says_is_a_loss(format: str) -> None:
    differing = replace(DOCUMENT, tokens=("Ann", "leaves", *DOCUMENT.tokens[2:]))
    assert FORMATS[format].losses(differing)["tokens that differ from the text"] == 1


def test_overlapping_tokens_of_webanno_are_a_fault() -> None:
    rows = ["1-1\t0-6\tAnn\t", "1-2\t4-8\tleft\t", "1-3\t8-9\t.\t"]
    lines = ["#FORMAT=WebAnno TSV 3.3", "", "", "#Text=Ann left.", *rows, ""]
    with pytest.raises(FormatError, match=r":6, .*4-8 begins before"):
        list(read(BytesIO("\n".join(lines).encode()), "webanno"))


def test_overlapping_tokens_are_not_divided() -> None:
    words = Tokens(("of", "the"), ((0, 3), (1, 3)), (0,))
    assert divided(words, [2], "des") == words
    document = replace(DOCUMENT, offsets=((0, 6), *DOCUMENT.offsets[1:]))
    assert FORMATS["label-studio"].losses(document) == {"overlapping tokens": 1}
