"""The events sent to an open page: at once, once, and from where it was."""

from __future__ import annotations

import asyncio
import html
from dataclasses import replace

import pytest

from adapters.web.live import ReplyState, next_state, next_turn
from bot.core.messages import Answer
from bot.storage.store import RunRecord
from tests.unit.adapters.web.conftest import Browser, Running
from tests.unit.adapters.web.pages.test_conversation import QUESTION, thread_of


async def working(here: Running, browser: Browser) -> tuple[str, str]:
    """A run that waits for its reasoner, and the events of its thread."""
    here.reasoner.let_on.clear()
    run = await browser.ask(QUESTION)
    await here.reasoner.thinking.wait()
    return run, f"{await thread_of(browser, run)}/events"


async def cursor(browser: Browser, events: str) -> str:
    """The cursor that the thread's page has when it is loaded now."""
    page = (await browser.get(events.removesuffix("/events"))).text
    return html.unescape(page.partition('data-since="')[2].partition('"')[0])


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
    path, question = f"{await thread_of(browser, run)}/events", "How long is the bridge?"
    async with browser.follow(f"{path}?since={await cursor(browser, path)}") as events:
        await browser.send(f"/runs/{run}/edit", question=question)
        await events.until_told(question)
        # The stream gives the whole turn if it first looked after the new answer.
        kind, told = next((k, d) for k, d, _ in events.told if d["question"] == question)
        assert kind in ("reply", "turn")
        assert told["run"] == run


async def test_an_answer_that_is_regenerated_before_it_was_verified_gives_way_to_the_work(
    here: Running, browser: Browser
) -> None:
    run, path = await working(here, browser)
    record, live = await here.store.run(run), here.platform.poster._live
    assert record is not None
    async with browser.follow(f"{path}?since={await cursor(browser, path)}") as events:
        answered = next_state(ReplyState(), answer=Answer("answered", "330 m.", QUESTION, run))
        live.show(record.message.thread, run, answered)
        assert (await events.until("reply", "330 m."))["over"]
        live.show(record.message.thread, run, replace(next_turn(answered), answer=None))
        assert not (await events.until("reply", 'class=\\"working'))["over"]


async def test_a_deletion_is_told_once(here: Running, browser: Browser) -> None:
    run = await browser.answered()
    path = f"{await thread_of(browser, run)}/events"
    async with browser.follow(f"{path}?since={await cursor(browser, path)}") as events:
        await browser.send(f"/runs/{run}/delete")
        assert await events.until("gone") == {"run": run}
        await browser.answered("And how old?", thread=path.split("/")[2])
        await events.until("turn", "And how old?")
        assert events.kinds.count("gone") == 1


async def test_streams_end_with_the_console(here: Running, browser: Browser) -> None:
    _, path = await working(here, browser)
    async with browser.follow(path) as events:
        await events.until("turn")
        await here.platform.poster._live.aclose()
        await events.until_end()
    here.reasoner.let_on.set()


# ---------------------------------------------------------------- taken in by another process


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
            live.show(feed.thread, run, next_state(ReplyState(), text="Some words."))
            assert (await events.until("text"))["text"] == "Some words."
        assert "removed" not in events.kinds


async def test_a_page_that_comes_from_another_process_keeps_what_it_has(
    here: Running, browser: Browser, first: RunRecord
) -> None:
    live, thread = here.platform.poster._live, first.message.thread.thread
    async with live.follow(first.message.thread) as feed:  # somebody looks on already
        run = await taken_in_elsewhere(here, first)
        assert run not in feed.standings
        last = {"Last-Event-ID": f"{run};{run}=0.0;"}  # it was told of it there
        async with browser.follow(f"/threads/{thread}/events", **last) as page:
            await page.until_begun()
            live.show(feed.thread, run, next_state(ReplyState(), text="Some words."))
            assert (await page.until("reply", "Some words."))["run"] == run
        assert "gone" not in page.kinds


async def test_a_look_that_began_before_a_question_came_does_not_take_it_away(
    here: Running, first: RunRecord
) -> None:
    live = here.platform.poster._live
    async with live.follow(first.message.thread) as feed:
        looking = asyncio.ensure_future(live._look([feed.thread.key]))
        await asyncio.sleep(0)  # it has begun
        live.show(feed.thread, "new", ReplyState())
        await looking
        assert set(feed.standings) == {first.id, "new"}
        await live._look([feed.thread.key])
        assert set(feed.standings) == {first.id}, "in the end the database is right"


async def test_who_comes_back_during_a_look_finds_what_was_there(
    here: Running, first: RunRecord
) -> None:
    live, thread = here.platform.poster._live, first.message.thread
    async with live.follow(thread):
        looking = asyncio.ensure_future(live._look([thread.key]))
        await asyncio.sleep(0)  # it has begun, and the only onlooker goes
    await looking
    async with live.follow(thread) as feed:
        assert set(feed.standings) == {first.id}


async def test_questions_keep_their_order_though_the_newest_is_heard_of_first(
    here: Running, browser: Browser, first: RunRecord
) -> None:
    live, thread = here.platform.poster._live, first.message.thread.thread
    run = await taken_in_elsewhere(here, first)
    last = await cursor(browser, f"/threads/{thread}")
    since = f"{first.id};;{last.rpartition(';')[2]}"
    async with browser.follow(f"/threads/{thread}/events?since={since}") as page:
        while first.message.thread.key not in live._feeds:
            await asyncio.sleep(0)  # until the page's first look is under way
        live.show(first.message.thread, run, next_state(ReplyState(), text="Some words."))
        assert (await page.until("turn"))["run"] == run


# ---------------------------------------------------------------- what happened while it was away


async def told(browser: Browser, thread: str, last: str) -> list[tuple[str, str]]:
    """The events that a page which comes back is sent at once: kinds and runs. A last question
    marks the end of them."""
    headers = {"Last-Event-ID": last}
    async with browser.follow(f"/threads/{thread}/events", **headers) as events:
        await events.until_begun()
        end = await browser.ask("Is that all?", thread=thread)
        await events.until("turn", end)
    kinds = [(kind, data["run"]) for kind, data, _ in events.told]
    return kinds[: kinds.index(("turn", end))]


@pytest.fixture
async def talk(browser: Browser, first: RunRecord) -> tuple[str, str]:
    """A thread with two answered questions: its name, and the second one's run."""
    thread = first.message.thread.thread
    return thread, await browser.answered("And how old?", thread=thread)


async def test_a_page_that_missed_nothing_is_told_nothing(
    browser: Browser, talk: tuple[str, str]
) -> None:
    assert await told(browser, talk[0], await cursor(browser, f"/threads/{talk[0]}")) == []


async def test_a_page_is_told_of_an_answered_question_that_was_deleted_meanwhile(
    here: Running, browser: Browser, first: RunRecord, talk: tuple[str, str]
) -> None:
    last = await cursor(browser, f"/threads/{talk[0]}")
    await browser.send(f"/runs/{first.id}/delete")
    await here.ended(first.id)
    assert ("gone", first.id) in await told(browser, talk[0], last)


async def test_a_page_gets_the_new_answer_to_a_question_that_was_edited_meanwhile(
    here: Running, browser: Browser, first: RunRecord, talk: tuple[str, str]
) -> None:
    last = await cursor(browser, f"/threads/{talk[0]}")
    await browser.send(f"/runs/{first.id}/edit", question="How wide is the tower?")
    await here.ended(first.id)
    assert ("turn", first.id) in await told(browser, talk[0], last)


async def test_what_a_page_was_told_while_it_looked_on_counts_as_known(
    here: Running, browser: Browser, first: RunRecord, talk: tuple[str, str]
) -> None:
    thread, since = talk[0], await cursor(browser, f"/threads/{talk[0]}")
    async with browser.follow(f"/threads/{thread}/events?since={since}") as events:
        await events.until_begun()
        third = await browser.answered("And how wide?", thread=thread)
        await events.until("turn", third)
        await browser.send(f"/runs/{first.id}/delete")
        await events.until("gone", first.id)
    again = await told(browser, thread, events.told[-1][2])
    assert {run for _, run in again} <= {third}, "it may not know yet that this one is over"


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
