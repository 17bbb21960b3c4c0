"""The background process is started again when it dies."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from corefine.project import Project
from corefine.project.learning import supervisor
from corefine.project.learning.supervisor import Supervisor


def test_a_process_that_lived_long_is_started_again_soon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    starts: list[float] = []

    def start(_: Supervisor) -> subprocess.Popen[bytes]:
        starts.append(time.monotonic())
        return subprocess.Popen([sys.executable, "-c", ""])

    monkeypatch.setattr(Supervisor, "_start", start)
    monkeypatch.setattr(supervisor, "RESTART_SECONDS", (0.01, 600.0))
    monkeypatch.setattr(supervisor, "HEALTHY_SECONDS", 0.0)
    with Project(tmp_path / "project") as project:
        watching = Supervisor(project)
        until = time.monotonic() + 20
        while len(starts) < 3 and time.monotonic() < until:
            time.sleep(0.05)
        watching.stop()
    assert len(starts) >= 3
