"""Damaged files of every format, converted to another: sound output that is read back clean, or a message.

No traceback, no hang, no loss that is not said, and little memory.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from helpers import mutating

CASES = 2000
MANY = 100_000


def test_mutated_files_are_converted_soundly_or_refused() -> None:
    outcome = mutating.run(range(CASES))
    assert not outcome.failures, str(outcome)
    assert outcome.converted > CASES / 3


@pytest.mark.nightly
def test_many_mutated_files(capsys: pytest.CaptureFixture[str]) -> None:
    """In two processes of their own, so that their memory can be measured."""
    tests = Path(__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tests), *sys.path])}
    half = MANY // 2
    running = [
        subprocess.Popen(
            [sys.executable, str(tests / "helpers" / "mutating.py"), f"{first}-{first + half}"],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        for first in (0, half)
    ]
    said = [process.communicate()[0] for process in running]
    with capsys.disabled():
        sys.stdout.write("\n" + "".join(said))
    assert [process.returncode for process in running] == [0, 0], "".join(said)
