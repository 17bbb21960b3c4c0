"""Files that the owner sends: what comes of each, what is refused, and that nobody waits for them."""

from __future__ import annotations

import gzip
import io
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from corefine.errors import InputError
from corefine.formats.uploads.unpacking import Limits, Unpacked, cut_text, unpack
from corefine.project import Project, uploads
from helpers.projects import Browser, serve


@pytest.fixture
def safe(sqlite_project: Project) -> Iterator[Browser]:
    with serve(sqlite_project) as client:
        yield Browser(client)


def upload(browser: Browser, name: str, content: bytes, status: int = 200) -> Any:
    response = browser.client.post(f"/api/documents?wait=600&name={name}", content=content)
    assert response.status_code == status, response.text
    return response.json()


def zipped(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def test_good_and_bad_together(safe: Browser) -> None:
    files = {
        "one.txt": b"Anna came. She sang.",
        "deep/two.txt": b"Bert slept.",
        "bad.jsonl": b'{"doc_key": "x", "sentences": 7}\n',
        "huge-part.jsonl": b'{"doc_key": "a_%d", "name": "a", "part": %d, "tokens": ["x"]}\n' % (10**10, 10**10),
        "image.png": b"\x89PNG",
        "picture.txt": b"\x89PNG\r\n\0\0\0",
        "empty.txt": b"",
        ".hidden": b"no",
        ".git/old.txt": b"Carl slept.",
    }
    result = upload(safe, "all.zip", zipped(files))
    assert (result["state"], result["share_done"], len(result["added"])) == ("done", 1.0, 2)
    reasons = {each["file"]: each["reason"] for each in result["skipped"]}
    assert reasons.keys() == {"bad.jsonl", "huge-part.jsonl", "image.png", "picture.txt", "empty.txt"}
    assert "NUL" in reasons["picture.txt"]
    assert all("/tmp" not in reason and "uploads" not in reason for reason in reasons.values())
    assert {each["file"] for each in result["results"]} == {*reasons, "one.txt", "deep/two.txt"}
    assert [row["ready"] for row in safe.get("documents")][-2:] == [False, False]
    assert safe.get(f"next?document={result['added'][0]}")["state"] == "preparing"
    assert safe.get(f"uploads/{result['id']}") == result
    assert upload(safe, "one.txt.gz", gzip.compress(b"Carl ran."))["added"]
    again = upload(safe, "all.zip", zipped(files))
    assert not again["added"]
    assert {each["reason"] for each in again["results"] if each["file"] in ("one.txt", "deep/two.txt")} == {
        "it is in the project already"
    }
    assert safe.get("uploads/nonsense", status=404)["error"]["kind"] == "not-found"
    assert not list(safe.context.project.folder.glob("uploads/*"))


def test_no_path_leaves_the_project(safe: Browser, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*.txt"))
    files = {"../../../evil.txt": b"Out.", "/etc/evil.txt": b"Out.", "a/..\\..\\evil.txt": b"Out."}
    assert len(upload(safe, "a.zip", zipped(files))["added"]) == 3
    assert sorted(tmp_path.rglob("*.txt")) == before
    assert not (tmp_path.parent / "evil.txt").exists()
    assert upload(safe, "..%2F..%2Fevil.txt", b"Out again.")["added"]
    for path in ("/static/..%2F..%2Fapp.py", "/static/../app.py", "/static/%2e%2e/app.py", "/static//etc/passwd"):
        assert safe.client.get(path).status_code == 404


def test_an_archive_that_is_refused_as_a_whole(safe: Browser) -> None:
    safe.context.importer.limits = Limits(unpacked=1_000_000)
    assert "refused" in upload(safe, "bomb.zip", zipped({"a.txt": b"0" * 5_000_000}), 400)["error"]["message"]
    assert len(safe.get("documents")) == 3


def test_a_file_whose_reader_dies_costs_no_other_file(safe: Browser) -> None:
    """A reader that runs out of memory where nothing can catch it is started again after that file."""
    safe.context.importer.limits = Limits(memory=200_000_000)
    line = b'{"tokens": [' + b'"a", ' * 12_000_000 + b'"b"]}'
    files = {"a.jsonl": b'{"tokens": ["a"]}', "b.jsonl": line, "c.jsonl": b'{"tokens": ["c"]}'}
    result = upload(safe, "all.zip", zipped(files))
    assert [len(each["added"]) for each in result["results"]] == [1, 0, 1]
    assert "memory" in result["skipped"][0]["reason"]


def test_a_client_that_does_not_wait_asks_again(safe: Browser) -> None:
    sent = safe.client.post("/api/documents?name=a.jsonl&wait=0", content=b'{"tokens": ["Anna"]}').json()
    assert sent["state"] in ("waiting", "reading")
    end = time.monotonic() + 120
    while (now := safe.get(f"uploads/{sent['id']}"))["state"] in ("waiting", "reading"):
        assert time.monotonic() < end
        time.sleep(0.1)
    assert (now["state"], len(now["added"])) == ("done", 1)


def test_an_upload_that_was_cut_off_goes_on_where_it_ended(
    sqlite_project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Documents are written a few at a time. If that fails in the midst, sending the file again adds the rest."""
    monkeypatch.setattr(uploads, "WRITE_DOCUMENTS", 2)
    lines = b"".join(b'{"doc_key": "d%d", "tokens": ["Anna", "came"]}\n' % number for number in range(7))
    writes = 0
    original = sqlite_project.database.write

    def failing() -> Any:
        nonlocal writes
        writes += 1
        if writes == 3:
            raise OSError(28, "No space left on device")
        return original()

    with serve(sqlite_project) as client:
        browser = Browser(client)
        browser.get("me")
        monkeypatch.setattr(sqlite_project.database, "write", failing)
        with pytest.raises(OSError, match="No space"):
            upload_here(browser, lines)
        monkeypatch.undo()
        assert len(browser.get("documents")) == 3 + 4
        assert len(upload(browser, "all.jsonl", lines)["added"]) == 3
        names = [row["name"] for row in browser.get("documents")][3:]
        assert names == [f"d{number}" for number in range(7)]


def test_a_file_that_cannot_be_removed_stops_no_later_upload(safe: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(path: Path, **_: bool) -> None:
        raise OSError(5, "Input/output error", str(path))

    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", broken)
        upload(safe, "one.txt", b"Anna came.")
        while safe.context.importer.is_busy:
            time.sleep(0.01)
        time.sleep(0.1)  # until it has tried to remove the file
    later = safe.client.post("/api/documents?wait=60&name=two.txt", content=b"Bert slept.").json()
    assert (later["state"], len(later["added"])) == ("done", 1)


def test_a_folder_that_cannot_be_made_is_told_without_its_path(safe: Browser) -> None:
    folder = safe.context.project.folder
    (folder / "uploads").write_text("in the way")
    error = upload(safe, "one.txt", b"Anna came.", status=503)["error"]
    assert "File exists" in error["message"]
    assert str(folder) not in error["message"]
    (folder / "uploads").unlink()
    assert len(upload(safe, "one.txt", b"Anna came.")["added"]) == 1


def upload_here(browser: Browser, content: bytes) -> None:
    """The same without the API, which would turn the error into a message."""
    found = browser.context.importer
    path = found.place()
    path.write_bytes(content)
    found.add("all.jsonl", path).done.result(120)


# Unpacking


def unpacked(tmp_path: Path, name: str, content: bytes, limits: Limits | None = None) -> Unpacked:
    sent = tmp_path / "sent"
    sent.write_bytes(content)
    folder = tmp_path / "folder"
    folder.mkdir()
    return unpack(sent, name, folder, limits or Limits())


def test_what_is_not_text_is_refused_before_it_is_unpacked_further(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = 0
    original = zipfile.ZipExtFile.read

    def counting(self: zipfile.ZipExtFile, size: int = -1) -> bytes:
        nonlocal read
        block = original(self, size)
        read += len(block)
        return block

    monkeypatch.setattr(zipfile.ZipExtFile, "read", counting)
    found = unpacked(tmp_path, "a.zip", zipped({"a.txt": b"\0" * 50_000_000, "b.exe": b"x" * 50_000_000}))
    assert not found.files
    assert {name: "NUL" in reason for name, reason in found.refused} == {"a.txt": True, "b.exe": False}
    assert read <= 1 << 17


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("bomb.txt.gz", gzip.compress(b"0" * 5_000_000), "refused"),
        ("many.zip", zipped({f"{number}.txt": b"a" for number in range(11)}), "at most 10"),
        ("cut.zip", zipped({"a.txt": b"Anna came. " * 100})[:-30] + b"x" * 8, None),
        ("offset.zip", zipped({"a.txt": b"Anna"})[20:], None),
    ],
    ids=["bomb", "many", "cut", "offset"],  # the content has the time in it
)
def test_archives_that_are_refused(tmp_path: Path, name: str, content: bytes, reason: str | None) -> None:
    try:
        found = unpacked(tmp_path, name, content, Limits(unpacked=1_000_000, files=10))
    except InputError as error:
        assert reason is None or reason in str(error)  # noqa: PT017
    else:
        assert not found.files or reason is None


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("twice.txt.gz", gzip.compress(gzip.compress(b"Anna")), "more than once"),
        ("cut.txt.gz", gzip.compress(b"Anna")[:-9], "cannot be unpacked"),
        ("a.docx", zipped({"word/document.xml": b"<xml/>"}), "no known format"),
    ],
    ids=["twice", "cut", "other"],
)
def test_files_that_are_refused(tmp_path: Path, name: str, content: bytes, reason: str) -> None:
    found = unpacked(tmp_path, name, content)
    assert not found.files
    assert reason in found.refused[0][1]


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2, zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED])
def test_no_damage_of_a_zip_is_more_than_a_refusal(tmp_path: Path, method: int) -> None:
    """Every third byte in turn is another one: a message, whatever it is."""
    sound = zipped({"a.txt": b"Anna came. She sang. " * 20, "b.txt": b"Bert slept."}, method)
    sent, folder = tmp_path / "sent", tmp_path / "folder"
    for at in range(0, len(sound), 3):
        sent.write_bytes(sound[:at] + bytes([sound[at] ^ 0xFF]) + sound[at + 1 :])
        folder.mkdir()
        try:
            found = unpack(sent, "a.zip", folder, Limits())
            assert len(found.files) + len(found.refused) <= 2
        except InputError as error:
            assert str(error)  # noqa: PT017
        for file in sorted(folder.rglob("*"), reverse=True):
            file.rmdir() if file.is_dir() else file.unlink()
        folder.rmdir()


def test_long_texts_are_divided_where_paragraphs_end(tmp_path: Path) -> None:
    path = tmp_path / "book.txt"
    text = "\n\n".join(f"Chapter {number}. " + "Ännä came. " * 20 for number in range(100))
    path.write_text(text, "utf-8")
    parts = cut_text(path, 5_000)
    assert [part.name for part in parts[:2]] == ["book.part1.txt", "book.part2.txt"]
    assert "".join(part.read_text("utf-8") for part in parts) == text
    assert all(part.read_text("utf-8").startswith("Chapter") for part in parts)
    solid = tmp_path / "solid.txt"
    solid.write_text("ä" * 10_000, "utf-8")
    parts = cut_text(solid, 4_999)
    assert "".join(part.read_text("utf-8") for part in parts) == "ä" * 10_000


def test_the_language_is_detected_shown_and_chosen(safe: Browser) -> None:
    """Everything was split by English rules, and one Chinese paragraph was a single token."""
    sent = upload(safe, "buch.txt", b"Er sah, dass sie in dem Haus war, und er sagte nichts.")
    assert sent["results"][0]["languages"] == ["de"]
    (key,) = upload(safe, "shu.txt", "他走进房间。她没有说话。".encode())["added"]
    document = safe.client.get(f"/api/documents/{key}").json()
    assert (document["language"], document["tokens"], len(document["sentences"])) == ("zh", 12, 2)
    response = safe.client.post("/api/documents?wait=600&name=kort.txt&language=nl", content=b"Hij kwam.")
    assert response.json()["results"][0]["languages"] == ["nl"]
    assert safe.client.post("/api/documents?name=a.txt&language=qq", content=b"A").status_code == 400
    arabic = upload(safe, "arabi.jsonl", '{"tokens": ["مرحبا"]}'.encode())["added"][0]
    assert safe.client.get(f"/api/documents/{arabic}").json()["rtl"] is True
    assert safe.client.get("/api/languages").json()["names"]["nl"] == "Dutch"


def test_entities_that_come_with_a_document_are_used_as_was_chosen(safe: Browser) -> None:
    content = b'{"tokens": ["Anna", "said", "she", "slept", "."], "clusters": [[[0, 0], [2, 2]]]}'

    def sent(name: str, use: str) -> Any:
        path = f"/api/documents?wait=600&name={name}.jsonl&annotations={use}"
        return safe.client.post(path, content=content.replace(b"slept", name.encode())).json()

    answered = sent("woke", "answers")
    assert answered["results"][0]["annotated"] == 1
    (entry,) = safe.client.get(f"/api/history?document={answered['added'][0]}").json()["entries"]
    assert entry["said"].startswith("from woke.jsonl")
    held_out = sent("ate", "gold")
    listed = [row["id"] for row in safe.client.get("/api/documents").json()]
    assert answered["added"][0] in listed
    assert held_out["added"][0] not in listed, "nobody is asked about gold"
    assert safe.client.post("/api/documents?name=a.txt&annotations=truth", content=b"A").status_code == 422
