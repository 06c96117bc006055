"""Pages as a browser shows them: a system Chromium in processes of its own (``FOOTNOTE_BROWSER``).

``bot.pages.rendering`` says how a page is kept from doing harm. Playwright, which drives the
browser, comes with the extra ``[browser]``.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bot.egress import DIRECT, Egress
from bot.errors import (
    AddressRefused,
    BrowserNeeded,
    FootnoteError,
    InvalidSetting,
    PageUnreadable,
    Unavailable,
)
from bot.extras import need
from bot.pages.pool import WorkerPool
from bot.pages.urls import shown

LOAD = 5  # times the size of a page that may come in for it, scripts and data included
START_SECONDS = 15.0
QUEUE_SECONDS = 30.0  # that a page waits for a browser that is free
PROCESSES = 2  # browsers at most, each with one page at a time
IDLE_SECONDS = 60.0  # a browser takes some 200 MB
COMMAND = (sys.executable, "-P", "-c", "from bot.pages.browser_worker import work; work()")
PLACE, SANDBOX = "FOOTNOTE_BROWSER", "FOOTNOTE_BROWSER_SANDBOX"


@dataclass(frozen=True, slots=True)
class Rendered:
    """``url`` is where the browser ended up, unchecked; ``html`` is what it shows."""

    url: str
    html: str


@dataclass(frozen=True, slots=True)
class _Problem:
    kind: str
    detail: str


class Browser:
    """Renders pages; close it at the end.

    ``path`` is a Chromium, or its name on ``PATH``. ``seconds`` and ``most_bytes`` bound one page,
    ``allow`` are the exceptions from the address rule, ``agent`` is told to sites, ``egress`` is
    the way to them.
    """

    def __init__(
        self,
        path: str,
        *,
        sandbox: bool,
        seconds: float,
        most_bytes: int,
        allow: Sequence[str],
        agent: str,
        egress: Egress = DIRECT,
        command: Sequence[str] = COMMAND,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        self._path = path
        self._sandbox = sandbox
        self._seconds = seconds
        self._most_bytes = most_bytes
        self._allow = tuple(allow)
        self._agent = agent
        self._egress = egress
        self._pool = WorkerPool(PROCESSES, command, "browser", idle_seconds)
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    async def render(self, url: str) -> Rendered:
        """The page at a canonical address, as a browser shows it.

        Raises ``AddressRefused`` where the address rule keeps it from the page, ``PageUnreadable``
        for what does not become a page within the limits, ``Unavailable`` (no connection, no
        browser) and ``InvalidSetting`` for a browser that cannot be started.
        """
        outcome = await self._ask(url)
        if isinstance(outcome, str):
            raise self._failure(_Problem("crash", "a reply that means nothing"), url)
        return outcome

    async def report(self) -> str:
        """The version of the browser, after starting it. Raises like ``render``."""
        outcome = await self._ask("")
        return outcome if isinstance(outcome, str) else outcome.url

    async def aclose(self) -> None:
        """End the browsers, and remove what they have written."""
        await self._pool.aclose()
        if self._folder is not None:
            self._folder.cleanup()

    async def _ask(self, url: str) -> Rendered | str:
        path = shutil.which(self._path)
        if path is None:
            raise InvalidSetting(
                f"{PLACE} names {self._path}, which is no program here: install Chromium, or"
                " correct the name."
            )
        need("browser", PLACE)
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(
                prefix="footnote-browser-", ignore_cleanup_errors=True
            )
        head = {
            "url": url,
            "browser": path,
            "sandbox": self._sandbox,
            "folder": self._folder.name,
            "seconds": self._seconds,
            "most_bytes": self._most_bytes,
            "allow": self._allow,
            "agent": self._agent,
            "egress": asdict(self._egress),
        }
        limit = self._seconds + START_SECONDS + 5.0
        try:
            async with asyncio.timeout(QUEUE_SECONDS + limit):  # behind other pages, and in work
                outcome = await self._pool.ask(head, b"", limit, _understood)
        except TimeoutError:
            raise self._failure(_Problem("slow", "the process"), url) from None
        except (OSError, EOFError, ValueError) as error:
            problem = _Problem("crash", f"{type(error).__name__}: {error}")
            raise self._failure(problem, url) from None
        if isinstance(outcome, _Problem):
            raise self._failure(outcome, url)
        return outcome

    def _failure(self, problem: _Problem, url: str) -> FootnoteError:
        page, detail = shown(url), problem.detail
        match problem.kind:
            case "start":
                return self._not_started(detail)
            case "refused":
                return AddressRefused(
                    f"{page} leads to {detail}, a private or reserved network address, where"
                    " Footnote does not go.",
                )
            case "unreachable":
                return Unavailable(
                    f"{page} could not be reached with a browser; try again later.", detail=detail
                )
            case "size":
                return PageUnreadable(
                    f"{page} loads more than {LOAD * self._most_bytes / 1e6:g} MB or is larger than"
                    f" {self._most_bytes / 1e6:g} MB; paste the part that matters.",
                    detail=detail,
                )
            case "memory":
                return PageUnreadable(
                    f"{page} takes more memory in a browser than a page may have; paste the text.",
                    detail=detail,
                )
            case "slow":
                return BrowserNeeded(
                    f"{page} did not become readable in a browser within {self._seconds:g} seconds;"
                    " paste the text.",
                    detail=detail,
                )
            case "downgrade":
                return AddressRefused(
                    f"{page} leads from https to unprotected http, where its text could be changed"
                    " on the way; give the http address itself if you trust it."
                )
            case "file":
                return PageUnreadable(
                    f"{page} gives a file to a browser and no page; save it, and send it along."
                )
        return BrowserNeeded(
            f"{page} could not be shown by the browser, which broke on it; paste the text.",
            detail=detail,
        )

    def _not_started(self, detail: str) -> InvalidSetting:
        is_root = hasattr(os, "geteuid") and os.geteuid() == 0
        if self._sandbox and (is_root or "sandbox" in detail.lower()):
            return InvalidSetting(
                "Chromium does not start with its sandbox here: run Footnote as a user other than"
                " root where user namespaces are allowed, or, in a container that holds nothing"
                f" else, set {SANDBOX}=off.",
                detail=detail,
            )
        return InvalidSetting(
            f"Chromium ({self._path}) does not start: try it by hand, or correct {PLACE}.",
            detail=detail,
        )


def _understood(reply: Any, _: bytes) -> Rendered | str | _Problem:
    """Parse the reply of a process, which may be anything once a page has taken control of it."""
    match reply:
        case {"url": str(url), "html": str(html)}:
            return Rendered(url, html)
        case {"problem": str(kind), "detail": str(detail)}:
            return _Problem(kind, detail)
        case {"version": str(version)}:
            return version
        case _:
            raise ValueError("a reply that means nothing")
