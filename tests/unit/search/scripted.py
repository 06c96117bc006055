"""Providers in memory for the tests of what is around them."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from bot.core.reader import EVERYTHING, Reach
from bot.pages.page import Page
from bot.search.provider import Hit, PaidHits, ProviderKind, Query, Unread
from tests.fakes.virtual_time import now
from tests.unit.samples import NOW


def hits(provider: str, *names: str) -> list[Hit]:
    """One hit per name, at https://NAME.example/."""
    return [Hit(name.title(), f"https://{name}.example/", f"{name}.", provider) for name in names]


@dataclass
class Scripted:
    """Answers as told: each entry of ``script`` is hits, an exception to raise, or a delay in
    seconds before the next entry; the last one stays. ``at`` are the times it was asked."""

    name: str = "scripted"
    script: deque[list[Hit] | BaseException | float] = field(default_factory=deque)
    at: list[float] = field(default_factory=list)
    queries: list[Query] = field(default_factory=list)
    cancelled: int = 0
    closed: bool = False
    kind: ProviderKind = "web"

    async def search(self, query: Query) -> list[Hit]:
        self.at.append(now())
        self.queries.append(query)
        try:
            found = await self._next()
            return found if isinstance(found, PaidHits) else found[: query.limit]
        except asyncio.CancelledError:
            self.cancelled += 1
            raise

    async def _next(self) -> list[Hit]:
        while True:
            step = self.script[0] if len(self.script) == 1 else self.script.popleft()
            if isinstance(step, float):
                await asyncio.sleep(step)
                if len(self.script) == 1 and self.script[0] is step:
                    return []
            elif isinstance(step, BaseException):
                raise step
            else:
                return step

    async def aclose(self) -> None:
        self.closed = True


@dataclass
class Knowing(Scripted):
    """Also knows how rare words are, or raises ``error``."""

    known: dict[str, float] = field(default_factory=dict)
    error: BaseException | None = None
    kind: ProviderKind = "knowledge"

    async def rarity(self, terms: Sequence[str]) -> dict[str, float]:
        if self.error is not None:
            raise self.error
        return {term: self.known.get(term, 9.0) for term in ("", *terms)}


@dataclass
class Incomplete(Scripted):
    """A provider that reports missing documents, or raises ``error``."""

    gone: int = 0
    error: BaseException | None = None

    async def missing(self) -> int:
        if self.error is not None:
            raise self.error
        return self.gone

    async def unread(self, urls: Sequence[str], reach: Reach = EVERYTHING) -> Unread:
        return Unread()


class Reading(Scripted):
    """Also reads addresses that begin with ``https://NAME.``; the script's hits become the text."""

    def reads(self, url: str) -> bool:
        return url.startswith(f"https://{self.name}.")

    async def read(self, url: str) -> Page:
        found = await self.search(Query(url, 50))
        return Page(url, "A title", " ".join(hit.snippet for hit in found), NOW)


def scripted(*script: list[Hit] | BaseException | float, name: str = "scripted") -> Scripted:
    return Scripted(name, deque(script))


def reading(*script: list[Hit] | BaseException | float, name: str = "scripted") -> Reading:
    return Reading(name, deque(script))
