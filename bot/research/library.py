"""Reads pages: from providers that read their own pages, from the web, and from caches.

A page is cached in the process for ``page_ttl`` seconds, and in the store, where other processes
find it. Text that came only from a search engine is not cached: the page itself may be readable
next time, and excerpts are chosen for one question. Documents are never cached, since their index
or server is authoritative; nor are conversations, which differ for each question. Concurrent reads
of the same page share one fetch, which is cancelled once no one waits for it.
"""

from __future__ import annotations

import asyncio
import copy
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Protocol

from cachetools import TTLCache

from bot.core.errors import (
    Broken,
    BrowserNeeded,
    FootnoteError,
    NoProviderAvailable,
    PageUnreadable,
    Unavailable,
)
from bot.core.logs import get_logger
from bot.core.messages import UPLOADED, Attachment
from bot.core.reader import EVERYTHING, Reach, is_conversation, is_correction, is_document
from bot.pages.choosing import Chooser
from bot.pages.page import Page
from bot.pages.passages import Weight
from bot.pages.pictures import Scans
from bot.pages.urls import canonical
from bot.search.blend import SearchResult, blend
from bot.search.conversation_search import ELSEWHERE, SearchedConversations, blend_results
from bot.search.earlier_answers import CorrectionSearch
from bot.search.filters import NO_FILTER, Filter
from bot.search.guarded import InFlight
from bot.search.provider import (
    UNKNOWN_DOCUMENT,
    GivenText,
    Hit,
    LinkReading,
    Matched,
    Narrowing,
    ProviderKind,
    Query,
    TextGiving,
    Unread,
    Weighing,
)
from bot.search.registry import CONVERSATIONS

if TYPE_CHECKING:
    from bot.search.earlier_answers import EarlierAnswers

log = get_logger()

MOST_AHEAD = 64  # concurrent prefetched searches and reads, of all runs
CACHED_BYTES = 32_000_000  # of cached page text; with an emoji, each character takes four
FRESH_SECONDS = 300.0  # age up to which a page counts as current


class Searching(Protocol):
    """The part of ``search.blend.Search`` used here."""

    def can_search(self, providers: tuple[str, ...] = ()) -> frozenset[ProviderKind]: ...

    async def search(
        self, query: Query, providers: tuple[str, ...] = (), kind: ProviderKind | None = None
    ) -> SearchResult: ...

    def price(self, providers: tuple[str, ...] = (), kind: ProviderKind | None = None) -> float: ...

    async def read(self, url: str) -> Page | GivenText | None: ...

    async def unread(
        self, urls: Sequence[str], providers: tuple[str, ...] = (), reach: Reach = EVERYTHING
    ) -> Unread: ...

    async def aclose(self) -> None: ...


class Fetching(Protocol):
    """The part of ``pages.fetch.Fetcher`` used here."""

    async def fetch(self, url: str) -> Page: ...

    async def read_file(self, url: str, data: bytes, media_type: str, name: str) -> Page: ...

    async def scans(self, name: str, data: bytes) -> Scans: ...

    async def read_given(
        self, url: str, title: str, text: str, via: str, media_type: str = "text/markdown"
    ) -> Page: ...

    async def aclose(self) -> None: ...


def _without_conversations(providers: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in providers if name != CONVERSATIONS)


class Library:
    """See the module docstring.

    ``recent_page(url, since)`` looks a page up in the store. ``largest`` is the maximum size of a
    file in bytes, ``chooser`` selects the passages of pages to show. ``ahead`` holds the runs'
    prefetching tasks (``research.outgoing``).
    """

    def __init__(
        self,
        search: Searching,
        fetcher: Fetching,
        recent_page: Callable[[str, datetime], Awaitable[Page | None]],
        page_ttl: float,
        *,
        largest: int = 10_000_000,
        chooser: Chooser | None = None,
    ) -> None:
        self.largest = largest
        self.chooser = chooser or Chooser()
        self._reach: Callable[[], Reach] = lambda: EVERYTHING
        self._conversations: SearchedConversations | None = None
        self._corrections: CorrectionSearch | None = None
        self._earlier: EarlierAnswers | None = None
        self.ahead: set[asyncio.Task[Any]] = set()  # shared by all views
        self._search = search
        self._fetcher = fetcher
        self._recent_page = recent_page
        self._page_ttl = page_ttl
        self._cache: TTLCache[str, Page] = TTLCache(
            CACHED_BYTES, ttl=page_ttl, getsizeof=lambda page: sys.getsizeof(page.text)
        )
        self._reads: InFlight[Page] = InFlight()

    def within(
        self,
        reach: Callable[[], Reach],
        conversations: SearchedConversations | None = None,
        corrections: CorrectionSearch | None = None,
        earlier: EarlierAnswers | None = None,
        *,
        fresh: bool = False,
    ) -> Library:
        """Return a view of the library for readers with limited rights: ``reach`` is called at
        every search and read. ``conversations``, ``corrections`` and ``earlier`` answers are those
        that may be searched for them. With ``fresh``, pages read more than
        ``FRESH_SECONDS`` ago are read again, however long ``page_ttl`` is."""
        view = copy.copy(self)
        view._reach = reach
        view._conversations = conversations
        view._corrections = corrections
        view._earlier = earlier
        if fresh:
            view._page_ttl = min(self._page_ttl, FRESH_SECONDS)
        return view

    def allows(self, url: str) -> bool:
        return self._reach().allows(url)

    @property
    def is_busy(self) -> bool:
        """True if no more prefetching should begin."""
        return len(self.ahead) >= MOST_AHEAD

    async def aclose(self) -> None:
        await self._reads.aclose()
        await self.chooser.aclose()
        await self._search.aclose()
        await self._fetcher.aclose()

    def can_search(self, providers: tuple[str, ...] = ()) -> frozenset[ProviderKind]:
        """Return the kinds that can be searched: the web, documents, or both."""
        if self._conversations is not None and providers == (self._conversations.name,):
            return frozenset({self._conversations.kind})  # named by a hit
        kinds = self._kinds(providers)
        spoken = self._spoken(providers)
        return kinds if spoken is None else kinds | {spoken.kind}

    def _kinds(self, providers: tuple[str, ...]) -> frozenset[ProviderKind]:
        """Return the kinds that can be searched besides conversations."""
        others = _without_conversations(providers)
        if providers and not others:
            return frozenset()
        kinds = self._search.can_search(others)
        return kinds - {"knowledge"} or kinds if self._reach().is_nothing else kinds

    def _spoken(self, providers: tuple[str, ...]) -> SearchedConversations | None:
        """Return the conversations, if they are among the providers to search."""
        return None if providers and CONVERSATIONS not in providers else self._conversations

    async def search(
        self, query: Query, providers: tuple[str, ...] = (), kind: ProviderKind | None = None
    ) -> SearchResult:
        """Search the providers, unless some are named with earlier answers; matching corrections
        always come first.

        Raises ``NoProviderAvailable`` if every provider has failed.
        """
        query = replace(query, reach=self._reach())
        corrected = await self._corrections.search(query) if self._corrections is not None else []
        earlier: list[Hit] = []
        if self._earlier is not None and not providers:
            earlier = await self._earlier.search(query, kind)
        try:
            found = await self._found(query, providers, kind)
        except NoProviderAvailable as error:
            if not corrected and not earlier:
                raise
            found = SearchResult((), (error.sentence,))
        if not corrected and not earlier:
            return found
        known = {hit.url for hit in corrected}
        others = blend([found.hits, earlier]) if earlier else found.hits
        hits = (*corrected, *(hit for hit in others if hit.url not in known))
        return self._in_reach(replace(found, hits=hits[: query.limit]), query)

    def price(self, providers: tuple[str, ...] = (), kind: ProviderKind | None = None) -> float:
        """Return the most that such a search costs, in USD."""
        others = _without_conversations(providers)
        return 0.0 if providers and not others else self._search.price(others, kind)

    async def _found(
        self, query: Query, providers: tuple[str, ...], kind: ProviderKind | None
    ) -> SearchResult:
        spoken = None if kind == "web" else self._spoken(providers)
        others, kinds = _without_conversations(providers), self._kinds(providers)
        is_talk_alone = bool(providers) and not others
        if spoken is not None and (is_talk_alone or (kind is not None and kind not in kinds)):
            return self._in_reach(await spoken.search(query), query)
        if is_talk_alone:
            return SearchResult(())
        if query.reach.is_nothing and "web" in kinds:
            kind = "web"
        if spoken is None:
            return self._in_reach(await self._search.search(query, others, kind), query)
        said, found = await asyncio.gather(
            spoken.search(query), self._search.search(query, others, kind), return_exceptions=True
        )
        if isinstance(said, BaseException):
            raise said
        if isinstance(found, BaseException):
            if not isinstance(found, FootnoteError) or not said.hits:
                raise found
            found = SearchResult((), (found.sentence,))
        return self._in_reach(blend_results(said, found, query), query)

    def _in_reach(self, found: SearchResult, query: Query) -> SearchResult:
        """Return the result without hits out of reach, from providers that do not check rights."""
        kept = tuple(hit for hit in found.hits if query.reach.allows(hit.url))
        return found if len(kept) == len(found.hits) else replace(found, hits=kept)

    async def unread(self, urls: Sequence[str], providers: tuple[str, ...]) -> Unread:
        """Return what the documents that the readers may see lack: see ``Indexed.unread``."""
        others, reach = _without_conversations(providers), self._reach()
        if reach.is_nothing or (providers and not others):
            return Unread()
        return await self._search.unread(urls, others, reach)

    def weighs(self, url: str) -> bool:
        """Return True if this page's passages can be compared with a question by meaning."""
        return isinstance(self._search, Weighing) and self._search.weighs(url)

    async def weigh(self, question: str, url: str) -> tuple[Weight, ...]:
        """See ``search.provider.Weighing.weigh``; empty if the search does not support it."""
        if not isinstance(self._search, Weighing):
            return ()
        return await self._search.weigh(question, url, self._reach())

    async def narrowed(self, only: Filter) -> tuple[Filter, bool]:
        """See ``search.provider.Narrowing.narrowed``."""
        if not isinstance(self._search, Narrowing):
            return NO_FILTER, False
        return await self._search.narrowed(only, self._reach())

    async def matched(self, only: Filter) -> Matched:
        """See ``search.provider.Narrowing.matched``."""
        if not isinstance(self._search, Narrowing):
            return False, ()
        return await self._search.matched(only, self._reach())

    async def read(self, url: str) -> Page:
        """Read a page. Raises ``Refused``, ``Unavailable`` or ``Broken`` by meaning.

        If a provider reads a link under its own address, the provider reads it, provided that the
        readers may see that address.
        """
        own = self._search.address_of(url) if isinstance(self._search, LinkReading) else ""
        url = own if own and self.allows(own) else url
        if is_conversation(url):
            if self._conversations is None or not self.allows(url):
                raise PageUnreadable(ELSEWHERE)
            return await self._conversations.read(url)
        if not self.allows(url):
            raise PageUnreadable(UNKNOWN_DOCUMENT)
        if is_correction(url):
            if self._corrections is None:
                raise PageUnreadable(UNKNOWN_DOCUMENT)
            return await self._corrections.read(url, self._reach())
        if is_document(url):
            return await self._read_now(url)
        key = url if url.startswith(UPLOADED) else canonical(url)
        page = self._cache.get(key)
        if page is not None and (self._page_ttl > FRESH_SECONDS or page.fetched_at >= self._since):
            return page
        return await self._reads.join(key, lambda: self._read_through(key, url))

    async def page_of_file(self, attachment: Attachment, data: bytes) -> Page:
        """Convert a file sent with a message to a page. Raises ``PageUnreadable``."""
        return await self._fetcher.read_file(
            attachment.url, data, attachment.media_type, attachment.name
        )

    async def read_before(self, url: str) -> Page | None:
        """Return the stored page of a file, however old: files never change."""
        return await self._recent_page(url, datetime.min.replace(tzinfo=UTC))

    async def scans(self, name: str, data: bytes) -> Scans:
        """See ``pages.workers.Workers.scans``."""
        return await self._fetcher.scans(name, data)

    @property
    def _since(self) -> datetime:
        """The earliest time at which a fresh page was fetched."""
        return datetime.now(UTC) - timedelta(seconds=self._page_ttl)

    async def _read_through(self, key: str, url: str) -> Page:
        if url.startswith(UPLOADED):
            stored = await self.read_before(key)
        else:
            stored = await self._recent_page(key, self._since)
        page = stored or await self._read_now(url)
        if sys.getsizeof(page.text) <= CACHED_BYTES and not page.via:
            self._cache[key] = page
        return page

    async def _read_now(self, url: str) -> Page:
        found = await self._search.read(url)
        if isinstance(found, GivenText):
            return await self._extracted(found)
        if found is not None:
            return found
        try:
            return await self._fetcher.fetch(url)
        except (BrowserNeeded, Unavailable) as error:
            page = await self._given(url)
            if page is None:
                raise
            log.info("page_as_given", url=url, by=page.via, instead_of=str(error))
            return page

    async def _extracted(self, given: GivenText) -> Page:
        return await self._fetcher.read_given(
            given.url, given.title, given.text, given.by, given.media_type
        )

    async def _given(self, url: str) -> Page | None:
        """Return the page's text as a search engine gave it with its hits, or None."""
        given = self._search.text_of(url) if isinstance(self._search, TextGiving) else None
        if given is None:
            return None
        try:
            return await self._extracted(replace(given, url=canonical(url)))
        except (Broken, Unavailable) as error:
            log.info("given_text_unusable", url=url, by=given.by, error=str(error))
            return None
