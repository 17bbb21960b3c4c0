"""`corefine score`: a response against a key."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from corefine.cli.options import Format, Json
from corefine.cli.output import show_json, tracked

if TYPE_CHECKING:
    from corefine.cli.score_output import Found, Style
    from corefine.document import Document
    from corefine.scores import Report, Score

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
        Literal["head", "partial", "exact"], typer.Option(help="CorefUD: what makes two mentions the same.")
    ] = "head",
    zeros: Annotated[
        Literal["dependent", "linear"], typer.Option(help="CorefUD: align zeros by dependencies, or by place.")
    ] = "dependent",
    blanc: Annotated[
        Literal["official", "luo"], typer.Option(help="BLANC as the CoNLL program has it, or symmetric (Luo et al.).")
    ] = "official",
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
    golds = _documents(key, format, tagger)

    def scored(path: Path, documents: list[Document]) -> Report:
        from corefine.formats.conllu.nodes import node_clusters
        from corefine.scores import report, report_corefud

        sources = str(key), str(path)
        if scheme == "corefud":
            return report_corefud(
                golds,
                documents,
                node_clusters,
                match=match,
                zeros=zeros,
                singletons=singletons,
                allow_missing=allow_missing,
                sources=sources,
            )
        return report(
            golds,
            documents,
            singletons=singletons,
            pronouns=pronouns,
            allow_missing=allow_missing,
            blanc=blanc,
            sources=sources,
        )

    answers = _documents(response, format)
    result = scored(response, answers)
    other = None if compare is None else scored(compare, _documents(compare, format))
    wrong = _errors(golds, answers) if errors or errors_html is not None else None
    style: Style = "latex" if latex else "markdown" if markdown else "plain"
    own = _own_metrics(metric or [], golds, answers)
    if json:
        show_json(_as_json(result, per, other, wrong) | {name: value._asdict() for name, value in own.items()})
    else:
        _show(result, per, style, other, wrong if errors else None)
        if own:
            from corefine.cli.score_output import print_table

            rows = [(name, *(f"{number:.2f}" for number in value)) for name, value in own.items()]
            print_table(["", "recall", "precision", "F1"], rows, style)
    if errors_html is not None and wrong is not None:
        from corefine.cli.score_output import errors_page
        from corefine.files import write_atomically

        write_atomically(errors_html, errors_page(wrong).encode())


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


def _errors(key: list[Document], response: list[Document]) -> Found:
    from corefine.scores.errors import errors

    answers = {(document.name, document.part): document for document in response}
    pairs = [(gold, answers[gold.name, gold.part]) for gold in key if (gold.name, gold.part) in answers]
    return [(gold, answer, errors(gold, answer)) for gold, answer in pairs]


def _own_metrics(names: list[str], key: list[Document], response: list[Document]) -> dict[str, Score]:
    """The metrics from outside: each counts a document of key and response, and the counts are added up."""
    from corefine import plugins
    from corefine.scores import Tally

    answers = {(document.name, document.part): document for document in response}
    found = {}
    for name in names:
        count = plugins.find("metrics", name)
        tallies = [count(gold, answers.get((gold.name, gold.part), gold.with_clusters(()))) for gold in key]
        found[name] = Tally(*map(sum, zip(*tallies, strict=True))).score if tallies else Tally(0, 0, 0, 0).score
    return found


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
