"""Documents a second and memory, side by side with fastcoref on LitBank test.

    python -m venv /some/where && /some/where/bin/pip install fastcoref 'transformers<5' 'datasets<4'
    python benchmarks/fastcoref.py --python /some/where/bin/python --json

Both run in processes of their own with the same tokens and the same number of threads, taking turns. fastcoref is
measured one document at a time, as corefine works, and with its own default of 10,000 tokens in a batch; the faster
counts. Nothing is cached on either side.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from command import Bar, Corpora, Json, Rounds, corpora_folder, missed, report, run
from corefine.corpora import load_corpus
from corefine.errors import InputError
from corefine.models.devices import cores

OUR_SIDE = Path(__file__).with_name("fastcoref_our_side.py")
SIDE = Path(__file__).with_name("fastcoref_side.py")
BATCHES = {"one document": 1, "its default": 10_000}
"""Tokens in a batch of fastcoref: one document at a time, and its default."""


@dataclass(frozen=True, slots=True)
class Side:
    """One way of predicting all documents: the median of the rounds, and the most memory it held."""

    documents_per_second: float
    seconds: float
    cpu_seconds: float
    megabytes: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """`speedup` and `memory_ratio` are against the better of fastcoref's ways in each.

    `cpu_speedup` is the same as `speedup` in time of the processor, for machines that are busy with other things.
    """

    speedup: float
    cpu_speedup: float
    memory_ratio: float
    ours: Side
    fastcoref: dict[str, Side]
    documents: int
    tokens: int
    threads: int

    @property
    def failure(self) -> str | None:
        return missed(
            Bar("speed over fastcoref's", self.speedup, "at least", 4),
            Bar("fastcoref's memory over ours", self.memory_ratio, "at least", 2),
        )


def measure(python: str, *, mirror: Path | None = None, threads: int | None = None, rounds: int = 3) -> Comparison:
    """Run both in turn; `python` is the interpreter of an environment that has fastcoref."""
    threads = threads or cores()
    documents = [list(document.tokens) for document in load_corpus("litbank", mirror=mirror).test]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "documents.json"
        file.write_text(json.dumps(documents), encoding="utf-8")
        common = [str(file), str(threads)]
        commands = {name: [python, "-I", str(SIDE), *common, str(size)] for name, size in BATCHES.items()} | {
            "ours": [sys.executable, str(OUR_SIDE), *common]
        }
        sides = {name: _Process(command) for name, command in commands.items()}
        try:
            for process in sides.values():
                process.wait_until_ready()
            for _ in range(1 + rounds):  # the first does not count
                for process in sides.values():
                    process.run()
        finally:
            for process in sides.values():
                process.stop()
    found = {name: process.side(len(documents)) for name, process in sides.items()}
    ours = found.pop("ours")
    return Comparison(
        speedup=ours.documents_per_second / max(side.documents_per_second for side in found.values()),
        cpu_speedup=min(side.cpu_seconds for side in found.values()) / ours.cpu_seconds,
        memory_ratio=min(side.megabytes for side in found.values()) / ours.megabytes,
        ours=ours,
        fastcoref=found,
        documents=len(documents),
        tokens=sum(map(len, documents)),
        threads=threads,
    )


class _Process:
    """A process that predicts all documents whenever it is asked to."""

    def __init__(self, command: list[str]) -> None:
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed by `stop`
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True
        )
        self.seconds: list[float] = []
        self.cpu_seconds: list[float] = []
        self.megabytes = 0.0

    def wait_until_ready(self) -> None:
        self._read()

    def run(self) -> None:
        if self._process.stdin is None:
            raise InputError("the process has no input")
        self._process.stdin.write("go\n")
        self._process.stdin.flush()
        found = self._read()
        self.seconds.append(found["seconds"])
        self.cpu_seconds.append(found["cpu_seconds"])
        self.megabytes = found["megabytes"]

    def side(self, documents: int) -> Side:
        seconds = statistics.median(self.seconds[1:])
        return Side(documents / seconds, seconds, statistics.median(self.cpu_seconds[1:]), self.megabytes)

    def stop(self) -> None:
        self._process.kill()
        self._process.communicate()
        self._errors.close()

    def _read(self) -> dict[str, Any]:
        """The next line of JSON; whatever else a library prints is passed over."""
        if self._process.stdout is not None:
            for line in self._process.stdout:
                if line.startswith("{"):
                    message: dict[str, Any] = json.loads(line)
                    return message
        self._process.wait()
        self._errors.seek(0)
        reason = self._errors.read()
        raise InputError(f"the process of {self._process.args!r} ended: {reason[-2000:]}")


def described(found: Comparison) -> str:
    """The figures in words."""
    sides = {"corefine": found.ours} | {f"fastcoref, {name}": side for name, side in found.fastcoref.items()}
    lines = [
        f"{name:24} {side.documents_per_second:6.2f} documents a second {side.megabytes:7.0f} MB"
        for name, side in sides.items()
    ]
    return "\n".join([*lines, f"{found.speedup:.2f} times as fast, {found.memory_ratio:.2f} times less memory"])


def main(
    python: Annotated[str, typer.Option(help="Interpreter of an environment that has fastcoref.")],
    as_json: Json = False,
    mirror: Corpora = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads of both; all cores if not given.")] = None,
    rounds: Rounds = 3,
) -> None:
    """Documents a second and memory on LitBank test, side by side with fastcoref."""
    report(measure(python, mirror=corpora_folder(mirror), threads=threads, rounds=rounds), described, as_json=as_json)


if __name__ == "__main__":
    run(main)
