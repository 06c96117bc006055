"""The moments at which events are sent, and the reads that they take."""

from __future__ import annotations

import asyncio

from adapters.web.limits import HEARTBEAT_SECONDS, SECONDS_BETWEEN_EVENTS
from adapters.web.live import Feed, moments
from bot.core.errors import StorageUnavailable
from bot.core.messages import Thread
from tests.fakes.virtual_time import in_virtual_time, now

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
