"""Turns are shared run by run; time is virtual."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.measurements import Load
from bot.pages.pool import KEPT_FREE, PATIENCE, UNDISTURBED, For, Turns, reading_for
from tests.fakes.virtual_time import in_virtual_time


@dataclass
class Reading:
    """A log of pages that take some seconds each, in the order they were done: ``done`` by run and
    moment, ``begun`` how often one was begun."""

    turns: Turns
    done: list[tuple[str, float]] = field(default_factory=list)
    begun: int = 0
    at_once: int = 0
    most: int = 0

    async def read(self, run: str, seconds: float) -> None:
        """Read for a run called "a", or for "ann/a", a run of a person with several."""
        reading_for.set(For(run.partition("/")[0], run))
        undisturbed = UNDISTURBED
        while True:
            async with self.turns.turn(undisturbed) as turn:
                self.begun += 1
                self.at_once += 1
                self.most = max(self.most, self.at_once)
                work = asyncio.ensure_future(asyncio.sleep(seconds))
                try:
                    await asyncio.wait(
                        (work, turn.wanted_back), return_when=asyncio.FIRST_COMPLETED
                    )
                    if work.done():
                        break
                finally:
                    work.cancel()
                    self.at_once -= 1
            undisturbed *= 2
        self.done.append((run, asyncio.get_running_loop().time()))

    def start(self, run: str, *seconds: float) -> list[asyncio.Task[None]]:
        return [asyncio.create_task(self.read(run, each)) for each in seconds]


def now() -> float:
    return asyncio.get_running_loop().time()


@in_virtual_time
async def test_a_run_alone_has_all_turns() -> None:
    reading, began = Reading(Turns(3, can_be_wanted_back=True)), now()
    await asyncio.gather(*reading.start("a", *[1.0] * 9))
    assert now() - began == pytest.approx(3.0)
    assert reading.begun == 9


@in_virtual_time
async def test_who_waits_is_served_run_by_run() -> None:
    reading = Reading(Turns(1))
    tasks = reading.start("a", *[1.0] * 12)
    await asyncio.sleep(0.1)
    tasks += reading.start("b", 1.0) + reading.start("c", 1.0)
    await asyncio.gather(*tasks)
    assert [run for run, _ in reading.done[:4]] == ["a", "b", "c", "a"]


@in_virtual_time
async def test_twelve_slow_pages_of_one_run_hold_up_no_other_run() -> None:
    reading = Reading(Turns(2, can_be_wanted_back=True))
    slow = reading.start("a", *[20.0] * 12)
    await asyncio.sleep(1.0)
    began = now()
    await asyncio.gather(*reading.start("b", 0.1))
    assert now() - began == pytest.approx(PATIENCE + 0.1)
    began = now()
    for _ in range(5):
        await asyncio.gather(*reading.start("b", 0.1))
    assert now() - began == pytest.approx(0.5), "one turn was kept free meanwhile"
    await asyncio.gather(*slow)
    assert len(reading.done) == 18


@in_virtual_time
async def test_short_pages_are_waited_for() -> None:
    reading = Reading(Turns(2, can_be_wanted_back=True))
    tasks = reading.start("a", *[0.2] * 8)
    await asyncio.sleep(0.05)
    tasks += reading.start("b", *[0.2] * 8)
    await asyncio.gather(*tasks)
    assert reading.begun == 16, "nothing is begun twice"


@in_virtual_time
async def test_a_turn_that_was_kept_free_is_used_again() -> None:
    reading, began = Reading(Turns(2, can_be_wanted_back=True)), now()
    slow = reading.start("a", *[5.0] * 4)
    await asyncio.gather(*reading.start("b", 0.1))
    await asyncio.gather(*slow)
    assert now() - began < 4 * 5.0 - KEPT_FREE, "two at once again, after a while"


@in_virtual_time
async def test_who_is_cancelled_leaves_its_turn_to_others() -> None:
    reading = Reading(Turns(1, can_be_wanted_back=True))
    tasks = reading.start("a", 5.0, 5.0, 5.0) + reading.start("b", 5.0)
    await asyncio.sleep(0.1)
    for task in tasks[:3]:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.gather(*reading.start("c", 1.0))
    assert [run for run, _ in reading.done] == ["b", "c"]


# ---------------------------------------------------------------- people


@in_virtual_time
@pytest.mark.parametrize("size", [1, 2, 3, 4])
@pytest.mark.parametrize("runs", [1, 5, 30])
async def test_slow_files_of_one_person_never_hold_up_another(size: int, runs: int) -> None:
    """However many questions they come with."""
    reading = Reading(Turns(size, can_be_wanted_back=True))
    slow = [task for run in range(runs) for task in reading.start(f"eve/{run}", 20.0)]
    slow += reading.start("eve/0", *[20.0] * size)
    await asyncio.sleep(3.0)
    for _ in range(3):
        began = now()
        await asyncio.gather(*reading.start("ann/1", 0.1))
        assert now() - began <= max(PATIENCE, UNDISTURBED) + 0.1 + 1e-6
    for task in slow:
        task.cancel()
    await asyncio.gather(*slow, return_exceptions=True)
    assert reading.turns.load == Load(size, 0, 0)


@in_virtual_time
async def test_work_that_is_begun_again_is_interrupted_later_each_time() -> None:
    """So that two people with slow pages do not stop each other for ever."""
    reading, began = Reading(Turns(1, can_be_wanted_back=True)), now()
    await asyncio.gather(*reading.start("ann", 6.0), *reading.start("ben", 6.0))
    assert reading.begun <= 8
    assert now() - began < 30.0


@in_virtual_time
async def test_a_short_page_is_not_interrupted_for_another_person() -> None:
    reading = Reading(Turns(1, can_be_wanted_back=True))
    await asyncio.gather(*reading.start("ann", 0.9), *reading.start("ben", 0.9))
    assert reading.begun == 2


@in_virtual_time
async def test_people_are_served_before_the_many_runs_of_one() -> None:
    reading = Reading(Turns(1))
    tasks = [task for run in range(9) for task in reading.start(f"eve/{run}", 1.0)]
    await asyncio.sleep(0.1)
    tasks += reading.start("ann/1", 1.0) + reading.start("ben/1", 1.0)
    await asyncio.gather(*tasks)
    assert [run for run, _ in reading.done[1:3]] == ["ann/1", "ben/1"]


@in_virtual_time
async def test_the_load_is_counted() -> None:
    reading = Reading(Turns(2))
    tasks = reading.start("ann", 1.0, 1.0, 1.0) + reading.start("ben", 1.0)
    await asyncio.sleep(0.1)
    assert reading.turns.load == Load(2, 2, 2)
    tasks[2].cancel()
    await asyncio.sleep(0.1)
    assert reading.turns.load == Load(2, 2, 1)
    await asyncio.gather(*tasks, return_exceptions=True)
    assert reading.turns.load == Load(2, 0, 0)


PAGES = st.tuples(
    st.sampled_from(["ann/a", "ann/b", "ben/c", "ben/d", "eve"]),
    st.floats(0.0, 5.0),  # when it is asked for
    st.floats(0.01, 8.0),  # how long it takes
    st.one_of(st.none(), st.floats(0.0, 5.0)),  # when it is cancelled
)


@given(st.integers(1, 3), st.booleans(), st.lists(PAGES, max_size=12))
def test_all_are_served_and_never_too_many_at_once(
    size: int, back: bool, pages: Sequence[tuple[str, float, float, float | None]]
) -> None:
    @in_virtual_time
    async def play() -> None:
        reading = Reading(Turns(size, can_be_wanted_back=back))

        async def one(run: str, at: float, seconds: float, cancelled: float | None) -> None:
            await asyncio.sleep(at)
            try:
                async with asyncio.timeout(cancelled):
                    await asyncio.create_task(reading.read(run, seconds))
            except TimeoutError:
                return

        async with asyncio.timeout(1_000):
            await asyncio.gather(*(one(*page) for page in pages))
            await asyncio.gather(*reading.start("d", *[1.0] * size))
        assert reading.most <= max(size, 1)
        kept = sum(cancelled is None for *_, cancelled in pages)
        assert len(reading.done) >= kept + size
        assert reading.turns._free == size
        assert not reading.turns._waiting

    play()
