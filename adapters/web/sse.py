"""Server-sent events as they go over the wire.

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
from adapters.web.pace import OpenStreams
from bot.errors import StorageUnavailable
from bot.logs import get_logger

EVENTS = "text/event-stream"
RETRY = "retry: 1000\n\n"  # milliseconds until a browser that was cut off comes again
HERE = ": here\n\n"  # a comment, which tells proxies and both ends that the other one lives

log = get_logger()


# JSON has none of the standard's line ends, but may have these, at which some readers break lines.
_OTHER_LINE_ENDS = {0x85: r"\u0085", 0x2028: r"\u2028", 0x2029: r"\u2029"}


def as_line(data: object) -> str:
    """JSON for an event."""
    return json.dumps(data, ensure_ascii=False).translate(_OTHER_LINE_ENDS)


def event(kind: str, data: str, id: str = "") -> str:
    """One event; ``data`` as ``as_line`` makes it."""
    head = f"id: {id}\n" if id else ""
    return f"{head}event: {kind}\ndata: {data}\n\n"


def events_together(told: Sequence[tuple[str, str]], id: str) -> list[str]:
    """Kinds and data as events, the last with the id: a client that is cut off in between gets all
    of them again."""
    ids = ["" for _ in told[1:]] + [id]
    return [event(kind, data, id) for (kind, data), id in zip(told, ids, strict=False)]


async def moments(feed: Feed) -> AsyncIterator[bool]:
    """Moments to send a feed's state: True at once and after each change, False when there was none
    for so long that a sign of life is due. It ends with the feed.

    What changes within ``SECONDS_BETWEEN_EVENTS`` is one change, and the first of it is told at
    once: a reader who is slower is told of the newest state only, so that nothing piles up.
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
    """Answers with events; to HEAD with what would come before them, and with 429 where the client
    has too many open."""
    if request.method == "HEAD":
        return _EventStream(_nothing())
    if not streams.allows(client):
        raise HTTPException(429, "Too many event streams are open: close some of them first.")
    return _EventStream(_told(streams, client, events))


class _EventStream(StreamingResponse):
    """Ends its events once their reader has gone, even in the middle of one."""

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
            # The client comes again with its last id, and is told why if that does not help.
            log.info("event stream ends", error=str(away))


async def _nothing() -> AsyncIterator[str]:
    return
    yield
