"""`corefine data`: the corpora that corefine can get."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from corefine.cli.options import Json, Mirror
from corefine.cli.output import show_json, show_table, tracked

app = typer.Typer(help="Corpora: list them, and get them.", no_args_is_help=True)


@app.command("list")
def list_(json: Json = False) -> None:
    """List the corpora that corefine can get, with their licences."""
    from corefine.corpora import entry, names
    from corefine.corpora.corpus import corpus_folder

    rows = [
        {
            "name": name,
            "title": entry(name).title,
            "language": entry(name).language,
            "licence": entry(name).licence,
            "here": (corpus_folder(name) / "corpus.json").is_file(),
        }
        for name in names()
    ]
    if json:
        show_json(rows)
        return
    columns = ("name", "language", "licence", "title")
    shown = [(*(str(row[column]) for column in columns), "yes" if row["here"] else "") for row in rows]
    show_table((*columns, "here"), shown)


@app.command("get")
def get(
    name: Annotated[str, typer.Argument(help="A name that `corefine data list` shows.")],
    mirror: Mirror = None,
    out: Annotated[Path | None, typer.Option(help="Folder to put it in, if not corefine's own.")] = None,
    json: Json = False,
) -> None:
    """Get a corpus from its public source at a pinned commit, check it, and convert it to JSON lines."""
    from corefine.corpora import prepare

    got = prepare.get(
        name, mirror=mirror, folder=out, progress=lambda files, total: tracked(files, f"getting {name}", total=total)
    )
    if json:
        facts = {
            "name": name,
            "folder": str(got.folder),
            "documents": got.documents,
            "licence": got.entry.licence,
            "citation": got.entry.citation,
            "taken_on_first_use": got.unknown,
            "repaired": [str(fault) for fault in got.faults],
        }
        show_json(facts)
        return
    counts = ", ".join(f"{count} {split}" for split, count in got.documents.items())
    typer.echo(f"{got.entry.title}\n  documents  {counts}\n  folder     {got.folder}")
    typer.echo(f"  licence    {got.entry.licence}\n  cite       {got.entry.citation}\n  note       {got.entry.note}")
    if got.faults:
        typer.echo(f"  repaired   {len(got.faults)} faults in the files, the first: {got.faults[0]}")
    if got.unknown:
        typer.echo("  taken on first use, because the registry has no SHA-256 of:")
        for source, sha256 in got.unknown.items():
            typer.echo(f"    {sha256}  {source}")
