"""The report: one self-contained HTML page, beside its figures and its tables as Markdown."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable, Sequence
from pathlib import Path

from corefine import __version__
from corefine.files import write_atomically
from corefine.reproduction.closure_timing import ClosureTimes
from corefine.reproduction.figures import Drawn, draw_all
from corefine.reproduction.table import Table
from corefine.reproduction.tables import all_tables
from corefine.simulation.summary import RunRecord

PAGE = "report.html"
TABLES = "tables.md"

CAPTIONS = {
    "f1": "F1 of the last model, by the annotation time of a document. Bars: standard deviation over seeds.",
    "mention_f1": "Mention detection of the same models.",
    "pronoun_f1": "The same, scored on clusters that hold a pronoun.",
    "delta_f1": "How much the answers improve the labels of the annotated documents: F1 after minus F1 before.",
    "labels": "F1 with each label policy, over the seeds that all of them have.",
    "rounds": "F1 of the model of each round; the last is trained on everything.",
    "yes_share": "Share of “same entity?” questions answered yes, over the course of a document's questions.",
    "paper": "Here and in the paper, whose corpus and model may be others: F1 by minutes a document, or gains over no "
    "questions by minutes per 1,000 tokens.",
    "closure": "Time to take one more link, on this machine; stars are the paper's figures.",
}

CSS = """
body { font: 17px/1.55 Georgia, 'Times New Roman', serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem;
       color: #111; background: #fff }
h1, h2 { font-weight: 600; line-height: 1.2 }
figure { margin: 1.5rem 0 } figure img { max-width: 100%; height: auto }
figcaption, .note { color: #444; font-size: 15px }
table { border-collapse: collapse; margin: 1rem 0; font: 15px/1.4 'Helvetica Neue', Arial, sans-serif }
th, td { padding: .3rem .8rem; text-align: right; border-bottom: 1px solid #ddd }
th:first-child, td:first-child { text-align: left } thead th { border-bottom: 2px solid #111 }
.scroll { overflow-x: auto } nav a { margin-right: 1.2rem }
"""


def write_report(
    records: Sequence[RunRecord], folder: Path, *, closure: ClosureTimes | None = None, comment: Sequence[str] = ()
) -> Path:
    """Draw figures, make tables, put both on one page, and return the page.

    closure    the times of the closures on this machine; None leaves out their figure and table
    comment    paragraphs at the top of the page
    """
    drawn = draw_all(records, folder, closure)
    made = all_tables(records, closure)
    write_atomically(folder / TABLES, "\n".join(table.markdown() for table in made).encode())
    page = _page(records, made, [(each, (folder / f"{each.name}.svg").read_bytes()) for each in drawn], comment)
    write_atomically(folder / PAGE, page.encode())
    return folder / PAGE


def _mixed(records: Sequence[RunRecord]) -> str:
    """A warning if runs of one corpus were made by different versions of the code."""
    states: dict[str, set[str]] = {}
    for record in records:
        states.setdefault(record.corpus, set()).add(record.info.code)
    mixed = {corpus: len(found) for corpus, found in states.items() if len(found) > 1}
    return " ".join(
        f"Warning: the runs on {corpus} were made by {n} versions of the code." for corpus, n in mixed.items()
    )


def _page(
    records: Sequence[RunRecord], made: Iterable[Table], images: Iterable[tuple[Drawn, bytes]], comment: Sequence[str]
) -> str:
    corpora = ", ".join(sorted({record.corpus for record in records}))
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>Active learning for coreference on {html.escape(corpora)}</title><style>{CSS}</style></head><body>",
        f"<h1>Active learning for coreference, simulated on {html.escape(corpora)}</h1>",
        f'<p class="note">{len(records)} runs, corefine {__version__}. Gold labels answer; hours are those of the '
        "paper's timing study (15.96 s for “same entity?”, 15.57 s for the follow-up, 28.01 s for it alone). "
        "Mean ± standard deviation over seeds.</p>",
        *([f'<p class="note">{html.escape(_mixed(records))}</p>'] if _mixed(records) else []),
        *(f"<p>{html.escape(paragraph)}</p>" for paragraph in comment),
    ]
    parts += [table.html() for table in made]
    for drawn, content in images:
        encoded = base64.b64encode(content).decode()
        where = f"{drawn.corpus}. " if drawn.corpus else ""
        caption = html.escape(where + CAPTIONS[drawn.subject])
        parts.append(
            f'<figure id="{html.escape(drawn.name)}"><img alt="{caption}" src="data:image/svg+xml;base64,{encoded}">'
            f"<figcaption>{caption}</figcaption></figure>"
        )
    return "\n".join([*parts, "</body></html>", ""])
