"""Starts the background process and keeps it running."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

from corefine.project.project import Project

DATABASE = "COREFINE_DATABASE"
"""The environment variable with the database's URL for the worker: other users can read a command line."""

WORKER = "corefine.project.learning.worker"
RESTART_SECONDS = (1.0, 5.0, 30.0)
"""How long to wait before a restart, after one, two and more deaths in a row."""
HEALTHY_SECONDS = 60.0
"""After a process has lived longer than this, the next death counts as the first in a row."""
STOP_SECONDS = 5.0


class Supervisor:
    """Runs the background process with one thread, and starts it again if it dies."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._stopping = threading.Event()
        self.process: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._watch, name="corefine-supervisor", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()

    def _watch(self) -> None:
        deaths = 0
        while not self._stopping.is_set():
            began = time.monotonic()
            self.process = self._start()
            while self.process.poll() is None and not self._stopping.wait(0.2):
                pass
            if self.process.poll() is None:
                self.process.terminate()
                try:
                    self.process.wait(STOP_SECONDS)
                except subprocess.TimeoutExpired:
                    self.process.kill()
                    self.process.wait()
            deaths = 1 if time.monotonic() - began > HEALTHY_SECONDS else deaths + 1
            self._stopping.wait(RESTART_SECONDS[min(deaths, len(RESTART_SECONDS)) - 1])

    def _start(self) -> subprocess.Popen[bytes]:
        one = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"), "1")
        environment = {**os.environ, **one, "TOKENIZERS_PARALLELISM": "false"}
        if not self._project.database.is_sqlite:
            environment[DATABASE] = self._project.database.url.render_as_string(hide_password=False)
        return subprocess.Popen(
            # -P: no Python file of the folder that the server was started in is imported
            [sys.executable, "-P", "-m", WORKER, str(self._project.folder), "--parent", str(os.getpid())],
            env=environment,
            stdin=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C goes only to the server, which then stops the worker
        )
