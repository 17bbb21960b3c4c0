"""Recognises the format of a file by its first bytes."""

from __future__ import annotations

import re
import zlib
from functools import cached_property
from os import PathLike
from pathlib import Path

SIZE = 1 << 16
"""How many bytes are looked at."""

_TOP = re.compile(r'["{}\[\]:,]')
_ESCAPED = re.compile(r'(?:[^"\\]|\\.)*"', re.DOTALL)
_TEI = re.compile(r"<([\w.-]+:)?(TEI|TEI\.2|teiCorpus)\b|\A(<#root>)?\s*(<\?[^>]*>\s*)*<text\b")
_COLUMNS = re.compile(r"^(#.*\n|\n)*\d[^\t\n]*(\t[^\t\n]+){9}$", re.MULTILINE)


class Head:
    """The first bytes of a file, decompressed, and what they show."""

    def __init__(self, data: bytes) -> None:
        if data[:2] == b"\x1f\x8b":
            data = _unpacked(data)
        self.data = data

    @cached_property
    def text(self) -> str:
        return self.data.decode("utf-8-sig", errors="replace")

    @cached_property
    def start(self) -> str:
        """The text from its first character that is not white space."""
        return self.text.lstrip()

    @cached_property
    def keys(self) -> dict[str, str]:
        """The fields of the first JSON object (of a list, if there is one), each with the start of its value."""
        return _keys(self.start) if self.start[:1] in ("{", "[") else {}

    def has(self, *keys: str) -> bool:
        return all(key in self.keys for key in keys)


def _unpacked(data: bytes) -> bytes:
    try:
        return zlib.decompressobj(wbits=31).decompress(data, SIZE)
    except zlib.error:
        return b""


def head_of(path: str | PathLike[str]) -> Head:
    """The head of a file; an empty one if it cannot be read."""
    try:
        with Path(path).open("rb") as stream:
            return Head(stream.read(SIZE))
    except OSError:
        return Head(b"")


def _keys(text: str) -> dict[str, str]:
    """The fields of the first object of a JSON text, or of a list of objects. The text may be cut off anywhere."""
    found: dict[str, str] = {}
    depth = 0
    level = 2 if text[0] == "[" else 1
    at = 0
    while match := _TOP.search(text, at):
        sign, at = match[0], match.end()
        if sign in "{[":
            depth += 1
        elif sign in "}]":
            depth -= 1
            if depth < level:
                break
        elif sign == '"':
            string = _ESCAPED.match(text, at)
            if string is None:
                break
            inner, at = string[0][:-1], string.end()
            rest = text[at : at + 40].lstrip()
            if depth == level and rest.startswith(":"):
                found.setdefault(inner, re.sub(r"\s", "", text[at : at + 400].lstrip()[1:])[:20])
    return found


# One function for each format: does the head look like it?


def is_conll(head: Head) -> bool:
    return head.start.startswith(("#begin document", "# begin document"))


def is_conllu(head: Head) -> bool:
    return _COLUMNS.match(head.text) is not None


def is_conllua(head: Head) -> bool:
    return head.start.startswith("# global.columns") and "IDENTITY" in head.start.partition("\n")[0]


def is_webanno(head: Head) -> bool:
    return head.start.startswith("#FORMAT=WebAnno TSV 3")


def is_booknlp(head: Head) -> bool:
    return head.start.startswith("paragraph_ID\tsentence_ID\t")


def is_tei(head: Head) -> bool:
    return _TEI.search(head.start) is not None


def is_xmi(head: Head) -> bool:
    return "<xmi:XMI" in head.start[:5000]


def is_mmax2(head: Head) -> bool:
    return "<mmax_project" in head.start[:5000]


def is_zip(head: Head) -> bool:
    return head.data.startswith(b"PK\x03\x04")


def is_docbin(head: Head) -> bool:
    if head.data[:1] != b"\x78":
        return False
    try:
        return b"attrs" in zlib.decompressobj().decompress(head.data, 4000)
    except zlib.error:
        return False


def is_brat(head: Head) -> bool:
    return re.match(r"T\d+\t\S+ \d+ \d+", head.start) is not None


def is_uima_json(head: Head) -> bool:
    return any(key in head.keys for key in ("%TYPES", "%FEATURE_STRUCTURES", "%VIEWS"))


def is_label_studio(head: Head) -> bool:
    return head.has("data") and any(key in head.keys for key in ("annotations", "predictions", "completions"))


def is_corenlp(head: Head) -> bool:
    return head.has("sentences") and (head.has("corefs") or head.keys["sentences"].startswith("[{"))


def is_preco(head: Head) -> bool:
    return head.has("mention_clusters")


def is_maverick(head: Head) -> bool:
    return head.has("clusters_token_offsets")


def is_allennlp(head: Head) -> bool:
    return head.has("document", "clusters") and head.keys["document"].startswith("[")


def is_prodigy(head: Head) -> bool:
    if any(key in head.keys for key in ("_input_hash", "_task_hash", "_view_id")):
        return True
    marked = head.has("spans") or head.has("relations")
    return head.has("text", "tokens") and marked and head.keys["tokens"].startswith(("[{", "[]"))


def is_doccano(head: Head) -> bool:
    marks = [head.keys[key] for key in ("entities", "label", "labels") if key in head.keys]
    return head.has("text") and any(mark.startswith(("[[", "[{", "[]")) for mark in marks)


def is_jsonl(head: Head) -> bool:
    shapes = {"sentences": "[[", "tokens": '["', "text": '"'}
    return any(head.keys.get(key, "").startswith(start) for key, start in shapes.items())
