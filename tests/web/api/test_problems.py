"""Whatever is sent: one shape of error, never a bare 500; what nobody foresaw gets a number that is in the log."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import insert

from corefine.project import Project
from corefine.project.store import predictions, schema
from corefine.web.api import annotator
from helpers.projects import Browser, new_id, serve

HUGE = 10**30


@pytest.fixture
def browser(project: Project) -> Iterator[Browser]:
    with serve(project) as client:
        yield Browser(client)


def test_an_origin_that_makes_no_sense(browser: Browser) -> None:
    for origin in ("http://[", "http://[::1", "//", "\\", "http://127.0.0.1:99999999"):
        refused = browser.client.post("/api/undo", json={"client_id": new_id()}, headers={"Origin": origin})
        assert (refused.status_code, refused.json()["error"]["kind"]) == (403, "csrf")


def test_numbers_beyond_all_bounds(browser: Browser) -> None:
    for number in (HUGE, 2**63, 2**64, -1, -HUGE):
        refused_everywhere(browser, number)


def refused_everywhere(browser: Browser, number: int) -> None:
    for path in (f"history?before={number}", f"history?document={number}", f"next?document={number}"):
        browser.get(path, status=422)
    for path in (f"documents/{number}", f"documents/{number}/entities"):
        browser.get(path, status=422)
    browser.post(f"people/{number}/invitation", status=422)
    browser.send("DELETE", f"people/{number}", status=422)
    browser.post("withdraw", {"client_id": new_id(), "document": 1, "number": number}, status=422)
    browser.post("withdraw", {"client_id": new_id(), "document": number, "number": 1}, status=422)
    browser.post("adjudication", {"document": number, "mention": [0, 1], "decision": None}, status=422)
    browser.post("tutorial/check", {"step": number, "answer": {"same": True}}, status=422)


BODIES = [b"[" * 100_000, b'{"a":' * 100_000, b'{"name": "\\ud800"}', b"\xff\xfe", b"9" * 5000, b"1e999", b"NaN"]


def test_bodies_that_make_no_sense(browser: Browser) -> None:
    for path in ("people", "answers", "edits", "login", "undo"):
        for body in BODIES:
            response = browser.client.post(f"/api/{path}", content=body, headers={"Content-Type": "application/json"})
            assert 400 <= response.status_code < 500, response.text
            assert response.json()["error"]["message"]


def test_an_error_that_nobody_foresaw_has_a_number_that_is_in_the_log(
    browser: Browser, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any) -> None:
        raise KeyError("a secret of the server")

    monkeypatch.setattr(annotator.ModelStatus, "of", broken)
    with caplog.at_level(logging.ERROR):
        response = browser.client.get("/api/status")
    assert response.status_code == 500
    assert response.headers["content-security-policy"]
    error = response.json()["error"]
    assert "secret" not in json.dumps(error)
    (number,) = re.findall(r"\d{8}", error["message"])
    assert number in caplog.text
    assert "a secret of the server" in caplog.text


def test_the_model_after_its_folder_is_gone(browser: Browser, project: Project) -> None:
    values = {
        "id": 9,
        "name": "m",
        "kind": predictions.TRAINED,
        "state": predictions.READY,
        "answers": 1,
        "created_at": 0.0,
    }
    project.writer.write(lambda connection: connection.execute(insert(schema.versions).values(values)))
    error = browser.get("export?format=model", status=400)["error"]
    assert "are gone" in error["message"]
