"""The plan's lines: each stands under the one it was begun for, each step is done once."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any, cast

import pytest
from pydantic import TypeAdapter

from bot.core.answers import StepView
from bot.core.errors import BudgetSpent
from bot.research.run import Run, Steps, together
from bot.search.provider import Query
from bot.storage.journal import Journal, RecordedStep, step_key
from tests.fakes.journal import MemoryJournal
from tests.fakes.library import a_shelf
from tests.unit.research.conftest import OpenRun


async def node(run: Run, id: str, query: str) -> None:
    run.show(StepView(id, "node", id, "running"))
    with run.branch(id):
        await together([run.search(Query(query, 5)), run.search(Query(f"{query} too", 5))])
    run.show(StepView(id, "node", id, "done"))


async def test_what_branches_do_at_the_same_time_stands_under_each(open_run: OpenRun) -> None:
    run = await open_run(a_shelf("A tower."))
    await together([node(run, "a", "tower"), node(run, "b", "bridge")])
    parents = {line.title: line.parent for line in run.steps}
    assert parents == {
        "a": "",
        "b": "",
        "tower": "a",
        "tower too": "a",
        "bridge": "b",
        "bridge too": "b",
    }
    assert {line.state for line in run.steps} == {"done"}


async def test_a_step_stays_under_the_branch_that_asked_first(open_run: OpenRun) -> None:
    run = await open_run(a_shelf("A tower."))
    await node(run, "a", "tower")
    await node(run, "b", "tower")
    assert [line.parent for line in run.steps if line.title == "tower"] == ["a"]


async def test_a_replayed_step_stands_where_it_stood(open_run: OpenRun) -> None:
    shelf = a_shelf("A tower.")
    await node(await open_run(shelf), "a", "tower")
    run = await open_run(shelf)
    await node(run, "a", "tower")
    assert next((line.id, line.parent) for line in run.steps) == ("a", "")
    assert {line.parent for line in run.steps if line.kind == "search"} == {"a"}


# ---------------------------------------------------------------- the same step at the same time

NUMBER = TypeAdapter(int)


def steps_on(journal: MemoryJournal) -> Steps:
    return Steps(cast(Journal, journal), lambda: None)


async def test_who_waits_for_a_step_does_it_when_the_one_who_began_it_is_cancelled() -> None:
    steps, begun = steps_on(MemoryJournal()), 0
    go_on = asyncio.Event()

    async def work() -> int:
        nonlocal begun
        begun += 1
        await go_on.wait()
        return begun

    def do() -> asyncio.Task[int]:
        return asyncio.create_task(steps.step("search", {"q": 1}, work, NUMBER, title="x"))

    first = do()
    await asyncio.sleep(0)
    second = do()
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.wait({first})
    go_on.set()
    assert await second == 2
    assert [line.state for line in steps.steps] == ["done"]


async def test_who_waits_for_a_step_can_be_cancelled_alone() -> None:
    steps, go_on = steps_on(MemoryJournal()), asyncio.Event()

    async def work() -> int:
        await go_on.wait()
        return 1

    first, second = (
        asyncio.create_task(steps.step("search", {"q": 1}, work, NUMBER, title="x"))
        for _ in range(2)
    )
    await asyncio.sleep(0)
    second.cancel()
    await asyncio.wait({second})
    assert second.cancelled()
    go_on.set()
    assert await first == 1


async def test_a_finished_step_is_kept_although_whoever_waits_is_cancelled() -> None:
    journal = _SlowJournal()
    steps = steps_on(journal)

    async def work() -> int:
        return 7

    task = asyncio.create_task(steps.step("think", {"q": 1}, work, NUMBER, title="x"))
    await journal.recording.wait()
    task.cancel()
    await asyncio.sleep(0)
    journal.go_on.set()
    await asyncio.wait({task})
    assert task.cancelled()
    assert journal.finished(step_key("think", {"q": 1})) is not None


async def test_a_failed_search_stays_failed_and_is_made_again_when_it_is_asked_for(
    open_run: OpenRun,
) -> None:
    run = await open_run(a_shelf(broken=frozenset({"tower"})))
    await run.search(Query("tower", 5))
    await run.search(Query("tower", 5))
    assert [(line.state, line.detail) for line in run.steps] == [
        ("failed", "No search provider answers: shelf is closed."),
        ("failed", ""),  # for the same reason
    ]


async def test_a_stop_is_not_lost_to_a_failure_that_came_before_it() -> None:
    failed, reached = asyncio.Event(), False

    async def fails() -> None:
        failed.set()
        raise ValueError

    async def unwinds() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.02)  # closes a connection

    async def goes_on() -> None:
        nonlocal reached
        with contextlib.suppress(ValueError):
            await together([unwinds(), fails()])
        reached = True

    task = asyncio.create_task(goes_on())
    await failed.wait()
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait({task})
    assert (task.cancelled(), reached) == (True, False)


class _SlowJournal(MemoryJournal):
    """Takes its time to keep a step."""

    def __init__(self) -> None:
        super().__init__()
        self.recording, self.go_on = asyncio.Event(), asyncio.Event()

    async def record(self, step: RecordedStep, *more: Any, **others: Any) -> None:
        self.recording.set()
        await self.go_on.wait()
        await super().record(step, *more, **others)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (BudgetSpent("The budget of 2 USD is spent."), "The budget of 2 USD is spent."),
        (ValueError("a defect"), ""),
    ],
    ids=["BudgetSpent", "a defect"],
)
async def test_a_line_that_the_budget_has_cut_says_so(error: Exception, said: str) -> None:
    steps = steps_on(MemoryJournal())

    async def work() -> int:
        raise error

    with pytest.raises(type(error)):
        await steps.step("judge", {}, work, NUMBER, title="Judge what was found")
    assert [(line.state, line.detail) for line in steps.steps] == [("failed", said)]
