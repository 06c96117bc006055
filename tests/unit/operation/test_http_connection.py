"""Clients that read nothing, and clients that read slowly."""

from __future__ import annotations

import asyncio
import contextlib
import resource
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from bot.operation.health import http_endpoint
from bot.operation.http_connection import Limits

CHUNK = b"x" * 65_536
CHUNKS = 400  # 26 MB
HELD = 20  # 1.3 MB: less than the kernel would take by itself


class Flood:
    """A stream of more than anyone buffers; tells how far it came and that it ended."""

    def __init__(self) -> None:
        self.sent = 0
        self.ended = asyncio.Event()

    @property
    def routes(self) -> list[BaseRoute]:
        async def flood(request: Request) -> Response:
            return StreamingResponse(self._chunks())

        return [Route("/flood", flood)]

    async def _chunks(self) -> AsyncIterator[bytes]:
        try:
            while self.sent < CHUNKS:
                self.sent += 1
                yield CHUNK
                await asyncio.sleep(0)  # where it ends once nobody is there
        finally:
            self.ended.set()


async def asked(address: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A client that has asked and takes little at once."""
    host, _, port = address.removeprefix("http://").partition(":")
    mine = socket.socket()
    mine.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8_192)
    mine.setblocking(False)
    await asyncio.get_running_loop().sock_connect(mine, (host, int(port)))
    reader, writer = await asyncio.open_connection(sock=mine, limit=8_192)
    writer.write(b"GET /flood HTTP/1.1\r\nHost: here\r\n\r\n")
    return reader, writer


async def test_a_client_that_reads_nothing_is_cut_off() -> None:
    flood = Flood()
    async with http_endpoint("127.0.0.1", 0, flood.routes, limits=Limits(patience=0.2)) as address:
        reader, writer = await asked(address)
        async with asyncio.timeout(60):
            await flood.ended.wait()
            with pytest.raises(ConnectionResetError):
                await reader.read(-1)
        assert flood.sent < HELD
        writer.close()
        await asyncio.gather(writer.wait_closed(), return_exceptions=True)


async def test_a_client_that_reads_slowly_gets_it_all() -> None:
    flood = Flood()
    async with http_endpoint("127.0.0.1", 0, flood.routes, limits=Limits(patience=5.0)) as address:
        reader, writer = await asked(address)
        got = 0
        async with asyncio.timeout(60):
            while got < CHUNKS * len(CHUNK):
                got += len(await reader.read(8_192))
        assert flood.ended.is_set()
        writer.close()
        await writer.wait_closed()


# ---------------------------------------------------------------- clients that send little


@dataclass(frozen=True, slots=True)
class Trickle:
    """A client that sends ``first``, then ``more`` every ``seconds``."""

    first: bytes
    more: bytes = b""
    seconds: float = 0.02


HEAD = b"POST /body HTTP/1.1\r\nHost: here\r\nContent-Length: 100000\r\n"
UNFINISHED = {
    "nothing at all": Trickle(b""),
    "half a head": Trickle(HEAD),
    "a head by the byte": Trickle(b"GET / HTTP/1.1\r\nX: ", b"x"),
    "a head by the line": Trickle(HEAD, b"X: y\r\n"),
    "no body": Trickle(HEAD + b"\r\n"),
    "a body by the byte": Trickle(HEAD + b"\r\n", b"x"),
    "a second request by the byte": Trickle(b"GET /ok HTTP/1.1\r\nHost: here\r\n\r\nGET /", b"x"),
    "a body in chunks without end": Trickle(
        b"POST /body HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"
    ),
}
STRICT = Limits(patience=0.1, head=0.15, body=0.3, most=8)


async def body(request: Request) -> Response:
    with contextlib.suppress(ClientDisconnect):
        await request.body()
    return Response("read")


async def ok(request: Request) -> Response:
    return Response("fine")


ROUTES: list[BaseRoute] = [Route("/body", body, methods=["POST"]), Route("/ok", ok)]


async def opened(address: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    host, _, port = address.removeprefix("http://").partition(":")
    return await asyncio.open_connection(host, int(port))


async def closed(writer: asyncio.StreamWriter) -> None:
    writer.close()
    await asyncio.gather(writer.wait_closed(), return_exceptions=True)


async def until_cut_off(address: str, trickle: Trickle) -> None:
    """Send like that until the other end gives up."""
    reader, writer = await opened(address)
    writer.write(trickle.first)
    gone = asyncio.create_task(reader.read(-1))
    while not gone.done():
        writer.write(trickle.more)
        await asyncio.wait((gone,), timeout=trickle.seconds)
    with contextlib.suppress(ConnectionError):
        gone.result()
    await closed(writer)


async def is_answered(address: str) -> bool:
    reader, writer = await opened(address)
    writer.write(b"GET /ok HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n")
    answer = await reader.read(-1)
    await closed(writer)
    return answer.endswith(b"fine")


@pytest.mark.parametrize("kind", UNFINISHED)
async def test_a_client_that_never_sends_a_whole_request_is_cut_off(kind: str) -> None:
    async with http_endpoint("127.0.0.1", 0, ROUTES, limits=STRICT) as address:
        async with asyncio.timeout(60):
            await until_cut_off(address, UNFINISHED[kind])
        assert await is_answered(address)


async def test_idle_half_requests_keep_nobody_away() -> None:
    lasting = Limits(head=60.0, most=STRICT.most)
    async with http_endpoint("127.0.0.1", 0, ROUTES, limits=lasting) as address:
        idle = [await opened(address) for _ in range(3 * lasting.most)]
        for _, writer in idle:
            writer.write(HEAD)
        assert await is_answered(address)
        cut = [reader for reader, _ in idle[: 2 * lasting.most]]
        async with asyncio.timeout(60):
            await asyncio.gather(*(each.read(-1) for each in cut), return_exceptions=True)
        assert not idle[-1][0].at_eof()
        await asyncio.gather(*(closed(writer) for _, writer in idle))


async def test_a_request_that_comes_slowly_but_in_time_is_answered() -> None:
    patient = Limits(patience=5.0, head=5.0, body=5.0)
    async with http_endpoint("127.0.0.1", 0, ROUTES, limits=patient) as address:
        reader, writer = await opened(address)
        request = b"POST /body HTTP/1.1\r\nHost: here\r\nContent-Length: 20\r\n\r\n" + b"x" * 20
        for start in range(0, len(request), 7):
            writer.write(request[start : start + 7])
            await writer.drain()
            await asyncio.sleep(0)
        assert b"read" in await reader.readuntil(b"read")
        await closed(writer)


def test_there_are_never_more_connections_than_the_process_may_have_files() -> None:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert 100 <= Limits().most <= max(100, min(soft, 1_000))
