"""Retrieves documents: attempts with retries within a deadline, as far as robots.txt permits.

Caching and interpreting documents happen elsewhere.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import stamina

from bot.core.egress import DIRECT, Egress
from bot.core.errors import FootnoteError, PageUnreadable, Unavailable
from bot.core.settings import Settings
from bot.pages import urls
from bot.pages.guard import Allow, Guard, Resolver, system_resolver
from bot.pages.page import Document

if TYPE_CHECKING:
    from bot.pages.download import Downloads, Permit, Progress

SECONDS = 20.0  # for one page, redirects and attempts included
ATTEMPTS = 3  # per page, all within its deadline
FIRST_WAIT = 0.5  # seconds before the second attempt, twice that before the third
LONGEST_WAIT = 2.0


@dataclass(frozen=True, slots=True)
class DownloadSettings:
    """Settings of downloads: ``fetch_allow``, ``fetch_max_bytes``, ``contact`` and
    ``robots``; ``egress`` is the route to pages.
    """

    allow: tuple[str, ...]
    max_bytes: int
    seconds: float
    contact: str
    respects_robots: bool
    egress: Egress = DIRECT

    @classmethod
    def of(cls, settings: Settings) -> DownloadSettings:
        return cls(
            tuple(settings.fetch_allow),
            settings.fetch_max_bytes,
            SECONDS,
            settings.contact,
            settings.robots == "respect",
            Egress.of_pages(settings),
        )


class Retrieval:
    """Gets documents over shared connections. Belongs to one event loop; close it when done."""

    def __init__(self, way: DownloadSettings, resolver: Resolver = system_resolver) -> None:
        """Raises ``InvalidSetting`` for malformed exceptions from the address rule."""
        self._way = way
        self._guard = Guard(Allow.parse(way.allow), resolver, way.egress)
        self._opened: tuple[Downloads, Permit] | None = None

    async def permit(self, address: str) -> None:
        """Return if robots.txt permits reading an address. Raises like ``get``."""
        await self._open()[1](address)

    async def get(self, address: str) -> Document:
        """Retrieve the document at a canonical address within ``seconds``.

        Raises ``AddressRefused``, ``PageUnreadable`` and ``Unavailable``.
        """
        from bot.pages.download import Progress

        downloads, permit = self._open()
        progress = Progress(address)
        deadline = time.monotonic() + self._way.seconds
        try:
            async with asyncio.timeout(self._way.seconds):
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

    async def aclose(self) -> None:
        if self._opened is not None:
            await self._opened[0].aclose()

    def _open(self) -> tuple[Downloads, Permit]:
        """The downloads and robots.txt check, created on first use: loading httpx and certificates
        is slow.
        """
        if self._opened is None:
            from bot.pages.download import Downloads, permit_all
            from bot.pages.robots import Robots

            downloads = Downloads(self._guard, self._way.max_bytes, self._way.contact)
            robots = Robots(downloads.robots_txt)
            permit = robots.permit if self._way.respects_robots else permit_all
            self._opened = downloads, permit
        return self._opened

    def _too_slow(self, progress: Progress) -> FootnoteError:
        page = urls.display_url(progress.url)
        if progress.receiving:
            return PageUnreadable(
                f"{page} did not arrive in full within {self._way.seconds:g} seconds; paste the"
                " part that matters."
            )
        return Unavailable(
            f"{page} did not answer within {self._way.seconds:g} seconds; try again."
        )


def _wait_before_retry(deadline: float) -> Callable[[Exception], bool | float]:
    """Tell stamina whether to retry: for a temporary error, if the wait fits into the deadline.

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
