"""The events sent to an open page: at once, once, and from where it was."""

from __future__ import annotations

import asyncio

from adapters.web.live import Live
from adapters.web.reply_state import ReplyState, next_state, next_turn
from bot.core.messages import PlanView, StepView
from bot.storage.store import open_store
from tests.unit.adapters.web.conftest import Browser, Running
from tests.unit.adapters.web.test_conversation import QUESTION, thread_of


async def working(here: Running, browser: Browser) -> tuple[str, str]:
    """A run that waits for its reasoner, and the events of its thread."""
    here.reasoner.let_on.clear()
    run = await browser.ask(QUESTION)
    await here.reasoner.thinking.wait()
    return run, f"{await thread_of(browser, run)}/events"


async def cursor(browser: Browser, events: str) -> str:
    """The cursor that the thread's page has when it is loaded now."""
    page = (await browser.get(events.removesuffix("/events"))).text
    return page.partition('data-since="')[2].partition('"')[0]


async def test_a_page_sees_the_plan_the_text_and_the_answer(
    here: Running, browser: Browser
) -> None:
    run, path = await working(here, browser)
    async with browser.follow(f"{path}?since={await cursor(browser, path)}") as events:
        here.reasoner.let_on.set()
        reply = await events.until("reply", "How was this answered?")
        assert reply["run"] == run
        assert reply["over"]
        assert reply["question"] == QUESTION


async def test_a_page_that_has_it_all_is_told_nothing(here: Running, browser: Browser) -> None:
    run = await browser.answered()
    path = f"{await thread_of(browser, run)}/events"
    async with browser.follow(f"{path}?since={await cursor(browser, path)}") as events:
        await browser.answered("And how old?", thread=path.split("/")[2])
        await events.until("turn", "And how old?")
        assert [data["run"] for _, data, _ in events.told].count(run) == 0


async def test_a_question_from_another_tab_appears(here: Running, browser: Browser) -> None:
    first = await browser.answered()
    path = f"{await thread_of(browser, first)}/events"
    async with browser.follow(f"{path}?since={await cursor(browser, path)}") as events:
        second = await browser.ask("And how old?", thread=path.split("/")[2])
        turn = await events.until("turn", "And how old?")
        assert turn["run"] == second
        assert f'id="run-{second}"' in turn["html"]


async def test_a_page_that_comes_back_gets_what_it_missed(here: Running, browser: Browser) -> None:
    run, path = await working(here, browser)
    async with browser.follow(f"{path}?since={await cursor(browser, path)}") as events:
        here.platform.poster._live.look_soon()
        have = await cursor(browser, path)
    here.reasoner.let_on.set()
    await here.ended(run)
    async with browser.follow(path, **{"Last-Event-ID": have}) as events:
        reply = await events.until("reply")
        assert reply["over"]


async def test_an_edit_is_told_to_a_page_that_had_the_answer(
    here: Running, browser: Browser
) -> None:
    run = await browser.answered()
    path = f"{await thread_of(browser, run)}/events"
    async with browser.follow(f"{path}?since={await cursor(browser, path)}") as events:
        await browser.send(f"/runs/{run}/edit", question="How long is the bridge?")
        reply = await events.until("reply", "How long is the bridge?")
        assert reply["run"] == run


async def test_a_deletion_is_told_once(here: Running, browser: Browser) -> None:
    run = await browser.answered()
    path = f"{await thread_of(browser, run)}/events"
    async with browser.follow(f"{path}?since={await cursor(browser, path)}") as events:
        await browser.send(f"/runs/{run}/delete")
        assert await events.until("gone") == {"run": run}
        await browser.answered("And how old?", thread=path.split("/")[2])
        await events.until("turn", "And how old?")
        assert events.kinds.count("gone") == 1


async def test_every_onlooker_is_told(here: Running, browser: Browser) -> None:
    _, path = await working(here, browser)
    since = await cursor(browser, path)
    async with (
        browser.follow(f"{path}?since={since}") as one,
        browser.follow(f"{path}?since={since}") as other,
    ):
        here.reasoner.let_on.set()
        for events in (one, other):
            await events.until("reply", "How was this answered?")


async def test_streams_end_with_the_console(here: Running, browser: Browser) -> None:
    _, path = await working(here, browser)
    async with browser.follow(path) as events:
        await events.until("turn")
        await here.platform.poster._live.aclose()
        await events.until_end()
    here.reasoner.let_on.set()


# ---------------------------------------------------------------- between processes


PLAN = PlanView("How tall?", (StepView("s", "search", "tower height", "running"),))


async def test_what_another_process_shows_is_found_in_the_database(
    here: Running, browser: Browser
) -> None:
    run, _ = await working(here, browser)
    record = await here.store.run(run)
    assert record is not None
    store = await open_store(str(here.store.database._writer.url))  # as another process has it
    live = Live(store.database)
    try:
        async with live.follow(record.message.thread) as feed:
            version, known = feed.version, feed.standings[run].reply_state
            assert known is not None
            told = next_state(known, plan=PLAN)
            await here.store.save_post_state(run, record.attempt, told.json())
            async with asyncio.timeout(60):
                while feed.standings[run].reply_state != told:
                    version = await feed.after(version)
    finally:
        await live.aclose()
        await store.close()
        here.reasoner.let_on.set()


async def test_a_feed_forgets_what_nobody_looks_at(here: Running, browser: Browser) -> None:
    run = await browser.answered()
    record = await here.store.run(run)
    assert record is not None
    live = here.platform.poster._live
    async with live.follow(record.message.thread) as one:
        async with live.follow(record.message.thread) as other:
            assert one is other
        assert live._feeds
    assert not live._feeds
    assert not live._seen
    async with asyncio.timeout(60):
        while live._looking is not None:
            await asyncio.sleep(0.01)


# ---------------------------------------------------------------- states


def test_two_states_of_a_reply_never_have_the_same_mark() -> None:
    state, marks = ReplyState(), set()
    for _ in range(3):
        state = next_turn(state)
        marks.add(state.mark)
        for _ in range(3):
            state = next_state(state, text=state.text + "x")
            marks.add(state.mark)
    assert len(marks) == 12
