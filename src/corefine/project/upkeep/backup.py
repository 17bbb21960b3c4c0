"""Backups: one file with everything in a project that cannot be computed again, its database and its trained models.

The file is a zip archive. Its database is always SQLite, even for a project in PostgreSQL, so that it can be restored
into either. It is a consistent copy, even if a server keeps writing meanwhile.
"""

from __future__ import annotations

import errno
import json
import os
import re
import secrets
import shutil
import sqlite3
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Generic, TypeVar

from sqlalchemy import Connection, Table, delete, func, insert, inspect, select, text
from sqlalchemy.exc import DBAPIError

from corefine import __version__
from corefine.errors import InputError
from corefine.files import AtomicFiles, make_private, sha256_of
from corefine.formats.archive import DAMAGE, reason
from corefine.project.project import SQLITE, Project
from corefine.project.store import documents, predictions, schema, settings
from corefine.project.store.database import Database, sqlite_url
from corefine.project.upkeep.checking import check_database

FORMAT = 1
MANIFEST = "backup.json"
LARGEST_MANIFEST = 10_000_000
ROWS_AT_ONCE = 1000
RESTORING = ".restore-"
"""The folder in which a backup is unpacked begins with this, and with the time that `settings.RESTORED` gets."""
T = TypeVar("T")

_ALLOWED = re.compile(r"project\.sqlite|models/v\d{1,9}/[\w.-]{1,200}")


def backup(project: Project, path: Path, *, models: bool = True) -> dict[str, int]:
    """Write a backup, readable by its owner only. Returns the number of rows of each table, and of model files."""
    if path.exists():
        raise InputError(f"{path.name} is there already: name a file that is not")
    try:
        with TemporaryDirectory(
            prefix=".corefine-backup-", dir=path.absolute().parent, ignore_cleanup_errors=True
        ) as folder:
            copy = Path(folder) / SQLITE
            counts = _copy_database(project.database, copy)
            files = {SQLITE: copy}
            if models:
                files |= {file.relative_to(project.folder).as_posix(): file for file in _model_files(project)}
            _write(path, files, counts)
    except OSError as error:
        raise InputError(f"{path.name} cannot be written: {error.strerror or error}") from error
    return {**counts, "model files": len(files) - 1}


def restore(path: Path, folder: Path, *, database: str | None = None) -> None:
    """Make a project from a backup, in a new folder and, if given, an empty PostgreSQL database."""
    folder = folder.expanduser().resolve()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} is not empty: a backup is restored into a new folder; nothing was changed")
    with _opened(path) as (archive, files):
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            with TemporaryDirectory(prefix=f".{folder.name[:50]}-", dir=folder.parent) as made:
                _unpack(archive, files, Path(made) / "project")
                if database is not None:
                    _fill_database(Path(made) / "project" / SQLITE, database)
                if folder.exists():
                    folder.rmdir()
                (Path(made) / "project").rename(folder)
        except OSError as error:
            raise InputError(f"{folder} cannot be written: {error.strerror or error}") from error
    with Project(folder, database=database):
        pass  # runs the migrations


@dataclass(frozen=True, slots=True)
class RestoredHere(Generic[T]):
    """The result of `restore_here`: `kept` is a backup of the previous data, `result` is what `then` returned."""

    kept: Path
    documents: int
    result: T


def restore_here(project: Project, path: Path, then: Callable[[Connection], T]) -> RestoredHere[T]:
    """Replace all data of a project by a backup while its server runs. Nobody may be served meanwhile.

    `then` runs in the transaction that replaces the rows, so that both are done, or neither. The caller must drop
    what it has in memory, even if this raises. Predictions are made again by the background process.
    """
    at = time.time()
    kept = project.folder / f"before-restore-{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}.zip"
    with _opened(path) as (archive, files):
        try:
            with TemporaryDirectory(prefix=f"{RESTORING}{at}-", dir=project.folder, ignore_cleanup_errors=True) as made:
                folder = Path(made) / "project"
                _unpack(archive, files, folder)
                backup(project, kept)
                with (
                    _rows_of(folder / SQLITE) as rows,
                    _swapped(project.models, folder / "models"),
                    _swapped(project.predictions.folder, folder / "predictions"),  # none, if this is killed
                ):
                    restored = project.writer.write(lambda connection: _replace_rows(rows, connection, at, then))
                _remove(project.predictions.folder, Path(made) / "predictions")  # what the worker has made meanwhile
        except OSError as error:
            raise InputError(f"the backup cannot be restored here: {error.strerror or error}") from error
        except DBAPIError as error:
            if project.database.is_lost(error):  # the rows may have been replaced: drop the old predictions
                shutil.rmtree(project.predictions.folder, ignore_errors=True)
            raise
    return RestoredHere(kept, *restored)


def end_killed_restore(project: Project) -> None:
    """Put the models back that a server had moved when it was killed before it replaced the rows."""
    with project.database.read() as connection:
        at: float | None = settings.get(connection, settings.RESTORED)
    for folder in project.folder.glob(f"{RESTORING}*"):
        models = _aside(folder / "project" / "models")
        if models.is_dir() and not folder.name.startswith(f"{RESTORING}{at}-"):
            _put_back(models, project.models)
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _rows_of(path: Path) -> Iterator[Connection]:
    """The rows of the database in a backup, which an earlier version may have made."""
    source = Database(sqlite_url(path))
    try:
        try:
            source.upgrade()
            is_whole = not list(check_database(source))
        except InputError as error:
            raise InputError("the backup is damaged, or was made by a newer corefine") from error
        if not is_whole:
            raise InputError("the backup is damaged: its database cannot be read")
        with source.read() as connection:
            yield connection
    finally:
        source.close()


def _replace_rows(source: Connection, target: Connection, at: float, then: Callable[[Connection], T]) -> tuple[int, T]:
    """Replace the rows of all tables except that of the writers, which has a row of this server.

    Returns how many documents people are asked about then, and what `then` returns.
    """
    if any(version.state == predictions.TRAINING for version in predictions.all_versions(target)):
        raise InputError("the model is being trained: wait until it is done, then restore")
    present = settings.load(target)
    for table in reversed(schema.metadata.sorted_tables):
        if table is not schema.writers:
            target.execute(delete(table))
    _insert_rows(source, target, besides=schema.writers)
    settings.check_code(settings.load(target), present)
    settings.put(target, settings.RESTORED, at)
    return len(documents.to_annotate(target)), then(target)


@contextmanager
def _swapped(folder: Path, other: Path) -> Iterator[None]:
    """Replace a folder by another, which may be missing. If the block raises, the old one is put back."""
    with ExitStack() as back:
        for source, target in ((folder, _aside(other)), (other, folder)):
            if source.is_dir():
                source.rename(target)
                back.callback(_put_back, target, source)
        yield
        back.pop_all()


def _aside(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.before")


def _put_back(aside: Path, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)  # the background process may have made it again
    aside.rename(folder)


def _remove(folder: Path, aside: Path) -> None:
    """Remove a folder in one step: a half-removed one would be taken for a whole one."""
    try:
        folder.rename(aside)
    except OSError:
        shutil.rmtree(folder, ignore_errors=True)


# Writing


def _copy_database(database: Database, target: Path) -> dict[str, int]:
    """A consistent copy of the database."""
    if database.is_sqlite:
        with database.read() as connection, closing(sqlite3.connect(target)) as copy:
            driver: Any = connection.connection.dbapi_connection
            driver.backup(copy)
            copy.execute("PRAGMA journal_mode=DELETE")  # one file
    made = Database(sqlite_url(target))
    try:
        if not database.is_sqlite:
            made.upgrade()
            with database.engine.connect().execution_options(isolation_level="REPEATABLE READ") as source_rows:
                copy_rows(source_rows, made)
        with made.read() as connection:
            present = set(inspect(connection).get_table_names())
            tables = [table for table in schema.metadata.sorted_tables if table.name in present]
            return {
                table.name: connection.execute(select(func.count()).select_from(table)).scalar_one() for table in tables
            }
    finally:
        made.close()


def copy_rows(source: Connection, target: Database) -> None:
    """Copy all rows into a database that has the tables and no rows."""
    with target.write() as connection:
        _insert_rows(source, connection)


def _insert_rows(source: Connection, target: Connection, *, besides: Table | None = None) -> None:
    for table in schema.metadata.sorted_tables:
        if table is not besides:
            found = source.execution_options(yield_per=ROWS_AT_ONCE).execute(select(table))
            for part in found.mappings().partitions(ROWS_AT_ONCE):
                target.execute(insert(table), [dict(row) for row in part])
    if target.dialect.name != "sqlite":
        _reset_counters(target)


def _reset_counters(connection: Connection) -> None:
    """Let PostgreSQL's sequences continue after the copied rows."""
    for table in schema.metadata.sorted_tables:
        sequence = None
        if "id" in table.c and table.name != "writers":
            sequence = connection.execute(
                text("SELECT pg_get_serial_sequence(:table, 'id')"), {"table": table.name}
            ).scalar()
        if sequence is not None:
            last = connection.execute(select(func.max(table.c.id))).scalar()
            if last is not None:
                connection.execute(text("SELECT setval(:sequence, :last)"), {"sequence": sequence, "last": last})


def _model_files(project: Project) -> Iterator[Path]:
    for file in sorted(project.models.glob("v*/*")):
        if file.is_file() and _ALLOWED.fullmatch(file.relative_to(project.folder).as_posix()):
            yield file


def _write(path: Path, files: dict[str, Path], counts: dict[str, int]) -> None:
    hashes = {name: sha256_of(file) for name, file in files.items()}
    about = {"format": FORMAT, "corefine": __version__, "made_at": time.time(), "rows": counts, "files": hashes}
    with (
        AtomicFiles(private=True) as output,
        output.open(path) as stream,
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
    ):
        archive.writestr(MANIFEST, json.dumps(about, indent=1))
        for name, file in files.items():
            archive.write(file, name)


# Reading


@contextmanager
def _opened(path: Path) -> Iterator[tuple[zipfile.ZipFile, dict[str, str]]]:
    """A backup, and the hashes of its files by their names."""
    with ExitStack() as open_files:
        try:
            archive = open_files.enter_context(zipfile.ZipFile(path))
            if archive.getinfo(MANIFEST).file_size > LARGEST_MANIFEST:
                raise ValueError("its list of files is too long")
            manifest = json.loads(archive.read(MANIFEST))
            made_by, files = manifest["corefine"], dict(manifest["files"])
            newer = manifest["format"] > FORMAT
            good = SQLITE in files and all(_ALLOWED.fullmatch(name) for name in files)
        except (*DAMAGE, LookupError, TypeError, RecursionError) as error:
            raise InputError(
                f"{path.name} is not a backup of a corefine project, or is damaged: {reason(error)}"
            ) from error
        if newer:
            raise InputError(f"{path.name} was made by a newer corefine ({made_by}): upgrade")
        if not good:
            raise InputError(f"{path.name} is not a backup of a corefine project")
        yield archive, files


def _unpack(archive: zipfile.ZipFile, files: dict[str, str], folder: Path) -> None:
    """Unpack the files, and compare them with what the backup says they were."""
    folder.mkdir(mode=0o700)
    sizes = {info.filename: info.file_size for info in archive.infolist()}
    if sum(sizes.get(name, 0) for name in files) > shutil.disk_usage(folder).free:
        raise InputError("the backup is larger than the room on the disk")
    for name, expected in files.items():
        target = folder / name
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            with archive.open(name) as packed, target.open("xb") as out:
                shutil.copyfileobj(packed, out, 1 << 20)
                out.flush()
                os.fsync(out.fileno())
        except (*DAMAGE, LookupError) as error:
            if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
                raise  # the disk's fault, not that of the backup
            raise InputError(f"the backup is damaged: {name} cannot be unpacked: {reason(error)}") from error
        make_private(target)
        if sha256_of(target) != expected:
            raise InputError(f"the backup is damaged: {name} is not what was backed up")


def _fill_database(copy: Path, url: str) -> None:
    """Copy the rows into an empty PostgreSQL database, and remove the SQLite file."""
    source, target = Database(sqlite_url(copy)), Database(url)
    try:
        if target.is_sqlite:
            raise InputError("--database takes a PostgreSQL URL; without it, the backup is restored into the folder")
        with target.read() as connection:
            if inspect(connection).get_table_names():
                raise InputError(f"the database {target.name} is not empty: nothing was changed")
        source.upgrade()
        target.upgrade()
        with source.read() as connection:
            copy_rows(connection, target)
    except DBAPIError as error:
        raise InputError(f"the database {target.name} cannot be filled: {error.orig}") from error
    finally:
        source.close()
        target.close()
    for file in copy.parent.glob(f"{SQLITE}*"):
        file.unlink()
