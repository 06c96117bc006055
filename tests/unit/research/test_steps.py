"""The plan's lines: each stands under the one it was begun for."""

from __future__ import annotations

from bot.answers import StepView
from bot.research.run import Run
from bot.research.together import together
from bot.search.provider import Query
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
