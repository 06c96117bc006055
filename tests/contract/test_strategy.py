"""The contract of every strategy; a new one starts here: add it to ``STRATEGIES``.

Each is played over a shelf of a few pages, with a reasoner that a test scripts.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import NoReturn

import pytest

from bot.core.errors import NoProviderAvailable
from bot.core.messages import Depth
from bot.operation.configuration import load_settings
from bot.reasoning.evidence import (
    Evidence,
    Finish,
    Paragraph,
    Read,
    Rewritten,
    Statement,
    SubQuestion,
    Turn,
    Workspace,
)
from bot.reasoning.graphs import Graph, GraphEdit, NewNode
from bot.reasoning.reasoner import OnAnswer, Researcher
from bot.research.run import Run
from bot.research.strategies import (
    ITERATE_STRATEGY,
    Declaration,
    Gathered,
    Strategy,
    Task,
    strategies,
    strategy,
)
from bot.search.blend import SearchResult
from bot.search.provider import ProviderKind, Query
from tests.fakes.library import Shelf, a_shelf
from tests.fakes.reasoner import Scripted
from tests.scenario.package import first_page
from tests.unit.research.conftest import BUDGET, OpenRun, open_run, store
from tests.unit.samples import a_message

__all__ = ["open_run", "store"]

EXHAUSTIVE = Declaration(
    "exhaustive", lambda task: ITERATE_STRATEGY.begin(replace(task, depth="exhaustive"))
)
STRATEGIES = {
    **{name: strategy(name) for name in strategies()},
    "exhaustive": EXHAUSTIVE,
    "toy": first_page.STRATEGY,
}
QUESTION = Rewritten(
    "search",
    "How tall is the Eiffel tower, and who built it?",
    queries=("Eiffel tower tall", "Eiffel tower built"),
)
SAID = a_message("The Eiffel tower is 330 metres tall.")  # what is checked where that is asked
PAGES = (
    "The Eiffel tower is 330 metres tall.",
    "The Eiffel tower was built by the company of Gustave Eiffel.",
    "The bridge of Brooklyn is 1,834 metres long.",
)


def by_script() -> Researcher:
    """Reads the first hits, and drafts, plans and revises as a model would."""
    return Scripted(
        turns=[[Read((1, 2))], [Finish(enough=True)]],
        edits=[GraphEdit(nodes=(NewNode("height", "How tall is the Eiffel tower?"),), done=True)],
        stated=[Statement(SAID.text, "The Eiffel tower is 330 metres tall.", ("Eiffel tower",))],
        drafts=[Paragraph("Height", "height of the tower", "The Eiffel tower is 300 metres tall.")],
    )


@pytest.fixture(params=STRATEGIES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def begin(
    name: str,
    run: Run,
    question: Rewritten = QUESTION,
    links: tuple[str, ...] = (),
    depth: Depth = "standard",
) -> Strategy:
    task = Task(run, question, load_settings(), depth, links, lambda text: None)
    return STRATEGIES[name].begin(task)


def urls(gathered: Gathered | None) -> list[str]:
    return [] if gathered is None else [source.url for source in gathered.evidence.sources]


async def test_its_sources_are_numbered_pages_of_the_run_with_their_own_words(
    name: str, open_run: OpenRun
) -> None:
    shelf = a_shelf(*PAGES)
    run = await open_run(shelf, message=SAID)
    gathered = await begin(name, run).gather(by_script())
    assert gathered is not None
    sources = gathered.evidence.sources
    assert sources
    assert {source.number: source.url for source in sources}.items() <= run.numbered.items()
    for source in sources:
        for passage in source.passages:
            assert shelf.pages[source.url].text[passage.start : passage.end] == passage.text
    assert {source.url for source in sources} <= set(shelf.read_urls)
    if gathered.written is not None:
        assert "[1]" in gathered.written.text


async def test_an_interrupted_run_comes_to_the_same_without_asking_again(
    name: str, open_run: OpenRun
) -> None:
    shelf = a_shelf(*PAGES)
    run = await open_run(shelf, message=SAID)
    first = await begin(name, run).gather(by_script())
    await run.prefetcher.aclose()
    asked, read = list(shelf.searched), list(shelf.read_urls)
    again = await open_run(shelf, message=SAID)
    second = await begin(name, again).gather(by_script())
    await again.prefetcher.aclose()
    assert (asked, read) == (shelf.searched, shelf.read_urls)
    assert second == first
    assert again.usage.searches == run.usage.searches


async def test_the_pages_that_the_asker_gave_are_read(name: str, open_run: OpenRun) -> None:
    shelf = a_shelf(*PAGES)
    bridge = list(shelf.pages)[2]
    run = await open_run(shelf, message=SAID)
    gathered = await begin(name, run, links=(bridge,)).gather(by_script())
    assert bridge in shelf.read_urls
    assert bridge in urls(gathered) or run.notes or name == "check"  # there they are the text


async def test_a_spent_budget_ends_it_with_what_there_is(name: str, open_run: OpenRun) -> None:
    run = await open_run(a_shelf(*PAGES), replace(BUDGET, pages=1, searches=1), message=SAID)
    gathered = await begin(name, run).gather(by_script())
    assert run.usage.pages <= 1
    assert len(urls(gathered)) <= 1


class Closed(Shelf):
    async def search(
        self, query: Query, providers: tuple[str, ...] = (), kind: ProviderKind | None = None
    ) -> SearchResult:
        raise NoProviderAvailable("No search provider answers: the shelf is closed.")


async def test_providers_that_fail_leave_it_without_sources(name: str, open_run: OpenRun) -> None:
    run = await open_run(Closed(a_shelf(*PAGES).pages), message=SAID)
    gathered = await begin(name, run).gather(by_script())
    assert urls(gathered) == []
    assert run.unanswered


class Failing(Scripted):
    """Every step of its thinking does what ``fail`` does."""

    async def fail(self) -> NoReturn:
        raise NotImplementedError

    async def next_turn(
        self, question: SubQuestion, workspace: Workspace, on_answer: OnAnswer | None = None
    ) -> Turn:
        await self.fail()

    async def plan(self, question: SubQuestion, graph: Graph) -> GraphEdit:
        await self.fail()

    async def draft(
        self, question: Rewritten, evidence: Evidence, instructions: str = ""
    ) -> tuple[Paragraph, ...]:
        await self.fail()

    async def statements(self, text: str) -> tuple[Statement, ...]:
        await self.fail()


class Blocked(Failing):
    async def fail(self) -> NoReturn:
        await asyncio.get_running_loop().create_future()
        raise AssertionError("unreachable")


async def test_when_it_is_stopped_no_task_of_it_is_left(name: str, open_run: OpenRun) -> None:
    run = await open_run(a_shelf(*PAGES), message=SAID)
    before = asyncio.all_tasks()
    strategy = begin(name, run, depth="deep")
    work = asyncio.create_task(strategy.gather(Blocked()))
    await asyncio.wait({work}, timeout=0.2)
    work.cancel()
    await asyncio.gather(work, return_exceptions=True)
    stopped = strategy.so_far()
    assert stopped is None or stopped.written is not None
    strategy.close()
    await run.prefetcher.aclose()
    assert asyncio.all_tasks() <= before
    assert all(
        step.state not in ("running", "waiting") for step in run.steps if step.kind != "read"
    )
