"""How long a new project keeps its first person waiting: from the open page to the first question, asked by the model.

`corefine annotate --stories` is started with a new folder. The page is opened as soon as the server answers, "Begin" is
pressed as soon as it is there, and the first question must come from the starter model, not from rules.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from browser import QUESTION, chromium_page
from command import Bar, Json, missed, report, run
from corefine.errors import InputError

if TYPE_CHECKING:
    from playwright.sync_api import Page

BAR_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class FirstQuestion:
    """Seconds. `server` until the server answers, `begin` from the open page to "Begin", `question` from there on.

    model    the model that asked
    """

    server: float
    begin: float
    question: float
    model: str

    @property
    def failure(self) -> str | None:
        if self.model != "starter":
            return f"the first question came from {self.model}"
        return missed(Bar("open page to first question, s", self.begin + self.question, "below", BAR_SECONDS))


def measure() -> FirstQuestion:
    with tempfile.TemporaryDirectory(prefix="corefine-first-") as folder, chromium_page() as page:
        began = time.monotonic()
        command = [sys.executable, "-m", "corefine", "annotate", "--stories", "--no-browser", "--port", "0"]
        server = subprocess.Popen(
            [*command, "--project", str(Path(folder) / "project")], stdout=subprocess.PIPE, text=True
        )
        try:
            url = _address(server)
            up = time.monotonic()
            page.goto(url)
            begin = page.get_by_role("button", name="Begin")
            begin.wait_for()
            ready = time.monotonic()
            begin.click()
            page.wait_for_selector(QUESTION)
            return FirstQuestion(up - began, ready - up, time.monotonic() - ready, _asked_by(page, url))
        finally:
            server.terminate()
            server.wait(30)


def _address(server: subprocess.Popen[str]) -> str:
    line = server.stdout.readline() if server.stdout is not None else ""
    if "http://" not in line:
        raise InputError("the server did not start")
    return line[line.index("http://") :].strip()


def _asked_by(page: Page, url: str) -> str:
    """The name of the model version that the page shows."""
    version = page.request.get(f"{url}api/status").json()["version"]
    curve = page.request.get(f"{url}api/dashboard").json()["curve"]
    return str(next((point["name"] for point in curve if point["version"] == version), f"version {version}"))


def described(times: FirstQuestion) -> str:
    return (
        f"the server answers after {times.server:.1f} s; in the open page, Begin is there after {times.begin:.1f} s "
        f"and the first question {times.question:.2f} s later, asked by the model {times.model!r}"
    )


def main(as_json: Json = False) -> None:
    """Time the way to the first question of a new project on the bundled stories."""
    report(measure(), described, as_json=as_json)


if __name__ == "__main__":
    run(main)
