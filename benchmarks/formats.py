"""How fast CorefUD is read, against `udapi` on the same files in the same run.

    python benchmarks/formats.py --json

Both read a file from disk into words, sentences and the mentions of entities. Both leave other columns for later, udapi
as strings that it splits when asked; `all_ms` is corefine with every column, comment and attribute split as well.
"""

from __future__ import annotations

import gc
import gzip
import logging
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

from command import Bar, Corpora, Json, Rounds, corpora_folder, missed, report, run
from corefine.errors import InputError, MissingExtraError
from corefine.formats import read_all


@dataclass(frozen=True, slots=True)
class FileTimes:
    """Milliseconds of processor time for one file, medians; `speedup` is udapi over ours."""

    file: str
    lines: int
    tokens: int
    mentions: int
    ours_ms: float
    all_ms: float
    udapi_ms: float
    speedup: float


@dataclass(frozen=True, slots=True)
class FormatTimes:
    """One entry for each file, largest first; `speedup` is that of the file where it is smallest."""

    files: tuple[FileTimes, ...]
    speedup: float

    @property
    def failure(self) -> str | None:
        return missed(*(Bar(f"{each.file}: speed over udapi's", each.speedup, "at least", 10) for each in self.files))


def measure(*, corpora: Path | None = None, rounds: int = 7) -> FormatTimes:
    """Time both on every CorefUD file of a folder of corpora, taking turns, so that a busy machine slows both."""
    folder = corpora_folder(corpora) or Path("corpora")
    logging.disable(logging.WARNING)  # of udapi, about the corpora
    paths = sorted(folder.glob("*/*.conllu.gz"))
    if not paths:
        raise InputError(f"{folder} holds no */*.conllu.gz; set COREFINE_CORPORA to the folder of corpora")
    with tempfile.TemporaryDirectory() as unpacked:
        files = [_timed(path, Path(unpacked), rounds) for path in paths]
    files.sort(key=lambda times: -times.lines)
    return FormatTimes(tuple(files), min(times.speedup for times in files))


def _timed(packed: Path, folder: Path, rounds: int) -> FileTimes:
    path = folder / packed.stem
    path.write_bytes(gzip.decompress(packed.read_bytes()))
    udapi = _udapi()
    ours: list[float] = []
    everything: list[float] = []
    theirs: list[float] = []
    for _ in range(rounds):
        ours.append(_milliseconds(lambda: read_all(path)))
        theirs.append(_milliseconds(lambda: udapi(path)))
        everything.append(_milliseconds(lambda: [(dict(d.layers), dict(d.extra)) for d in read_all(path)]))
    documents = read_all(path)
    return FileTimes(
        file=path.name,
        lines=path.read_bytes().count(b"\n"),
        tokens=sum(map(len, documents)),
        mentions=sum(len(cluster) for document in documents for cluster in document.clusters),
        ours_ms=median(ours),
        all_ms=median(everything),
        udapi_ms=median(theirs),
        speedup=median(theirs) / median(ours),
    )


def _udapi() -> Callable[[Path], Any]:
    try:
        udapi = import_module("udapi.core.document")
    except ImportError as error:
        raise MissingExtraError("udapi", "dev") from error

    def read(path: Path) -> Any:
        document = udapi.Document(str(path))
        return document, document.coref_entities

    return read


def _milliseconds(work: Callable[[], object]) -> float:
    gc.collect()
    began = time.process_time()
    kept = work()
    spent = 1000 * (time.process_time() - began)
    del kept
    return spent


def described(times: FormatTimes) -> str:
    """The measurements as lines for a person."""
    lines = [
        f"{each.file}: {each.ours_ms:.1f} ms for {each.lines} lines ({each.all_ms:.1f} ms with every column), "
        f"udapi {each.udapi_ms:.1f} ms: {each.speedup:.1f} times as fast"
        for each in times.files
    ]
    return "\n".join([*lines, f"at least {times.speedup:.1f} times as fast as udapi"])


def main(as_json: Json = False, corpora: Corpora = None, rounds: Rounds = 7) -> None:
    """Time reading CorefUD files against udapi."""
    report(measure(corpora=corpora, rounds=rounds), described, as_json=as_json)


if __name__ == "__main__":
    run(main)
