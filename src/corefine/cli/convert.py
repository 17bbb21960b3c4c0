"""`corefine convert`, `check` and `formats`: documents in files."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from corefine.cli.options import Format, From, Json, Language, Lossy, SkipFaulty, Source, Target, To
from corefine.cli.output import show_fault, show_json, show_table, tracked


def convert(
    source: Source,
    target: Target,
    from_: From = None,
    to: To = None,
    lossy: Lossy = False,
    skip_faulty: SkipFaulty = False,
    repair: Annotated[
        bool, typer.Option("--repair", help="Leave out a bad bracket or link, and keep its document.")
    ] = False,
    language: Language = None,
    json: Json = False,
) -> None:
    """Convert between the formats that `corefine formats` lists.

    All that OUT can express is kept. If something cannot be expressed, the command stops and says what it is, unless
    --lossy is given. OUT is written whole or not at all. Files may be packed with gzip (.gz).
    """
    from corefine.formats.convert import STREAM
    from corefine.formats.convert import convert as run

    summary = run(
        source,
        target,
        from_=from_,
        to=to,
        lossy=lossy,
        skip_faulty=skip_faulty,
        language=language,
        repair=repair,
        on_fault=show_fault,
        tracked=lambda documents: tracked(documents, "converting"),
    )
    if json:
        show_json(asdict(summary), err=target == STREAM)
        return
    for name, number in sorted(summary.lost.items()):
        typer.echo(f"corefine: lost: {name}: {number}", err=True)
    typer.echo(f"{summary.documents} documents, {summary.mentions} mentions", err=True)


def formats(json: Json = False) -> None:
    """List the formats: names, endings, and what each can express."""
    from corefine.formats.format_table import COLUMNS, as_dict, rows
    from corefine.formats.lookup import known_formats

    known = known_formats().values()
    if json:
        show_json(as_dict(known))
    else:
        show_table(list(COLUMNS), [[cell.replace("`", "") for cell in row] for row in rows(known)])


def check(
    paths: Annotated[
        list[str], typer.Argument(metavar="PATHS", help="Files, folders, quoted globs, or - (standard input).")
    ],
    format: Format = None,
    language: Language = None,
    json: Json = False,
) -> None:
    """List every fault: file, line, document, token, and what is wrong. The exit code is 1 if there is any."""
    from corefine.formats.check import check as run

    checked = run(paths, format, language=language, on_fault=lambda fault: None if json else typer.echo(str(fault)))
    if json:
        faults = [asdict(fault) for fault in checked.faults]
        show_json({"files": checked.files, "documents": checked.documents, "faults": faults})
    else:
        found = f"{len(checked.faults)} faults" if checked.faults else "no faults"
        typer.echo(f"{found} in {checked.files} files, {checked.documents} documents read", err=True)
    if checked.faults:
        raise typer.Exit(1)
