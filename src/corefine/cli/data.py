"""`corefine data`: which corpora there are, and getting them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(help="Corpora: which there are, and getting them.", no_args_is_help=True)


@app.command("list")
def list_(json: Annotated[bool, typer.Option("--json", help="Write one JSON array.")] = False) -> None:
    """List the corpora that corefine can get, with their licences."""
    import json as json_

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
        typer.echo(json_.dumps(rows, ensure_ascii=False))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table("name", "language", "licence", "what", "here")
    for row in rows:
        here = "yes" if row["here"] else ""
        table.add_row(str(row["name"]), str(row["language"]), str(row["licence"]), str(row["title"]), here)
    Console().print(table)


@app.command("get")
def get(
    name: Annotated[str, typer.Argument(help="A name that `corefine data list` shows.")],
    mirror: Annotated[
        Path | None,
        typer.Option(help="Take it from this folder (NAME/NAME.jsonl.gz) instead; also COREFINE_MIRROR."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder to put it in, if not corefine's own.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Write one JSON object.")] = False,
) -> None:
    """Get a corpus from its public source at a pinned commit, check it, and convert it to JSON lines."""
    import json as json_

    from corefine.cli.progress import tracked
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
        typer.echo(json_.dumps(facts, ensure_ascii=False))
        return
    counts = ", ".join(f"{count} {split}" for split, count in got.documents.items())
    typer.echo(f"{got.entry.title}\n  documents  {counts}\n  folder     {got.folder}")
    typer.echo(f"  licence    {got.entry.licence}\n  cite       {got.entry.citation}\n  note       {got.entry.note}")
    if got.faults:
        typer.echo(f"  repaired   {len(got.faults)} faults of the files, the first: {got.faults[0]}")
    if got.unknown:
        typer.echo("  taken on first use, as the registry has no SHA-256 of:")
        for source, sha256 in got.unknown.items():
            typer.echo(f"    {sha256}  {source}")
