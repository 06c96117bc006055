"""Fetches one page from the web: downloads it, then extracts its text.

When a site serves a page to browsers only, the operator's browser and reading service are tried, if
configured. Caching and interpreting pages happen elsewhere.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from bot.core.egress import Egress
from bot.core.errors import AddressRefused, Broken, BrowserNeeded, Invalid, Refused, Unavailable
from bot.core.logs import get_logger
from bot.core.measurements import Observe, timed, unobserved
from bot.core.settings import Settings
from bot.pages import retrieval, urls
from bot.pages.gates import refuse_gate
from bot.pages.guard import Allow, Resolver, system_resolver
from bot.pages.page import Document, Page
from bot.pages.pictures import Scans
from bot.pages.pool import Turns
from bot.pages.processes import Shares
from bot.pages.retrieval import DownloadSettings, Retrieval, RetrievalProcess
from bot.pages.workers import Workers

if TYPE_CHECKING:
    from bot.pages.browser import Browser
    from bot.pages.reading_service import ReaderService

log = get_logger()

DOWNLOADS = 200  # concurrent, over all runs


class Fetcher:
    """Fetches pages over shared connections. Belongs to one event loop; close it when done."""

    def __init__(
        self,
        settings: Settings,
        *,
        resolver: Resolver = system_resolver,
        workers: Workers | None = None,
        observe: Observe = unobserved,
        apart: bool = False,
    ) -> None:
        """``observe`` receives the outcome of each page. ``apart``: download in a separate process,
        so that this one can keep answering requests; names are then resolved by the system, not by
        ``resolver``.

        Raises ``InvalidSetting`` for a malformed ``fetch_allow``.
        """
        way = DownloadSettings.of(settings)
        self._retrieval = RetrievalProcess(way) if apart else Retrieval(way, resolver)
        self._turns = Turns(DOWNLOADS)
        self._workers = workers or Workers(shares=Shares(settings.reading_memory))
        self._observe = observe
        self._browser = browser_of(settings)
        self._reader = reader_of(settings, resolver)

    @property
    def readers(self) -> Workers:
        """The processes that turn pages and files into text."""
        return self._workers

    async def fetch(self, url: str) -> Page:
        """Fetch the page at an address.

        Raises ``AddressRefused`` (the address or a redirect target is not allowed),
        ``PageUnreadable`` (gone, forbidden, no text, too large, endless, empty) and ``Unavailable``
        (try again later; with the server's own ``retry_after`` if it gave one).
        """
        with timed(self._observe):
            return await self._fetch(url)

    async def _fetch(self, url: str) -> Page:
        address = urls.canonical(url)
        try:
            return await self._plain(address)
        except BrowserNeeded:
            for way in (self._rendered, self._by_reader):  # a browser shows the page itself
                name = way.__name__.strip("_")
                try:
                    if page := await way(address):
                        return page
                except (Unavailable, Refused, Invalid) as error:  # the operator may have to act
                    log.warning("page_not_read", way=name, url=address, error=str(error))
                except Broken as error:
                    log.info("page_not_read", way=name, url=address, error=str(error))
            raise

    async def _plain(self, address: str) -> Page:
        self._workers.warm()
        async with self._turns.turn():
            document = await self._retrieval.get(address)
        return await self._read(document)

    async def _rendered(self, address: str) -> Page | None:
        if self._browser is None:
            return None
        shown = await self._browser.render(address)
        final = urls.canonical(shown.url)
        if final != address:
            await self._retrieval.permit(final)
        html = shown.html.encode("utf-8", "replace")
        return await self._read(
            Document(final, "text/html; charset=utf-8", html, datetime.now(UTC))
        )

    async def _by_reader(self, address: str) -> Page | None:
        if self._reader is None:
            return None
        reading = await self._reader.read(address)
        return await self.read_given(address, reading.title, reading.text, self._reader.name)

    async def _read(self, document: Document) -> Page:
        extracted = await self._workers.extract(document.data, document.content_type, document.url)
        at = cited_as(document.url, extracted.canonical)
        return Page(at, extracted.title, extracted.text, document.fetched_at)

    async def read_file(self, url: str, data: bytes, media_type: str, name: str) -> Page:
        """Read the page in a file that was fetched elsewhere; ``url`` is where people open it.

        Raises ``PageUnreadable``.
        """
        extracted = await self._workers.extract(data, media_type, name)
        return Page(url, extracted.title, extracted.text, datetime.now(UTC))

    async def scans(self, name: str, data: bytes) -> Scans:
        """See ``Workers.scans``."""
        return await self._workers.scans(name, data)

    async def read_given(
        self, url: str, title: str, text: str, via: str, media_type: str = "text/markdown"
    ) -> Page:
        """Read the page from text that a third party, named ``via``, extracted.

        Raises ``PageUnreadable``, also when that third party was shown a login or bot-check page.
        """
        from bot.pages.extract import one_line  # imports the readers of all formats

        data = text.encode("utf-8", "replace")
        extracted = await self._workers.extract(data, f"{media_type}; charset=utf-8", url)
        named = one_line(title) or extracted.title
        refuse_gate(urls.display_url(url), named, extracted.text)
        return Page(url, named, extracted.text, datetime.now(UTC), via=via)

    async def aclose(self) -> None:
        await self._retrieval.aclose()
        for other in (self._browser, self._reader):
            if other is not None:
                await other.aclose()
        await self._workers.aclose()


def browser_of(settings: Settings) -> Browser | None:
    """The browser named in the settings, not started yet."""
    if not settings.browser:
        return None
    from bot.pages.browser import Browser, Order
    from bot.pages.download import user_agent

    order = Order(
        settings.browser,
        sandbox=settings.browser_sandbox == "on",
        seconds=retrieval.SECONDS,
        most_bytes=settings.fetch_max_bytes,
        allow=tuple(settings.fetch_allow),
        agent=user_agent(settings.contact),
        egress=Egress.of_pages(settings),
    )
    return Browser(order)


def reader_of(settings: Settings, resolver: Resolver = system_resolver) -> ReaderService | None:
    """The reading service named in the settings. Raises ``InvalidSetting``."""
    if not settings.reader_url:
        return None
    from bot.pages.reading_service import ReaderService

    key = settings.reader_api_key
    return ReaderService(
        settings.reader_url,
        key.get_secret_value() if key is not None else "",
        seconds=retrieval.SECONDS,
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
"""Parameters that identify a page. Any parameter with a digit in its value does so as well."""


def cited_as(found: str, said: str) -> str:
    """The address under which to cite a page: where it was found, or the one it declares.

    The declared address is used only if both are variants of one address (``urls.dedupe_key``), and
    no parameter was dropped except those that cannot distinguish pages. This way no page takes the
    place of another, and a site whose pages all claim to be its front page is not believed. The
    scheme stays.

    ``found`` is canonical; ``said`` is the address that the page declares, which may be relative or
    "".
    """
    if not said.strip():
        return found
    try:
        there = urls.canonical(urljoin(found, said.strip()))
    except (AddressRefused, ValueError):  # ValueError: brackets that are not an IPv6 address
        return found
    page, _, query = urls.dedupe_key(found).partition("?")
    page_there, _, query_there = urls.dedupe_key(there).partition("?")
    parameters, kept = set(query.split("&")), set(query_there.split("&"))
    lost, new = parameters - kept - {""}, kept - parameters - {""}
    names = (parameter.partition("=") for parameter in lost)
    if any(n.lower() in _PAGE_PARAMETERS or not v or any(map(str.isdigit, v)) for n, _, v in names):
        return found
    if page != page_there or new:
        return found
    return str(replace(urls.parse(there), scheme=urls.parse(found).scheme))
