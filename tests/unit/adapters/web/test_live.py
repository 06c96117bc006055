"""The present state: told by this process's replies, and looked up where others work."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from adapters.web.limits import HEARTBEAT_SECONDS, SECONDS_BETWEEN_EVENTS
from adapters.web.live import Feed, Live, ReplyState, moments, next_state, next_turn
from bot.core.errors import StorageUnavailable
from bot.core.messages import Answer, PlanView, RunOptions, StepView, Thread
from bot.storage.database import Database
from bot.storage.store import Store, open_store
from tests.fakes import sqlite
from tests.fakes.mortal_postgres import a_mortal_postgres
from tests.fakes.virtual_time import in_virtual_time, now
from tests.unit.samples import NOW, a_message

PLAN = PlanView("How tall?", (StepView("s", "search", "tower height", "running"),))
FIRST = next_state(next_turn(ReplyState()), plan=PLAN)


def a_thread(name: str = "t") -> Thread:
    return Thread("web", "console", "local", name)


class Worker:
    """Another process on the same database."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.attempts: dict[str, int] = {}

    async def begin(self, run: str, thread: Thread) -> None:
        await self.store.accept(run, a_message("How tall?", thread), RunOptions(), NOW)
        record = await self.store.claim(run, "host/1/x", NOW, timedelta(seconds=30))
        assert record is not None
        self.attempts[run] = record.attempt

    async def show(self, run: str, now: ReplyState) -> None:
        await self.store.save_post_state(run, self.attempts[run], now.json())

    async def answer(self, run: str, now: ReplyState) -> None:
        answer = Answer("answered", "It is 330 m tall.", "How tall?", run)
        await self.show(run, next_state(now, plan=None, answer=answer))
        await self.store.save_answer(run, self.attempts[run], answer)
        await self.store.end(run, self.attempts[run], "answered", NOW)


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return sqlite.migrated(tmp_path)
    migrated: str = request.getfixturevalue("postgres_url")
    return migrated


@pytest.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as stack:
        yield stack


@pytest.fixture
async def worker(url: str, stack: AsyncExitStack) -> Worker:
    store = await open_store(url)
    stack.push_async_callback(store.close)
    return Worker(store)


@pytest.fixture
async def live(url: str, stack: AsyncExitStack) -> Live:
    """Of a process that works on nothing."""
    store = await open_store(url)
    stack.push_async_callback(store.close)
    live = Live(store.database)
    stack.push_async_callback(live.aclose)
    return live


async def until(feed: Feed, run: str, now: ReplyState) -> None:
    version = feed.version
    async with asyncio.timeout(60):
        while run not in feed.standings or feed.standings[run].reply_state != now:
            version = await feed.after(version)


async def until_over(feed: Feed, run: str) -> None:
    version = feed.version
    async with asyncio.timeout(60):
        while not feed.standings[run].over:
            version = await feed.after(version)


async def until_listening(live: Live, *, not_any_more: bool = False) -> None:
    async with asyncio.timeout(60):
        while live._signals is None or live._signals.listening == not_any_more:
            await asyncio.sleep(0.01)


def counted(database: Database) -> list[str]:
    """The statements that a database is sent from now on."""
    statements: list[str] = []
    for engine in sqlite.engines(database):
        told = "before_cursor_execute"
        sa.event.listen(engine, told, lambda *said: statements.append(said[2]))
    return statements


# ---------------------------------------------------------------- between processes


async def test_what_another_process_shows_is_seen_until_its_end(live: Live, worker: Worker) -> None:
    await worker.begin("r1", a_thread())
    async with live.follow(a_thread()) as feed:
        await worker.show("r1", FIRST)
        await until(feed, "r1", FIRST)
        later = next_state(FIRST, text="It is")
        await worker.show("r1", later)
        await until(feed, "r1", later)
        await worker.answer("r1", later)
        await until_over(feed, "r1")
        last = feed.standings["r1"].reply_state
        assert last is not None
        assert last.answer is not None


async def test_a_question_that_another_process_took_in_is_seen(live: Live, worker: Worker) -> None:
    async with live.follow(a_thread()) as feed:
        assert not feed.standings
        await worker.begin("r1", a_thread())
        await worker.show("r1", FIRST)
        if live._database.dialect == "sqlite":
            live.look_soon()  # as this process does when it has taken in a question
        await until(feed, "r1", FIRST)


async def test_an_answer_that_was_there_is_not_read_again(live: Live, worker: Worker) -> None:
    await worker.begin("r1", a_thread())
    await worker.answer("r1", FIRST)
    async with live.follow(a_thread()) as feed:
        standing = feed.standings["r1"]
    assert standing.over
    assert standing.reply_state is None


async def test_all_threads_are_looked_up_in_one_query(live: Live, worker: Worker) -> None:
    places = [a_thread(f"t{number}") for number in range(20)]
    for number, place in enumerate(places):
        await worker.begin(f"r{number}", place)
    async with AsyncExitStack() as followed:
        feeds = [await followed.enter_async_context(live.follow(place)) for place in places]
        assert live._looking is not None
        live._looking.cancel()  # what follows is one look, and no other
        await asyncio.gather(live._looking, return_exceptions=True)
        statements = counted(live._database)
        await live._look(list(live._feeds))
    assert len(statements) == 1
    assert all(feed.standings for feed in feeds)


async def test_where_nobody_looks_nothing_is_asked(live: Live, worker: Worker) -> None:
    async with live.follow(a_thread()):
        pass
    statements = counted(live._database)
    await worker.begin("r1", a_thread())  # which PostgreSQL tells of
    async with asyncio.timeout(60):
        while live._looking is not None:
            await asyncio.sleep(0.01)
    assert statements == []


@pytest.mark.parametrize("url", ["postgres"], indirect=True)
async def test_while_changes_are_signalled_it_is_seldom_looked_for_them(
    live: Live, worker: Worker
) -> None:
    await worker.begin("r1", a_thread())
    async with live.follow(a_thread()) as feed:
        await worker.show("r1", FIRST)
        await until(feed, "r1", FIRST)
        await until_listening(live)
        hearing = live._pause()
        assert live._signals is not None
        await live._signals.aclose()
        assert live._pause() < hearing


@pytest.mark.parametrize("url", ["postgres"], indirect=True)
async def test_what_this_process_says_itself_is_not_looked_up(live: Live, worker: Worker) -> None:
    await worker.begin("r1", a_thread())
    async with live.follow(a_thread()) as feed:
        live.show(a_thread(), "r1", FIRST)
        await until(feed, "r1", FIRST)
        live._hear("r1", a_thread().key)
        assert not live._due
        live._hear("r2", a_thread().key)
        assert live._due == {a_thread().key}


async def test_a_postgresql_that_is_stopped_and_started_is_heard_again(
    stack: AsyncExitStack,
) -> None:
    server = stack.enter_context(a_mortal_postgres())
    stores = [await open_store(server.url) for _ in range(2)]
    for store in stores:
        stack.push_async_callback(store.close)
    worker, live = Worker(stores[0]), Live(stores[1].database)
    stack.push_async_callback(live.aclose)
    await worker.begin("r1", a_thread())
    async with live.follow(a_thread()) as feed:
        await worker.show("r1", FIRST)
        await until(feed, "r1", FIRST)
        await until_listening(live)
        await asyncio.to_thread(server.stop_at_once)
        await until_listening(live, not_any_more=True)
        await asyncio.to_thread(server.start)
        later = next_state(FIRST, text="It is")
        await shown_at_last(worker, later)
        await until(feed, "r1", later)
        await until_listening(live)


async def shown_at_last(worker: Worker, now: ReplyState) -> None:
    """As a poster does: until the database takes it."""
    async with asyncio.timeout(60):
        while True:
            try:
                return await worker.show("r1", now)
            except StorageUnavailable:
                await asyncio.sleep(0.05)


# ---------------------------------------------------------------- an end


async def test_a_console_that_ends_leaves_no_task(live: Live, worker: Worker) -> None:
    before = asyncio.all_tasks()
    async with live.follow(a_thread()) as feed:
        await live.aclose()
        assert feed.closed
    assert asyncio.all_tasks() <= before


# ---------------------------------------------------------------- the moments of events

CALM = 10 * SECONDS_BETWEEN_EVENTS


class Reader:
    """Reads the moments of a feed; ``seen`` are the seconds of each from the beginning on, what it
    was, and the version that was there to be told."""

    def __init__(self, feed: Feed, slowness: float = 0.0) -> None:
        self.feed = feed
        self.seen: list[tuple[float, bool, int]] = []
        self.slowness = slowness
        self._began = now()
        self.task = asyncio.create_task(self._read())

    async def _read(self) -> None:
        async for changed in moments(self.feed):
            self.seen.append((round(now() - self._began, 3), changed, self.feed.version))
            await asyncio.sleep(self.slowness)


def a_feed() -> Feed:
    return Feed(Thread("web", "console", "local", "t"))


@in_virtual_time
async def test_what_is_there_is_told_at_once_and_so_is_the_first_change() -> None:
    reader = Reader(feed := a_feed())
    await asyncio.sleep(CALM)
    feed.tell()
    await asyncio.sleep(CALM)
    assert reader.seen == [(0.0, True, 0), (CALM, True, 1)]
    reader.task.cancel()


@in_virtual_time
async def test_changes_that_follow_each_other_fast_are_two_at_most() -> None:
    reader = Reader(feed := a_feed())
    await asyncio.sleep(CALM)
    for _ in range(5):
        feed.tell()
        await asyncio.sleep(SECONDS_BETWEEN_EVENTS / 10)
    await asyncio.sleep(CALM)
    assert reader.seen[1:] == [(CALM, True, 1), (CALM + SECONDS_BETWEEN_EVENTS, True, 5)]
    reader.task.cancel()


@in_virtual_time
async def test_a_slow_reader_is_told_the_newest_and_nothing_piles_up() -> None:
    reader = Reader(feed := a_feed(), slowness=3.0)
    for _ in range(90):
        await asyncio.sleep(0.1)
        feed.tell()
    await asyncio.sleep(4.0)
    assert [version for _, _, version in reader.seen] == [0, 30, 60, 90]
    reader.task.cancel()


@in_virtual_time
async def test_silence_is_broken_by_signs_of_life_and_they_delay_nothing() -> None:
    reader = Reader(feed := a_feed())
    await asyncio.sleep(2.5 * HEARTBEAT_SECONDS)
    feed.tell()
    await asyncio.sleep(0)
    await asyncio.sleep(SECONDS_BETWEEN_EVENTS)
    beats = [(HEARTBEAT_SECONDS, False, 0), (2 * HEARTBEAT_SECONDS, False, 0)]
    assert reader.seen[1:] == [*beats, (2.5 * HEARTBEAT_SECONDS, True, 1)]
    reader.task.cancel()


@in_virtual_time
async def test_it_ends_with_its_feed() -> None:
    reader = Reader(feed := a_feed())
    await asyncio.sleep(CALM)
    feed.closed = True
    feed.tell()
    async with asyncio.timeout(1):
        await reader.task


# ---------------------------------------------------------------- reading once


class Reads:
    """A read from the database that is let through by ``done``."""

    def __init__(self) -> None:
        self.count = 0
        self.done = asyncio.Event()
        self.error: Exception | None = None

    async def __call__(self) -> int:
        self.count += 1
        number = self.count
        await self.done.wait()
        if self.error is not None:
            raise self.error
        return number


async def test_all_who_ask_between_two_changes_share_what_is_read() -> None:
    feed, reads = a_feed(), Reads()
    reads.done.set()
    assert await asyncio.gather(*(feed.once("r1", reads) for _ in range(5))) == [1] * 5
    assert await feed.once("r1", reads) == 1
    assert await feed.once("r2", reads) == 2
    feed.tell()
    assert await feed.once("r1", reads) == 3


async def test_who_leaves_takes_nothing_from_the_others() -> None:
    feed, reads = a_feed(), Reads()
    first, second = (asyncio.create_task(feed.once("r1", reads)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    reads.done.set()
    assert await second == 1


async def test_what_failed_is_read_again() -> None:
    feed, reads = a_feed(), Reads()
    reads.done.set()
    reads.error = StorageUnavailable("The database is away.")
    told = await asyncio.gather(*(feed.once("r1", reads) for _ in range(3)), return_exceptions=True)
    assert told == [reads.error] * 3
    reads.error = None
    assert await feed.once("r1", reads) == 2
