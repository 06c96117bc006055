"""Retrieves documents in a child process, so that no web server can delay the chat.

Parsing a hostile server's response is Python code that holds the GIL, and an event loop in a thread
shares the GIL with all other threads. One process retrieves many documents concurrently.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from datetime import datetime
from functools import partial
from typing import Any

from bot.core.egress import Egress
from bot.core.errors import (
    AddressRefused,
    BrowserNeeded,
    FootnoteError,
    PageUnreadable,
    Unavailable,
)
from bot.pages.page import Document
from bot.pages.pool import COMMAND, Pool, TaskFailed
from bot.pages.processes import Answer, AsyncWork
from bot.pages.retrieval import DownloadSettings, Retrieval

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
        """Stop the process."""
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
