"""Documents into files. What a format cannot express is counted, and refused unless the caller allows it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import IO

from corefine.document import Document
from corefine.errors import InputError, LossError
from corefine.formats.files import Staged, is_folder
from corefine.formats.naming import stem_of
from corefine.formats.registry import Format, ending_of

Lost = Counter[str]


def put(documents: Iterable[Document], format_: Format, path: Path, files: Staged, *, folder: bool = False) -> Lost:
    """Stage documents at a path, and say what is lost. A format with a file a document takes a folder as well."""
    lost: Lost = Counter()
    if format_.many:
        with files.open(path) as stream:
            for document in documents:
                lost += format_.losses(document)
                stream.write(_bytes(document, *format_.files.values()))
        return lost
    single = not (folder or is_folder(path) or ending_of(path) == "")
    for number, document in enumerate(documents):
        if single and number:
            raise InputError(f"{path}: {format_.name} holds one document a file; give a folder for several")
        lost += format_.losses(document)
        place = path if single else path / (stem_of(document) + format_.endings[0])
        for target, render in _targets(place, format_).items():
            with files.open(target) as stream:
                stream.write(_bytes(document, render))
    return lost


def put_on_stream(documents: Iterable[Document], format_: Format, stream: IO[bytes], *, lossy: bool) -> Lost:
    """Write documents to a stream, up to the first that would lose something."""
    if len(format_.files) > 1:
        raise InputError(f"{format_.name} is several files: give a path, not a stream")
    lost: Lost = Counter()
    for number, document in enumerate(documents):
        if number and not format_.many:
            raise InputError(f"{format_.name} holds one document a file; give a folder for several")
        lost += format_.losses(document)
        if not lossy:
            refuse(lost, format_)
        stream.write(_bytes(document, *format_.files.values()))
    return lost


def refuse(lost: Lost, format_: Format) -> None:
    """Raise if anything was lost."""
    if lost:
        what = ", ".join(f"{name} ({number})" for name, number in sorted(lost.items()))
        raise LossError(f"{format_.name} cannot express: {what}; --lossy (lossy=True) leaves them out", dict(lost))


def _targets(place: Path, format_: Format) -> Mapping[Path, Callable[[Document], str]]:
    """Where each of a document's files goes."""
    if len(format_.files) == 1:
        return dict.fromkeys([place], next(iter(format_.files.values())))
    packed = ".gz" if place.suffix == ".gz" else ""
    base = place.with_suffix("") if packed else place
    return {base.with_suffix(ending + packed): render for ending, render in format_.files.items()}


def _bytes(document: Document, render: Callable[[Document], str]) -> bytes:
    try:
        return render(document).encode()
    except UnicodeEncodeError as error:
        raise InputError(f"document {document.key} holds half a character, which UTF-8 cannot express") from error
    except (TypeError, RecursionError) as error:
        raise InputError(f"document {document.key}: its extra cannot be written: {error}") from error
