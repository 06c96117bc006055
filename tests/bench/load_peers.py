"""Everyone the load bench talks to, in one process of their own: Claude, Slack, a search engine, a
small web. ``python -m tests.bench.load_peers`` prints the port it serves on.

They are cheap on purpose, so that they take as little as can be of the processors they share with
what is measured: no framework, nothing checked. What they answer has the shape and size of the real
thing, and comes after as long. Claude thinks with the brain of ``tests.fakes.claude`` and streams
in small events, since receiving those is a part of a worker's work.

    /v1/messages           Claude
    /api/METHOD            Slack, for every workspace alike
    /res/v1/web/search     Brave: ten hits for any query, of the topic whose number stands in it
    /page/TOPIC/RANK       a page, on ten addresses, since hits of one site only are unusual
    /_log                  how often each was called
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import random
import re
import socket
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.bench.load_words import page_about, topic_of
from tests.fakes.claude_brain import researcher
from tests.fakes.claude_replies import Reply, body, events

FIRST_TOKEN, TOKENS_A_SECOND = 1.5, 60.0
SEARCH, PAGE, SLACK = 0.4, 0.3, 0.08  # seconds
SPREAD = 0.25  # each of them is up to this share longer or shorter
CHARACTERS = 16  # of one event of a stream
HITS = 10
SITES = tuple(f"127.0.0.{number}" for number in range(1, 11))
TEAM, BOT_USER, BOT = "T0", "U0BOT", "B0BOT"

Head = Mapping[bytes, bytes]


class Peers:
    """The peers, without any state except how often they were asked."""

    def __init__(self) -> None:
        self.port = 0
        self.asked = Counter[str]()
        self._latency = random.Random(1)
        self._ts = (f"{int(time.time())}.{number:06}" for number in itertools.count(1))

    async def answer(self, path: str, payload: bytes, send: Callable[[bytes], None]) -> None:
        """Write the whole response."""
        place = urlsplit(path)
        if place.path.endswith("/v1/messages"):
            await self._claude(payload, send)
        elif place.path.startswith("/api/"):
            method = place.path.removeprefix("/api/")
            self.asked[method] += 1
            await self._pause(SLACK)
            send(_json(self._slack(method, payload)))
        elif place.path.startswith("/res/"):
            self.asked["search"] += 1
            await self._pause(SEARCH)
            send(_json(self._found(parse_qs(place.query)["q"][0])))
        elif place.path.startswith("/page/"):
            self.asked["page"] += 1
            _, _, topic, rank = place.path.split("/")
            await self._pause(PAGE)
            send(_response(200, "text/html; charset=utf-8", page_about(int(topic), int(rank))))
        elif place.path == "/_log":
            send(_json(self.asked))
        else:  # robots.txt among them
            self.asked["other"] += 1
            send(_response(404, "text/plain", b"nothing here"))

    async def _pause(self, seconds: float) -> None:
        await asyncio.sleep(seconds * self._latency.uniform(1 - SPREAD, 1 + SPREAD))

    # ------------------------------------------------------------ Claude

    async def _claude(self, payload: bytes, send: Callable[[bytes], None]) -> None:
        asked = json.loads(payload)
        self.asked["model"] += 1
        id, model = f"msg_{self.asked['model']}", asked["model"]
        reply = researcher(asked)
        usage = {
            "input_tokens": len(payload) // 4,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
        }
        clock = asyncio.get_running_loop().time
        first = clock() + FIRST_TOKEN * self._latency.uniform(1 - SPREAD, 1 + SPREAD)
        if not asked.get("stream"):
            await asyncio.sleep(first + reply.tokens / TOKENS_A_SECOND - clock())
            send(_json(body(reply, id, model, usage)))
            return
        send(_STREAM)
        for due, data in _paced(reply, id, model, usage):
            if (delay := first + due - clock()) > 0:
                await asyncio.sleep(delay)
            send(b"%x\r\n%s\r\n" % (len(data), data))
        send(b"0\r\n\r\n")

    # ------------------------------------------------------------ Slack

    def _slack(self, method: str, payload: bytes) -> dict[str, Any]:
        match method:
            case "auth.test":
                return {"ok": True, "team_id": TEAM, "user_id": BOT_USER, "bot_id": BOT}
            case "users.info":
                profile = {"display_name": "Ada"}
                return {"ok": True, "user": {"id": "U1", "locale": "en-US", "profile": profile}}
            case "conversations.replies":
                return {"ok": True, "messages": []}
            case "chat.startStream" | "chat.postMessage":
                return {"ok": True, "ts": next(self._ts)}
            case _:
                return {"ok": True}

    # ------------------------------------------------------------ the web

    def _found(self, query: str) -> dict[str, Any]:
        topic = topic_of(query)
        results = [
            {
                "url": f"http://{SITES[rank % len(SITES)]}:{self.port}/page/{topic}/{rank}",
                "title": f"Halvern-{topic}: part {rank}",
                "description": f"What is known about Halvern-{topic}, as seen in part {rank}.",
            }
            for rank in range(HITS)
        ]
        return {"type": "search", "web": {"type": "search", "results": results}}


def _paced(
    reply: Reply, id: str, model: str, usage: Mapping[str, Any]
) -> Iterator[tuple[float, bytes]]:
    """The events of a stream with their times in seconds after the first token; those that come at
    the same time together."""
    said, waiting = 0, b""
    for event in events(reply, id, model, usage, characters=CHARACTERS, citations_first=False):
        waiting += event.data
        if event.tokens:
            yield said / TOKENS_A_SECOND, waiting
            said, waiting = said + event.tokens, b""
    yield said / TOKENS_A_SECOND, waiting


# ---------------------------------------------------------------- HTTP


def _response(status: int, kind: str, content: bytes) -> bytes:
    head = f"HTTP/1.1 {status} OK\r\nContent-Type: {kind}\r\nContent-Length: {len(content)}\r\n\r\n"
    return head.encode() + content


def _json(value: Any) -> bytes:
    return _response(200, "application/json", json.dumps(value).encode())


_STREAM = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
)
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


class _Connection(asyncio.Protocol):
    """HTTP/1.1 as clients that keep a connection and wait for each response speak it."""

    def __init__(self, peers: Peers) -> None:
        self._peers = peers
        self._received = b""
        self._transport: asyncio.Transport | None = None
        self._working: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def connection_lost(self, error: Exception | None) -> None:
        if self._working is not None:
            self._working.cancel()

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, ended, rest = self._received.partition(b"\r\n\r\n")
        if not ended:
            return
        found = _LENGTH.search(head)
        length = int(found[1]) if found else 0
        if len(rest) < length:
            return
        self._received = rest[length:]
        path = head.split(b" ", 2)[1].decode()
        assert self._transport is not None
        send = self._transport.write
        self._working = asyncio.ensure_future(self._peers.answer(path, rest[:length], send))


async def _serve() -> None:
    peers = Peers()
    loop = asyncio.get_running_loop()
    for site in SITES:
        # With the protocol named, asyncio switches Nagle's algorithm off for what it accepts.
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.bind((site, peers.port))
        listener.listen(2048)
        peers.port = listener.getsockname()[1]
        await loop.create_server(lambda: _Connection(peers), sock=listener)
    sys.stdout.write(f"{peers.port}{os.linesep}")
    sys.stdout.flush()
    await loop.run_in_executor(None, sys.stdin.read)  # until whoever started it ends


if __name__ == "__main__":
    asyncio.run(_serve())
