"""Kill -9 at random moments, resume, and the final weights are those of a run nobody touched, byte for byte."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from corefine.models.storage.tensors import exists, load_tensors

TESTS = Path(__file__).parents[2]


@contextmanager
def running(folder: Path) -> Iterator[subprocess.Popen[str]]:
    path = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": path}
    process = subprocess.Popen(
        [sys.executable, "-m", "helpers.killed_run", str(folder)], stdout=subprocess.PIPE, text=True, env=environment
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def finish(folder: Path) -> tuple[dict[str, bytes], float]:
    """Run to the end; the weights files by name, and the seconds between the first and the last event."""
    with running(folder) as process:
        assert process.stdout is not None
        process.stdout.readline()
        began = time.monotonic()
        process.stdout.read()
        took = time.monotonic() - began
        assert process.wait() == 0
    return {path.name: path.read_bytes() for path in folder.glob("*.safetensors")}, took


def check_killed(folder: Path, kills: int, seed: int) -> None:
    expected, took = finish(folder / "whole")
    chance = random.Random(seed)
    torn = folder / "torn"
    for _ in range(kills):
        with running(torn) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(chance.uniform(0, 0.6 * took))
            process.kill()  # SIGKILL: nothing can be tidied up
            process.wait()
        for record in ("model", "training"):
            if exists(torn, record):
                load_tensors(torn, record)  # raises if anything is broken
        if process.returncode == 0:  # it was done before the signal came; begin another
            assert finish(torn)[0] == expected
            torn = folder / f"torn-{chance.random()}"
    assert finish(torn)[0] == expected


def test_three_kills(tmp_path: Path) -> None:
    check_killed(tmp_path, 3, seed=1)


@pytest.mark.nightly
def test_twenty_kills(tmp_path: Path) -> None:
    check_killed(tmp_path, 20, seed=2)
