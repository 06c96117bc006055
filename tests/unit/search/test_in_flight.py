"""Single flight: one call for equal work, ended when nobody waits for it."""

from __future__ import annotations

import asyncio

import pytest

from bot.search.guarded import InFlight


class Work:
    """Counts how often it was begun and given up; lands when told to."""

    def __init__(self) -> None:
        self.begun = 0
        self.given_up = 0
        self.land = asyncio.Event()
        self.error: Exception | None = None

    async def __call__(self) -> str:
        self.begun += 1
        try:
            await self.land.wait()
        except asyncio.CancelledError:
            self.given_up += 1
            raise
        if self.error is not None:
            raise self.error
        return "landed"


async def joined(flights: InFlight[str], work: Work, times: int) -> list[asyncio.Task[str]]:
    tasks = [asyncio.create_task(flights.join("k", work)) for _ in range(times)]
    while not work.begun:
        await asyncio.sleep(0)
    return tasks


async def test_equal_work_is_done_once() -> None:
    flights, work = InFlight[str](), Work()
    tasks = await joined(flights, work, 3)
    work.land.set()
    assert await asyncio.gather(*tasks) == ["landed"] * 3
    assert work.begun == 1


async def test_work_asked_for_later_is_done_anew() -> None:
    flights, work = InFlight[str](), Work()
    work.land.set()
    assert [await flights.join("k", work), await flights.join("k", work)] == ["landed"] * 2
    assert work.begun == 2


async def test_a_failure_reaches_everyone_who_waits() -> None:
    flights, work = InFlight[str](), Work()
    work.error = ValueError("crashed")
    tasks = await joined(flights, work, 2)
    work.land.set()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert [str(outcome) for outcome in outcomes] == ["crashed", "crashed"]


async def test_who_is_cancelled_leaves_the_work_to_the_others() -> None:
    flights, work = InFlight[str](), Work()
    first, second = await joined(flights, work, 2)
    first.cancel()
    await asyncio.wait({first})
    work.land.set()
    assert await second == "landed"
    assert (work.begun, work.given_up) == (1, 0)


async def test_the_last_one_cancelled_takes_the_work_along() -> None:
    flights, work = InFlight[str](), Work()
    tasks = await joined(flights, work, 2)
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    assert (work.begun, work.given_up) == (1, 1)
    work.land.set()
    assert await flights.join("k", work) == "landed"


async def test_closing_ends_what_is_under_way() -> None:
    flights, work = InFlight[str](), Work()
    (task,) = await joined(flights, work, 1)
    await flights.aclose()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert work.given_up == 1
