"""Pages come from the web, a cache, or the text of a search engine where they cannot be fetched."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest

from bot.core.errors import (
    AddressRefused,
    BrowserNeeded,
    FootnoteError,
    PageUnreadable,
    Unavailable,
)
from bot.pages.page import Page
from bot.research.library import Library
from bot.search.blend import Search
from bot.search.hits import SuppliedTexts
from bot.search.provider import GivenText, Hit, ProviderKind, Query

URL = "https://a.example/tides"


class Engine:
    """A provider that gives the text of every page along with the hit."""

    kind: ProviderKind = "web"

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self._text = text
        self._texts = SuppliedTexts(name.title())

    async def search(self, query: Query) -> list[Hit]:
        self._texts.keep(URL, "Tides", self._text)
        return [Hit("Tides", URL, "They rise.", self.name)]

    def text_of(self, url: str) -> GivenText | None:
        return self._texts.of(url)


class Fetcher:
    """Fails with these errors, one after the other, and then has the page."""

    def __init__(self, *errors: FootnoteError) -> None:
        self.errors = list(errors)

    async def fetch(self, url: str) -> Page:
        if self.errors:
            raise self.errors.pop(0)
        return Page(url, "Tides", "The page itself.", datetime.now(UTC))

    async def read_file(self, url: str, data: bytes, media_type: str, name: str) -> Page:
        raise AssertionError("no file")

    async def read_given(
        self, url: str, title: str, text: str, via: str, media_type: str = "text/markdown"
    ) -> Page:
        if text == "a wall":
            raise BrowserNeeded("It is a wall, too.")
        return Page(url, title, text, datetime.now(UTC), via=via)

    async def aclose(self) -> None: ...


async def nothing_kept(url: str, since: datetime) -> Page | None:
    return None


@asynccontextmanager
async def library(fetcher: Fetcher, *texts: str) -> AsyncIterator[Library]:
    engines = [Engine(name, text) for name, text in zip(("tavily", "brave"), texts, strict=False)]
    opened = Library(Search(engines), fetcher, nothing_kept, 60.0)
    try:
        if engines:
            await opened.search(Query("tides"))
        yield opened
    finally:
        await opened.aclose()


@pytest.mark.parametrize("error", [BrowserNeeded("A wall."), Unavailable("It is down.")])
async def test_what_an_engine_gave_stands_in_for_the_page(error: FootnoteError) -> None:
    async with library(Fetcher(error), "They rise and fall.", "They rise.") as shelf:
        page = await shelf.read(URL)
        assert (page.url, page.title, page.text) == (URL, "Tides", "They rise and fall.")
        assert page.via == "Tavily"
        again = await shelf.read(URL)  # the site is asked anew
        assert (again.text, again.via) == ("The page itself.", "")


@pytest.mark.parametrize("error", [AddressRefused("robots.txt."), PageUnreadable("It is gone.")])
async def test_what_is_closed_or_gone_stays_so(error: FootnoteError) -> None:
    async with library(Fetcher(error), "They rise.") as shelf:
        with pytest.raises(type(error)):
            await shelf.read(URL)


@pytest.mark.parametrize("texts", [(), ("a wall",)])
async def test_without_a_text_the_site_is_told_of(texts: tuple[str, ...]) -> None:
    async with library(Fetcher(BrowserNeeded("A wall.")), *texts) as shelf:
        with pytest.raises(BrowserNeeded, match=r"^A wall\.$"):
            await shelf.read(URL)
