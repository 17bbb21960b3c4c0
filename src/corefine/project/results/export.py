"""What can be exported: annotated documents in any format, where each link comes from, the model, a report."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from corefine import __version__, formats
from corefine.errors import InputError
from corefine.files import write_atomically
from corefine.project.project import Project
from corefine.project.results import provenance
from corefine.project.results.merged import Merged, merged
from corefine.project.results.report import report
from corefine.project.store import predictions

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
    ending: str
    about: str


def kinds() -> list[ExportKind]:
    """Every format that is written, and three kinds of our own."""
    found = []
    for each in formats.FORMATS.values():
        if not each.files:
            continue
        about = ABOUT.get(each.name, f"annotated documents as {each.name}")
        found.append(ExportKind(each.name, each.endings[0] if each.many else "", about))
    return [
        *found,
        ExportKind(PROVENANCE, ".json", "for each link: who said it, what it follows from, or the model's probability"),
        ExportKind(REPORT, ".html", "one page about the project: answers, learning curve, agreement and times"),
        ExportKind(MODEL, "", "the trained model, as `corefine predict --model` takes it"),
    ]


def missing(project: Project, kind: str) -> str | None:
    """Why something cannot be exported yet; None if it can."""
    if kind == MODEL and _trained(project) is None:
        return NO_MODEL
    if kind in formats.FORMATS and all(document.held_out for document in project.documents.all()):
        return NO_DOCUMENTS
    return None


def export(
    project: Project, path: Path, kind: str | None = None, *, answered_only: bool = False, lossy: bool = False
) -> dict[str, int]:
    """Write one kind of export; without `kind`, the one that the path's ending tells. Returns what got lost."""
    kind = kind or {".json": PROVENANCE, ".html": REPORT}.get(path.suffix)
    if kind == PROVENANCE:
        found = [provenance.describe(project, each, version) for each, version in _merged(project, answered_only)]
        text = json.dumps({"corefine": __version__, "documents": found}, ensure_ascii=False, indent=1)
        write_atomically(path, text.encode())
    elif kind == REPORT:
        write_atomically(path, report(project).encode())
    elif kind == MODEL:
        _copy_model(project, path)
    else:
        relabelled = [each.session.relabelled() for each, _ in _merged(project, answered_only)]
        if not relabelled:
            raise InputError(NO_DOCUMENTS)
        if not formats.format_for(path, kind).many:
            path.mkdir(parents=True, exist_ok=True)
        return formats.write(relabelled, path, kind, lossy=lossy)
    return {}


def _merged(project: Project, answered_only: bool) -> Iterator[tuple[Merged, int | None]]:
    """Every document under everybody's answers and the newest model that has read it, and that model's version."""
    for document in project.documents.all():
        if not document.held_out:
            version, prediction = project.newest_prediction(document.id)
            found = merged(project, document.id, prediction)
            if found.session.entries or not answered_only:
                yield found, version


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
