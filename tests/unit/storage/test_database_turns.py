"""Turns at the writer: in order, the urgent first, none lost."""

from __future__ import annotations

import asyncio

import pytest

from bot.storage.database import URGENT_AT_ONCE, Turns


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


class Line:
    """People who want a turn, and the order in which they had it."""

    def __init__(self) -> None:
        self.turns = Turns()
        self.had: list[str] = []
        self.leave = asyncio.Event()

    async def stand(self, name: str, *, urgent: bool = False) -> None:
        async with self.turns.urgent_turn() if urgent else self.turns.turn():
            self.had.append(name)
            if name == "first":
                await self.leave.wait()

    async def queue(self, *names: str) -> dict[str, asyncio.Task[None]]:
        """Stand in line one after another; names with "!" are urgent."""
        tasks = {}
        for name in names:
            tasks[name] = asyncio.create_task(self.stand(name, urgent=name.endswith("!")))
            await settle()
        return tasks


async def test_the_urgent_go_before_the_patient_and_each_in_order() -> None:
    line = Line()
    tasks = await line.queue("first", "a", "b", "x!", "c", "y!")
    line.leave.set()
    await asyncio.gather(*tasks.values())
    assert line.had == ["first", "x!", "y!", "a", "b", "c"]


async def test_who_gives_up_waiting_holds_nobody_up() -> None:
    line = Line()
    tasks = await line.queue("first", "a", "x!", "b")
    tasks["a"].cancel()
    tasks["x!"].cancel()
    line.leave.set()
    await asyncio.gather(*tasks.values(), return_exceptions=True)
    assert line.had == ["first", "b"]


async def test_a_turn_that_was_given_and_not_wanted_any_more_is_passed_on() -> None:
    line = Line()
    tasks = await line.queue("first", "a", "b")
    line.leave.set()
    while len(line.turns._patient) == 2:  # until "a" has been given its turn
        await asyncio.sleep(0)
    tasks["a"].cancel()
    await asyncio.gather(*tasks.values(), return_exceptions=True)
    assert line.had[-1] == "b"


async def test_a_turn_ends_with_its_block_however_that_ends() -> None:
    turns = Turns()
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            async with turns.turn():
                _ = 1 / 0
    async with turns.urgent_turn():
        assert turns._held
    assert not turns._held


async def test_the_urgent_do_not_starve_the_patient() -> None:
    line = Line()
    rush = [f"{number}!" for number in range(2 * URGENT_AT_ONCE)]
    tasks = await line.queue("first", "a", "b", *rush)
    line.leave.set()
    await asyncio.gather(*tasks.values())
    assert [line.had.index("a"), line.had.index("b")] == [
        URGENT_AT_ONCE + 1,
        2 * URGENT_AT_ONCE + 2,
    ]
