"""Following a conversation in which another process has just taken in a question."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from adapters.web.shown import Shown, changed
from bot.storage.records import RunRecord
from tests.unit.adapters.web.conftest import Browser, Running


@pytest.fixture
async def first(here: Running, browser: Browser) -> RunRecord:
    """A question that has been answered."""
    record = await here.store.run(await browser.answered())
    assert record is not None
    return record


async def taken_in_elsewhere(here: Running, first: RunRecord) -> str:
    """The id of the run of a follow-up that this process was not told of."""
    message = replace(first.message, event_id="elsewhere", text="And how old is it?")
    run, _ = await here.reception._service.accept(message, first.options, owner="another process")
    return run


async def test_who_follows_it_is_not_told_that_it_was_removed(
    here: Running, browser: Browser, first: RunRecord
) -> None:
    live = here.platform.poster._live
    async with live.follow(first.message.thread) as feed:  # somebody looks on already
        run = await taken_in_elsewhere(here, first)
        assert run not in feed.standings
        async with browser.follow(f"/api/runs/{run}/events") as events:
            await events.until_begun()
            live.show(feed.thread, run, changed(Shown(), text="Some words."))
            assert (await events.until("text"))["text"] == "Some words."
        assert "removed" not in events.kinds


async def test_a_look_that_began_before_a_question_came_does_not_take_it_away(
    here: Running, first: RunRecord
) -> None:
    live = here.platform.poster._live
    async with live.follow(first.message.thread) as feed:
        looking = asyncio.ensure_future(live._look([feed.thread.key]))
        await asyncio.sleep(0)  # it has begun
        live.show(feed.thread, "new", Shown())
        await looking
        assert set(feed.standings) == {first.id, "new"}
        await live._look([feed.thread.key])
        assert set(feed.standings) == {first.id}, "in the end the database is right"
