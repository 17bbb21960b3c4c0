"""Documents for browser tests: stories with gold entities, and texts that try to break the page."""

from __future__ import annotations

from dataclasses import replace
from itertools import cycle

from corefine.corpora import stories
from corefine.document import Document

HOSTILE = [
    ["Anna", "met", "<script>window.hacked=1</script>", "and", "Maria", "."],
    ["<img", "src=x", "onerror=window.hacked=1>", "She", "gave", "Maria", "a", "book", "."],
    ["\u202egnihtemos\u202c", "was", "in", "it", "and", "Anna", "read", "it", "."],
    ["\u200b", "She", "a\u0301\u0302\u0303\u0304\u0305\u0306", "liked", "\u200d\u200c", "it", "."],
    ["👩‍👩‍👧‍👦", "and", "🏳️‍🌈", "came", "with", "Anna", "to", "Maria", ",", "and", "she", "laughed", "."],
    ["</span></p><svg/onload=window.hacked=1>", "Maria", "&lt;b&gt;", "saw", "her", "."],
    ["javascript:window.hacked=1", "'\"`", "{{7*7}}", "${7*7}", "She", "left", "."],
]
ARABIC = [
    ["التقت", "مريم", "بأحمد", "في", "السوق", "."],
    ["قالت", "مريم", "إنها", "رأت", "أحمد", "."],
    ["ثم", "عاد", "أحمد", "إلى", "السوق", "."],
]

DUTCH = [
    ["Anna", "kocht", "een", "oude", "fiets", "."],
    ["Zij", "gaf", "de", "fiets", "aan", "Piet", "."],
    ["Anna", "lachte", "."],
]


def every_document() -> dict[str, Document]:
    """By name; each is worked on by one test."""
    names = (
        "keyboard",
        "mouse",
        "undo",
        "contradiction",
        "review",
        "tabs",
        "team",
        "offline",
        "touch",
        "list",
        "modes",
        "instead",
        "finder",
        "rejected",
        "warned",
    )
    told = dict(zip(names, cycle(stories.load()), strict=False))
    made = {
        "hostile": Document.from_sentences("hostile", HOSTILE),
        "giant": Document.from_sentences("giant", [["Anna", "sat", "x" * 1_000_000, "."], ["She", "saw", "Anna", "."]]),
        "far": far(),
        "equal": Document.from_sentences("equal", [["Nora", "Pell", word, "."] for word in "slept ate left".split()]),
        "arabic": Document.from_sentences("arabic", ARABIC, language="ar"),
        "in full, by keys": Document.from_sentences("keys", DUTCH, language="nl"),
        "in full, by mouse": Document.from_sentences("pointer", DUTCH, language="nl"),
        "in full, slowly": Document.from_sentences("slowly", DUTCH, language="nl"),
    }
    return {name: replace(document, name=name, part=0) for name, document in (told | made).items()}


def far() -> Document:
    """A name, and the same name again sixty sentences later; nothing between them is a mention for the rules."""
    between = [["rain", "fell", "and", "fell", ",", "and", "nothing", "else", "happened", "then", "."]] * 60
    return Document.from_sentences("far", [["Anna", "slept", "."], *between, ["Then", "Anna", "woke", "."]])
