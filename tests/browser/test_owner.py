"""The owner's pages: documents added, settings, invitations, differences decided, downloads, the dashboard."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from corefine import formats
from corefine.annotation.selectors import SELECTORS
from corefine.corpora import stories
from corefine.document import Span
from corefine.models import rules
from corefine.project import Project
from corefine.project.learning.held_back import Fit
from corefine.project.store import documents, predictions, settings
from helpers.browser_driving import Driver, Open, Server

TEXT = "Anna met Maria in the garden. She gave Maria a book. Maria read it to Anna.\n"


def owner_of(server: Server, visit: Open, address: str = "") -> Driver:
    driver = visit(server, address)
    driver.page.locator("body[data-page]").wait_for()
    return driver


def join(server: Server, visit: Open, owner: Driver, name: str) -> Driver:
    owner.go("project/people")
    owner.page.get_by_label("Name", exact=True).fill(name)
    owner.page.get_by_role("button", name="Invite").click()
    link = owner.page.get_by_role("textbox", name=f"Invitation link for {name}")
    link.wait_for()
    joined = owner_of(server, visit, link.input_value().removeprefix(f"{server.url}/"))
    joined.introduced()
    return joined


def packed(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def called(driver: Driver, path: str) -> Any:
    return driver.page.request.get(f"{driver.server.url}/api{path}").json()


def test_files_are_added_and_an_unreadable_one_is_told_and_skipped(
    launch: Callable[..., Server], visit: Open, tmp_path: Path
) -> None:
    server = launch()
    files = {
        "garden.txt": TEXT.encode(),
        "broken.conll": b"#begin document (b); part 000\nb\t0\t0\tShe\t(1\n#end document\n",
        "latin.txt": b"caf\xe9 <b>noir</b>",
        "empty.txt": b"  \n",
        "more.zip": packed(
            {"one.txt": b"Anna sang. She stopped.", "../two.txt": b"Bo slept. He woke.", "three.jsonl": b"{]"}
        ),
        "photo.png": b"\x89PNG\r\n\x1a\n",
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    driver = owner_of(server, visit, "#documents")
    page = driver.page
    before = len(called(driver, "/documents"))
    page.locator("#files").set_input_files([tmp_path / name for name in files])
    page.get_by_text("3 files may come with entities").wait_for()
    driver.press("Enter")
    items = page.locator(".upload-result li")
    page.wait_for_function("n => document.querySelectorAll('.upload-result li').length === n", arg=len(files))
    page.locator(".upload-result li", has_text="photo.png").get_by_text("skipped").wait_for()
    said = dict(text.split(": ", 1) for text in items.all_inner_texts())
    assert said["garden.txt"] == "1 document added; detected as English"
    assert "entity 1 is opened here but not closed" in said["broken.conll"]
    assert "bad UTF-8: byte 0xe9" in said["latin.txt"]
    assert "it holds no text" in said["empty.txt"]
    assert said["more.zip"].startswith("2 documents added; skipped: three.jsonl: this is not JSON")
    assert said["photo.png"].startswith("skipped: its ending is that of no known format")
    assert "/tmp" not in "".join(said.values()), "a message does not tell where the server keeps things"
    assert page.locator(".upload-result li.bad").count() == 5
    names = [row["name"] for row in called(driver, "/documents")]
    assert sorted(names[before:]) == ["garden", "one", "two"]
    page.locator("table.documents").get_by_text("garden").wait_for()

    # the same file again, and another of the same name
    page.locator("#files").set_input_files(tmp_path / "garden.txt")
    page.get_by_text("it is in the project already").wait_for()
    (tmp_path / "garden.txt").write_text("Bo slept. He woke.", "utf-8")
    page.locator("#files").set_input_files(tmp_path / "garden.txt")
    page.get_by_text("it is in the project already, as two").wait_for()
    (tmp_path / "garden.txt").write_text("Bo ran. He fell.", "utf-8")
    page.locator("#files").set_input_files(tmp_path / "garden.txt")
    page.locator("table.documents").get_by_text("garden (2)").wait_for()


def test_settings_are_saved_and_what_cannot_be_is_refused(launch: Callable[..., Server], visit: Open) -> None:
    server = launch()
    driver = owner_of(server, visit, "#project/settings")
    page = driver.page
    page.get_by_label("Kind of question").select_option("pairwise")
    page.get_by_label("Questions a document").fill("3")
    page.get_by_label("Overlap").fill("0.5")
    page.get_by_text("Not saved yet").wait_for()
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Saved", exact=True).wait_for()
    kept = server.get("/settings")
    assert (kept["protocol"], kept["budget_questions"], kept["overlap"]) == ("pairwise", 3, 0.5)
    offered = page.get_by_label("Selector").locator("option").evaluate_all("all => all.map(each => each.value)")
    assert set(offered) == set(SELECTORS)

    page.get_by_label("Overlap").fill("1.5")
    page.get_by_role("button", name="Save").click()
    page.locator(".settings .said.bad").wait_for()
    assert server.get("/settings")["overlap"] == 0.5

    driver.annotate(server.id_of("keyboard"))
    assert page.get_by_text("Question 1 of 3").is_visible()
    driver.answered("n")  # pairwise: a no has no follow-up
    page.get_by_text("Question 2 of 3").wait_for()


def test_invitations_are_renewed_and_revoked(launch: Callable[..., Server], visit: Open) -> None:
    server = launch()
    owner = owner_of(server, visit, "#project/people")
    mira = join(server, visit, owner, "Mira")
    mira.page.get_by_role("button", name="Begin").wait_for()
    page = owner.page
    page.get_by_label("Name", exact=True).fill("Mira")
    page.get_by_role("button", name="Invite").click()
    page.locator(".said.bad", has_text="already").wait_for()

    page.get_by_role("button", name="New invitation link for Mira").click()
    link = page.get_by_role("textbox", name="Invitation link for Mira")
    link.wait_for()
    mira.page.reload()
    mira.page.get_by_text("An invitation is needed").wait_for()
    again = owner_of(server, visit, link.input_value().removeprefix(f"{server.url}/"))
    again.page.get_by_role("button", name="Begin").wait_for()

    page.get_by_role("button", name="Revoke Mira").click()
    dialog = page.get_by_role("dialog")
    dialog.wait_for()
    owner.press("Escape")
    dialog.wait_for(state="hidden")
    again.page.reload()
    again.page.get_by_role("button", name="Begin").wait_for()
    page.get_by_role("button", name="Revoke Mira").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    page.get_by_text("revoked", exact=True).wait_for()
    again.page.reload()
    again.page.get_by_text("An invitation is needed").wait_for()


def test_the_owner_decides_where_two_people_differ(launch: Callable[..., Server], visit: Open) -> None:
    server = launch(overlap=1.0)
    owner = owner_of(server, visit, "#project/adjudication")
    owner.page.get_by_text("Nothing to decide").wait_for()
    assert owner.page.get_by_role("button", name="Next").is_hidden()
    mira = join(server, visit, owner, "Mira")
    document = next(row["id"] for row in called(owner, "/documents") if row["name"] == "keyboard")
    for each in (owner, mira):
        each.annotate(document)
    mention, antecedent = owner.marked("mention"), owner.marked("antecedent")
    assert mention is not None
    assert antecedent is not None
    assert mira.marked("mention") == mention, "both are asked the same"
    owner.answered("y")
    mira.press("n")
    mira.answered("f")

    owner.go("project/agreement")
    owner.page.get_by_role("table", name="What people said, in total").get_by_text("Mira").wait_for()
    owner.go("project/adjudication")
    page = owner.page
    page.get_by_text("1 difference, 1 not decided yet").wait_for()
    choices = page.locator(".choice")
    page.locator(".t.mention").first.wait_for()
    assert owner.marked("mention") == mention
    assert page.get_by_text("said by Mira").is_visible()
    assert page.get_by_text("said by owner").is_visible()
    first = choices.filter(has_text="It is the first of its entity")
    first.click()
    page.get_by_text("1 difference, 0 not decided yet").wait_for()
    assert first.get_attribute("aria-pressed") == "true"
    assert not together(owner, mention, antecedent)

    key = choices.filter(has_text="said by owner").locator("kbd").inner_text()
    owner.press(key)  # decided otherwise, by key
    page.locator(".choice[aria-pressed=true]", has_text="said by owner").wait_for()
    assert together(owner, mention, antecedent)
    page.locator(".choice[aria-pressed=true]").click()  # and taken back
    page.get_by_text("1 difference, 1 not decided yet").wait_for()
    owner.press("x")
    page.locator(".choice[aria-pressed=true]", has_text="It is not a mention").wait_for()
    document_now = exported(owner)["keyboard"]
    assert mention not in document_now.mentions


def exported(driver: Driver) -> dict[str, Any]:
    response = driver.page.request.get(f"{driver.server.url}/api/export?format=jsonl")
    return {document.name: document for document in formats.read(io.BytesIO(response.body()), "jsonl")}


def together(driver: Driver, a: Span, b: Span) -> bool:
    return any({a, b} <= set(cluster) for cluster in exported(driver)["keyboard"].clusters)


def test_downloads(launch: Callable[..., Server], visit: Open, tmp_path: Path) -> None:
    server = launch()
    driver = owner_of(server, visit)
    driver.annotate(server.id_of("mouse"))
    driver.answered("y")
    driver.go("project/export")
    page = driver.page
    page.get_by_role("heading", name="Export").wait_for()
    page.get_by_text("Not yet: no model has been trained").wait_for()
    assert page.get_by_role("link", name="Model").count() == 0

    def download(name: str) -> Path:
        with page.expect_download() as waiting:
            page.get_by_role("link", name=name).click()
        path = tmp_path / waiting.value.suggested_filename
        waiting.value.save_as(path)
        return path

    names = [document.name for document in formats.read(server.corpus)]
    for name in ("JSON lines", "CoNLL-2012"):
        assert [document.name for document in formats.read(download(name))] == names
    with zipfile.ZipFile(download("brat")) as archive:
        assert sum(name.endswith(".ann") for name in archive.namelist()) == len(names)
    links = json.loads(download("Provenance").read_text("utf-8"))
    assert "said" in json.dumps(links)
    report = download("Report").read_text("utf-8")
    assert report.lstrip().lower().startswith("<!doctype html>")


def test_the_dashboard_shows_the_learning_curve(launch: Callable[..., Server], visit: Open) -> None:
    server = launch()
    driver = owner_of(server, visit)
    document = server.id_of("undo")
    driver.annotate(document)
    driver.answered("y")
    driver.press("n")
    driver.answered("f")
    driver.go("project/dashboard")
    page = driver.page
    page.get_by_text("The learning curve begins with the first model").wait_for()
    assert page.locator(".figures div", has_text="Answers").locator("dd").inner_text() == "2"

    server.stop()
    with Project(server.folder) as project:
        gold = replace(stories.load()[-1], name="held out")
        project.writer.write(lambda connection: documents.add(connection, gold, held_out=True))
    add_version(server, answers=0, f1=30.0)
    add_version(server, answers=2, f1=41.5)
    add_version(server, answers=50, f1=52.25)
    reject_version(server, answers=100, reason="the new model has an F1 of 30.0 on the held-out documents")
    server.start()
    page.reload()
    name = "CoNLL F1 on held-out documents by answers and edits: from 30.0 to 52.3"
    chart = page.get_by_role("img", name=name)
    chart.wait_for()
    assert chart.locator("circle").count() == 3
    assert chart.locator("circle.first").count() == 1, "a version without answers stands apart,"
    assert str(chart.locator(".line").get_attribute("points")).count(",") == 2, "and is no part of the curve"
    assert chart.locator(".whisker").count() == 3, "each has its interval"
    assert chart.locator(".band").count() == 1
    rows = page.get_by_role("table", name="Versions of the model").locator("tbody tr")
    shown = [row.locator("td").nth(2).inner_text() for row in rows.all()]
    assert shown[0] == "–"
    assert [cell.partition(" (")[0] for cell in shown[1:]] == ["30.0", "41.5", "52.3"]
    assert all(" to " in cell for cell in shown[1:])
    assert rows.first.locator("td").nth(4).inner_text() == "50 % of 2"
    assert page.get_by_role("heading", name="Trainings whose model is not used").is_visible()
    unused = page.get_by_role("table", name="Trainings whose model is not used").locator("tbody td")
    reason = "the new model has an F1 of 30.0 on the held-out documents"
    assert unused.all_inner_texts()[:3] == ["5", "100", reason], "the reason stays after the worker has gone on"
    page.get_by_role("button", name="Train now").click()
    page.get_by_text("stopped", exact=True).wait_for()  # there is no worker here, and that is said
    driver.annotate(document)  # the new version is what asks now
    driver.answered("y")
    page.get_by_text("Model 4").first.wait_for()


def test_the_dashboard_says_what_held_back_answers_cannot_show(launch: Callable[..., Server], visit: Open) -> None:
    server = launch()
    driver = owner_of(server, visit)
    server.stop()
    add_version(server, answers=50)
    add_version(server, answers=100)
    fits = {"2": asdict(Fit(0.2, 0.1, 0.4, answers=9)), "3": asdict(Fit(0.3, 0.2, 0.5, answers=9))}
    with Project(server.folder) as project:
        project.writer.write(lambda connection: settings.put(connection, settings.HELD_BACK, fits))
    server.start()
    driver.page.reload()
    driver.go("project/dashboard")
    name = "Probability of held-back answers, percent by answers and edits: from 20.0 to 30.0"
    driver.page.get_by_role("img", name=name).wait_for()
    driver.page.get_by_text("Held-back answers are as right or as wrong as the others.").wait_for()


def reject_version(server: Server, answers: int, reason: str) -> None:
    """What the worker does with a model that is worse than the one in use."""
    with Project(server.folder) as project:

        def reject(connection: Connection) -> None:
            number = predictions.add_version(connection, "trained", predictions.TRAINED, answers=answers)
            predictions.finish_version(connection, number, predictions.FAILED, message=reason)

        project.writer.write(reject)


def add_version(server: Server, answers: int, f1: float | None = None) -> None:
    """What the worker does after training: predictions for every document, then the version is ready."""
    with Project(server.folder) as project:
        state = predictions.TRAINING
        number = project.writer.write(
            lambda connection: predictions.add_version(
                connection, "trained", predictions.TRAINED, state=state, answers=answers
            )
        )
        for entry in project.documents.all():
            project.predictions.save(number, entry.id, rules.predict(project.documents.get(entry.id)))
        project.writer.write(
            lambda connection: predictions.finish_version(connection, number, predictions.READY, f1=f1)
        )
