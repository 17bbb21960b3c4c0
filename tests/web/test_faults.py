"""Every database call of every route that writes fails once, before it takes effect and after.

Then: what was acknowledged is there once, what was refused is not there or is repeated rightly, memory is what the log
replays to, and after a restart everything can still be read and exported.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from corefine.project import Project
from corefine.web.app import create_app
from helpers.fault_trial import trying
from helpers.fault_writes import WRITES, answer, log_in, restore, undo
from helpers.projects import fresh_postgres

NOT_WRITING = {"POST /api/tutorial/check"}


def test_every_route_that_writes_is_tried(sqlite_project: Project) -> None:
    described = create_app(sqlite_project, open=True).openapi()["paths"]
    writing = {
        f"{method.upper()} {path}" for path, methods in described.items() for method in methods if method != "get"
    }
    assert writing == set(WRITES) - {"GET /api/next"} | NOT_WRITING


def test_a_share_of_all_faults(tmp_path: Path) -> None:
    with trying(tmp_path, None) as trial:
        fired = [trial.case(answer, call, after=call == 5, warm=True) for call in (2, 5)]
        fired.append(trial.case(undo, 6, after=True, warm=True))
        fired += [trial.case(log_in, 4, after=True, warm=True), trial.case(restore, 40, after=False, warm=True)]
    assert any(fired)


@contextmanager
def full_disk(most_bytes: int) -> Iterator[None]:
    """No file of this process can grow beyond this size, as on a full disk."""
    resource = pytest.importorskip("resource", reason="this system has no limits of a process")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_refuses_and_loses_nothing(tmp_path: Path) -> None:
    with trying(tmp_path, None) as trial:
        trial.send(answer(trial))
        write = answer(trial)
        sizes = [path.stat().st_size for path in trial.folder.glob("project.sqlite*")]
        with full_disk(min(size for size in sizes if size)):
            refused = trial.send(write)
            exported = trial.request("GET", "export?format=jsonl")
        assert refused.status_code == 503, refused.text
        assert write.applied(trial.project) == 0
        assert str(tmp_path) not in refused.text + exported.text
        trial.check_memory()
        again = trial.send(write)
        assert again.status_code == 200
        assert not again.json()["repeated"]
        trial.check_memory()
        trial.restart()
        trial.check_everything(export=True)


@pytest.mark.nightly
@pytest.mark.parametrize("name", WRITES)
def test_a_full_disk_for_every_route(tmp_path: Path, name: str) -> None:
    with trying(tmp_path, None) as trial:
        write = WRITES[name](trial)
        with full_disk(8192):
            refused = trial.send(write)
        assert refused.status_code != 200
        assert str(tmp_path) not in refused.text
        trial.check(write, refused, refused.text, fired=True, refusals=(400, 503))


@pytest.mark.nightly
@pytest.mark.parametrize("name", WRITES)
def test_files_that_cannot_be_used(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with trying(tmp_path, None) as trial:
        trial.run_files(name, WRITES[name])
    with capsys.disabled():
        sys.stdout.write(f"files, {name}: {trial.cases.total()} faults, {trial.refused} requests refused\n")
    assert trial.cases.total() > 10 or name not in ("POST /api/documents", "POST /api/restore")  # which use many


# SQLAlchemy leaves the cursor of a connection that was lost to the garbage collector: there is nothing left to close.
@pytest.mark.filterwarnings("ignore:<psycopg.ServerCursor:ResourceWarning")
@pytest.mark.nightly
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
@pytest.mark.parametrize("name", WRITES)
def test_every_fault(
    tmp_path: Path, name: str, database: str, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    url = None if database == "sqlite" else fresh_postgres(request.getfixturevalue("postgres_server"))
    with trying(tmp_path, url) as trial:
        trial.run(name, WRITES[name])
    with capsys.disabled():
        sys.stdout.write(f"{database}, {name}: {trial.cases.total()} faults, {trial.refused} requests refused\n")
    assert trial.cases.total() > 10
