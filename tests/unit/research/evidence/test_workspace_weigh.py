"""Semantic similarity of passages is kept with the run, and the same on a replay."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from bot.core.errors import ProviderUnavailable
from bot.core.reader import EVERYTHING, Reach
from bot.pages.passages import Passage, Weight, split
from bot.reasoning.questions import SubQuestion
from bot.reasoning.workspace import Read, Search, Turn, Workspace
from bot.research.run import Run
from bot.research.working_set import Reading, WorkspaceKeeper
from bot.storage.store import Store
from tests.fakes.library import Shelf, a_shelf
from tests.unit.research.conftest import OpenRun

URL = "https://example.org/1"
TEXT = "Tower\n\n" + "\n\n".join(
    f"## Part {part}\n\nThe tower has {part} floors. " + "It is old. " * 30 for part in range(8)
)
QUESTION = SubQuestion("How high is the tower?")
READING = Reading(shown=5, page_tokens=150)


@dataclass
class WeighingShelf(Shelf):
    """Knows how near passages are: the one with ``near`` in it is nearest."""

    near: str = "5 floors"
    away: bool = False
    weighed: list[tuple[str, str]] = field(default_factory=list)

    def weighs(self, url: str) -> bool:
        return url == URL

    async def weigh(self, question: str, url: str, reach: Reach = EVERYTHING) -> tuple[Weight, ...]:
        self.weighed.append((question, url))
        if self.away:
            raise ProviderUnavailable("The index is locked: try again later.")
        return tuple(
            Weight(each.start, each.end, float(self.near in each.text))
            for each in split(self.pages[url].text)
        )


def a_weighing_shelf(*texts: str) -> WeighingShelf:
    return WeighingShelf(a_shelf(*texts).pages)


async def shown(run: Run) -> tuple[Passage, ...]:
    """The passages that a question's first search and reading bring to the workspace."""
    keeper = WorkspaceKeeper(run, QUESTION, Workspace(searches_left=2, pages_left=3), READING)
    await keeper.carry_out(Turn((Search(("tower",)),)))
    await keeper.carry_out(Turn((Read((1,)),)))
    (source,) = keeper.workspace.sources
    return source.passages


def relevances(passages: tuple[Passage, ...]) -> list[tuple[int, float | None]]:
    return [(each.start, each.relevance) for each in passages]


async def test_the_nearest_passage_is_shown_with_its_relevance(open_run: OpenRun) -> None:
    shelf = a_weighing_shelf(TEXT)

    passages = await shown(await open_run(shelf))

    assert any("5 floors" in each.text and each.relevance == 1.0 for each in passages)
    assert shelf.weighed == [(QUESTION.text, URL)]


@pytest.mark.parametrize("change", ["other vectors", "no embedder", "failing"])
async def test_a_resumed_run_shows_the_same_passages(open_run: OpenRun, change: str) -> None:
    shelf = a_weighing_shelf(TEXT)
    first = await shown(await open_run(shelf))

    later: Shelf = WeighingShelf(shelf.pages, near="2 floors", away=change == "failing")
    if change == "no embedder":
        later = Shelf(shelf.pages)
    again = await shown(await open_run(later))

    assert relevances(again) == relevances(first)
    assert again == first
    assert getattr(later, "weighed", []) == []


async def test_a_page_that_cannot_be_weighed_now_is_shown_by_words(open_run: OpenRun) -> None:
    shelf = a_weighing_shelf(TEXT)
    shelf.away = True
    first = await shown(await open_run(shelf))
    shelf.away = False
    again = await shown(await open_run(shelf))

    assert {each.relevance for each in first} == {None}
    assert relevances(again) == relevances(first), "what was shown stays what was shown"
    assert len(shelf.weighed) == 1


async def test_nothing_is_kept_where_nobody_weighs(open_run: OpenRun, store: Store) -> None:
    run = await open_run(a_shelf(TEXT))
    await shown(run)

    assert {line.kind for line in run.steps} == {"search", "read"}


async def test_weighing_is_no_line_of_the_plan(open_run: OpenRun) -> None:
    run = await open_run(a_weighing_shelf(TEXT))
    await shown(run)

    assert {line.kind for line in run.steps} == {"search", "read"}
