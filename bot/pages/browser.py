"""Renders pages with a system Chromium in separate processes (``FOOTNOTE_BROWSER``).

``bot.pages.browser_process`` describes how pages are kept from doing harm. Playwright, which
controls the browser, comes with the extra ``[browser]``.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from bot.core.egress import DIRECT, Egress
from bot.core.errors import (
    AddressRefused,
    BrowserNeeded,
    FootnoteError,
    InvalidSetting,
    PageUnreadable,
    Unavailable,
)
from bot.core.extras import need
from bot.core.texts import said
from bot.pages.pool import COMMAND, Pool, TaskFailed
from bot.pages.urls import display_url

LOAD = 5  # times the largest page; limit for all data loaded for a page, including scripts
START_SECONDS = 15.0
QUEUE_SECONDS = 30.0  # the longest wait for a free browser
PROCESSES = 2  # the most browsers, each with one page at a time
IDLE_SECONDS = 60.0  # a browser uses some 200 MB
MEMORY = 1_536 * 1_024**2  # bytes for each process of the browser; a multiple of the page size
PLACE, SANDBOX = "FOOTNOTE_BROWSER", "FOOTNOTE_BROWSER_SANDBOX"


@dataclass(frozen=True, slots=True)
class Order:
    """A request to render a page within ``seconds``, up to ``most_bytes`` of HTML; the time starts
    when the browser is running. Without ``url``, only the browser's version is requested.

    ``browser`` is the path of a Chromium, or its name on ``PATH``; it writes its files to
    ``folder``. ``allow`` are exceptions from the address rule as in ``FOOTNOTE_FETCH_ALLOW``;
    ``agent`` is appended to Chromium's user agent. ``egress`` is the route to pages.
    """

    browser: str
    sandbox: bool
    seconds: float
    most_bytes: int
    allow: tuple[str, ...]
    agent: str
    egress: Egress = DIRECT
    url: str = ""
    folder: str = ""


@dataclass(frozen=True, slots=True)
class Rendered:
    """A rendered page: ``url`` is the final address, unchecked; ``html`` is its current HTML."""

    url: str
    html: str


@dataclass(frozen=True, slots=True)
class _Problem:
    kind: str
    detail: str


class Browser:
    """Renders pages; close it when done. ``order`` is the template of all requests."""

    def __init__(
        self,
        order: Order,
        *,
        command: Sequence[str] = COMMAND,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        self._order = order
        self._pool = Pool("render", PROCESSES, MEMORY, idle_seconds=idle_seconds, command=command)
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    async def render(self, url: str) -> Rendered:
        """Render the page at a canonical address.

        Raises ``AddressRefused`` if the address rule forbids the page, ``PageUnreadable`` if there
        is no page within the limits, ``Unavailable`` (no connection, no browser) and
        ``InvalidSetting`` for a browser that cannot be started.
        """
        outcome = await self._ask(url)
        if isinstance(outcome, str):
            raise self._failure(_Problem("crash", "an invalid reply"), url)
        return outcome

    async def report(self) -> str:
        """Start the browser and return its version. Raises like ``render``."""
        outcome = await self._ask("")
        return outcome if isinstance(outcome, str) else outcome.url

    async def aclose(self) -> None:
        await self._pool.aclose()
        if self._folder is not None:
            self._folder.cleanup()

    async def _ask(self, url: str) -> Rendered | str:
        path = shutil.which(self._order.browser)
        if path is None:
            told = said("browser-none", place=PLACE, name=self._order.browser)
            raise InvalidSetting(told)
        need("browser", PLACE)
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(
                prefix="footnote-browser-", ignore_cleanup_errors=True
            )
        order = replace(self._order, url=url, browser=path, folder=self._folder.name)
        limit = order.seconds + START_SECONDS + 5.0
        try:
            async with asyncio.timeout(QUEUE_SECONDS + limit):  # wait plus work
                outcome = await self._pool.ask(asdict(order), b"", limit, _understood)
        except TimeoutError:
            raise self._failure(_Problem("slow", "no browser was free"), url) from None
        except TaskFailed as failed:
            kind = "crash" if failed.reason == "died" else failed.reason
            raise self._failure(_Problem(kind, str(failed)), url) from None
        if isinstance(outcome, _Problem):
            raise self._failure(outcome, url)
        return outcome

    def _failure(self, problem: _Problem, url: str) -> FootnoteError:
        page, most = display_url(url), self._order.most_bytes / 1e6
        if problem.kind == "start":
            return self._not_started(problem.detail)
        failures: dict[str, tuple[type[FootnoteError], str]] = {
            "refused": (
                AddressRefused,
                f"leads to {problem.detail}, a private or reserved network address, where Footnote"
                " does not go.",
            ),
            "unreachable": (Unavailable, "could not be reached with a browser; try again later."),
            "size": (
                PageUnreadable,
                f"loads more than {LOAD * most:g} MB or is larger than {most:g} MB; paste the part"
                " that matters.",
            ),
            "memory": (
                PageUnreadable,
                "needs more memory in a browser than a page may use; paste the text.",
            ),
            "slow": (
                BrowserNeeded,
                f"did not become readable in a browser within {self._order.seconds:g} seconds;"
                " paste the text.",
            ),
            "downgrade": (
                AddressRefused,
                "leads from https to unprotected http, where its text could be changed on the way;"
                " give the http address itself if you trust it.",
            ),
            "file": (
                PageUnreadable,
                "gives a browser a file and not a page; save it, and attach it.",
            ),
        }
        crashed = (
            BrowserNeeded,
            "could not be shown by the browser, which crashed; paste the text.",
        )
        kind, sentence = failures.get(problem.kind, crashed)
        return kind(f"{page} {sentence}", detail=problem.detail)

    def _not_started(self, detail: str) -> InvalidSetting:
        is_root = hasattr(os, "geteuid") and os.geteuid() == 0
        if self._order.sandbox and (is_root or "sandbox" in detail.lower()):
            return InvalidSetting(said("browser-sandbox", setting=SANDBOX), detail=detail)
        told = said("browser-dead", name=self._order.browser, place=PLACE)
        return InvalidSetting(told, detail=detail)


def _understood(reply: Any, _: bytes) -> Rendered | str | _Problem:
    """Parse the reply of a process, which may be anything if a page has taken control of it."""
    match reply:
        case {"url": str(url), "html": str(html)}:
            return Rendered(url, html)
        case {"problem": str(kind), "detail": str(detail)}:
            return _Problem(kind, detail)
        case {"version": str(version)}:
            return version
        case _:
            raise ValueError("an invalid reply")
