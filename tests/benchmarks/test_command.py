"""Every benchmark is a script with the same manners, and `make bench` runs all of them."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import typer

from command import Bar, missed, report, run
from corefine.errors import InputError

ROOT = Path(__file__).parents[2]
SCRIPTS = {path.stem for path in (ROOT / "benchmarks").glob("*.py") if "    run(main)\n" in path.read_text("utf-8")}


@dataclass(frozen=True)
class Found:
    seconds: float
    failure: str | None = None


def in_words(found: Found) -> str:
    return f"{found.seconds} s"


def test_make_bench_runs_every_benchmark() -> None:
    line = next(line for line in (ROOT / "Makefile").read_text("utf-8").splitlines() if "for bar in" in line)
    named = line.partition("for bar in ")[2].partition(";")[0].split()
    assert set(named) == SCRIPTS - {"fastcoref"}, "fastcoref needs an environment of its own, which make is given"


def test_every_benchmark_checks_its_bars() -> None:
    texts = {name: (ROOT / "benchmarks" / f"{name}.py").read_text("utf-8") for name in SCRIPTS}
    assert [name for name, text in texts.items() if "def failure(self)" not in text] == []


def test_bars_that_do_not_hold_are_named() -> None:
    held, low, late = Bar("speed", 2, "at least", 2), Bar("gain", 1, "at least", 2), Bar("p95, ms", 20, "below", 20)
    assert missed(held) is None
    assert missed(held, low, late) == "gain: 1, not at least 2; p95, ms: 20, not below 20"


def test_results_are_words_or_json(capsys: pytest.CaptureFixture[str]) -> None:
    report(Found(2.5), in_words, as_json=False)
    report(Found(2.5), in_words, as_json=True)
    assert capsys.readouterr().out == '2.5 s\n{"seconds": 2.5, "failure": null}\n'


def test_a_missed_bar_ends_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as ended:
        report(Found(2.5, "too slow"), in_words, as_json=True)
    assert ended.value.exit_code == 1
    assert capsys.readouterr().err == "corefine: bar missed: too slow\n"


def test_bad_input_is_one_message(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def main() -> None:
        raise InputError("there is no chromium here")

    monkeypatch.setattr(sys, "argv", ["bench"])
    with pytest.raises(SystemExit) as ended:
        run(main)
    assert ended.value.code == 2
    assert capsys.readouterr().err == "corefine: there is no chromium here\n"


@pytest.mark.nightly
@pytest.mark.parametrize("name", sorted(SCRIPTS))
def test_every_script_has_help(name: str) -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / f"{name}.py"), "--help"]
    assert "--json" in subprocess.run(command, capture_output=True, text=True, check=True).stdout
