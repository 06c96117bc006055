"""What a search provider is. A new one is one file beside this, plus the contract suite."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from bot.pages.page import Page


@dataclass(frozen=True, slots=True)
class Hit:
    """A search result. ``snippet`` is plain text without markup, possibly empty."""

    title: str
    url: str
    snippet: str
    provider: str


class SearchProvider(Protocol):
    """Something that can be asked for pages.

    ``search`` returns at most ``limit`` hits, best first, and an empty list when nothing matches.
    It raises ``ProviderUnavailable`` (try again later), ``CredentialsRefused`` (wrong key) or
    ``Broken`` (an answer that cannot be read). Retries, caching, rate limits and the circuit
    breaker are not its business: ``bot.search.blend`` adds them once for all.
    """

    name: str

    async def search(self, query: str, limit: int) -> list[Hit]: ...


@runtime_checkable
class PageReader(Protocol):
    """A provider that can also read its own pages better than a plain fetch would.

    ``reads`` tells by the URL alone, without I/O. ``read`` raises like ``SearchProvider.search``,
    and ``PageUnreadable`` when there is no such page.
    """

    def reads(self, url: str) -> bool: ...

    async def read(self, url: str) -> Page: ...
