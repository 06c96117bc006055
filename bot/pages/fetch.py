"""Fetching one page from the web: its download, then its extraction.

A page for browsers only is asked of the operator's browser and reading service, where there are
any. Caching is somebody else's business, and so is what a page means.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from bot.egress import Egress
from bot.errors import AddressRefused, Broken, BrowserNeeded, Invalid, Refused, Unavailable
from bot.logs import get_logger
from bot.observing import Observe, timed, unobserved
from bot.pages import urls
from bot.pages.gates import Signs, refuse_gate
from bot.pages.guard import Allow, Resolver, system_resolver
from bot.pages.page import Document, Page
from bot.pages.processes import Shares
from bot.pages.retrieval import DownloadSettings, Retrieval
from bot.pages.retrieval_process import RetrievalProcess
from bot.pages.turns import Turns
from bot.pages.workers import Workers
from bot.settings import Settings

if TYPE_CHECKING:
    from bot.pages.browser import Browser
    from bot.pages.reader import ReaderService

log = get_logger()

DOWNLOADS = 200  # at the same time, of all runs


class Fetcher:
    """Fetches pages over shared connections. Belongs to one event loop; close it at the end."""

    def __init__(
        self,
        settings: Settings,
        *,
        resolver: Resolver = system_resolver,
        workers: Workers | None = None,
        observe: Observe = unobserved,
        apart: bool = False,
    ) -> None:
        """``observe`` is told how each page went. ``apart``: download in a process of its own, for
        whoever must answer others meanwhile; it resolves names by the system, not by ``resolver``.

        Raises ``InvalidSetting`` for a malformed ``fetch_allow``.
        """
        way = DownloadSettings.of(settings)
        self._retrieval = RetrievalProcess(way) if apart else Retrieval(way, resolver)
        self._turns = Turns(DOWNLOADS)
        self._workers = workers or Workers(shares=Shares(settings.reading_memory))
        self._observe = observe
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
        """Other ways to read a page, best first: a browser shows the page itself."""
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
            await self._retrieval.permit(final)
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
        document = await self._document(address)
        extracted = await self._workers.extract(document.data, document.content_type, document.url)
        at = cited_as(document.url, extracted.canonical)
        return Page(at, extracted.title, extracted.text, document.fetched_at)

    async def _document(self, address: str) -> Document:
        async with self._turns.turn():
            return await self._retrieval.get(address)

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
        """Close the connections, and end the processes of download, extraction and browser."""
        await self._retrieval.aclose()
        for other in (self._browser, self._reader):
            if other is not None:
                await other.aclose()
        await self._workers.aclose()


def browser_of(settings: Settings) -> Browser | None:
    """The browser that the settings name, not started yet."""
    if not settings.browser:
        return None
    from bot.pages.browser import Browser, Order
    from bot.pages.download import user_agent

    order = Order(
        settings.browser,
        sandbox=settings.browser_sandbox == "on",
        seconds=settings.fetch_timeout,
        most_bytes=settings.fetch_max_bytes,
        allow=tuple(settings.fetch_allow),
        agent=user_agent(settings.contact),
        egress=Egress.of_pages(settings),
    )
    return Browser(order)


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
        egress=Egress.of(settings),
        egress_of_pages=Egress.of_pages(settings),
    )


_PAGE_PARAMETERS = frozenset(
    {"a", "article", "c", "cat", "category", "date", "doc", "document", "entry", "file", "filter"}
    | {"id", "item", "k", "key", "keyword", "keywords", "lang", "language", "locale", "n", "name"}
    | {"node", "nr", "p", "page", "pageid", "path", "pg", "post", "product", "q", "query", "s"}
    | {"search", "section", "sku", "slug", "sort", "start", "story", "t", "tab", "tag", "term"}
    | {"text", "thread", "title", "topic", "type", "u", "url", "user", "v", "version", "w", "year"}
)
"""Parameters that say which page it is, besides all with a number in their value."""


def cited_as(found: str, said: str) -> str:
    """The address of a page that was found at one and says that it has another.

    It is believed only where both are variants of one address (``urls.dedupe_key``): the same host
    but for "www.", "m." or "amp.", the same path but for its AMP or index ending, and no parameter
    less but those that cannot tell one page from another. So no page takes another one's place,
    and a site whose pages all claim to be its front page is not believed. The scheme stays.

    ``found`` is canonical; ``said`` is what the page says, and may be relative, or "".
    """
    if not said.strip():
        return found
    try:
        there = urls.without_amp_cache(urls.canonical(urljoin(found, said.strip())))
    except (AddressRefused, ValueError):  # ValueError: of brackets that are no IPv6 address
        return found
    page, _, query = urls.dedupe_key(found).partition("?")
    page_there, _, query_there = urls.dedupe_key(there).partition("?")
    parameters, kept = set(query.split("&")), set(query_there.split("&"))
    lost, new = parameters - kept - {""}, kept - parameters - {""}
    if page != page_there or new or any(map(_tells_pages_apart, lost)):
        return found
    return str(replace(urls.parse(there), scheme=urls.parse(found).scheme))


def _tells_pages_apart(parameter: str) -> bool:
    name, _, value = parameter.partition("=")
    return name.lower() in _PAGE_PARAMETERS or not value or any(map(str.isdigit, value))
