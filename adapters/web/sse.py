"""Formats and sends server-sent events.

https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Send

from adapters.web.limits import HEARTBEAT_SECONDS, SECONDS_BETWEEN_EVENTS
from adapters.web.live import Feed
from adapters.web.open_streams import OpenStreams
from bot.core.errors import StorageUnavailable
from bot.core.logs import get_logger

EVENTS = "text/event-stream"
RETRY = "retry: 1000\n\n"  # milliseconds until a disconnected browser reconnects
HERE = ": here\n\n"  # a comment that keeps the connection alive

log = get_logger()


# JSON contains no line ends of the standard, but may contain these, which some clients treat as
# line ends.
_OTHER_LINE_ENDS = {0x85: r"\u0085", 0x2028: r"\u2028", 0x2029: r"\u2029"}


def as_line(data: object) -> str:
    """Return JSON on one line for an event."""
    return json.dumps(data, ensure_ascii=False).translate(_OTHER_LINE_ENDS)


def event(kind: str, data: str, id: str = "") -> str:
    """Format one event; ``data`` is as ``as_line`` returns it."""
    head = f"id: {id}\n" if id else ""
    return f"{head}event: {kind}\ndata: {data}\n\n"


def events_together(told: Sequence[tuple[str, str]], id: str) -> list[str]:
    """Format kinds and data as events, of which only the last has the id, so that a client that is
    disconnected in between gets all of them again."""
    ids = ["" for _ in told[1:]] + [id]
    return [event(kind, data, id) for (kind, data), id in zip(told, ids, strict=False)]


async def moments(feed: Feed) -> AsyncIterator[bool]:
    """Yield whenever a feed's state should be sent: True at once and after each change, False if a
    keep-alive is due because nothing has changed. It ends with the feed.

    The first change is reported at once, and changes within ``SECONDS_BETWEEN_EVENTS`` after it as
    one. A slow client gets only the newest state, so no backlog builds up.
    """
    clock = asyncio.get_running_loop()
    while not feed.closed:
        version = feed.version
        yield True
        told_at = clock.time()
        while not feed.closed and feed.version <= version:
            try:
                async with asyncio.timeout(HEARTBEAT_SECONDS):
                    await feed.after(version)
            except TimeoutError:
                yield False
        await asyncio.sleep(told_at + SECONDS_BETWEEN_EVENTS - clock.time())


def event_stream(
    request: Request, streams: OpenStreams, client: str, events: AsyncIterator[str]
) -> Response:
    """Respond with events; to HEAD with only the headers, and with 429 if the client has too many
    streams open."""
    if request.method == "HEAD":
        return _EventStream(_nothing())
    if not streams.allows(client):
        raise HTTPException(429, "Too many event streams are open: close some of them first.")
    return _EventStream(_told(streams, client, events))


class _EventStream(StreamingResponse):
    """Stops its events once the client has disconnected, even in the middle of one."""

    def __init__(self, events: AsyncIterator[str]) -> None:
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        super().__init__(events, media_type=EVENTS, headers=headers)

    async def stream_response(self, send: Send) -> None:
        async with aclosing(self.body_iterator):  # type: ignore[type-var]
            await super().stream_response(send)


async def _told(
    streams: OpenStreams, client: str, events: AsyncIterator[str]
) -> AsyncIterator[str]:
    with streams.one(client):
        yield RETRY
        try:
            async with aclosing(events):  # type: ignore[type-var]
                async for each in events:
                    yield each
        except StorageUnavailable as away:
            # The client reconnects with its last id, and gets the error if it persists.
            log.info("event stream ends", error=str(away))


async def _nothing() -> AsyncIterator[str]:
    return
    yield
