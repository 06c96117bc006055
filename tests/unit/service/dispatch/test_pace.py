"""Runs begin freely while the event loop keeps up, and one at a time while it does not."""

from __future__ import annotations

import asyncio
import time

import pytest

from bot.service.dispatch.attempts import (
    LATE_SECONDS,
    LONGEST_OF_WORKER,
    LONGEST_SECONDS,
    MOST_AT_ONCE,
    TICK_SECONDS,
    Pace,
)
from tests.fakes.virtual_time import in_virtual_time


async def begun(pace: Pace, wanted: int, seconds: float) -> int:
    """The number of runs that have begun after some time."""
    tasks = [asyncio.create_task(pace.begin()) for _ in range(wanted)]
    done, late = await asyncio.wait(tasks, timeout=seconds)
    for task in late:
        task.cancel()
    return len(done)


async def test_a_calm_loop_begins_many_at_once() -> None:
    assert await begun(Pace(), MOST_AT_ONCE, 1.0) == MOST_AT_ONCE


async def test_without_any_work_the_next_run_begins_at_once() -> None:
    pace = Pace()
    for _ in range(3 * MOST_AT_ONCE):  # nobody measures: only an idle pace lets these through
        await asyncio.wait_for(pace.begin(), 60.0)
        pace.end()


async def test_waiting_runs_begin_when_the_work_ends() -> None:
    pace = Pace()
    for _ in range(MOST_AT_ONCE):
        await pace.begin()
    waiting = asyncio.create_task(pace.begin())
    await asyncio.sleep(0)
    assert not waiting.done()
    for _ in range(MOST_AT_ONCE):
        pace.end()
    await asyncio.wait_for(waiting, 60.0)


async def test_a_calm_loop_lets_on_who_waits() -> None:
    pace = Pace()
    keeper = asyncio.create_task(pace.keep())
    assert await begun(pace, 3 * MOST_AT_ONCE, 20.0) == 3 * MOST_AT_ONCE
    keeper.cancel()


@in_virtual_time
async def test_with_each_calm_tick_as_many_begin_as_may_at_once() -> None:
    pace = Pace()
    keeper = asyncio.create_task(pace.keep())
    assert await begun(pace, 9 * MOST_AT_ONCE, 2.5 * TICK_SECONDS) == 3 * MOST_AT_ONCE
    keeper.cancel()


@pytest.mark.parametrize(
    ("longest", "least", "most"), [(LONGEST_SECONDS, 1, 1), (LONGEST_OF_WORKER / 2, 2, 5)]
)
async def test_a_busy_loop_begins_a_run_now_and_then_while_there_is_work(
    longest: float, least: int, most: int
) -> None:
    pace = Pace(longest)
    keeper = asyncio.create_task(pace.keep())

    async def hog() -> None:
        while True:
            time.sleep(TICK_SECONDS + 2 * LATE_SECONDS)  # holds the loop up, as work does
            await asyncio.sleep(0)

    busy = asyncio.create_task(hog())
    await asyncio.sleep(5 * TICK_SECONDS)  # until it was measured
    assert least <= await begun(pace, MOST_AT_ONCE, 0.5) <= most
    busy.cancel()
    keeper.cancel()
