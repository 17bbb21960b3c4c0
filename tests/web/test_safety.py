"""What a server must refuse, and what it must never say."""

from __future__ import annotations

import json
import re
import socket
import stat
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from corefine.document import Document
from corefine.errors import InputError
from corefine.project import Project
from corefine.project.store import people
from corefine.web.api.context import COOKIE
from corefine.web.server import Address, bind, check_open
from helpers.projects import Browser, another, browser_of, fill, golds, new_id, serve

HOSTILE = [
    "<script>alert(1)</script> met <img src=x onerror=alert(2)> . She left .",
    "\u202ereversed\u202c and \u2066isolated\u2069 text by Anna . She waved .",
    "ze\u200bro\u200dwidth and com\u0301bin\u0323ing marks . It was he .",
    "👩‍👩‍👧‍👦 saw 🏳️‍🌈 . They smiled .",
    "x" * 1_000_000,
]


@pytest.fixture
def safe(sqlite_project: Project) -> Any:
    with serve(sqlite_project) as client:
        yield Browser(client)


def test_a_change_needs_the_header_and_the_own_origin(safe: Browser) -> None:
    body = {"client_id": new_id()}
    client = safe.client
    assert client.post("/api/undo", json=body, headers={"X-Corefine": ""}).status_code == 403
    for origin in ("http://evil.example", "http://127.0.0.1:81", "null"):
        refused = client.post("/api/undo", json=body, headers={"Origin": origin})
        assert refused.json()["error"]["kind"] == "csrf"
    assert client.post("/api/undo", json=body, headers={"Origin": "http://127.0.0.1"}).status_code == 409
    form = client.post(
        "/api/undo", content="client_id=x", headers={"Content-Type": "application/x-www-form-urlencoded"}
    )
    assert form.json()["error"]["kind"] == "csrf"


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "[", "localhost@evil.example"])
def test_other_names_are_not_answered_to(safe: Browser, host: str) -> None:
    """Otherwise a page of another site could reach the server through a name that points to this machine."""
    for path in ("/api/me", "/", "/static/x.js"):
        assert safe.client.get(path, headers={"Host": host}).json()["error"]["kind"] == "host"


@pytest.mark.parametrize("host", ["localhost:8000", "127.0.0.1:9", "[::1]:8000"])
def test_loopback_has_several_names(safe: Browser, host: str) -> None:
    assert safe.client.get("/api/me", headers={"Host": host}).status_code == 200


def test_every_response_has_the_policy(safe: Browser) -> None:
    for path in ("/", "/api/me", "/api/nothing", "/nothing", "/static/nothing.js"):
        policy = safe.client.get(path).headers["content-security-policy"]
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert "default-src 'none'" in policy
    assert safe.client.get("/api/me").headers["cache-control"] == "no-store"


def test_cookies_and_tokens(safe: Browser, sqlite_project: Project) -> None:
    response = safe.client.post("/api/people", json={"name": "Ada"})
    cookie = response.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    token = response.json()["link"].partition("#join=")[2]
    assert len(token) >= 40
    stored = (sqlite_project.folder / "project.sqlite").read_bytes()
    wal = (sqlite_project.folder / "project.sqlite-wal").read_bytes()
    secret = safe.client.cookies[COOKIE]
    for hidden in (token, secret):
        assert hidden.encode() not in stored + wal


def test_the_first_invitation_closes_the_door_but_not_to_the_owner(safe: Browser) -> None:
    assert safe.get("me")["auth"] == "open"
    safe.post("people", {"name": "Ada"})
    assert safe.get("me")["auth"] == "tokens"
    assert safe.get("me")["person"]["role"] == "owner"
    stranger = another(safe)
    for path in ("me", "next", "documents", "documents/1", "history", "status", "guidelines", "tutorial", "settings"):
        assert stranger.get(path, status=401)["error"]["kind"] == "unauthorised"
    assert stranger.post("login", {"token": "guess"}, status=401)["error"]["kind"] == "unauthorised"


def test_an_owner_with_an_old_cookie_is_not_locked_out_by_the_first_invitation(safe: Browser) -> None:
    safe.client.cookies[COOKIE] = "of-another-project-on-this-machine"
    safe.post("people", {"name": "Ada"})
    assert safe.get("me")["person"]["role"] == "owner"


def test_every_call_but_login_needs_somebody(safe: Browser) -> None:
    safe.post("people", {"name": "Ada"})
    stranger = another(safe)
    described = safe.client.get("/api/openapi.json").json()["paths"]
    assert len(described) > 25
    for path, calls in described.items():
        for method in calls:
            if path in ("/api/login", "/api/logout"):
                continue
            filled = re.sub(r"{\w+}", "1", path)
            response = stranger.client.request(method, filled, headers={"X-Corefine": "1"})
            assert response.status_code == 401, (method, path)


def test_revoked_is_out_and_a_new_link_ends_the_old(safe: Browser) -> None:
    invited = safe.post("people", {"name": "Ada"})
    ada = another(safe)
    ada.join(invited["link"])
    again = safe.post(f"people/{invited['person']['id']}/invitation")
    ada.get("me", status=401)
    assert another(safe).post("login", {"token": invited["link"].partition("=")[2]}, status=401)
    ada.join(again["link"])
    safe.send("DELETE", f"people/{invited['person']['id']}")
    ada.get("me", status=401)
    only = safe.send("DELETE", "people/1", status=400)
    assert "only owner" in only["error"]["message"]
    assert safe.send("DELETE", "people/99", status=404)["error"]["kind"] == "not-found"


def token_for_once(project: Project) -> str:
    owner = project.owner()
    return project.writer.write(lambda connection: people.token_for_once(connection, owner))


def test_a_token_for_once_works_once(sqlite_project: Project) -> None:
    token = token_for_once(sqlite_project)
    with serve(sqlite_project, open=False) as client:
        browser = Browser(client)
        assert browser.post("login", {"token": token})["person"]["role"] == "owner"
        another(browser).post("login", {"token": token}, status=401)


def test_a_token_for_once_is_no_cookie_and_a_cookie_no_token(sqlite_project: Project) -> None:
    token = token_for_once(sqlite_project)
    with serve(sqlite_project, open=False) as client:
        browser = Browser(client)
        client.cookies[COOKIE] = token
        browser.get("me", status=401)
        client.cookies.clear()
        browser.post("login", {"token": token})
        another(browser).post("login", {"token": client.cookies[COOKIE]}, status=401)
        browser.get("me")


def test_a_token_for_once_dies_after_ten_minutes(sqlite_project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    old, young = token_for_once(sqlite_project), token_for_once(sqlite_project)
    now = time.time()
    with serve(sqlite_project, open=False) as client:
        monkeypatch.setattr(people.time, "time", lambda: now + 9 * 60)
        another(Browser(client)).post("login", {"token": young})
        monkeypatch.setattr(people.time, "time", lambda: now + 10 * 60 + 1)
        another(Browser(client)).post("login", {"token": old}, status=401)


def test_an_invitation_from_elsewhere_closes_an_open_server_at_once(safe: Browser, sqlite_project: Project) -> None:
    assert safe.get("me")["auth"] == "open"
    with Project(sqlite_project.folder) as elsewhere:
        _, token = elsewhere.invite("Ada")
    assert safe.get("me", status=401)["error"]["kind"] == "unauthorised"
    assert safe.join(f"#join={token}")["auth"] == "tokens"


def test_revoking_the_last_person_opens_nothing(safe: Browser, sqlite_project: Project) -> None:
    invited = safe.post("people", {"name": "Ada"})
    safe.send("DELETE", f"people/{invited['person']['id']}")
    assert not check_open(sqlite_project, Address())
    another(safe).get("me", status=401)
    with serve(sqlite_project, open=check_open(sqlite_project, Address())) as client:
        Browser(client).get("me", status=401)


FORWARDED = (
    "X-Forwarded-For",
    "x-forwarded-proto",
    "X-Forwarded-Host",
    "Forwarded",
    "Via",
    "X-Real-IP",
    "CF-Ray",
    "X-Original-Host",
)


def test_an_open_project_is_for_programs_on_this_machine_only(safe: Browser) -> None:
    for name in FORWARDED:
        refused = safe.client.get("/api/me", headers={name: "127.0.0.1"})
        assert (refused.status_code, "corefine invite" in refused.text) == (401, True), name
    for peer, status in (("192.0.2.7", 401), ("testclient", 401), ("::1", 200), ("::ffff:127.0.0.1", 200)):
        browser = Browser(browser_of(safe.client.app, peer))
        browser.get("me", status=status)
    safe.post("people", {"name": "Ada"})
    assert safe.client.get("/api/me", headers={"Via": "proxy"}).status_code == 200  # with a login


@pytest.mark.skipif(sys.platform == "win32", reason="files have no modes there")
def test_only_the_owner_of_the_files_can_read_them(tmp_path: Path) -> None:
    old = tmp_path / "project" / "project.sqlite"
    with Project(tmp_path / "project") as project:
        assert stat.S_IMODE(project.folder.stat().st_mode) == 0o700
        project.invite("Ada")
        assert {stat.S_IMODE(file.stat().st_mode) for file in project.folder.glob("project.sqlite*")} == {0o600}
    old.chmod(0o644)  # made before
    with Project(tmp_path / "project"):
        assert stat.S_IMODE(old.stat().st_mode) == 0o600


def test_logging_out(safe: Browser) -> None:
    safe.post("people", {"name": "Ada"})
    safe.post("logout")
    safe.get("me", status=401)


def test_not_on_another_address_without_tokens(sqlite_project: Project) -> None:
    for address in (Address("0.0.0.0"), Address("192.0.2.1"), Address("::"), Address(allowed_hosts=("a.example",))):
        with pytest.raises(InputError, match="corefine invite"):
            check_open(sqlite_project, address)
    assert check_open(sqlite_project, Address())
    assert check_open(sqlite_project, Address("::1"))
    assert check_open(sqlite_project, Address("localhost"))
    sqlite_project.invite("Ada", people.OWNER)
    for address in (Address("0.0.0.0"), Address()):
        assert not check_open(sqlite_project, address)


def test_responses_are_sent_at_once() -> None:
    """asyncio switches off Nagle's algorithm, which costs 40 ms, only if the socket's protocol is named."""
    with bind(Address(port=0)) as listener:
        assert listener.proto == socket.IPPROTO_TCP


def test_a_port_in_use_is_told() -> None:
    with bind(Address(port=0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"port {port}.*--port"):
            bind(Address(port=port))


@pytest.mark.parametrize("text", HOSTILE, ids=["markup", "bidi", "invisible", "emoji", "no space"])
def test_hostile_text_is_only_text(tmp_path: Path, text: str) -> None:
    tokens = text.split(" ")
    with Project(tmp_path / "project") as project:
        fill(project, [Document.from_sentences("<b>name</b>", [tokens])])
        with serve(project) as client:
            browser = Browser(client)
            shown = client.get("/api/documents/1")
            assert shown.headers["content-type"].startswith("application/json")
            assert [token for sentence in shown.json()["sentences"] for token in sentence["tokens"]] == tokens
            assert browser.get("documents")[0]["name"] == "<b>name</b>"
            browser.annotate(golds(project), most=3)
            report = client.get("/api/report")
            assert report.headers["content-disposition"].startswith("attachment")
            assert "<script>alert" not in report.text
            assert "<b>name" not in report.text


def upload(browser: Browser, name: str, content: bytes, status: int = 200) -> Any:
    response = browser.client.post(f"/api/documents?wait=600&name={name}", content=content)
    assert response.status_code == status, response.text
    return response.json()


def test_large_requests_are_refused(sqlite_project: Project) -> None:
    with serve(sqlite_project, upload_bytes=1000) as client:
        browser = Browser(client)
        assert upload(browser, "a.txt", b"a" * 1001, 413)["error"]["kind"] == "too-large"

        def chunks() -> Any:
            for _ in range(5):
                yield b"a" * 300

        response = client.post("/api/documents?name=a.txt", content=chunks())
        assert response.json()["error"]["kind"] == "too-large"
        body = json.dumps({"client_id": "a" * 2_000_000})
        response = client.post("/api/undo", content=body, headers={"Content-Type": "application/json"})
        assert response.json()["error"]["kind"] == "too-large"


def test_errors_have_one_shape(safe: Browser) -> None:
    for path, status in (("/api/nothing", 404), ("/api/next?document=x", 422), ("/api/documents/7", 404)):
        response = safe.client.get(path)
        assert response.status_code == status
        assert set(response.json()["error"]) == {"kind", "message", "answers", "new", "next"}
    response = safe.client.post("/api/answers", content=b"{", headers={"Content-Type": "application/json"})
    assert response.json()["error"]["kind"] == "invalid"
    response = safe.client.put("/api/me")
    assert response.status_code == 405
    assert response.json()["error"]["message"]


NOT_SPANS: list[Any] = [[5], [], [1, 2, 3], [5, 2], [-1, 2], [[1, 2], [3]], [[1, 2], 3], [[]], ["a", "b"], [1.5, 2], 7]


@pytest.mark.parametrize("span", NOT_SPANS, ids=str)
def test_what_is_no_span_is_refused_wherever_one_is_sent(safe: Browser, span: Any) -> None:
    question = safe.get("next")["question"]
    edit = {"client_id": new_id(), "document": 1}
    requests: list[tuple[str, dict[str, Any]]] = [
        ("answers", {**edit, "question": question["id"], "answer": {"same": False, "reply": "first", "span": span}}),
        ("edits", {**edit, "edit": {"kind": "merge", "a": span, "b": [1, 2]}}),
        ("edits", {**edit, "edit": {"kind": "split", "mentions": [[1, 2], span]}}),
        ("edits", {**edit, "edit": {"kind": "move", "mention": [1, 2], "to": span}}),
        ("edits", {**edit, "edit": {"kind": "remove", "mention": span}}),
        ("edits", {**edit, "edit": {"kind": "add", "mention": [1, 2], "to": span}}),
        ("adjudication", {"document": 1, "mention": span, "decision": None}),
        ("adjudication", {"document": 1, "mention": [1, 2], "decision": {"mention": True, "first": span}}),
        ("tutorial/check", {"step": 0, "answer": {"same": False, "reply": "first", "span": span}}),
    ]
    for path, body in requests:
        error = safe.post(path, body, status=422)["error"]
        assert (error["kind"], "is not a span" in error["message"]) == ("outside", True), (path, body, error)


def test_a_span_outside_the_document_is_refused(safe: Browser) -> None:
    beyond, edit = [0, 100_000], {"client_id": new_id(), "document": 1}
    for path, body in (
        ("edits", {**edit, "edit": {"kind": "remove", "mention": beyond}}),
        ("edits", {**edit, "edit": {"kind": "add", "mention": beyond}}),
        ("edits", {**edit, "edit": {"kind": "merge", "a": [0, 1], "b": beyond}}),
        ("adjudication", {"document": 1, "mention": beyond, "decision": None}),
    ):
        assert safe.post(path, body, status=422)["error"]["kind"] == "outside"
