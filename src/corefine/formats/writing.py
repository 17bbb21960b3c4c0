"""Documents into files. What a format cannot express is counted, and refused unless the caller allows it."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import IO, NamedTuple, cast

from corefine.document import Document, Documents, documents_of
from corefine.errors import InputError, LossError
from corefine.files import AtomicFiles, is_folder
from corefine.formats.lookup import ending_of, format_for
from corefine.formats.registry import Format, Render
from corefine.formats.text import file_stem

OnSkip = Callable[[Document, str], None]
"""Called with a document that was left out, and the reason."""


def write(
    documents: Documents,
    path: str | PathLike[str],
    format: str | None = None,
    *,
    lossy: bool = False,
    on_skip: OnSkip | None = None,
) -> dict[str, int]:
    """Write documents, or results of predictions, to a file (packed if its name ends in .gz), or on an error nothing.

    With `on_skip`, a document that cannot be rendered is left out, and `on_skip` gets it and the reason.

    Formats that hold one document a file (brat, text) take a folder, or a file name for a single document. What the
    format cannot express raises `LossError`; with `lossy` it is left out, and returned as counts by name.
    """
    path = Path(path)
    found = format_for(None if is_folder(path) else path, format)
    with output_files() as files:
        lost = write_files(documents_of(documents), found, path, files, on_skip=on_skip)
        if not lossy:
            refuse_losses(lost, found)
    return dict(lost)


def write_stream(documents: Documents, stream: IO[bytes], format: str, *, lossy: bool = False) -> dict[str, int]:
    """Write documents to a binary stream, up to the first that would lose something."""
    found = format_for(None, format)
    if len(found.files) > 1:
        raise InputError(f"{found.name} is several files: give a path, not a stream")
    return dict(_write_one_by_one(documents_of(documents), found, stream, lossy=lossy))


def write_files(
    documents: Iterable[Document],
    format_: Format,
    path: Path,
    files: AtomicFiles,
    *,
    folder: bool = False,
    on_skip: OnSkip | None = None,
) -> Counter[str]:
    """Write documents to a path, or with `folder` into a folder that may not exist yet; returns what is lost."""
    if not format_.files:
        raise InputError(f"{format_.name} can be read but not written; name another format")
    if format_.many:
        with _open(files, path) as stream:
            return _write_one_by_one(documents, format_, stream, lossy=True, on_skip=on_skip)
    lost: Counter[str] = Counter()
    single = not (folder or is_folder(path) or ending_of(path) == "")
    for number, document in enumerate(documents):
        if single and number:
            raise InputError(f"{path}: {format_.name} holds one document a file; give a folder for several")
        place = path if single else path / (file_stem(document) + format_.endings[0])
        targets = _targets(place, format_)
        rendered = _rendered(document, format_, targets.values(), on_skip)
        if rendered is None:
            continue
        lost += rendered.lost
        for target, content in zip(targets, rendered.files, strict=True):
            with _open(files, target) as stream:
                stream.write(content)
    return lost


def _write_one_by_one(
    documents: Iterable[Document],
    format_: Format,
    stream: IO[bytes],
    *,
    lossy: bool,
    on_skip: OnSkip | None = None,
) -> Counter[str]:
    lost: Counter[str] = Counter()

    def contents() -> Iterator[str | bytes]:
        for number, document in enumerate(documents):
            if number and not format_.many:
                raise InputError(f"{format_.name} holds one document a file; give a folder for several")
            rendered = _rendered(document, format_, format_.files.values(), on_skip)
            if rendered is None:
                continue
            lost.update(rendered.lost)
            if not lossy:
                refuse_losses(lost, format_)
            yield from rendered.files

    for piece in format_.bundle(contents()):
        stream.write(piece if isinstance(piece, bytes) else piece.encode())
    return lost


def refuse_losses(lost: Mapping[str, int], format_: Format) -> None:
    """Raise `LossError` if anything was lost."""
    if lost:
        what = ", ".join(f"{name} ({number})" for name, number in sorted(lost.items()))
        raise LossError(f"{format_.name} cannot express: {what}; --lossy (lossy=True) leaves them out", dict(lost))


@contextmanager
def output_files() -> Iterator[AtomicFiles]:
    """Files that appear together. A file that cannot be written is an `InputError` that names it."""
    try:
        with AtomicFiles() as files:
            yield files
    except OSError as error:
        if (path := error.filename2 or error.filename) is None:
            raise
        raise InputError(f"{path} cannot be written: {error.strerror}") from error


@contextmanager
def _open(files: AtomicFiles, path: Path) -> Iterator[IO[bytes]]:
    with files.open(path) as stream:
        if path.suffix != ".gz":
            yield stream
            return
        # no time stamp and no name, so that equal content gives equal files
        with gzip.GzipFile(fileobj=stream, mode="wb", filename="", mtime=0) as packed:
            yield cast(IO[bytes], packed)


def _targets(place: Path, format_: Format) -> Mapping[Path, Render]:
    """Where each of a document's files goes."""
    if len(format_.files) == 1:
        return dict.fromkeys([place], next(iter(format_.files.values())))
    packed = ".gz" if place.suffix == ".gz" else ""
    base = place.with_suffix("") if packed else place
    return {base.with_suffix(ending + packed): render for ending, render in format_.files.items()}


class _Rendered(NamedTuple):
    lost: Counter[str]
    files: list[bytes]


def _rendered(
    document: Document, format_: Format, renders: Iterable[Render], on_skip: OnSkip | None
) -> _Rendered | None:
    """What a document is in a format; None, and a call of `on_skip`, if it cannot be rendered."""
    if on_skip is None:
        return _Rendered(format_.losses(document), [_bytes(document, render) for render in renders])
    try:
        return _Rendered(format_.losses(document), [_bytes(document, render) for render in renders])
    except Exception as error:  # one bad document must not stop the others
        on_skip(document, str(error) or type(error).__name__)
        return None


def _bytes(document: Document, render: Render) -> bytes:
    try:
        content = render(document)
        return content if isinstance(content, bytes) else content.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"document {document.key} holds half a character, which UTF-8 cannot express") from error
    except (TypeError, RecursionError) as error:
        raise InputError(f"document {document.key}: its extra cannot be written: {error}") from error
