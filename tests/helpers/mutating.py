"""Mutated input files of every format, converted to another one: what comes out must be sound, or be refused.

Case N is the same on every machine, so a case that failed can be looked at:

    PYTHONPATH=tests python tests/helpers/mutating.py N             # or FIRST-LAST, to run many
"""

from __future__ import annotations

import json
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from corefine.corpora import stories
from corefine.document import Document, SplitSpan
from corefine.errors import CorefineError, Fault
from corefine.formats import FORMATS, read_all
from corefine.formats.check import check
from corefine.formats.convert import convert
from helpers.format_samples import SAMPLES, SNIPPETS, TEXT

HANG_SECONDS = 5
"""Of processor time: the machine may be busy."""
MOST_MEGABYTES = 500
MEMORY = Path("/dev/shm")
"""Files here are on no disk, so that nobody waits until they are."""

ODD: list[Any] = [
    None, True, False, 0, 1, -1, 3, 10**9, 10**23, 1.5, "", " ", "x", "a b", "a\tb", "a\nb", "\u2028", "-", "_",
    "(", "|", "e1-person", "\0", "\ud800", [], {}, [0], [0, 1], [1, 0], [[0, 1]], ["a"], {"a": 1}, "z0-z0", "0-0+2-2",
]  # fmt: skip
SAME_NAME, EMPTY = "another document of this file has the same name and part", "the document has no tokens"
CARRIED = (SAME_NAME, EMPTY, "the file holds no document", "lines end in CRLF", "a byte order mark")
"""Faults of the input that are not those of a writer."""


@dataclass(frozen=True, slots=True)
class Case:
    number: int
    source: str
    target: str
    files: dict[str, bytes]
    lossy: bool
    skip_faulty: bool

    def __str__(self) -> str:
        options = " --lossy" * self.lossy + " --skip-faulty" * self.skip_faulty
        return f"case {self.number}: {self.source} to {self.target}{options}"


@dataclass(slots=True)
class Outcome:
    """How the cases ended. `failures` by what went wrong."""

    cases: int = 0
    converted: int = 0
    slowest: float = 0.0
    failures: dict[str, list[str]] = field(default_factory=dict)

    def fail(self, what: str, case: Case) -> None:
        self.failures.setdefault(what, []).append(str(case))

    def __str__(self) -> str:
        lines = [f"{self.cases} cases, {self.converted} converted, slowest {self.slowest:.2f} s"]
        lines += [f"{len(cases)} x {what}\n    {cases[0]}" for what, cases in self.failures.items()]
        return "\n".join(lines)


# Cases


@cache
def sound_files() -> list[tuple[str, dict[str, bytes]]]:
    """Sound files to mutate: written by hand, and documents of all sorts in every format."""
    found: list[tuple[str, dict[str, bytes]]] = []
    for name, sample in SAMPLES.items():
        ending = FORMATS[name].endings[0]
        beside = {"a.txt": TEXT.encode()} if name == "brat" else {}
        found.append((name, {f"a{ending}": sample.encode(), **beside}))
    for document in documents():
        for format_ in FORMATS.values():
            files = {}
            for ending, render in format_.files.items():
                content = "".join(map(_text, format_.bundle([render(document)]))) if format_.many else render(document)
                files[f"a{ending}"] = content if isinstance(content, bytes) else content.encode("utf-8", "replace")
            if files and format_.name != "spacy":
                found.append((format_.name, files))
    return found


def _text(content: str | bytes) -> str:
    return content if isinstance(content, str) else content.decode("latin-1")


def documents() -> list[Document]:
    story = stories.load()[0]
    small = Document.from_sentences(
        "a/b (c)",
        [["Ann", "met", "(", "her", ")"], ["She", "-", "was", "#1", "."]],
        [[(0, 0), (3, 3), (5, 5)], [(0, 4), SplitSpan([(0, 0), (2, 3)])], [(1, 6)]],
        part=2,
        speakers=("Bo",) * 5 + (None,) * 5,
        genre="nw",
        language="en",
        layers={"lemma": tuple("abcdefghij"), "xpos": ("N",) * 10},
    )
    start = story.sentence_starts[3]
    short = replace(
        story.with_clusters([[s for s in c if s.end < start] for c in story.clusters]),
        tokens=story.tokens[:start],
        sentence_starts=story.sentence_starts[:3],
        offsets=None if story.offsets is None else story.offsets[:start],
        speakers=None if story.speakers is None else story.speakers[:start],
        layers={},
    )
    return [small, short, replace(small, part=0, layers={}, speakers=None, clusters=())]


def make(number: int) -> Case:
    rng = random.Random(number)
    source, files = rng.choice(sound_files())
    files = dict(files)
    name = rng.choice(sorted(files)) if rng.random() < 0.3 else next(iter(files))
    is_json = name.endswith((".jsonl", ".json"))
    mutate = mutated_json if is_json and rng.random() < 0.7 else mutated
    files[name] = mutate(rng, files[name])
    targets = [each.name for each in FORMATS.values() if each.files]
    target = "conllu" if rng.random() < 0.2 else rng.choice(targets)
    return Case(number, source, target, files, rng.random() < 0.5, rng.random() < 0.5)


def mutated(rng: random.Random, data: bytes) -> bytes:
    """Some pieces cut out, doubled, moved or put in."""
    for _ in range(rng.choice((1, 1, 2, 3, 6))):
        begin = rng.randint(0, len(data))
        end = rng.randint(begin, min(len(data), begin + rng.choice((1, 5, 60))))
        at, piece, snippet = rng.randint(0, len(data)), data[begin:end], rng.choice(SNIPPETS)
        match rng.choice(("cut", "double", "put", "replace", "move", "flip")):
            case "cut":
                data = data[:begin] + data[end:]
            case "double":
                data = data[:end] + piece + data[end:]
            case "put":
                data = data[:begin] + snippet + data[begin:]
            case "replace":
                data = data[:begin] + snippet + data[end:]
            case "flip" if data:
                at = min(at, len(data) - 1)
                data = data[:at] + bytes([data[at] ^ 1 << rng.randint(0, 7)]) + data[at + 1 :]
            case _:
                data = data[:at] + piece + data[at:]
    return data


def mutated_json(rng: random.Random, data: bytes) -> bytes:
    """Values of the JSON replaced by odd ones, or by others of the same file."""
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    try:
        value = json.loads(lines[at])
    except ValueError:
        return mutated(rng, data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        places = list(_places(value))
        if not places:
            break
        holder, key = rng.choice(places)
        other_holder, other_key = rng.choice(places)
        match rng.choice(("odd", "odd", "swap", "delete", "double")):
            case "odd":
                holder[key] = deepcopy(rng.choice(ODD))
            case "swap":
                holder[key] = deepcopy(other_holder[other_key])
            case "delete":
                del holder[key]
            case "double" if isinstance(holder, list):
                holder.insert(key, holder[key])
    lines[at] = json.dumps(value).encode()
    return b"\n".join(lines)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in JSON: what holds it, and under which key."""
    keys: Iterable[Any] = range(len(value)) if isinstance(value, list) else list(value) if type(value) is dict else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])


# Trials


class HangError(Exception):
    pass


@contextmanager
def _limited() -> Iterator[None]:
    def ring(*_: object) -> None:
        raise HangError

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, HANG_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def run(numbers: Iterable[int], seen: Callable[[Outcome], None] = lambda _: None) -> Outcome:
    return run_cases(map(make, numbers), seen)


def run_cases(cases: Iterable[Case], seen: Callable[[Outcome], None] = lambda _: None) -> Outcome:
    outcome = Outcome()
    folder = Path(tempfile.mkdtemp(prefix="corefine-mutated-", dir=MEMORY if MEMORY.is_dir() else None))
    try:
        for case in cases:
            place = folder / str(case.number)
            began = time.process_time()
            try:
                with _limited():
                    _try(case, place, outcome)
            except HangError:
                outcome.fail(f"it takes more than {HANG_SECONDS} s", case)
            except Exception as error:
                last = traceback.extract_tb(error.__traceback__)[-1]
                outcome.fail(
                    f"{type(error).__name__}: {str(error)[:80]} ({Path(last.filename).name}:{last.lineno})", case
                )
            outcome.cases += 1
            outcome.slowest = max(outcome.slowest, time.process_time() - began)
            shutil.rmtree(place, ignore_errors=True)
            seen(outcome)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return outcome


def _try(case: Case, folder: Path, outcome: Outcome) -> None:
    (folder / "in").mkdir(parents=True)
    for name, content in case.files.items():
        (folder / "in" / name).write_bytes(content)
    source = folder / "in" / next(iter(case.files))
    target = FORMATS[case.target]
    out = folder / (f"out{target.endings[0]}" if target.many else "out")
    faults: list[Fault] = []
    try:
        summary = convert(
            str(source), str(out), from_=case.source, to=case.target, lossy=case.lossy, skip_faulty=case.skip_faulty,
            on_fault=faults.append,
        )  # fmt: skip
    except CorefineError:
        assert not [file for file in (out, *out.rglob("*")) if file.is_file()], "a conversion failed and left a file"
        return
    outcome.converted += 1
    if not summary.documents:
        return
    found = check([str(out)], case.target)
    strange = [fault for fault in found.faults if not fault.what.startswith(CARRIED)]
    assert not strange, f"check rejects the output: {_general(strange[0].what)}"
    assert found.documents == summary.documents, "documents are missing in the output"
    if not summary.lost:
        before = read_all(source, case.source, on_fault=lambda _: None)
        after = read_all(out, case.target, on_fault=lambda _: None)
        if not target.many:  # a folder has no order of its own
            before, after = (
                sorted(each, key=lambda document: (document.key, document.tokens)) for each in (before, after)
            )
        for one, other in zip(before, after, strict=True):
            assert (lost := difference(one, other)) is None, f"{case.target} loses {lost} and does not say so"


def _general(what: str) -> str:
    return "".join("9" if letter.isdigit() else letter for letter in what)[:100]


def difference(before: Document, after: Document) -> str | None:
    """The first field that `before` has and `after` has not, or has otherwise."""
    for name in ("tokens", "sentence_starts", "clusters", "part", "genre", "language", "text", "offsets"):
        value, again = getattr(before, name), getattr(after, name)
        if name == "text" and value is not None:
            value, again = value.rstrip("\n"), (again or "").rstrip("\n")  # lines may end where a file ends
        if value not in (None, ()) and value != again:
            return name
    if any(who is not None for who in before.speakers or ()) and before.speakers != after.speakers:
        return "speakers"
    layers = [name for name in before.layers if before.layers[name] != after.layers.get(name)]
    return f"layer {layers[0]}" if layers else None


def peak_megabytes() -> float:
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((float(line.split()[1]) / 2**10 for line in lines if line.startswith("VmHWM")), 0.0)


def main(argument: str) -> int:
    """Run the cases FIRST-LAST, or show one case and run it."""
    first, dash, last = argument.partition("-")
    if dash:
        outcome = run(range(int(first), int(last)))
    else:
        case = make(int(first))
        for name, content in case.files.items():
            sys.stdout.write(f"--- {name}\n{content.decode('utf-8', 'backslashreplace')}\n")
        outcome = run([case.number])
    sys.stdout.write(f"{outcome}\npeak {peak_megabytes():.0f} MB\n")
    return 1 if outcome.failures or peak_megabytes() > MOST_MEGABYTES else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
