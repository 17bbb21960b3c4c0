"""Do answers stay quick while something else goes on? People answer as in `load.py`, in one server and one run:

quiet       with nothing else, before and after: what the rest must be compared with
crowd       while one person sends 150 requests at a time, over and over
cookies     while somebody sends cookies that nobody has
import      while a text of 20 MB is read, divided and stored
zeros       while a zip of 199 MB of zeros is refused
"""

from __future__ import annotations

import io
import json
import os
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from random import Random
from typing import Annotated

import typer

from command import Json, Seed, report, run
from corefine.corpora import stories
from corefine.document import Document
from corefine.errors import InputError
from load import Annotator, prepare
from measuring import in_own_process
from serving import Client, Server, Waits, served

BAR_MS = 100.0
"""The bar for the 95th percentile of response times in every phase."""
RAISED_TIMES, RAISED_MS = 2.0, 25.0
"""A crowd raises other people's 95th percentile if it is so many times the undisturbed one, and so much more."""
BAR_MB = 1000.0
COOKIES_MB = 50.0
"""How much more memory strange cookies may take."""
CROWD = 150
COOKIES = 4_800
MEGABYTES = 20.0


@dataclass(frozen=True, slots=True)
class Phase:
    """How long people waited, and the most memory that the server, and the process that reads uploads, had in it."""

    name: str
    errors: int
    waits: Waits
    server_mb: float
    note: str


@dataclass(frozen=True, slots=True)
class Disturbed:
    people: int
    phases: list[Phase]

    @property
    def failure(self) -> str | None:
        """The bars that were missed."""
        quiet = max(phase.waits.p95_ms for phase in self.phases if phase.name == "quiet")
        missed = []
        for phase in self.phases:
            p95, before = phase.waits.p95_ms, self.phases[0].server_mb
            raised = p95 > RAISED_TIMES * quiet and p95 > quiet + RAISED_MS
            if phase.errors:
                missed.append(f"{phase.name}: {phase.errors} errors")
            if p95 >= BAR_MS or (phase.name == "crowd" and raised):
                missed.append(f"{phase.name}: p95 is {p95:.0f} ms, and {quiet:.0f} in quiet")
            if phase.server_mb > BAR_MB or (phase.name == "cookies" and phase.server_mb > before + COOKIES_MB):
                missed.append(f"{phase.name}: {phase.server_mb:.0f} MB, and {before:.0f} before")
        return "; ".join(missed) or None


class Answering:
    """The people, who go on answering from phase to phase."""

    def __init__(self, port: int, tokens: list[str], golds: dict[int, Document], think: float, seed: int) -> None:
        self._people = [
            Annotator(port, token, golds, 10**9, think, Random(seed + number)) for number, token in enumerate(tokens)
        ]
        self._threads = [threading.Thread(target=each.run, daemon=True) for each in self._people]
        for thread in self._threads:
            thread.start()
        for each in self._people:
            each.ready.wait()
            each.go.set()

    def during(self, name: str, server: Server, seconds: float, work: Callable[[], str]) -> Phase:
        """Measure while the work goes on, at least so long."""
        before = [(len(each.seconds), len(each.errors)) for each in self._people]
        memory, over = [server.megabytes()], threading.Event()

        def watch() -> None:
            while not over.wait(0.1):
                memory.append(server.megabytes())

        watching = threading.Thread(target=watch)
        watching.start()
        end = time.monotonic() + seconds
        note = work()
        time.sleep(max(0.0, end - time.monotonic()))
        over.set()
        watching.join()
        waits = [s for each, (answers, _) in zip(self._people, before, strict=True) for s in each.seconds[answers:]]
        errors = [e for each, (_, errors) in zip(self._people, before, strict=True) for e in each.errors[errors:]]
        if not waits:
            raise InputError(f"{name}: nobody got an answer through: {errors[:1]}")
        return Phase(name, len(errors), Waits.of([1000 * second for second in waits]), max(memory), note)


def crowd(port: int, cookie: str, seconds: float) -> str:
    """One person who always has this many requests open."""
    answered: list[int] = []

    def ask() -> None:
        connection = HTTPConnection("127.0.0.1", port, timeout=120)
        while time.monotonic() < end:
            try:
                connection.request("GET", "/api/next", headers={"Cookie": cookie})
                response = connection.getresponse()
                response.read()
                answered.append(response.status)
            except (OSError, HTTPException):
                connection.close()
        connection.close()

    end = time.monotonic() + seconds
    _in_parallel(ask, CROWD)
    return f"{len(answered)} requests answered, {sum(status != 200 for status in answered)} refused"


def strange_cookies(port: int) -> str:
    """Somebody who guesses cookies."""
    left = list(range(COOKIES))

    def ask() -> None:
        connection = HTTPConnection("127.0.0.1", port, timeout=120)
        with suppress(IndexError):
            while number := left.pop():
                connection.request("GET", "/api/me", headers={"Cookie": f"corefine=random-{number}-{'x' * 40}"})
                connection.getresponse().read()
        connection.close()

    began = time.monotonic()
    _in_parallel(ask, 50)
    return f"{COOKIES} cookies in {time.monotonic() - began:.0f} s"


def imported(port: int, token: str, name: str, content: bytes, is_good: bool) -> str:
    """The owner, who sends a file and waits until it is read, or refused if it is not good."""
    os.nice(19)
    with Client(port, token) as client:
        began = time.monotonic()
        connection = HTTPConnection("127.0.0.1", port, timeout=600)
        headers = {"Cookie": client.cookie, "X-Corefine": "1"}
        connection.request("POST", f"/api/documents?wait=0&name={name}", content, headers)
        now = json.loads(connection.getresponse().read())
        connection.close()
        while now["state"] in ("waiting", "reading"):
            time.sleep(0.5)
            now = client.call("GET", f"uploads/{now['id']}")
    if bool(now["added"]) != is_good:
        raise InputError(f"{name} was {'refused' if is_good else 'taken'}: {now['message'] or now['skipped'][:1]}")
    came = f"{len(content) / 1e6:.1f} MB sent, {len(now['added'])} documents"
    refused = f"; {now['skipped'][0]['reason']}" if now["skipped"] else ""
    return f"{came} in {time.monotonic() - began:.0f} s{refused}"


def long_text(megabytes: float, seed: int) -> bytes:
    """Sentences of the stories, in any order."""
    rng = Random(seed)
    sentences = [" ".join(sentence) for story in stories.load() for sentence in story.sentences]
    parts: list[str] = []
    size = 0
    while size < megabytes * 1e6:
        parts.append(" ".join(rng.choices(sentences, k=rng.randint(2, 8))))
        size += len(parts[-1].encode()) + 2
    return "\n\n".join(parts).encode()


def zip_of_zeros(megabytes: int) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("zeros.txt", "w") as file:
        for _ in range(megabytes):
            file.write(bytes(1_000_000))
    return buffer.getvalue()


def _in_parallel(work: Callable[[], None], number: int) -> None:
    """In this process, which is one of its own: its threads must not hold up those of the people."""
    os.nice(19)
    threads = [threading.Thread(target=work) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def measure(*, people: int = 20, think: float = 1.0, seconds: float = 20.0, seed: int = 0) -> Disturbed:
    from corefine.project import Project

    with tempfile.TemporaryDirectory(prefix="corefine-disturbed-") as folder:
        golds, tokens = prepare(Path(folder), people + 1, None, seed)
        with Project(Path(folder)) as project:
            _, owner = project.invite("sender", "owner")
        text, zeros = long_text(MEGABYTES, seed), zip_of_zeros(199)
        with served(Path(folder)) as server:
            answering = Answering(server.port, tokens[:people], golds, think, seed)
            with Client(server.port, tokens[people]) as client:
                cookie = client.cookie
            time.sleep(think)
            works: list[tuple[str, Callable[[], str]]] = [
                ("quiet", lambda: ""),
                ("crowd", lambda: in_own_process(crowd, server.port, cookie, seconds)),
                ("cookies", lambda: in_own_process(strange_cookies, server.port)),
                ("import", lambda: in_own_process(imported, server.port, owner, "long.txt", text, True)),
                ("zeros", lambda: in_own_process(imported, server.port, owner, "zeros.zip", zeros, False)),
                ("quiet", lambda: ""),
            ]
            phases = [answering.during(name, server, seconds, work) for name, work in works]
    return Disturbed(people, phases)


def described(result: Disturbed) -> str:
    lines = [f"{result.people} people answering; memory is that of the server and of the process that reads uploads"]
    lines += [f"{each.name:8} {each.server_mb:5.0f} MB  {each.waits}  {each.note}" for each in result.phases]
    return "\n".join(lines)


def main(
    as_json: Json = False,
    people: Annotated[int, typer.Option(min=1, help="People who answer.")] = 20,
    seconds: Annotated[float, typer.Option(min=1.0, help="Seconds of each part.")] = 20.0,
    seed: Seed = 0,
) -> None:
    """Let people answer while one of them, a stranger, or an import keeps the server busy."""
    report(measure(people=people, seconds=seconds, seed=seed), described, as_json=as_json)


if __name__ == "__main__":
    run(main)
