"""Documents that have a file each: from their names to file names and back."""

from __future__ import annotations

import re

from corefine.document import Document

_UNFIT = re.compile(r'[\x00-\x1f\x7f%/\\:*?"<>|]|^\.|[. ]$')
_ENCODED = re.compile(r"%([0-9A-F]{2})")
_PART = re.compile(r"\.part(-?\d{1,18})$")


def stem_of(document: Document) -> str:
    """A file name without its ending: what no file name may hold is written as %XX, a part as `.part1`."""
    stem = _UNFIT.sub(lambda match: f"%{ord(match[0]):02X}", document.name)
    return f"{stem}.part{document.part}" if document.part or _PART.search(stem) else stem


def name_and_part(stem: str) -> tuple[str, int]:
    part = _PART.search(stem)
    name = stem[: part.start()] if part else stem
    return _ENCODED.sub(lambda match: chr(int(match[1], 16)), name), int(part[1]) if part else 0
