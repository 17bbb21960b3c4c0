"""Makes a new SQLite database from all rows that can be read in a damaged one."""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Table, insert, inspect, select
from sqlalchemy.exc import DBAPIError

from corefine.errors import InputError
from corefine.files import make_private
from corefine.project.project import SQLITE
from corefine.project.store import people, schema
from corefine.project.store.database import Database, sqlite_url

LARGEST = 2**62
MOST_TRIES = 20_000
"""How many damaged places of a table are skipped."""
MOST_IN_VAIN = 4_000
"""After so many tries without a row, the rest of a table is given up."""


def salvage(folder: Path) -> list[str]:
    """Replace the damaged database of a project, which is kept beside it. Returns what was done."""
    path = folder / SQLITE
    stamp = time.strftime("%Y%m%d-%H%M%S")
    new, old = folder / f"{SQLITE}.new", folder / f"{SQLITE}.damaged-{stamp}"
    _remove(new)
    try:
        counts, lost, added = _save_rows(path, new)
    except (DBAPIError, sqlite3.Error) as error:
        _remove(new)
        raise InputError(
            f"nothing can be read of {path.name} ({error}): restore a backup with `corefine project restore`; "
            "nothing was changed"
        ) from error
    _swap(path, new, old)
    rows = ", ".join(f"{name} {number}" for name, number in counts.items() if number)
    done = [f"a new database was made from what can be read ({rows}); the damaged one is {old.name}"]
    done += [f"{number} places of table {name} could not be read" for name, number in lost.items() if number]
    return done + added


def _save_rows(path: Path, new: Path) -> tuple[Counter[str], Counter[str], list[str]]:
    """Copy what can be read into a new database. Returns rows copied, places lost, and what was put in their place."""
    made = Database(sqlite_url(new))
    try:
        made.upgrade()
        with closing(_open(path)) as source, made.write() as connection:
            connection.exec_driver_sql("PRAGMA defer_foreign_keys=ON")
            counts, lost = _copy(source, connection)
            if not counts["documents"] and not counts["events"]:
                raise sqlite3.DatabaseError("no document and no answer is left")
            added = _fill_in(connection)
            if lost["people"]:
                added += _stay_closed(connection)
        with made.engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        made.close()
    return counts, lost, added


def _remove(database: Path) -> None:
    for ending in ("", "-wal", "-shm", "-journal"):
        Path(f"{database}{ending}").unlink(missing_ok=True)


def _open(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=5.0)
    connection.row_factory = sqlite3.Row
    connection.text_factory = lambda content: content.decode("utf-8", "replace")
    return connection


def _copy(source: sqlite3.Connection, target: Connection) -> tuple[Counter[str], Counter[str]]:
    """Copy all tables. Returns how many rows were copied, and how many stretches could not be read."""
    counts: Counter[str] = Counter()
    lost: Counter[str] = Counter()
    columns = {table.name: {c["name"] for c in inspect(target).get_columns(table.name)} for table in _tables()}
    for table in _tables():
        for row in _rows(source, table.name, lost):
            values = {name: row[name] for name in row.keys() if name in columns[table.name]}  # noqa: SIM118
            try:
                with target.begin_nested():
                    target.execute(insert(table).values(values))
                counts[table.name] += 1
            except (DBAPIError, ValueError, TypeError):  # not a row of this table
                lost[table.name] += 1
    return counts, lost


def _tables() -> list[Table]:
    return [table for table in schema.metadata.sorted_tables if table.name != "writers"]


def _rows(source: sqlite3.Connection, table: str, lost: Counter[str]) -> Iterator[sqlite3.Row]:
    """All rows that can be read: up to a damaged page, then in pieces after it."""
    query = f'SELECT rowid AS "_rowid_", * FROM "{table}" NOT INDEXED WHERE rowid BETWEEN ? AND ? ORDER BY rowid'
    waiting = [(0, LARGEST)]  # all row ids start at 1
    tries = in_vain = 0
    while waiting and tries < MOST_TRIES and in_vain < MOST_IN_VAIN:
        first, last = waiting.pop()
        reached = first
        try:
            for row in source.execute(query, (first, last)):
                reached = row["_rowid_"] + 1
                in_vain = 0
                yield row
        except sqlite3.Error as error:
            tries += 1
            in_vain += 1
            if "no such table" in str(error) or "not a database" in str(error):
                lost[table] += 1
                return
            end = _last(source, table, reached, last)
            if end is None or reached >= end:
                lost[table] += 1
                continue
            middle = (reached + end) // 2
            waiting += [(middle + 1, end), (reached, middle)]


def _last(source: sqlite3.Connection, table: str, first: int, last: int) -> int | None:
    """An upper bound for the remaining row ids: the last one if it can be read, otherwise a guess."""
    try:
        query = f'SELECT rowid FROM "{table}" NOT INDEXED WHERE rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT 1'
        row = source.execute(query, (first, last)).fetchone()
        return None if row is None else int(row[0])
    except sqlite3.Error:
        return last if last < LARGEST else first + (1 << 22)


def _fill_in(connection: Connection) -> list[str]:
    """Add placeholders for lost rows that others refer to, so that no answer is lost with its document."""
    done: list[str] = []
    keys: dict[str, set[int]] = {"documents": set(), "people": set()}
    for table in _tables():
        for column in table.columns:
            for key in column.foreign_keys:
                if key.column.table.name in keys:
                    keys[key.column.table.name] |= set(connection.execute(select(column).distinct()).scalars())
    have = {name: set(connection.execute(select(schema.metadata.tables[name].c.id)).scalars()) for name in keys}
    for name, fields in (("documents", _document), ("people", _person)):
        for number in sorted(keys[name] - have[name]):
            connection.execute(insert(schema.metadata.tables[name]).values(fields(number)))
            done.append(f"number {number} of {name} could not be read: it has a placeholder")
    return done


def _stay_closed(connection: Connection) -> list[str]:
    """A project that nobody was invited to is open to everybody. Add a placeholder, so that this one is not."""
    if people.anybody_invited(connection):
        return []
    number = 1 + max((person.id for person in people.everybody(connection)), default=0)
    connection.execute(insert(schema.people).values(_person(number)))
    return ["people could not be read: everybody needs a new link"]


def _document(number: int) -> dict[str, Any]:
    empty = {"part": 0, "tokens": 0, "content": "", "has_gold": False, "held_out": False, "added_at": time.time()}
    return {"id": number, "name": f"lost document {number}", **empty}


def _person(number: int) -> dict[str, Any]:
    now = time.time()
    return {"id": number, "name": f"lost person {number}", "role": "annotator", "active": False, "created_at": now}


def _swap(path: Path, new: Path, old: Path) -> None:
    """Put the new database in place of the damaged one. At any moment one of them is there."""
    for ending in ("-wal", "-shm"):
        side = Path(f"{path}{ending}")
        if side.exists():
            side.replace(f"{old}{ending}")
    old.hardlink_to(path)
    new.replace(path)
    for file in (path, old):
        make_private(file)
    for ending in ("-wal", "-shm"):
        Path(f"{new}{ending}").unlink(missing_ok=True)
