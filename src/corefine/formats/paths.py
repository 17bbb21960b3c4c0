"""Which files a path, folder or pattern means."""

from __future__ import annotations

from glob import has_magic
from pathlib import Path
from typing import NamedTuple

from corefine.errors import InputError
from corefine.formats import registry
from corefine.formats.files import is_folder


class Found(NamedTuple):
    """A file, and its path from where the search began."""

    path: Path
    relative: Path


def find(where: str, format: str | None = None) -> list[Found]:
    """The file; or all files of a known format, or the named one, in a folder and below it; or what a glob matches."""
    path = Path(where)
    if is_folder(path):
        found = [Found(file, file.relative_to(path)) for file in _inside(path, format)]
    elif _is_there(path):
        return [Found(path, Path(path.name))]
    elif has_magic(where):
        root = _fixed(path)
        matches = sorted(root.glob(str(path.relative_to(root))))
        files = dict.fromkeys(f for match in matches for f in (_inside(match, format) if is_folder(match) else [match]))
        found = [Found(file, file.relative_to(root)) for file in files]
    else:
        raise InputError(f"{where}: there is no such file or folder")
    if not found:
        raise InputError(f"{where}: no file of {f'the format {format}' if format else 'a known format'} there")
    return found


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _inside(folder: Path, format: str | None) -> list[Path]:
    endings = registry.format_for(None, format).endings if format else None
    return [
        file
        for file in sorted(folder.rglob("*"))
        if file.is_file()
        and not any(part.startswith(".") for part in file.relative_to(folder).parts)
        and (registry.ending_of(file) in endings if endings else registry.knows(file))
        and not (format is None and _is_text_of_brat(file))
    ]


def _is_text_of_brat(file: Path) -> bool:
    """Whether annotations lie beside a text: the pair is then one document."""
    base = file.with_suffix("") if file.suffix == ".gz" else file
    beside = base.with_suffix(".ann")
    return base.suffix == ".txt" and (beside.exists() or beside.with_name(f"{beside.name}.gz").exists())


def _fixed(pattern: Path) -> Path:
    """The part of a pattern before its first wildcard."""
    parts = list(pattern.parts[:-1])
    while any(has_magic(part) for part in parts):
        parts.pop()
    return Path(*parts)
