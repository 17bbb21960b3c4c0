"""`corefine convert`: from one format to another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from corefine.errors import Fault
    from corefine.formats.convert import Summary


def convert(
    source: Annotated[
        str, typer.Argument(metavar="IN", help="A file, a folder, a quoted glob, or - for standard input.")
    ],
    target: Annotated[str, typer.Argument(metavar="OUT", help="A file, a folder, or - for standard output.")],
    from_: Annotated[str | None, typer.Option("--from", help="Format of IN, if its name does not tell.")] = None,
    to: Annotated[str | None, typer.Option("--to", help="Format of OUT, if its name does not tell.")] = None,
    lossy: Annotated[
        bool, typer.Option("--lossy", help="Leave out what OUT cannot express, and count it on stderr.")
    ] = False,
    skip_faulty: Annotated[
        bool, typer.Option("--skip-faulty", help="Leave out documents that cannot be read instead of stopping.")
    ] = False,
    language: Annotated[
        str | None,
        typer.Option(help="Code of the language of documents that name none; plain text is split by its rules (en)."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Write a summary as one JSON object.")] = False,
) -> None:
    """Convert between CoNLL-2012 (conll), CoNLL-U with CorefUD entities (conllu), JSON lines (jsonl), brat and text.

    Nothing is lost that OUT can express. What it cannot is refused by name, unless --lossy. OUT appears whole or not
    at all. Files may be packed with gzip (.gz).
    """
    from corefine.cli.progress import tracked
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
        on_fault=_show_fault,
        tracked=lambda documents: tracked(documents, "converting"),
    )
    if json:
        from dataclasses import asdict
        from json import dumps

        typer.echo(dumps(asdict(summary), ensure_ascii=False), err=target == STREAM)
    else:
        _show(summary)


def _show_fault(fault: Fault) -> None:
    typer.echo(f"corefine: {'unreadable' if fault.fatal else 'repaired'}: {fault}", err=True)


def _show(summary: Summary) -> None:
    for name, number in sorted(summary.lost.items()):
        typer.echo(f"corefine: lost: {name}: {number}", err=True)
    typer.echo(f"{summary.documents} documents, {summary.mentions} mentions", err=True)
