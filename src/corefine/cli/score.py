"""`corefine score`: a response against a key."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from corefine.cli.options import Format, Json
from corefine.cli.output import show_json, tracked

if TYPE_CHECKING:
    from corefine.cli.errors_page import Found
    from corefine.cli.score_output import Style
    from corefine.document import Document
    from corefine.scores import Report

Per = Literal["document", "genre"]

UNKNOWN = "unknown"
"""The genre of documents that name none."""


def score(
    key: Annotated[
        Path, typer.Argument(help="The gold documents: a file, a folder, or - for standard input.", metavar="KEY")
    ],
    response: Annotated[Path, typer.Argument(help="The documents to score, likewise.", metavar="RESPONSE")],
    json: Json = False,
    singletons: Annotated[
        Literal["keep", "drop"], typer.Option(help="Keep clusters of one, or drop them from key and response.")
    ] = "keep",
    scheme: Annotated[
        Literal["conll", "corefud"], typer.Option(help="Conventions: of the CoNLL program, or of CorefUD.")
    ] = "conll",
    match: Annotated[
        Literal["head", "partial", "exact"] | None,
        typer.Option(help="CorefUD: what makes two mentions the same.", show_default="head"),
    ] = None,
    zeros: Annotated[
        Literal["dependent", "linear"] | None,
        typer.Option(help="CorefUD: align zeros by dependencies, or by place.", show_default="dependent"),
    ] = None,
    blanc: Annotated[
        Literal["official", "luo"] | None,
        typer.Option(help="BLANC as the CoNLL program has it, or symmetric (Luo et al.).", show_default="official"),
    ] = None,
    per: Annotated[Per | None, typer.Option(help="Show each document or each genre as well.")] = None,
    pronouns: Annotated[bool, typer.Option("--pronouns", help="Score only clusters with a pronoun.")] = False,
    tagger: Annotated[
        str | None, typer.Option(help="A spaCy pipeline that finds the pronouns of KEY; word lists if not given.")
    ] = None,
    compare: Annotated[
        Path | None, typer.Option(help="A second response: the difference, with a 95 % interval by bootstrap.")
    ] = None,
    errors: Annotated[bool, typer.Option("--errors", help="Count errors by kind, and by kind of mention.")] = False,
    errors_html: Annotated[Path | None, typer.Option(help="Write a page that shows the errors in the text.")] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Tables in Markdown.")] = False,
    latex: Annotated[bool, typer.Option("--latex", help="Tables in LaTeX.")] = False,
    metric: Annotated[
        list[str] | None, typer.Option(help="A metric of your own, as module:attribute; may be repeated.")
    ] = None,
    allow_missing: Annotated[
        bool, typer.Option("--allow-missing", help="Score a document that one side lacks as empty there.")
    ] = False,
    format: Format = None,
) -> None:
    """Score RESPONSE against KEY: mention detection, MUC, B3, CEAF, BLANC, LEA and CoNLL F1, in percent."""
    _refuse_unused(scheme, pronouns=pronouns, tagger=tagger, blanc=blanc, match=match, zeros=zeros)
    from corefine.scores.corpus import pairs
    from corefine.scores.own_metrics import own_scores

    golds, answers = _documents(key, format, tagger), _documents(response, format)

    def scored(path: Path, documents: list[Document]) -> Report:
        from corefine.formats.conllu.nodes import node_clusters
        from corefine.scores import report, report_corefud

        sources = str(key), str(path)
        if scheme == "corefud":
            return report_corefud(
                golds, documents, node_clusters, match=match or "head", zeros=zeros or "dependent",
                singletons=singletons, allow_missing=allow_missing, sources=sources,
            )  # fmt: skip
        return report(
            golds, documents, singletons=singletons, pronouns=pronouns, allow_missing=allow_missing,
            blanc=blanc or "official", sources=sources,
        )  # fmt: skip

    result = scored(response, answers)
    other = None if compare is None else scored(compare, _documents(compare, format))
    both = list(pairs(golds, answers, allow_missing=allow_missing))
    if singletons == "drop":
        both = [(gold.without_singletons(), answer.without_singletons()) for gold, answer in both]
    own = own_scores(metric or [], both)
    wrong = _errors(both) if errors or errors_html is not None else None
    style: Style = "latex" if latex else "markdown" if markdown else "plain"
    if json:
        show_json(_as_json(result, per, other, wrong) | {name: value._asdict() for name, value in own.items()})
    else:
        _show(result, per, style, other, wrong if errors else None)
        if own:
            from corefine.cli.score_output import print_table

            rows = [(name, *(f"{number:.2f}" for number in value)) for name, value in own.items()]
            print_table(["", "recall", "precision", "F1"], rows, style)
    if errors_html is not None and wrong is not None:
        from corefine.cli.errors_page import errors_page
        from corefine.files import write_atomically

        write_atomically(errors_html, errors_page(wrong).encode())


def _refuse_unused(scheme: str, **options: object) -> None:
    """Raise if an option was given that the conventions have no use for."""
    unused = ("pronouns", "tagger", "blanc") if scheme == "corefud" else ("match", "zeros")
    for name in unused:
        if options[name]:
            raise typer.BadParameter(f"has no meaning with --scheme {scheme}", param_hint=f"--{name}")


def _documents(path: Path, format: str | None, tagger: str | None = None) -> list[Document]:
    """The documents of a file, of all files in a folder that are of a known format, or of standard input.

    tagger    a spaCy pipeline whose tags replace those of the documents
    """
    import sys

    from corefine.formats import find_files, read

    wheres = [sys.stdin.buffer] if str(path) == "-" else [file.path for file in find_files([path], format)]
    found = tracked((document for where in wheres for document in read(where, format)), f"reading {path}")
    if tagger is None:
        return list(found)
    from corefine.models.tagging import with_tags

    return list(with_tags(found, tagger))


def _errors(pairs: list[tuple[Document, Document]]) -> Found:
    from corefine.scores.errors import errors

    return [(gold, answer, errors(gold, answer)) for gold, answer in pairs]


def _as_json(result: Report, per: Per | None, other: Report | None, wrong: Found | None) -> dict[str, object]:
    scores: dict[str, object] = dict(result.scores.as_dict())
    if per == "document":
        scores["documents"] = [
            {"name": each.name, "part": each.part, "genre": each.genre} | each.counts.scored(result.blanc).as_dict()
            for each in result.documents
        ]
    if per == "genre":
        scores["genres"] = {genre or UNKNOWN: each.as_dict() for genre, each in result.genres.items()}
    if other is not None:
        from corefine.scores.compare import compare

        scores["compare"] = {name: each._asdict() for name, each in compare(result, other).items()}
    if wrong is not None:
        from corefine.scores.errors import table

        scores["errors"] = table(error for _, _, errors in wrong for error in errors)
    return scores


def _show(result: Report, per: Per | None, style: Style, other: Report | None, wrong: Found | None) -> None:
    from corefine.cli.score_output import LABELS, print_table, show_scores

    show_scores(result, per, style, UNKNOWN)
    if other is not None:
        from corefine.scores.compare import compare

        rows = [
            (
                LABELS.get(name, "CoNLL"),
                *(f"{v:.2f}" for v in each[:3]),
                f"{each.low:+.2f} to {each.high:+.2f}",
                f"{each.p:.3f}",
            )
            for name, each in compare(result, other).items()
        ]
        columns = ["F1", "first", "second", "difference", "95 % interval", "p"]
        print_table(columns, rows, style, title="second response minus first")
    if wrong is not None:
        from corefine.scores.errors import MENTION_KINDS, table

        counted = table(error for _, _, errors in wrong for error in errors)
        rows = [
            (kind, *(str(each[name]) for name in MENTION_KINDS), str(sum(each.values())))
            for kind, each in counted.items()
        ]
        print_table(["errors", *MENTION_KINDS, "all"], rows, style)
