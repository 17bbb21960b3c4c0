"""Exports of what is finished, reviewed or said, and backups that are taken and restored on the page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from corefine import formats
from corefine.corpora import stories
from corefine.document import Document
from helpers.browser_driving import Driver, Open, Server

NAMES = ("finished", "reviewed", "begun", "untouched")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder: Path = tmp_path_factory.mktemp("exports")
    told = [replace(story, name=name, part=0) for name, story in zip(NAMES, stories.load(), strict=False)]
    formats.write(told, folder / "texts.jsonl")
    settings = {"budget_questions": 4, "least_gain": 0.0, "groups": False}
    with Server(folder / "project", folder / "texts.jsonl", settings) as started:
        yield started


def downloaded(driver: Driver, folder: Path, link: str, *, keys: bool) -> Path:
    element = driver.page.get_by_role("link", name=link)
    with driver.page.expect_download() as waiting:
        if keys:
            element.focus()
            driver.press("Enter")
        else:
            element.click()
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def test_only_what_is_finished_reviewed_or_said(server: Server, visit: Open, tmp_path: Path) -> None:
    driver = visit(server)
    page = driver.page
    for name in NAMES[:3]:
        driver.annotate(server.id_of(name))
        driver.press("n")
        driver.answered("f")
    finished, reviewed = server.id_of("finished"), server.id_of("reviewed")
    driver.annotate(finished)
    driver.press("Shift+d")
    page.get_by_text("This document is done").wait_for()
    driver.go(f"review/{reviewed}")
    page.locator(".card").first.wait_for()
    driver.press("Shift+r")
    page.get_by_text("is marked as reviewed").wait_for()

    driver.go("project/export")
    which = page.get_by_label("Which documents")
    which.wait_for()

    def exported(choice: str, *, keys: bool) -> dict[str, Document]:
        which.select_option(label=choice)
        path = downloaded(driver, tmp_path, "JSON lines", keys=keys)
        return {document.name: document for document in formats.read(path)}

    assert set(exported("All documents", keys=True)) == set(NAMES)
    assert set(exported("Only those with answers", keys=False)) == set(NAMES[:3])
    assert set(exported("Only finished ones", keys=True)) == {"finished"}
    assert set(exported("Only reviewed ones", keys=False)) == {"reviewed"}

    said = server.history(finished)[0]
    mention = tuple(said["answer"]["span"])
    page.get_by_label("Only what people said").check()
    alone = exported("Only finished ones", keys=False)["finished"]
    assert [tuple((span.start, span.end) for span in cluster) for cluster in alone.clusters] == [(mention,)]
    page.get_by_label("Only what people said").uncheck()
    whole = exported("Only finished ones", keys=True)["finished"]
    assert mention in {(span.start, span.end) for cluster in whole.clusters for span in cluster}, "kept as a singleton"
    assert len(whole.clusters) > 1


def test_a_backup_is_taken_and_restored(server: Server, visit: Open, tmp_path: Path) -> None:
    driver = visit(server, "#project/export")
    page = driver.page
    page.get_by_role("region", name="Backup").wait_for()
    kept = downloaded(driver, tmp_path, "Download a backup", keys=True)
    before = len(server.history())
    document = server.id_of("untouched")
    driver.annotate(document)
    driver.answered("u")
    assert len(server.history()) == before + 1

    def choose() -> None:
        driver.go("project/export")
        page.get_by_role("region", name="Backup").wait_for()
        page.locator("#backup-file").set_input_files(kept)
        page.get_by_role("dialog").wait_for()

    choose()
    driver.press("Escape")
    page.get_by_role("dialog").wait_for(state="detached")
    assert len(server.history()) == before + 1, "nothing was restored"
    choose()
    page.get_by_role("dialog").get_by_role("button", name="Restore").click()
    page.get_by_text("Restored: 4 documents. What was here before is in the project’s folder").wait_for()
    page.locator("body[data-page=documents]").wait_for()
    assert len(server.history()) == before
    assert list(server.folder.glob("before-restore-*")), "and it is there"

    (tmp_path / "damaged.zip").write_bytes(kept.read_bytes()[:1000])
    kept = tmp_path / "damaged.zip"
    choose()
    page.get_by_role("dialog").get_by_role("button", name="Restore").focus()
    driver.press("Enter")
    page.locator(".said.bad").wait_for()
    assert len(server.history()) == before
