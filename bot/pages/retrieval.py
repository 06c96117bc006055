"""Retrieves documents: attempts with retries within a deadline, as far as robots.txt permits.

In a server this happens in a child process, so that no web server can delay the chat: parsing a
hostile server's response is Python code that holds the GIL, and an event loop in a thread shares
the GIL with all other threads. One process retrieves many documents concurrently.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import stamina
from cachetools import TLRUCache

from bot.core.egress import DIRECT, Egress
from bot.core.errors import (
    AddressRefused,
    BrowserNeeded,
    FootnoteError,
    PageUnreadable,
    Unavailable,
)
from bot.core.settings import Settings
from bot.pages import urls
from bot.pages.guard import Allow, Guard, Resolver, system_resolver
from bot.pages.page import Document
from bot.pages.pool import COMMAND, Pool, TaskFailed
from bot.pages.processes import Answer, AsyncWork

if TYPE_CHECKING:
    from protego import Protego

    from bot.pages.download import Downloads, Permit


# ---------------------------------------------------------------- robots.txt


PRODUCT = "footnote-bot"  # our name in a site's robots.txt: the first word of the user agent

KEPT = 12 * 3_600.0  # seconds; RFC 9309 section 2.4 allows 24 hours
KEPT_UNREACHABLE = 60.0  # seconds for which a site whose robots.txt is unavailable is not read
ROBOTS_SECONDS = 5.0  # for one robots.txt; retrieval.SECONDS covers a whole page
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
        seconds: float = ROBOTS_SECONDS,
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


# ---------------------------------------------------------------- attempts


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
        permit = self._open()[1]
        if permit is not None:
            await permit(address)

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
            page, seconds = urls.display_url(progress.url), f"{self._way.seconds:g} seconds"
            if progress.receiving:
                raise PageUnreadable(
                    f"{page} did not arrive in full within {seconds}; paste the part that matters."
                ) from None
            raise Unavailable(f"{page} did not answer within {seconds}; try again.") from None
        raise AssertionError("stamina returns or raises")

    async def aclose(self) -> None:
        if self._opened is not None:
            await self._opened[0].aclose()

    def _open(self) -> tuple[Downloads, Permit]:
        """The downloads and robots.txt check, created on first use: loading httpx and certificates
        is slow.
        """
        if self._opened is None:
            from bot.pages.download import Downloads

            downloads = Downloads(self._guard, self._way.max_bytes, self._way.contact)
            robots = Robots(downloads.robots_txt)
            permit = robots.permit if self._way.respects_robots else None
            self._opened = downloads, permit
        return self._opened


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


# ---------------------------------------------------------------- in a child process


MARGIN_SECONDS = 15.0  # added to a document's own, for waiting in the process
MEMORY = 1_500_000_000  # bytes, of which the stacks of its threads are counted with 500 MB
DOCUMENTS = 8  # ... and this many of the largest size

ERRORS: dict[str, type[FootnoteError]] = {
    error.__name__: error for error in (AddressRefused, BrowserNeeded, PageUnreadable, Unavailable)
}
"""The errors that may be raised, by name: the class itself or its nearest listed parent."""


class RetrievalProcess:
    """``Retrieval`` in another process. Belongs to one event loop; close it when done.

    The process starts with the first request. If it crashes, pending requests raise
    ``Unavailable``, and the next request starts a new one.
    """

    def __init__(self, way: DownloadSettings, command: Sequence[str] = COMMAND) -> None:
        """Raises ``InvalidSetting`` for malformed exceptions from the address rule."""
        Retrieval(way)  # only to validate the settings here
        self._way = way
        memory = MEMORY + DOCUMENTS * way.max_bytes
        self._pool = Pool("fetch", 1, memory, shared=True, command=command)

    async def get(self, address: str) -> Document:
        """See ``Retrieval``."""
        return await self._ask("get", address)

    async def permit(self, address: str) -> None:
        """See ``Retrieval``."""
        await self._ask("permit", address)

    async def aclose(self) -> None:
        await self._pool.aclose()

    async def _ask(self, what: str, address: str) -> Document:
        asked = {"what": what, "address": address, "way": asdict(self._way)}
        seconds = self._way.seconds + MARGIN_SECONDS
        try:
            outcome = await self._pool.ask(asked, b"", seconds, partial(_understood, address))
        except TaskFailed as failed:
            raise _broken(str(failed)) from None
        if isinstance(outcome, FootnoteError):
            raise outcome
        return outcome


def _understood(address: str, reply: Any, data: bytes) -> Document | FootnoteError:
    """Parse a reply, which may be anything if a server has taken control of the process."""
    match reply:
        case {"permitted": True}:
            return Document(address, None, b"", datetime.min)
        case {"url": str(url), "type": str() | None as content_type, "at": str(at)}:
            return Document(url, content_type, data, datetime.fromisoformat(at))
        case {"error": error}:
            return _raised(error)
    raise ValueError(f"it replied {reply!r:.200}")


def _broken(detail: str) -> Unavailable:
    return Unavailable(
        "The page could not be read because the process that reads pages crashed; try again.",
        detail=detail,
    )


def _raised(error: Any) -> FootnoteError:
    match error:
        case {
            "kind": str(kind),
            "sentence": str(sentence),
            "detail": str(detail),
            "retry_after": int() | float() | None as retry_after,
        } if kind in ERRORS:
            if kind == Unavailable.__name__:
                return Unavailable(sentence, detail=detail, retry_after=retry_after)
            return ERRORS[kind](sentence, detail=detail)
    raise ValueError(f"it replied {error!r:.200}")


# ---------------------------------------------------------------- in the child process


@asynccontextmanager
async def open_retrieval(_: int) -> AsyncIterator[AsyncWork]:
    """Yield the work of a process, which keeps its connections to servers."""
    known: dict[str, Retrieval] = {}

    async def work(asked: dict[str, Any]) -> Answer:
        try:
            retrieval = known.get("") or known.setdefault("", Retrieval(_settings(asked["way"])))
            if asked["what"] == "permit":
                await retrieval.permit(asked["address"])
                return {"permitted": True}, b""
            found = await retrieval.get(asked["address"])
        except FootnoteError as error:
            return {"error": _as_json(error)}, b""
        except Exception as error:  # noqa: BLE001 - reported to the parent, which raises it
            return {"error": _as_json(_broken(repr(error)))}, b""
        at = found.fetched_at.isoformat()
        return {"url": found.url, "type": found.content_type, "at": at}, found.data

    yield work


def _settings(way: dict[str, Any]) -> DownloadSettings:
    told = {**way, "allow": tuple(way["allow"]), "egress": Egress(**way["egress"])}
    return DownloadSettings(**told)


def _as_json(error: FootnoteError) -> dict[str, Any]:
    known = next((kind.__name__ for kind in type(error).__mro__ if kind.__name__ in ERRORS), "")
    return {
        "kind": known or Unavailable.__name__,
        "sentence": error.sentence,
        "detail": error.detail,
        "retry_after": getattr(error, "retry_after", None),
    }
