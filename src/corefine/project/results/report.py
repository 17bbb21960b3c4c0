"""A project on one page of HTML that needs nothing else: numbers, the learning curve, people, agreement, times."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from html import escape

from corefine import __version__
from corefine.project.project import Project
from corefine.project.results import times
from corefine.project.results.agreement import PairAgreement, agreement
from corefine.project.results.statistics import CurvePoint, PersonStatistics, Statistics, person_statistics, statistics
from corefine.project.store import people

STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}
h1{font-size:1.6rem}h2{font-size:1.15rem;margin-top:2rem}
table{border-collapse:collapse;width:100%}th,td{text-align:right;padding:.3rem .6rem;border-bottom:1px solid #ddd}
th:first-child,td:first-child{text-align:left}svg{width:100%;height:auto}.small{color:#555;font-size:.875rem}
@media(prefers-color-scheme:dark){body{color:#eee;background:#161616}th,td{border-color:#444}.small{color:#aaa}}
"""
WIDTH, HEIGHT, MARGIN = 640, 240, 40


def report(project: Project) -> str:
    with project.database.read() as connection:
        found = statistics(connection)
        by_person = person_statistics(connection)
        names = people.names(connection)
        measured = times.measure(connection)
    settings, title = project.settings, escape(project.name)
    parts = [
        f"<h1>{title}</h1>",
        f"<p class=small>Made by corefine {__version__} on {datetime.now(UTC):%Y-%m-%d %H:%M} UTC. "
        f"Questions: {escape(settings.protocol)}, chosen by {escape(settings.selector_name())}.</p>",
        _summary(found),
        "<h2>The model</h2>",
        _curve(found.curve),
        _models(found.curve),
        "<h2>People</h2>",
        _people(by_person, names),
        "<h2>Time</h2>",
        _times(measured),
        _agreement(agreement(project).total),
    ]
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head>'
        f"<body>{''.join(parts)}</body></html>\n"
    )


def _summary(found: Statistics) -> str:
    rows = [
        ("documents done", f"{found.documents_done} of {found.documents}"),
        ("answers", str(found.answers)),
        ("hours", f"{found.seconds / 3600:.2f}"),
        ("questions an hour", _number(found.questions_per_hour)),
    ]
    return _table(("", ""), rows)


def _models(curve: Sequence[CurvePoint]) -> str:
    rows = [(each.name, str(each.answers), _number(each.f1), _percent(each.accepted, each.asked)) for each in curve]
    return _table(("version", "answers", "held-out F1", "proposals accepted"), rows)


def _people(by_person: dict[int, PersonStatistics], names: dict[int, str]) -> str:
    rows = [
        (
            names.get(person_id, "?"),
            str(own.answers),
            f"{own.seconds / 3600:.2f}",
            _number(own.questions_per_hour),
            str(own.documents_done),
        )
        for person_id, own in by_person.items()
    ]
    return _table(("name", "answers", "hours", "questions an hour", "documents done"), rows)


def _times(measured: Sequence[times.TimingRow]) -> str:
    rows = [(row.name, _number(row.mean, 2), _number(row.deviation, 2), str(row.answers)) for row in measured]
    return _table(("", "seconds, mean", "deviation", "answers"), rows)


def _agreement(pairs: Sequence[PairAgreement]) -> str:
    if not pairs:
        return ""
    rows = []
    for pair in pairs:
        f1s = [_number(f1) for f1 in (pair.said, pair.muc, pair.b3, pair.ceafe, pair.lea)]
        same = _percent(pair.same, pair.questions)
        rows.append((f"{pair.a} and {pair.b}", same, _number(pair.kappa, 2), *f1s))
    head = ("people", "same answer", "kappa", "CoNLL, answers alone", "MUC", "B³", "CEAFe", "LEA")
    return (
        "<h2>Agreement</h2><p class=small>MUC, B³, CEAFe and LEA are of chains that the model completes: its share is "
        "the same for everybody, which makes them higher than those of answers alone.</p>" + _table(head, rows)
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _curve(points: Sequence[CurvePoint]) -> str:
    """Held-out F1, or without gold the share of accepted proposals, against answers."""
    with_f1 = [(point.answers, point.f1) for point in points if point.f1 is not None]
    accepted = [(point.answers, 100 * point.accepted) for point in points if point.accepted is not None]
    drawn, label = (with_f1, "held-out CoNLL F1") if with_f1 else (accepted, "proposals accepted, %")
    if len(drawn) < 2:
        return "<p class=small>The learning curve begins with the first model that is trained on answers here.</p>"
    most = max(answers for answers, _ in drawn) or 1
    places = [
        (MARGIN + x / most * (WIDTH - 2 * MARGIN), HEIGHT - MARGIN - y / 100 * (HEIGHT - 2 * MARGIN)) for x, y in drawn
    ]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    dots = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"><title>{value:.1f} after {answers} answers</title></circle>'
        for (x, y), (answers, value) in zip(places, drawn, strict=True)
    )
    axis = f'<path d="M{MARGIN} {MARGIN}V{HEIGHT - MARGIN}H{WIDTH - MARGIN}" fill="none" stroke="currentColor"/>'
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(label)} by answers" fill="#2563eb">{axis}'
        f'<polyline points="{line}" fill="none" stroke="#2563eb" stroke-width="2"/>{dots}'
        f'<text x="{MARGIN}" y="24" fill="currentColor" font-size="13">{escape(label)}</text>'
        f'<text x="{WIDTH - MARGIN}" y="{HEIGHT - 12}" fill="currentColor" font-size="13" text-anchor="end">'
        f"{most} answers</text></svg>"
    )


def _number(value: float | None, digits: int = 1) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _percent(share: float | None, of: int) -> str:
    return "–" if share is None else f"{100 * share:.0f} % of {of}"
