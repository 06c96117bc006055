"""The best hits of a search are opened with it: a turn to choose them would take seconds."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace

import pytest

from bot.core.errors import PageUnreadable
from bot.pages.page import Page
from bot.reasoning.questions import SubQuestion
from bot.reasoning.workspace import NumberedHit, QueryResult, Read, Search, Turn, Workspace
from bot.research.run import Run
from bot.research.selection import to_open
from bot.research.working_set import Reading, WorkspaceKeeper
from bot.search.provider import Hit
from tests.fakes.library import Shelf, a_shelf
from tests.unit.research.conftest import BUDGET, OpenRun
from tests.unit.samples import NOW

READING = Reading(shown=10, page_tokens=400, opened=2)
TEXTS = ("Tower one is tall.", "Tower two is tall.", "Tower three is tall.", "Bridge is long.")


def a_keeper(run: Run, reading: Reading = READING, pages: int = 12) -> WorkspaceKeeper:
    return WorkspaceKeeper(
        run, SubQuestion("how tall is the tower"), Workspace(pages_left=pages), reading
    )


def a_result(*numbers: int, read: tuple[int, ...] = ()) -> QueryResult:
    return QueryResult(
        "q",
        tuple(
            NumberedHit(n, Hit("t", f"https://x/{n}", "", "p"), page=n if n in read else None)
            for n in numbers
        ),
    )


@pytest.mark.parametrize(
    ("results", "most", "opened"),
    [
        ([a_result(1, 2, 3)], 2, [1, 2]),
        ([a_result(1, 2, 3)], 0, []),
        ([a_result(1, 2, 3, read=(1,))], 2, [2, 3]),
        ([a_result(1, 2), a_result(3, 4)], 2, [1, 3]),
        ([a_result(1, 2), a_result(1, 3)], 2, [1, 2]),
        ([a_result(1), a_result(2), a_result(3)], 2, [1, 2]),
        ([a_result()], 2, []),
    ],
)
def test_the_first_of_each_query_then_the_best_of_all(
    results: list[QueryResult], most: int, opened: list[int]
) -> None:
    assert to_open(results, most) == opened


def test_the_hit_that_a_query_names_goes_before_the_first() -> None:
    titles = ["Institute of Plastics Technology", "Institute of technology", "Sport Institute"]
    hits = [Hit(title, f"https://x/{n}", "", "p") for n, title in enumerate(titles, 1)]
    result = QueryResult(
        "institute of Technology", tuple(NumberedHit(n, hit) for n, hit in enumerate(hits, 1))
    )
    assert to_open([result], 2) == [2, 1]


async def test_a_search_comes_with_the_passages_of_its_best_pages(open_run: OpenRun) -> None:
    run = await open_run(a_shelf(*TEXTS))
    keeper = a_keeper(run)
    await keeper.give(queries=["tower"])
    (outcome,) = keeper.workspace.given
    assert [read.source.title for read in outcome.reads if read.source] == ["Tower", "Tower"]
    assert [hit.page for hit in outcome.queries[0].hits] == [1, 2, None]
    assert run.usage.pages == 2  # the third was only looked at
    assert len([line for line in run.steps if line.kind == "read"]) == 2
    assert keeper.workspace.pages_left == run.budget.pages - 2


async def test_of_a_long_page_what_its_query_asks_for_is_shown_beside_what_the_question_does(
    open_run: OpenRun,
) -> None:
    """The second step of a question stands in no word of it."""
    others = [f"Of {word}. " + "Much else is told here. " * 20 for word in ("sand", "glass", "ice")]
    told = ["A tall tower.", *others, "Its architect, Ada Byron, was born in Leith.", *others]
    run = await open_run(a_shelf("Guide\n\n" + "\n\n".join(told)))
    keeper = a_keeper(run, replace(READING, page_tokens=200))
    await keeper.carry_out(Turn((Search(("guide Ada Byron born",), "c1"),)))
    (source,) = keeper.workspace.sources
    words = " ".join(passage.text for passage in source.passages)
    assert "born in Leith" in words
    assert "tall tower" in words
    assert "glass" not in words


async def test_a_search_of_many_queries_opens_a_page_for_each(open_run: OpenRun) -> None:
    texts = ("Tower is tall.", "Bridge is long.", "Castle is old.", "Harbour is deep.", "Sea.")
    keeper = a_keeper(await open_run(a_shelf(*texts)))
    await keeper.give(queries=["tower tall", "bridge long", "castle old"])
    (outcome,) = keeper.workspace.given
    assert sorted(r.source.title for r in outcome.reads if r.source) == [
        "Bridge",
        "Castle",
        "Tower",
    ]


async def test_a_page_that_does_not_fit_is_not_opened(open_run: OpenRun) -> None:
    texts = ("Tower is tall.", "Bridge whose paint is red.")
    keeper = a_keeper(await open_run(a_shelf(*texts)))
    await keeper.give(queries=["tower tall paint colour"])
    (outcome,) = keeper.workspace.given
    assert [r.source.title for r in outcome.reads if r.source] == ["Tower"]
    assert len(outcome.queries[0].hits) == 2


ASKED = "Is Midway, near McRae, in the state of Radio Norwood and of Lake Norman?"
NAMED = {
    "https://x/1": ("Midway, Iowa", "Midway is a place in the state of Iowa."),
    "https://x/2": ("Midway, Ohio", "Midway is a place near the state line of Ohio."),
    "https://x/3": ("Midway, Utah", "Midway is a place in Utah."),
    "https://x/4": ("McRae, Arkansas", "McRae is a town."),
    "https://x/5": ("Harbour", "A harbour."),
    "https://x/6": ("Radio Norwood", "Radio Norwood is a station in Arkansas."),
    "https://x/7": ("Lake Norman", "Lake Norman is a lake."),
}


def a_shelf_of_names() -> Shelf:
    pages = {url: Page(url, title, text, NOW) for url, (title, text) in NAMED.items()}
    return Shelf(pages, urls={ASKED: list(pages), "midway mcrae": list(pages)})


@pytest.mark.parametrize(
    ("query", "pages", "opened"),
    [
        (ASKED, 12, ["Midway, Iowa", "McRae, Arkansas", "Radio Norwood", "Lake Norman"]),
        (ASKED, 3, ["Midway, Iowa", "McRae, Arkansas", "Radio Norwood"]),
        ("midway mcrae", 12, ["Midway, Iowa", "Midway, Ohio"]),  # the words of a query are its own
    ],
)
async def test_a_page_of_each_other_thing_that_the_question_names_comes_with_the_best(
    query: str, pages: int, opened: list[str], open_run: OpenRun
) -> None:
    run = await open_run(a_shelf_of_names(), replace(BUDGET, pages=20))
    keeper = WorkspaceKeeper(run, SubQuestion(ASKED), Workspace(pages_left=pages), READING)
    await keeper.give(queries=[query])
    (outcome,) = keeper.workspace.given
    assert [read.source.title for read in outcome.reads if read.source] == opened
    assert run.usage.pages == len(opened)


async def test_half_of_the_runs_pages_is_kept_for_what_is_chosen(open_run: OpenRun) -> None:
    run = await open_run(a_shelf(*TEXTS), replace(BUDGET, pages=4))
    keeper = a_keeper(run, pages=2)
    await keeper.give(queries=["tower"])
    await keeper.carry_out(Turn((Search(("bridge long",)),)))
    assert (run.usage.pages, keeper.workspace.pages_left) == (2, 2)
    assert keeper.workspace.turns[0].outcomes[0].reads == ()


async def test_what_was_opened_is_not_opened_or_shown_again(open_run: OpenRun) -> None:
    run = await open_run(a_shelf(*TEXTS), replace(BUDGET, pages=20))
    keeper = a_keeper(run)
    await keeper.give(queries=["tower"])
    await keeper.carry_out(Turn((Search(("tall",)), Read((1,)))))
    searched, read = keeper.workspace.turns[0].outcomes
    assert [result.number for result in searched.reads] == [3]
    assert read.reads[0].source is None
    assert "All of it that fits" in read.reads[0].note


async def test_a_page_that_cannot_be_read_is_left_to_be_chosen(open_run: OpenRun) -> None:
    run = await open_run(_Gone(a_shelf(*TEXTS).pages, gone="https://example.org/1"))
    keeper = a_keeper(run)
    await keeper.give(queries=["tower"])
    assert [read.number for read in keeper.workspace.given[0].reads] == [2, 3]
    assert list(run.notes) == []


async def test_no_more_are_opened_than_may_be_read(open_run: OpenRun) -> None:
    run = await open_run(a_shelf(*TEXTS))
    keeper = a_keeper(run, pages=1)
    await keeper.give(queries=["tower"])
    assert run.usage.pages == 1


async def test_a_slow_page_does_not_hold_the_search_up_and_a_resumed_run_sees_the_same(
    open_run: OpenRun,
) -> None:
    hasty = replace(READING, patience=0.05)
    slow = _Slow(a_shelf(*TEXTS).pages, late="https://example.org/1")
    first = a_keeper(await open_run(slow), hasty)
    await first.give(queries=["tower"])
    assert [read.number for read in first.workspace.given[0].reads] == [2, 3]
    resumed = a_keeper(await open_run(a_shelf(*TEXTS)))
    await resumed.give(queries=["tower"])
    assert resumed.workspace == first.workspace
    slow.there.set()


@dataclass
class _Gone(Shelf):
    """A web with a page that search engines still list."""

    gone: str = ""

    async def read(self, url: str) -> Page | None:
        if url == self.gone:
            raise PageUnreadable("It is gone.")
        return await super().read(url)


@dataclass
class _Slow(Shelf):
    """A web with a page that comes late."""

    late: str = ""
    there: asyncio.Event = field(default_factory=asyncio.Event)

    async def read(self, url: str) -> Page | None:
        if url == self.late:
            await self.there.wait()
        return await super().read(url)
