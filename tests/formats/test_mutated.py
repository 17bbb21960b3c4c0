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
MANY, PIECE = 100_000, 5_000


def test_mutated_files_are_converted_soundly_or_refused() -> None:
    outcome = mutating.run(range(CASES))
    assert not outcome.failures, str(outcome)
    assert outcome.converted > CASES / 3


@pytest.mark.nightly
@pytest.mark.parametrize("piece", [f"{first}-{first + PIECE}" for first in range(0, MANY, PIECE)])
def test_many_mutated_files(piece: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each piece in a process of its own, whose memory can be measured; `-k 45000-50000` runs one of them alone."""
    tests = Path(__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tests), *sys.path])}
    command = [sys.executable, str(tests / "helpers" / "mutating.py"), piece]
    ran = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    with capsys.disabled():
        sys.stdout.write(f"\n{piece}: {ran.stdout}")
    assert ran.returncode == 0, ran.stdout
