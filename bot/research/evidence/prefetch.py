"""Searches and reads ahead, while a model thinks.

The results are ready when the run itself searches and reads. Prefetching is not a step of the run:
it is not in the journal, not shown, and not counted; models see only what they ask for, so it costs
no tokens. It is bounded, and paused while many runs are in progress.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from bot.core.errors import FootnoteError
from bot.core.logs import get_logger
from bot.pages.page import Page
from bot.pages.urls import dedupe_key
from bot.research.evidence.library import Library
from bot.research.evidence.outgoing import Outgoing
from bot.research.evidence.queries import repeats
from bot.search.blend import SearchResult
from bot.search.provider import ProviderKind, Query
from bot.text.terms import keywords

MOST_SEARCHES = 8  # guessed searches
READ_OF_GUESS = 2  # pages read ahead from the hits of a guessed search

T = TypeVar("T")

log = get_logger()


@dataclass(frozen=True, slots=True)
class _Guess:
    """A prefetched search and its words."""

    query: Query
    kind: ProviderKind | None
    words: frozenset[str]
    result: asyncio.Task[SearchResult]


class Prefetcher:
    """Prefetches searches and pages for one run. ``pages`` limits the pages read; 0 switches
    prefetching off.

    A run with several stages may ``renew`` the limits at each of them.
    """

    def __init__(
        self,
        library: Library,
        outgoing: Outgoing,
        pages: int,
        providers: tuple[str, ...] = (),
    ) -> None:
        self._library = library
        self._outgoing = outgoing
        self._pages = pages
        self.renew()
        self._providers = providers
        self._guesses: list[_Guess] = []
        self._reads: dict[str, asyncio.Task[Page]] = {}  # by dedupe key
        self._tasks: set[asyncio.Task[Any]] = set()

    def renew(self) -> None:
        """Reset the limits on pages and searches."""
        self._pages_left = self._pages
        self._searches_left = MOST_SEARCHES if self._pages else 0

    def search(self, queries: Sequence[Query], kind: ProviderKind | None = None) -> None:
        """Start likely searches, and read the best of their hits."""
        for query in queries:
            if self._searches_left <= 0 or self._library.is_busy:
                return
            self._searches_left -= 1
            task = self._begin(self._search(query, kind))
            self._guesses.append(_Guess(query, kind, frozenset(keywords(query.text)), task))

    def read(self, urls: Sequence[str]) -> None:
        """Start to read the pages likely to be chosen, likeliest first."""
        for url in urls:
            if self._pages_left <= 0 or self._library.is_busy:
                return
            if dedupe_key(url) not in self._reads:
                self._pages_left -= 1
                self._read(url)

    async def ready(self, urls: Sequence[str], seconds: float) -> tuple[str, ...]:
        """Return the pages that can be read within ``seconds``, in the order given.

        They will certainly be needed, so they are read regardless of the limit on pages.
        """
        tasks = {url: self._reads.get(dedupe_key(url)) or self._read(url) for url in urls}
        if tasks:
            await asyncio.wait(tasks.values(), timeout=seconds)
        return tuple(url for url, task in tasks.items() if _has_succeeded(task))

    async def page(self, url: str) -> Page | None:
        """A page whose reading has begun; None for any other. Raises what reading it raises."""
        task = self._reads.get(dedupe_key(url))
        return None if task is None else await asyncio.shield(task)

    async def found(self, query: Query, kind: ProviderKind | None) -> SearchResult | None:
        """Return the result of a prefetched search for nearly the same words, if there is one."""
        words = frozenset(keywords(query.text))
        for guess in self._guesses:
            alike = replace(query, text=guess.query.text) == guess.query and kind == guess.kind
            if alike and repeats(words, guess.words):
                try:
                    return await asyncio.shield(guess.result)
                except FootnoteError:
                    return None  # the run searches itself, and reports the failure
        return None

    async def aclose(self) -> None:
        """Cancel what is in progress; fetches that another run waits for continue."""
        self._guesses.clear()
        self._reads.clear()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _search(self, query: Query, kind: ProviderKind | None) -> SearchResult:
        result = await self._outgoing.search(query, self._providers, kind)
        self.read([hit.url for hit in result.hits[:READ_OF_GUESS]])
        return result

    def _read(self, url: str) -> asyncio.Task[Page]:
        task = self._reads[dedupe_key(url)] = self._begin(self._library.read(url))
        return task

    def _begin(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        self._library.ahead.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        self._library.ahead.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, FootnoteError):
            log.error("working ahead broke", error=repr(error))


def _has_succeeded(task: asyncio.Task[Any]) -> bool:
    return task.done() and not task.cancelled() and task.exception() is None
