"""How much `import corefine` and `corefine --help` load, beyond what the interpreter loads for itself."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass

from command import Bar, Json, missed, report, run

LIMIT_SECONDS = 0.3


@dataclass(frozen=True, slots=True)
class ImportTimes:
    """Seconds of import work, the least of several runs; `within_limit` if both are under 0.3."""

    import_seconds: float
    help_seconds: float
    within_limit: bool

    @property
    def failure(self) -> str | None:
        return missed(
            Bar("import corefine, s", self.import_seconds, "below", LIMIT_SECONDS),
            Bar("corefine --help, s", self.help_seconds, "below", LIMIT_SECONDS),
        )


def measure(*, runs: int = 5) -> ImportTimes:
    """Import times by `python -X importtime`."""
    imported = min(_seconds("import corefine") for _ in range(runs))
    helped = min(_seconds("from corefine.cli import main; main()", "--help") for _ in range(runs))
    return ImportTimes(imported, helped, max(imported, helped) < LIMIT_SECONDS)


def _seconds(program: str, *arguments: str) -> float:
    own = _microseconds(program, *arguments)
    interpreter = _microseconds("pass")
    return sum(micros for name, micros in own.items() if name not in interpreter) / 1e6


def _microseconds(program: str, *arguments: str) -> dict[str, int]:
    """Microseconds that each module took by itself."""
    ran = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", program, *arguments], capture_output=True, text=True, check=True
    )
    times: dict[str, int] = {}
    for line in ran.stderr.splitlines():
        own, _, name = line.removeprefix("import time:").split("|") if line.count("|") == 2 else ("", "", "")
        if own.strip().isdigit():
            times[name.strip()] = int(own)
    return times


def described(times: ImportTimes) -> str:
    return (
        f"import corefine: {1000 * times.import_seconds:.0f} ms\n"
        f"corefine --help: {1000 * times.help_seconds:.0f} ms\n"
        f"limit: {1000 * LIMIT_SECONDS:.0f} ms each"
    )


def main(as_json: Json = False) -> None:
    """Time what `import corefine` and `corefine --help` load."""
    report(measure(), described, as_json=as_json)


if __name__ == "__main__":
    run(main)
