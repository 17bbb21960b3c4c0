"""A server that is asked to stop takes its background process with it."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest


@pytest.mark.skipif(sys.platform != "linux", reason="finds the worker through /proc")
@pytest.mark.parametrize(("sign", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_stopping_in_good_order(tmp_path: Path, sign: signal.Signals, code: int) -> None:
    command = [sys.executable, "-m", "corefine", "annotate", "--project", str(tmp_path), "--no-browser", "--port", "0"]
    # what a shell starts in the background ignores SIGINT, and so do all that come from it
    usual = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, preexec_fn=usual
    ) as server:
        assert server.stdout is not None
        assert "http://127.0.0.1:" in server.stdout.readline()
        end = time.monotonic() + 60
        workers: list[str] = []
        while not workers and time.monotonic() < end:
            workers = _children(server.pid)
            time.sleep(0.05)
        assert workers
        server.send_signal(sign)
        assert server.wait(60) == code
    assert not [worker for worker in workers if Path(f"/proc/{worker}").exists()]


def _children(pid: int) -> list[str]:
    """Of all threads of a process: one of them started the worker."""
    return [child for file in Path(f"/proc/{pid}/task").glob("*/children") for child in file.read_text().split()]
