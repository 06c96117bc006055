"""Searching and reading before anyone asked for it, while a model thinks.

What is done ahead warms the caches that the run's own searches and reads go through. It is no
step of the run: it is not kept in its journal, not shown, not counted, and nothing of it reaches a
model that was not asked for, so it costs no tokens. What it may cost is bounded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, replace
from typing import Any

import structlog

from bot.errors import FootnoteError
from bot.pages.urls import dedupe_key
from bot.research.library import Library
from bot.research.repeats import repeats
from bot.search.blend import SearchResult
from bot.search.provider import ProviderKind, Query
from bot.text.terms import keywords

MOST_SEARCHES = 2  # of a guess at what the question means
READ_OF_GUESS = 2  # pages read ahead of what a guessed search found

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Guess:
    """A search made ahead, and its words."""

    query: Query
    kind: ProviderKind | None
    words: frozenset[str]
    result: asyncio.Task[SearchResult]


class Ahead:
    """What one run does ahead. ``pages`` bounds the pages read; 0 switches all of it off."""

    def __init__(self, library: Library, pages: int, providers: tuple[str, ...] = ()) -> None:
        self._library = library
        self._pages_left = pages
        self._providers = providers
        self._guesses: list[_Guess] = []
        self._begun: set[str] = set()
        self._tasks: set[asyncio.Task[Any]] = set()

    def search(self, queries: Sequence[Query], kind: ProviderKind | None = None) -> None:
        """Begin to search what will probably be asked, and to read the best of what is found."""
        for query in queries[:MOST_SEARCHES] if self._pages_left > 0 else ():
            task = self._begin(self._search(query, kind))
            self._guesses.append(_Guess(query, kind, frozenset(keywords(query.text)), task))

    def read(self, urls: Sequence[str]) -> None:
        """Begin to read pages that will probably be chosen, the likeliest first."""
        for url in urls:
            if self._pages_left <= 0:
                return
            key = dedupe_key(url)
            if key in self._begun or not url.startswith("http"):  # local documents are at hand
                continue
            self._begun.add(key)
            self._pages_left -= 1
            self._begin(self._read(url))

    async def found(self, query: Query, kind: ProviderKind | None) -> SearchResult | None:
        """What a search made ahead has found for a query of nearly the same words, if one was."""
        words = frozenset(keywords(query.text))
        for guess in self._guesses:
            alike = replace(query, text=guess.query.text) == guess.query and kind == guess.kind
            if alike and repeats(words, guess.words):
                try:
                    return await asyncio.shield(guess.result)
                except FootnoteError:
                    return None  # the run asks for itself, and says what fails
        return None

    async def aclose(self) -> None:
        """End what is still under way; fetches that another run waits for go on."""
        self._guesses.clear()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _search(self, query: Query, kind: ProviderKind | None) -> SearchResult:
        result = await self._library.search(query, self._providers, kind)
        self.read([hit.url for hit in result.hits[:READ_OF_GUESS]])
        return result

    async def _read(self, url: str) -> None:
        await self._library.read(url)

    def _begin(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, FootnoteError):
            log.error("working ahead broke", error=repr(error))
