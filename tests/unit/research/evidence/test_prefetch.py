"""Searching and reading ahead: it saves the wait, is bounded, and shows nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from bot.core.messages import Transcript
from bot.pages.page import Page
from bot.research.library import Library
from bot.research.outgoing import Outgoing, Prefetcher
from bot.search.provider import Query
from tests.fakes.library import Shelf, a_library, a_shelf
from tests.unit.samples import a_message

TOWER = Query("eiffel tower height", 10, "en")


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0)


def an_ahead(library: Library, pages: int) -> Prefetcher:
    outgoing = Outgoing(library, a_message(), Transcript(), (), keeps_documents=True)
    return Prefetcher(library, outgoing, pages)


@pytest.fixture
def shelf() -> Shelf:
    return a_shelf(*(f"Tower{n} eiffel tower height." for n in range(1, 9)))


async def test_a_guessed_search_answers_the_query_it_guessed(shelf: Shelf) -> None:
    ahead = an_ahead(a_library(shelf), pages=4)
    ahead.search([TOWER])
    found = await ahead.found(replace(TOWER, text="Eiffel Tower: height"), None)
    assert found is not None
    assert len(found.hits) == 8
    assert shelf.searched == [TOWER.text]
    await ahead.aclose()


@pytest.mark.parametrize(
    "query",
    [
        replace(TOWER, text="height of the blackpool tower"),
        replace(TOWER, language="fr"),
        replace(TOWER, freshness="week"),
        replace(TOWER, domains=("example.org",)),
        replace(TOWER, limit=30),
    ],
)
async def test_it_answers_no_query_that_asks_for_something_else(shelf: Shelf, query: Query) -> None:
    ahead = an_ahead(a_library(shelf), pages=4)
    ahead.search([TOWER])
    assert await ahead.found(query, None) is None
    await ahead.aclose()


async def test_it_answers_no_query_of_another_kind(shelf: Shelf) -> None:
    ahead = an_ahead(a_library(shelf), pages=4)
    ahead.search([TOWER], "web")
    assert await ahead.found(TOWER, "knowledge") is None
    assert await ahead.found(TOWER, "web") is not None
    await ahead.aclose()


async def test_the_best_pages_of_a_guess_are_read_already(shelf: Shelf) -> None:
    library = a_library(shelf)
    ahead = an_ahead(library, pages=4)
    ahead.search([TOWER])
    await until(lambda: len(shelf.read_urls) == 2)
    await library.read("https://example.org/1")
    assert shelf.read_urls == ["https://example.org/1", "https://example.org/2"]
    await ahead.aclose()


async def test_no_more_pages_are_read_than_allowed_and_none_twice(shelf: Shelf) -> None:
    ahead = an_ahead(a_library(shelf), pages=3)
    ahead.read([f"https://example.org/{n}" for n in (1, 1, 2)])
    ahead.read([f"https://example.org/{n}" for n in (2, 3, 4, 5)])
    await until(lambda: len(shelf.read_urls) == 3)
    await ahead.aclose()
    assert shelf.read_urls == [f"https://example.org/{n}" for n in (1, 2, 3)]


async def test_nothing_is_done_ahead_where_that_is_switched_off(shelf: Shelf) -> None:
    ahead = an_ahead(a_library(shelf), pages=0)
    ahead.search([TOWER])
    ahead.read(["https://example.org/1"])
    assert await ahead.found(TOWER, None) is None
    await ahead.aclose()
    assert (shelf.searched, shelf.read_urls) == ([], [])


async def test_a_failed_guess_and_an_unreadable_page_are_left_to_the_run() -> None:
    shelf = a_shelf("Tower eiffel.", broken=frozenset([TOWER.text]))
    ahead = an_ahead(a_library(shelf), pages=4)
    ahead.search([TOWER])
    ahead.read(["https://example.org/404"])
    assert await ahead.found(TOWER, None) is None
    await until(lambda: shelf.read_urls)
    await ahead.aclose()


async def test_closing_ends_a_fetch_unless_another_run_waits_for_it() -> None:
    web = _SlowWeb()
    library = a_library(web)
    mine, other = an_ahead(library, pages=4), an_ahead(library, pages=4)
    mine.read(["https://example.org/mine", "https://example.org/both"])
    other.read(["https://example.org/both"])
    await until(lambda: len(web.begun) == 2)
    await mine.aclose()
    assert web.ended == ["https://example.org/mine"]
    await other.aclose()
    assert web.ended == ["https://example.org/mine", "https://example.org/both"]


class _SlowWeb(Shelf):
    """A web whose pages never come."""

    def __init__(self) -> None:
        super().__init__({})
        self.begun: list[str] = []
        self.ended: list[str] = []

    async def read(self, url: str) -> Page | None:
        self.begun.append(url)
        try:
            await asyncio.Event().wait()
        finally:
            self.ended.append(url)
        raise AssertionError("unreachable")
