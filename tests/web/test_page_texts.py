"""Texts of the page stand in the module that shows them, and no sentence stands in two modules."""

from __future__ import annotations

import re
from pathlib import Path

import corefine

SCRIPTS = Path(corefine.__file__).parent / "web" / "static" / "js"
COMMENTS = re.compile(r"/\*.*?\*/|(?<!:)//[^\n]*", re.DOTALL)
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`')


def sentences(script: Path) -> set[str]:
    """The strings of a script with five words or more."""
    found = ("".join(match) for match in LITERAL.findall(COMMENTS.sub("", script.read_text("utf-8"))))
    return {text for text in found if len(re.findall(r"[A-Za-z’]{2,}", text)) >= 5}


def test_no_sentence_stands_in_two_modules() -> None:
    places: dict[str, list[str]] = {}
    for script in sorted(SCRIPTS.rglob("*.js")):
        for text in sentences(script):
            places.setdefault(text, []).append(str(script.relative_to(SCRIPTS)))
    assert len(places) > 100
    assert {text: where for text, where in places.items() if len(where) > 1} == {}
