"""Fetching one page from the web: its download with retries and a deadline, then its extraction.

A page for browsers only is asked of the operator's browser and reading service, where there are
any. Caching is somebody else's business, and so is what a page means.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import stamina

from bot.errors import (
    Broken,
    BrowserNeeded,
    FootnoteError,
    Invalid,
    PageUnreadable,
    Refused,
    Unavailable,
)
from bot.logs import get_logger
from bot.observing import Observe, timed, unobserved
from bot.pages import urls
from bot.pages.canonical import cited_as
from bot.pages.gates import Signs, refuse_gate
from bot.pages.guard import Allow, Guard, Resolver, system_resolver
from bot.pages.page import Page
from bot.pages.shares import Shares
from bot.pages.workers import Workers
from bot.settings import Settings

if TYPE_CHECKING:
    from bot.pages.browser import Browser
    from bot.pages.download import Document, Downloads, Permit, Progress
    from bot.pages.reader import ReaderService

log = get_logger()

ATTEMPTS = 3  # for one page, all of them inside its deadline
FIRST_WAIT = 0.5  # seconds before the second attempt, twice that before the third
LONGEST_WAIT = 2.0


class Fetcher:
    """Fetches pages over shared connections. Belongs to one event loop; close it at the end."""

    def __init__(
        self,
        settings: Settings,
        *,
        resolver: Resolver = system_resolver,
        workers: Workers | None = None,
        observe: Observe = unobserved,
    ) -> None:
        """``observe`` is told how each page went.

        Raises ``InvalidSetting`` for a malformed ``fetch_allow``.
        """
        self._guard = Guard(Allow.parse(settings.fetch_allow), resolver)
        self._max_bytes = settings.fetch_max_bytes
        self._seconds = settings.fetch_timeout
        self._contact = settings.contact
        self._respects_robots = settings.robots == "respect"
        self._workers = workers or Workers(shares=Shares(settings.reading_memory))
        self._observe = observe
        self._opened: tuple[Downloads, Permit] | None = None
        self._browser = browser_of(settings)
        self._reader = reader_of(settings, resolver)

    async def fetch(self, url: str) -> Page:
        """The page at an address.

        Raises ``AddressRefused`` (not an address to go to, or a redirect to one),
        ``PageUnreadable`` (gone, forbidden, no text, too large, endless, empty) and ``Unavailable``
        (try again later; with the server's own ``retry_after`` if it gave one).
        """
        with timed(self._observe):
            return await self._fetch(url)

    async def _fetch(self, url: str) -> Page:
        address = urls.without_amp_cache(urls.canonical(url))
        try:
            return await self._plain(address)
        except BrowserNeeded:
            for way in self._other_ways():
                if page := await self._by(way, address):
                    return page
            raise

    def _other_ways(self) -> Iterator[Callable[[str], Awaitable[Page]]]:
        """How else a page may be read, best first: a browser shows the page itself."""
        if self._browser is not None:
            yield self._rendered
        if self._reader is not None:
            yield self._by_reader

    async def _by(self, way: Callable[[str], Awaitable[Page]], address: str) -> Page | None:
        """The page by another way; None where that leads no further, which the log tells."""
        try:
            return await way(address)
        except (Unavailable, Refused, Invalid) as error:  # the operator may have to do something
            log.warning("page_not_read", way=way.__name__.strip("_"), url=address, error=str(error))
        except Broken as error:
            log.info("page_not_read", way=way.__name__.strip("_"), url=address, error=str(error))
        return None

    async def _rendered(self, address: str) -> Page:
        assert self._browser is not None  # noqa: S101 - the caller looked
        shown = await self._browser.render(address)
        final = urls.canonical(shown.url)
        if final != address:
            await self._open()[1](final)
        html = shown.html.encode("utf-8", "replace")
        extracted = await self._workers.extract(html, "text/html; charset=utf-8", final)
        at = cited_as(final, extracted.canonical)
        return Page(at, extracted.title, extracted.text, datetime.now(UTC))

    async def _by_reader(self, address: str) -> Page:
        assert self._reader is not None  # noqa: S101 - the caller looked
        given = await self._reader.read(address)
        return await self.read_given(address, given.title, given.text, self._reader.name)

    async def _plain(self, address: str) -> Page:
        self._workers.warm()
        document = await self._download(address)
        extracted = await self._workers.extract(document.data, document.content_type, document.url)
        at = cited_as(document.url, extracted.canonical)
        return Page(at, extracted.title, extracted.text, document.fetched_at)

    async def read_file(self, url: str, data: bytes, media_type: str, name: str) -> Page:
        """The page in a file that was fetched elsewhere; ``url`` is where people open it.

        Raises ``PageUnreadable``.
        """
        extracted = await self._workers.extract(data, media_type, name)
        return Page(url, extracted.title, extracted.text, datetime.now(UTC))

    async def read_given(
        self, url: str, title: str, text: str, via: str, media_type: str = "text/markdown"
    ) -> Page:
        """The page in a text that somebody else gave for it: ``via`` is who.

        Raises ``PageUnreadable`` where they met a wall, too.
        """
        from bot.pages.extract import one_line  # with the readers of all formats

        data = text.encode("utf-8", "replace")
        extracted = await self._workers.extract(data, f"{media_type}; charset=utf-8", url)
        named = one_line(title) or extracted.title
        refuse_gate(urls.shown(url), named, extracted.text, Signs())
        return Page(url, named, extracted.text, datetime.now(UTC), via=via)

    async def aclose(self) -> None:
        """Close the connections, and end the processes of extraction and browser."""
        if self._opened is not None:
            await self._opened[0].aclose()
        for other in (self._browser, self._reader):
            if other is not None:
                await other.aclose()
        await self._workers.aclose()

    def _open(self) -> tuple[Downloads, Permit]:
        """Opened with the first page: loading httpx takes a while, and so do certificates."""
        if self._opened is None:
            from bot.pages.download import Downloads, permit_all
            from bot.pages.robots import Robots

            downloads = Downloads(self._guard, self._max_bytes, self._contact)
            robots = Robots(downloads.robots_txt)
            permit = robots.permit if self._respects_robots else permit_all
            self._opened = downloads, permit
        return self._opened

    async def _download(self, address: str) -> Document:
        from bot.pages.download import Progress

        downloads, permit = self._open()
        progress = Progress(address)
        deadline = time.monotonic() + self._seconds
        try:
            async with asyncio.timeout(self._seconds):
                async for attempt in stamina.retry_context(
                    on=_wait_before_retry(deadline),
                    attempts=ATTEMPTS,
                    timeout=None,
                    wait_initial=FIRST_WAIT,
                    wait_max=LONGEST_WAIT,
                    wait_jitter=FIRST_WAIT,
                ):
                    with attempt:
                        return await downloads.get(address, progress, permit)
        except TimeoutError:
            raise self._too_slow(progress) from None
        raise AssertionError("stamina returns or raises")

    def _too_slow(self, progress: Progress) -> FootnoteError:
        page = urls.shown(progress.url)
        if progress.receiving:
            return PageUnreadable(
                f"{page} did not come to its end within {self._seconds:g} seconds; paste the part"
                " that matters."
            )
        return Unavailable(f"{page} did not answer within {self._seconds:g} seconds; try again.")


def browser_of(settings: Settings) -> Browser | None:
    """The browser that the settings name, not started yet."""
    if not settings.browser:
        return None
    from bot.pages.browser import Browser
    from bot.pages.download import user_agent

    return Browser(
        settings.browser,
        sandbox=settings.browser_sandbox == "on",
        seconds=settings.fetch_timeout,
        most_bytes=settings.fetch_max_bytes,
        allow=settings.fetch_allow,
        agent=user_agent(settings.contact),
    )


def reader_of(settings: Settings, resolver: Resolver = system_resolver) -> ReaderService | None:
    """The reading service that the settings name. Raises ``InvalidSetting``."""
    if not settings.reader_url:
        return None
    from bot.pages.reader import ReaderService

    key = settings.reader_api_key
    return ReaderService(
        settings.reader_url,
        key.get_secret_value() if key is not None else "",
        seconds=settings.fetch_timeout,
        most_bytes=settings.fetch_max_bytes,
        resolver=resolver,
        allow=Allow.parse(settings.fetch_allow),
    )


def _wait_before_retry(deadline: float) -> Callable[[Exception], bool | float]:
    """Tells stamina whether to try again: yes for what may pass, if its wait ends in time.

    ``deadline`` is on the clock of ``time.monotonic``.
    """

    def wait(error: Exception) -> bool | float:
        if not isinstance(error, Unavailable):
            return False
        left = deadline - time.monotonic()
        if error.retry_after is not None:
            return error.retry_after if error.retry_after < left else False
        return left > LONGEST_WAIT

    return wait
