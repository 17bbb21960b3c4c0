"""Predicts whole files and folders. Documents stream from one format into another, one in memory at a time."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from corefine.document import Document
from corefine.errors import Fault, InputError
from corefine.files import is_folder
from corefine.formats import Format, find_files, format_for, format_of, read, write, write_stream
from corefine.formats.conllu.extra import without_zeros
from corefine.formats.convert import STREAM, Names
from corefine.formats.find import FoundFile
from corefine.formats.lookup import ending_of, knows, renamed
from corefine.formats.source import OnFault
from corefine.formats.writing import refuse_losses
from corefine.models.resolver import Resolver, Result


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How files are read and written.

    read_as, write_as    formats, where endings do not tell
    language             of documents that name none
    lossy                whether what the format cannot express is left out
    skip_faulty          whether documents that cannot be read are left out
    """

    read_as: str | None = None
    write_as: str | None = None
    language: str | None = None
    lossy: bool = False
    skip_faulty: bool = False


def predict_files(
    resolver: Resolver,
    source: str,
    target: str,
    options: Options,
    *,
    on_result: Callable[[Result], None] = lambda _: None,
    on_fault: OnFault = lambda _: None,
) -> None:
    """Predict the entities of every document in a file, a folder or a glob, and write the documents.

    For a folder, the target is a folder with one file for each input file. If its name has the ending of a format that
    holds many documents, all documents go into that one file.

    Predicting takes long, so all files are read first: what cannot be read or expressed is an error before, not after.
    """

    def predicted(documents: Iterator[Document]) -> Iterator[Document]:
        for result in resolver.stream(documents):
            on_result(result)
            yield result.labelled

    def documents_of(places: list[Path], on_fault: OnFault | None = None) -> Iterator[Document]:
        sources: list[Path | BinaryIO] = [*places] or [sys.stdin.buffer]
        for where in sources:
            yield from read(where, options.read_as, language=options.language, on_fault=on_fault)

    leave_out = on_fault if options.skip_faulty else None
    plan = _plan(source, target, options)
    for places, _, format_ in plan:
        names = Names()
        for place in places:
            for document in names.checked(documents_of([place], leave_out), FoundFile(place, place)):
                if not options.lossy:
                    refuse_losses(format_.losses(without_zeros(document).with_clusters([])), format_)

    for places, goal, format_ in plan:
        told = _quiet if places else on_fault  # faults in files were told when they were read first
        documents = predicted(documents_of(places, told if options.skip_faulty else None))
        if goal is None:
            write_stream(documents, sys.stdout.buffer, format_.name, lossy=options.lossy)
        else:
            write(documents, goal, format_.name, lossy=options.lossy)


def _quiet(_: Fault) -> None:
    """A fault that was told before."""


def _plan(source: str, target: str, options: Options) -> list[tuple[list[Path], Path | None, Format]]:
    """The files to read (None: standard input) with their targets (None: standard output), and the format to write."""
    goal = None if target == STREAM else Path(target)
    if source == STREAM:
        return [([], goal, _format(goal, None, options))]
    files = find_files([source], options.read_as)
    one = len(files) == 1 and not is_folder(Path(source))
    if goal is None or (not is_folder(goal) and (one or (knows(goal) and format_for(goal, options.write_as).many))):
        return [([file.path for file in files], goal, _format(goal, files[0].path, options))]
    if goal.is_file():
        raise InputError(f"{source} is a folder, so the result must be one too")
    plan: dict[Path, tuple[list[Path], Path, Format]] = {}
    for path, relative in files:
        format_ = _format(None, path, options)
        place = goal / renamed(relative, format_)
        if place in plan:
            raise InputError(f"{plan[place][0][0]} and {path} would both be written to {place}: rename one of them")
        plan[place] = [path], place, format_
    return list(plan.values())


def _format(goal: Path | None, place: Path | None, options: Options) -> Format:
    """The format to write: the one that is named, or that the goal's ending tells, or that of the input.

    Plain text cannot hold entities, so it becomes JSON lines.
    """
    if options.write_as is not None or (goal is not None and ending_of(goal)):
        return format_for(goal, options.write_as)
    found = format_for(None, options.read_as) if place is None else format_of(place, options.read_as)
    return found if found.name != "text" else format_for(None, "jsonl")
