"""Reads robots.txt (RFC 9309): the pages that sites ask robots not to read.

The file is requested once per site and cached. protego parses it, and ``bot.pages.download``
fetches it through the same guard as any page.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from cachetools import TLRUCache

from bot.core.errors import AddressRefused, PageUnreadable, Unavailable
from bot.pages import urls

if TYPE_CHECKING:
    from protego import Protego

PRODUCT = "footnote-bot"  # our name in a site's robots.txt: the first word of the user agent

KEPT = 12 * 3_600.0  # seconds; RFC 9309 section 2.4 allows 24 hours
KEPT_UNREACHABLE = 60.0  # seconds for which a site whose robots.txt is unavailable is not read
SECONDS = 5.0  # for one robots.txt; retrieval.SECONDS covers a whole page
SITES = 2_000  # whose rules are cached
_LARGE = 20_000  # characters; parsing a larger file takes more than a few milliseconds


@dataclass(frozen=True, slots=True)
class _Rules:
    """A site's rules. ``file`` is None if there are none, ``problem`` why they are unavailable."""

    file: Protego | None = None
    problem: str = ""
    seconds: float = KEPT


class Robots:
    """Decides whether a page may be read. Belongs to one event loop.

    ``get`` returns the beginning of the file at an address; it raises ``PageUnreadable`` if there
    is none, ``Unavailable`` if the site cannot deliver it, ``AddressRefused`` if it redirects to an
    address that is not allowed.
    """

    def __init__(
        self,
        get: Callable[[str], Awaitable[bytes]],
        *,
        seconds: float = SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._get = get
        self._seconds = seconds
        self._clock = clock
        self._rules: TLRUCache[str, _Rules] = TLRUCache(
            SITES, ttu=lambda _, rules, now: now + rules.seconds, timer=clock
        )
        self._asking: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def permit(self, address: str) -> None:
        """Return if a canonical address may be read.

        Raises ``AddressRefused`` if not, and ``Unavailable`` if the site's robots.txt is
        unavailable: then the whole site counts as disallowed for a while (RFC 9309 section
        2.3.1.4).
        """
        parts = urls.parse(address)
        site = f"{parts.scheme}://{parts.authority}"
        rules = self._rules.get(site)
        if rules is None:
            # the lock exists while tasks wait for it; one of them asks, and all use the result
            lock = self._asking.setdefault(site, asyncio.Lock())
            async with lock:
                rules = self._rules.get(site)
                if rules is None:
                    rules = self._rules[site] = await self._ask(site)
        if rules.problem:
            raise Unavailable(
                f"{parts.host} cannot say at the moment which of its pages robots may read;"
                " try again later.",
                detail=rules.problem,
                retry_after=rules.seconds,
            )
        if rules.file is not None and not rules.file.can_fetch(address, PRODUCT):
            raise AddressRefused(
                f"The robots.txt of {parts.host} asks robots not to read"
                f" {urls.display_url(address)}; open it yourself, and paste the text."
            )

    async def _ask(self, site: str) -> _Rules:
        try:
            async with asyncio.timeout(self._seconds):
                data = await self._get(f"{site}/robots.txt")
        except PageUnreadable:  # there is none (section 2.3.1.3), or too many redirects (2.3.1.2)
            return _Rules()
        except Unavailable as error:
            return _Rules(problem=str(error), seconds=KEPT_UNREACHABLE)
        except TimeoutError:
            problem = f"no robots.txt within {self._seconds:g} s"
            return _Rules(problem=problem, seconds=KEPT_UNREACHABLE)
        text = data.decode("utf-8-sig", "replace")
        if len(text) > _LARGE:
            return _Rules(await asyncio.to_thread(_parsed, text))
        return _Rules(_parsed(text))


def _parsed(text: str) -> Protego:
    from protego import Protego  # imported here because most commands read no page

    return Protego.parse(text)
