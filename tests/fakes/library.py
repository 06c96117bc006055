"""A search engine and a web in memory, which count what they are asked."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from bot.core.errors import NoProviderAvailable, PageUnreadable
from bot.pages.choosing import Chooser, select, spread, study
from bot.pages.page import Page
from bot.pages.passages import Passage, split
from bot.pages.pictures import Scans
from bot.pages.pool import reading_for
from bot.research.library import Library
from bot.search.blend import SearchResult
from bot.search.provider import Hit, ProviderKind, Query, Unread
from bot.text.terms import keywords, terms
from tests.unit.samples import NOW


@dataclass
class Shelf:
    """Pages by URL, found by how many of a query's keywords they have.

    A query in ``broken`` fails; a URL that is not on the shelf is unreadable. ``urls`` answers
    queries given there with these URLs instead of searching. ``searchable`` are its kinds,
    ``missing`` is how many documents it says it lacks, ``lacking`` what it says it does not read.
    """

    pages: Mapping[str, Page]
    broken: frozenset[str] = frozenset()
    urls: Mapping[str, list[str]] = field(default_factory=dict)
    searched: list[str] = field(default_factory=list)
    queries: list[Query] = field(default_factory=list)  # the same, whole
    kinds: list[ProviderKind | None] = field(default_factory=list)
    read_urls: list[str] = field(default_factory=list)
    read_for: set[str] = field(default_factory=set)  # runs, as those who share turns know them
    searchable: frozenset[ProviderKind] = frozenset({"web"})
    missing: int = 0
    lacking: Unread = field(default_factory=Unread)

    async def unread(self, urls: Sequence[str], *_: object) -> Unread:
        return replace(self.lacking, partly=tuple(t for t in self.lacking.partly if urls))

    def price(self, providers: tuple[str, ...] = (), kind: ProviderKind | None = None) -> float:
        return 0.0

    def can_search(self, providers: tuple[str, ...] = ()) -> frozenset[ProviderKind]:
        return self.searchable

    async def search(
        self, query: Query, providers: tuple[str, ...] = (), kind: ProviderKind | None = None
    ) -> SearchResult:
        self.searched.append(query.text)
        self.queries.append(query)
        self.kinds.append(kind)
        if query.text in self.broken:
            raise NoProviderAvailable("No search provider answers: shelf is closed.")
        hits = [self._hit(self.pages[url]) for url in self._found(query.text)[: query.limit]]
        return SearchResult(hits=tuple(hits), failures=(), missing=self.missing)

    async def read(self, url: str) -> Page | None:
        self.read_urls.append(url)
        self.read_for.add(reading_for.get().run)
        if url not in self.pages:
            raise PageUnreadable(f"There is no page {url}.")
        return self.pages[url]

    async def fetch(self, url: str) -> Page:
        raise AssertionError("the shelf reads all pages itself")

    async def read_file(self, url: str, data: bytes, media_type: str, name: str) -> Page:
        if b"\0" in data:
            raise PageUnreadable(f"{name} holds no text.")
        return Page(url, name, data.decode(), datetime.now(UTC))

    async def scans(self, name: str, data: bytes) -> Scans:
        return (), 0

    async def read_given(
        self, url: str, title: str, text: str, via: str, media_type: str = "text/markdown"
    ) -> Page:
        return Page(url, title, text, datetime.now(UTC), via=via)

    async def aclose(self) -> None: ...

    def _found(self, query: str) -> list[str]:
        if query in self.urls:
            return self.urls[query]
        words = set(keywords(query))
        scores = {
            url: len(words & set(terms(f"{page.title} {page.text}")))
            for url, page in self.pages.items()
        }
        return sorted((url for url in scores if scores[url]), key=lambda url: -scores[url])

    def _hit(self, page: Page) -> Hit:
        return Hit(page.title, page.url, page.text[:80], "shelf", made_from=page.made_from)


class ChooserHere(Chooser):
    """Chooses among the passages of long pages, too, in this process, which nobody has to close."""

    async def choose(
        self, question: str, page: Page, budget_tokens: int, **options: Any
    ) -> list[Passage]:
        return select(question, study(split(page.text)), budget_tokens, **options)

    async def survey(
        self, page: Page, budget_tokens: int, *, skip: Collection[tuple[int, int]] = ()
    ) -> list[Passage]:
        return spread(split(page.text), budget_tokens, skip=skip)


def a_shelf(*texts: str, broken: frozenset[str] = frozenset()) -> Shelf:
    """Pages ``https://example.org/1`` ... titled by their first word."""
    pages = {}
    for number, text in enumerate(texts, start=1):
        url = f"https://example.org/{number}"
        pages[url] = Page(url, text.split()[0], text, NOW)
    return Shelf(pages, broken)


def a_library(shelf: Shelf, page_ttl: float = 3600) -> Library:
    async def nothing_stored(url: str, since: datetime) -> Page | None:
        return None

    return Library(shelf, shelf, nothing_stored, page_ttl=page_ttl, chooser=ChooserHere())
