"""The terminal, driven by its keys."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from corefine import stories
from corefine.project import Project
from corefine.project.office import Office
from corefine.questions import Reply
from projects import change, fill

pytest.importorskip("textual", reason="textual is not installed (corefine[web])")

from corefine.terminal import CLASHING, FOLLOWING, MARKING, Terminal


def drive(tmp_path: Path, script: Callable[[Any, Terminal], Awaitable[None]], **settings: Any) -> Office:
    with Project(tmp_path / "project") as project:
        fill(project, stories.load()[:2])
        change(project, **settings)
        office = Office(project)
        terminal = Terminal(office, project.owner().id)

        async def run() -> None:
            async with terminal.run_test(size=(100, 40)) as pilot:
                await pilot.pause()
                await script(pilot, terminal)

        with ThreadPoolExecutor(1) as own_loop:  # the browser tests may have left a loop running in this thread
            own_loop.submit(lambda: asyncio.run(run())).result()
        return office


def answers(terminal: Terminal) -> list[Any]:
    with terminal.office.at(terminal.person_id) as desk:
        return [entry.answer for entry in desk.own(1).session.answers]


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
        document = terminal.office.project.documents.get(1)
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
        with terminal.office.at(terminal.person_id) as desk:
            seat = desk.own(1)
            seat.session.edit([], mentions=[question.mention])
            desk._commit("edit-00001", seat)
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

    drive(tmp_path, script, mode="mentions")
