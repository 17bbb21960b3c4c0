"""What a project gives: annotated documents in any format, where each link comes from, the model, a report."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from corefine import __version__, formats
from corefine.document import Document
from corefine.errors import InputError
from corefine.files import write_atomically
from corefine.project.project import Project
from corefine.project.results import provenance
from corefine.project.results.merged import Merged, merged
from corefine.project.results.report import report
from corefine.project.store import predictions
from corefine.project.store.documents import DocumentInfo
from corefine.project.store.predictions import EMPTY, READY, TRAINED

PROVENANCE, REPORT, MODEL = "provenance", "report", "model"
ABOUT = {
    "jsonl": "annotated documents as JSON lines, with all that corefine knows of them",
    "conll": "annotated documents as CoNLL-2012; no source text, no mentions with gaps",
    "conllu": "annotated documents as CoNLL-U with CorefUD's entities; no source text",
    "brat": "annotated documents as brat standoff, a pair of files each; no speakers, no layers",
    "text": "the texts alone, a file each",
}


@dataclass(frozen=True, slots=True)
class ExportKind:
    """Something that can be exported; `ending` is empty for a folder."""

    name: str
    ending: str
    about: str


def kinds() -> list[ExportKind]:
    """All that can be exported: every format that is written, and three kinds of our own."""
    known = [
        ExportKind(
            each.name, each.endings[0] if each.many else "", ABOUT.get(each.name, f"annotated documents as {each.name}")
        )
        for each in formats.FORMATS.values()
    ]
    return [
        *known,
        ExportKind(PROVENANCE, ".json", "for each link: who said it, what it follows from, or the model's probability"),
        ExportKind(
            REPORT, ".html", "one page about the project: what was done, the learning curve, agreement and times"
        ),
        ExportKind(MODEL, "", "the trained model, as `corefine predict --model` takes it"),
    ]


def missing(project: Project, kind: str) -> str | None:
    """Why something cannot be exported yet; None if it can."""
    if kind == MODEL and _trained(project) is None:
        return "no model has been trained in this project yet"
    if kind in formats.FORMATS and all(entry.held_out for entry in project.documents.all()):
        return "there are no documents to export"
    return None


def labelled(project: Project, *, answered_only: bool = False) -> Iterator[tuple[DocumentInfo, Merged, int | None]]:
    """Every document under everybody's answers and the newest model that has read it."""
    with project.database.read() as connection:
        ready = [version.id for version in predictions.all_versions(connection) if version.state == READY]
    for entry in project.documents.all():
        if entry.held_out:
            continue
        version = project.predictions.newest(ready, entry.id)
        prediction = EMPTY if version is None else project.predictions.load(version, entry.id)
        found = merged(project, entry.id, prediction)
        if found.session.entries or not answered_only:
            yield entry, found, version


def documents(project: Project, *, answered_only: bool = False) -> Iterator[Document]:
    for _, found, _ in labelled(project, answered_only=answered_only):
        yield found.session.relabelled()


def export(
    project: Project, path: Path, kind: str | None = None, *, answered_only: bool = False, lossy: bool = False
) -> dict[str, int]:
    """Write one kind of export; without `kind`, the one that the path's ending tells. Returns what got lost."""
    kind = kind or _kind_of(path)
    if kind == PROVENANCE:
        found = [
            provenance.describe(project, each, version)
            for _, each, version in labelled(project, answered_only=answered_only)
        ]
        text = json.dumps({"corefine": __version__, "documents": found}, ensure_ascii=False, indent=1)
        write_atomically(path, text.encode())
    elif kind == REPORT:
        write_atomically(path, report(project).encode())
    elif kind == MODEL:
        _copy_model(project, path)
    else:
        every = list(documents(project, answered_only=answered_only))
        if not every:
            raise InputError("there are no documents to export")
        if not formats.format_for(path, kind).many:
            path.mkdir(parents=True, exist_ok=True)
        return formats.write(every, path, kind, lossy=lossy)
    return {}


def _kind_of(path: Path) -> str | None:
    return {".json": PROVENANCE, ".html": REPORT}.get(path.suffix)


def _copy_model(project: Project, path: Path) -> None:
    trained = _trained(project)
    if trained is None:
        raise InputError("no model has been trained in this project yet")
    if path.exists():
        raise InputError(f"{path} is there already: name a folder that is not")
    shutil.copytree(project.models / f"v{trained}", path)


def _trained(project: Project) -> int | None:
    """The newest version that was trained on the project's answers."""
    with project.database.read() as connection:
        every = predictions.all_versions(connection)
    return max((each.id for each in every if each.kind == TRAINED and each.state == READY), default=None)
