"""What can be exported: annotated documents in any format, where each link comes from, the model, a report."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from corefine import __version__, formats
from corefine.document import Document
from corefine.errors import InputError
from corefine.files import write_atomically
from corefine.project.project import Project
from corefine.project.results import provenance
from corefine.project.results.merged import merged, relabelled
from corefine.project.results.report import report
from corefine.project.results.snapshot import Only, Skipped, Snapshot
from corefine.project.store import predictions
from corefine.project.store.documents import DocumentInfo
from corefine.project.store.predictions import EMPTY

PROVENANCE, REPORT, MODEL = "provenance", "report", "model"
NO_MODEL = "no model has been trained in this project yet"
NO_DOCUMENTS = "there are no documents to export"
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
    title: str
    ending: str
    about: str


def kinds() -> list[ExportKind]:
    """Every format that is written, and three kinds of our own."""
    found = []
    for each in formats.FORMATS.values():
        if not each.files:
            continue
        about = ABOUT.get(each.name, f"annotated documents for {each.title}")
        found.append(ExportKind(each.name, each.title, each.endings[0] if each.many else "", about))
    return [
        *found,
        ExportKind(
            PROVENANCE,
            "Provenance",
            ".json",
            "for each link: who said it, what it follows from, or the model's probability",
        ),
        ExportKind(
            REPORT, "Report", ".html", "one page about the project: answers, learning curve, agreement and times"
        ),
        ExportKind(MODEL, "Model", "", "the trained model, as `corefine predict --model` takes it"),
    ]


def missing(project: Project, kind: str) -> str | None:
    """Why something cannot be exported yet; None if it can."""
    if kind == MODEL and _trained(project) is None:
        return NO_MODEL
    if kind in formats.FORMATS and all(document.held_out for document in project.documents.all()):
        return NO_DOCUMENTS
    return None


@dataclass(frozen=True, slots=True)
class Exported:
    """The losses, counted by name, and the documents that were left out because they cannot be read or written."""

    lost: dict[str, int] = field(default_factory=dict)
    skipped: Skipped = field(default_factory=list)


def export(
    project: Project,
    path: Path,
    kind: str | None = None,
    *,
    only: Only = "all",
    said: bool = False,
    lossy: bool = False,
) -> Exported:
    """Write one kind of export. Without `kind`, the ending of the path decides.

    only    which documents to export
    said    export only what people said and what follows from it, without the model
    lossy   leave out what the format cannot express, instead of raising

    A document that cannot be read or written is left out and named; the others are exported.
    """
    kind = kind or {".json": PROVENANCE, ".html": REPORT}.get(path.suffix)
    if kind == REPORT:
        write_atomically(path, report(project).encode())
    elif kind == MODEL:
        _copy_model(project, path)
    elif kind == PROVENANCE:
        return _export_provenance(Snapshot(project), path, only)
    else:
        return _export_documents(Snapshot(project), path, kind, only=only, said=said, lossy=lossy)
    return Exported()


def _export_provenance(snapshot: Snapshot, path: Path, only: Only) -> Exported:
    def described(info: DocumentInfo) -> dict[str, Any]:
        version, prediction = snapshot.prediction(info.id)
        return provenance.describe(merged(snapshot, info.id, prediction), version, snapshot.names)

    found = [each for _, each in snapshot.each(described, only=only)]
    about = {"corefine": __version__, "documents": found, "skipped": dict(snapshot.skipped)}
    write_atomically(path, json.dumps(about, ensure_ascii=False, indent=1).encode())
    return Exported(skipped=snapshot.skipped)


def _export_documents(
    snapshot: Snapshot, path: Path, kind: str | None, *, only: Only, said: bool, lossy: bool
) -> Exported:
    def read(info: DocumentInfo) -> Document:
        return relabelled(snapshot, info.id, EMPTY if said else snapshot.prediction(info.id)[1])

    if not snapshot.chosen(only):
        raise InputError(NO_DOCUMENTS if only == "all" else f"{NO_DOCUMENTS}: none is {only}")
    if not formats.format_for(path, kind).many:
        path.mkdir(parents=True, exist_ok=True)
    skipped = snapshot.skipped
    documents = (document for _, document in snapshot.each(read, only=only))
    lost = formats.write(
        documents, path, kind, lossy=lossy, on_skip=lambda document, why: skipped.append((document.key, why))
    )
    return Exported(lost, skipped)


def _copy_model(project: Project, path: Path) -> None:
    trained = _trained(project)
    if trained is None:
        raise InputError(NO_MODEL)
    if path.exists():
        raise InputError(f"{path} is there already: name a folder that is not")
    folder = project.models / f"v{trained}"
    if not folder.is_dir():
        raise InputError(f"the files of model version {trained} are gone: train again, or restore them from a backup")
    shutil.copytree(folder, path)


def _trained(project: Project) -> int | None:
    """The newest version that was trained on the project's answers."""
    with project.database.read() as connection:
        versions = predictions.all_versions(connection)
    ready = [version.id for version in versions if version.kind == predictions.TRAINED and version.is_ready]
    return max(ready, default=None)
