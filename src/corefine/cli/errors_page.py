"""`corefine score --errors-html`: a page that shows in the text what a response gets wrong."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING

from corefine.models.display import marked
from corefine.scores.errors import KINDS, MENTION_KINDS, table

if TYPE_CHECKING:
    from corefine.document import Document, Span
    from corefine.scores.errors import MentionError

Found = list[tuple["Document", "Document", "list[MentionError]"]]
"""Key, response and errors of each document."""


def errors_page(found: Found) -> str:
    """One HTML page without scripts. Boxes choose the kinds of errors that are marked."""
    counted = table(error for _, _, errors in found for error in errors)
    names = "".join(f"<th>{kind}</th>" for kind in (*MENTION_KINDS, "all"))
    rows = "".join(_row(kind, [counted[kind][each] for each in MENTION_KINDS]) for kind in KINDS)
    wrong = [each for each in found if each[2]]
    total = sum(len(errors) for *_, errors in found)
    body = "".join(_section(document, errors) for document, _, errors in wrong)
    hidden = "".join(f"body:has(#{_id(kind)}:not(:checked)) .{_id(kind)} {{ all: unset }}\n" for kind in KINDS)
    notes = "".join(f"body:has(#{_id(kind)}:not(:checked)) .note-{_id(kind)} {{ display: none }}\n" for kind in KINDS)
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Errors</title>'
        '<meta name="viewport" content="width=device-width">'
        f"<style>{_STYLE}{hidden}{notes}</style><h1>Errors</h1>"
        f"<p>{total} errors in {len(wrong)} of {len(found)} documents.</p>"
        f"<table><thead><tr><th></th>{names}</tr></thead><tbody>{rows}</tbody></table>"
        '<p><label><input type="checkbox" id="only-wrong"> Only sentences with errors</label></p>'
        f"{body}</html>\n"
    )


def _id(kind: str) -> str:
    return kind.replace(" ", "-")


def _row(kind: str, numbers: Sequence[int]) -> str:
    name = _id(kind)
    label = f'<label><input type="checkbox" id="{name}" checked> <span class="{name}">{kind}</span></label>'
    cells = "".join(f"<td>{number}</td>" for number in (*numbers, sum(numbers)))
    return f'<tr><th scope="row">{label}</th>{cells}</tr>'


def _section(document: Document, errors: Sequence[MentionError]) -> str:
    before = {span: cluster[:at] for cluster in document.clusters for at, span in enumerate(cluster)}

    def opened(number: int, _: bool) -> str:
        error = errors[number]
        told = html.escape(f"{error.kind}, {error.mention_kind}", quote=True)
        return f'<span class="{_id(error.kind)}" title="{told}">'

    def note(number: int) -> str:
        error = errors[number]
        told = _told(document, error, before.get(error.span, ()))
        return f'<small class="note-{_id(error.kind)}"> [{html.escape(told)}]</small>' if told else ""

    wrong = {token for error in errors for token in range(error.span.start, error.span.end + 1)}
    lines = []
    shown = marked(document, [error.span for error in errors], opened, note)
    for sentence, line in zip(document.sentence_spans, shown, strict=True):
        clean = wrong.isdisjoint(range(sentence.start, sentence.end + 1))
        lines.append(f'<p class="clean">{line}</p>' if clean else f"<p>{line}</p>")
    title = f"{html.escape(document.key)} <small>{len(errors)} errors</small>"
    return f"<details open><summary>{title}</summary>{''.join(lines)}</details>"


def _told(document: Document, error: MentionError, before: Sequence[Span]) -> str:
    """What the response has instead, and what the key says."""
    other = document.words(error.other) if error.other is not None else ""
    match error.kind:
        case "span error":
            return f"response: {other}"
        case "missed link":
            return f"key: same as {other}"
        case "wrong link":
            right = f"same as {document.words(before[-1])}" if before else "the first of its entity"
            return f"response: same as {other}; key: {right}"
    return ""


_STYLE = """
:root { color-scheme: light dark }
body { font: 16px/1.7 sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em }
table { border-collapse: collapse } td, th { padding: .2em .8em; text-align: right; border-bottom: 1px solid #8886 }
tbody th { text-align: left; font-weight: normal }
summary { font-size: 1.3em; font-weight: bold; margin-top: 1em } details p { margin: .2em 0 }
small { color: light-dark(#555, #bbb); font-weight: normal; font-size: .8em }
span { border-radius: 3px; padding: 0 2px }
.missed-mention { background: light-dark(#ffd9d9, #6b2424) } .extra-mention { background: light-dark(#dbe8ff, #24406b) }
.span-error { background: light-dark(#fff2c2, #5c4a10) }
.missed-link { border-bottom: 3px dotted light-dark(#c00, #f88) }
.wrong-link { border-bottom: 3px solid light-dark(#c00, #f88) }
body:has(#only-wrong:checked) .clean { display: none }
"""
