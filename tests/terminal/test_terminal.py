"""The terminal, driven by its keys."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from corefine.annotation.question import Reply
from corefine.corpora import stories
from corefine.document import Document, Span
from corefine.project import Project
from corefine.project.store import schema
from corefine.project.work.workspaces import Workspaces
from helpers.own_loop import run_in_own_loop
from helpers.projects import change, fill

pytest.importorskip("textual", reason="textual is not installed (corefine[web])")

from corefine.terminal import Terminal
from corefine.terminal.app import CLASHING, FOLLOWING, MARKING
from corefine.terminal.review import ReviewScreen
from corefine.terminal.screens import GuidelinesScreen, HistoryScreen
from corefine.terminal.text import Reader


def drive(
    tmp_path: Path,
    script: Callable[[Any, Terminal], Awaitable[None]],
    documents: Sequence[Document] = (),
    **settings: Any,
) -> Workspaces:
    with Project(tmp_path / "project") as project:
        fill(project, documents or stories.load()[:2])
        change(project, **settings)
        workspaces = Workspaces(project)
        terminal = Terminal(workspaces, project.owner().id)

        async def run() -> None:
            async with terminal.run_test(size=(100, 40)) as pilot:
                await pilot.pause()
                await script(pilot, terminal)

        run_in_own_loop(run())
        return workspaces


def answers(terminal: Terminal) -> list[Any]:
    with terminal.workspaces.of(terminal.person_id) as workspace:
        return [entry.answer for entry in workspace.open(1).session.answers]


def test_it_asks_about_equal_words_one_by_one(tmp_path: Path) -> None:
    told = Document.from_sentences("told", [["Nora", "Pell", word, "."] for word in ("slept", "ate", "left")])

    async def script(_: Any, terminal: Terminal) -> None:
        assert terminal.shown.question is not None
        assert not terminal.shown.question.group

    drive(tmp_path, script, [told], groups=True)


def test_yes_no_unsure_undo_redo(tmp_path: Path) -> None:
    async def script(pilot: Any, terminal: Terminal) -> None:
        await pilot.press("y")
        assert [answer.same for answer in answers(terminal)] == [True]
        await pilot.press("n")
        assert terminal.mode == FOLLOWING
        await pilot.press("f")
        assert answers(terminal)[1].reply is Reply.FIRST
        assert answers(terminal)[1].same is False
        await pilot.press("s")
        assert len(answers(terminal)) == 3
        await pilot.press("u", "u")
        assert len(answers(terminal)) == 1
        await pilot.press("r")
        assert len(answers(terminal)) == 2
        await pilot.press("m")
        assert answers(terminal)[-1].reply is Reply.NOT_A_MENTION

    drive(tmp_path, script)


def test_the_entity_is_found_by_typing(tmp_path: Path) -> None:
    async def script(pilot: Any, terminal: Terminal) -> None:
        await pilot.press("n")
        document = terminal.workspaces.project.documents.get(1)
        every = list(terminal._listed)
        target = every[-1]
        await pilot.press("slash")
        await pilot.press(*("space" if letter == " " else letter for letter in document.words(target)))
        await pilot.pause()
        assert target in terminal._listed
        assert len(terminal._listed) < len(every)
        found = terminal._listed[0]
        await pilot.press("enter")
        assert answers(terminal)[0].span == found

    drive(tmp_path, script)


def test_tokens_are_marked_with_the_arrows(tmp_path: Path) -> None:
    async def script(pilot: Any, terminal: Terminal) -> None:
        question = terminal.shown.question
        assert question is not None
        await pilot.press("b")
        assert terminal.mode == MARKING
        await pilot.press("shift+right")
        await pilot.press("enter")
        first = answers(terminal)[0]
        assert first.reply is Reply.BOUNDARIES
        assert first.span == (question.mention.start, question.mention.end + 1)

    drive(tmp_path, script)


def test_a_contradiction_is_shown_and_resolved(tmp_path: Path) -> None:
    async def script(pilot: Any, terminal: Terminal) -> None:
        question = terminal.shown.question
        assert question is not None
        with terminal.workspaces.of(terminal.person_id) as workspace:
            opened = workspace.open(1)
            said = [question.mention]
            workspace._perform("edit-00001", ["edit"], opened, lambda session: session.edit([], mentions=said))
        await pilot.press("escape")
        assert terminal.shown.question is not None
        assert terminal.shown.question.mention == question.mention
        await pilot.press("m")
        assert terminal.mode == CLASHING
        assert answers(terminal) == []
        await pilot.press("w")
        assert [answer.reply for answer in answers(terminal)] == [Reply.NOT_A_MENTION]

    drive(tmp_path, script)


def test_to_the_end(tmp_path: Path) -> None:
    async def script(pilot: Any, terminal: Terminal) -> None:
        for _ in range(4):
            await pilot.press("s")
        await pilot.pause()
        assert terminal.shown.state == "all-done"

    drive(tmp_path, script, budget_questions=2)


def test_only_mentions(tmp_path: Path) -> None:
    async def script(pilot: Any, terminal: Terminal) -> None:
        await pilot.press("y", "m", "n")
        assert [answer.same for answer in answers(terminal)] == [True, None]

    drive(tmp_path, script, protocol="mentions")


def test_answers_are_timed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("corefine.terminal.app.monotonic", lambda: now[0])

    async def script(pilot: Any, terminal: Terminal) -> None:
        await pilot.press("escape")
        now[0] += 4.0
        await pilot.press("n")
        now[0] += 3600.0  # an hour away counts as a minute
        await pilot.press("f")
        with terminal.workspaces.project.database.read() as connection:
            event = connection.execute(select(schema.events)).one()
        assert (event.initial, event.follow_up) == (4.0, 60.0)

    drive(tmp_path, script)


def test_not_a_mention_and_unsure_after_a_no(tmp_path: Path) -> None:
    async def script(pilot: Any, terminal: Terminal) -> None:
        await pilot.press("n", "s")
        assert (answers(terminal)[0].same, answers(terminal)[0].reply) == (False, Reply.UNSURE)
        await pilot.press("n", "m")
        assert (answers(terminal)[1].same, answers(terminal)[1].reply) == (None, Reply.NOT_A_MENTION)

    drive(tmp_path, script)


def test_the_mention_is_in_view(tmp_path: Path) -> None:
    sentences = [["rain", "fell", "and", "fell", "."]] * 80
    far = Document.from_sentences("far", [["Anna", "slept", "."], *sentences, ["Then", "Anna", "woke", "."]])

    async def script(pilot: Any, terminal: Terminal) -> None:
        await pilot.pause()
        reader = terminal.screen.query_one(Reader)
        assert terminal.shown.question is not None
        assert terminal.shown.question.mention == Span(404, 404)
        assert reader.scroll_offset.y > 0
        seen = "\n".join(line.text for line in terminal.screen._compositor.render_strips())
        assert "⟦Anna⟧" in seen

    drive(tmp_path, script, documents=[far])


# Review


def clusters(terminal: Terminal) -> tuple[tuple[Span, ...], ...]:
    with terminal.workspaces.of(terminal.person_id) as workspace:
        return workspace.open(1).session.relabelled().clusters


def entries(terminal: Terminal) -> int:
    with terminal.workspaces.of(terminal.person_id) as workspace:
        return len(workspace.open(1).session.entries)


async def go_to(pilot: Any, screen: ReviewScreen, span: Span) -> None:
    """Arrow keys until the mention is highlighted."""
    for _ in range(len(screen.rows)):
        if screen.current == span:
            return
        await pilot.press("down")
    raise AssertionError(f"{span} is not listed")


async def review(pilot: Any, terminal: Terminal) -> ReviewScreen:
    await pilot.press("e")
    await pilot.pause()
    assert isinstance(terminal.screen, ReviewScreen)
    return terminal.screen


def test_review_splits_and_undoes(tmp_path: Path) -> None:
    async def script(pilot: Any, terminal: Terminal) -> None:
        screen = await review(pilot, terminal)
        before = clusters(terminal)
        large = max(before, key=len)
        for span in large[1:3]:
            await go_to(pilot, screen, span)
            await pilot.press("space")
        assert screen.chosen == list(large[1:3])
        await pilot.press("s")
        assert tuple(large[1:3]) in clusters(terminal)
        assert entries(terminal) == 1
        await pilot.press("u")
        assert clusters(terminal) == before
        await pilot.press("r")
        assert tuple(large[1:3]) in clusters(terminal)
        await pilot.press("escape")
        assert terminal.shown.question is not None

    drive(tmp_path, script)


def test_review_moves_merges_and_removes(tmp_path: Path) -> None:
    async def script(pilot: Any, terminal: Terminal) -> None:
        screen = await review(pilot, terminal)
        large = max(clusters(terminal), key=len)
        moved = large[-1]
        await go_to(pilot, screen, moved)
        await pilot.press("m")
        to = screen._targets[1][0]
        await pilot.press("down", "enter")
        home = next(cluster for cluster in clusters(terminal) if moved in cluster)
        assert to in home
        assert large[0] not in home

        a = clusters(terminal)[0][0]
        await go_to(pilot, screen, a)
        await pilot.press("j", "escape")  # thought better of it
        assert entries(terminal) == 1
        await pilot.press("j")
        b = screen._targets[0][0]
        await pilot.press("enter")
        assert any({a, b} <= set(cluster) for cluster in clusters(terminal))

        gone = max(clusters(terminal), key=len)[-1]
        await go_to(pilot, screen, gone)
        await pilot.press("x")
        assert all(gone not in cluster for cluster in clusters(terminal))
        assert entries(terminal) == 3

    drive(tmp_path, script)


def test_review_shows_what_an_edit_contradicts(tmp_path: Path) -> None:
    async def script(pilot: Any, terminal: Terminal) -> None:
        screen = await review(pilot, terminal)
        large = max(clusters(terminal), key=len)
        await go_to(pilot, screen, large[-1])
        await pilot.press("s")
        assert (large[-1],) in clusters(terminal)
        await go_to(pilot, screen, large[-1])
        await pilot.press("j")
        at = next(n for n, cluster in enumerate(screen._targets) if cluster[0] == large[0])
        await pilot.press(*["down"] * at, "enter")
        assert screen._clash is not None
        assert screen._clash[1] == (1,)
        assert entries(terminal) == 1
        await pilot.press("escape")
        assert screen._clash is None
        assert terminal.screen is screen
        await pilot.press("j", *["down"] * at, "enter", "w")
        assert any({large[0], large[-1]} <= set(cluster) for cluster in clusters(terminal))
        assert entries(terminal) == 1

    drive(tmp_path, script)


def test_all_of_an_entity_cannot_be_split_off(tmp_path: Path) -> None:
    async def script(pilot: Any, terminal: Terminal) -> None:
        screen = await review(pilot, terminal)
        small = next(cluster for cluster in clusters(terminal) if len(cluster) == 2)
        for span in small:
            await go_to(pilot, screen, span)
            await pilot.press("space")
        await pilot.press("s")
        await pilot.press("y", "n", "f", "b")  # a question that is not seen is not answered
        assert terminal.screen is screen
        assert entries(terminal) == 0
        await pilot.press("s")
        assert "some, not all" in str(screen.query_one("#told").render())

    drive(tmp_path, script)


# History and guidelines


def test_any_answer_is_withdrawn_from_the_history(tmp_path: Path) -> None:
    async def script(pilot: Any, terminal: Terminal) -> None:
        await pilot.press("y", "s", "m", "h")
        await pilot.pause()
        screen = terminal.screen
        assert isinstance(screen, HistoryScreen)
        assert [line.entry.number for line in screen.lines] == [3, 2, 1]
        await pilot.press("down", "down", "d")
        assert [line.stands for line in screen.lines] == [True, True, False]
        assert len(answers(terminal)) == 2
        await pilot.press("d")  # it does not stand any more
        assert len(answers(terminal)) == 2
        assert "1" in str(screen.query_one("#told").render())
        await pilot.press("escape", "u")
        assert len(answers(terminal)) == 3

    drive(tmp_path, script)


def test_an_empty_history_and_the_guidelines(tmp_path: Path) -> None:
    async def script(pilot: Any, terminal: Terminal) -> None:
        await pilot.press("h", "d")
        assert isinstance(terminal.screen, HistoryScreen)
        await pilot.press("escape", "g")
        await pilot.pause()
        assert isinstance(terminal.screen, GuidelinesScreen)
        seen = "\n".join(line.text for line in terminal.screen._compositor.render_strips())
        assert "What to annotate" in seen
        await pilot.press("g", "y")
        assert len(answers(terminal)) == 1

    drive(tmp_path, script)
