"""Clients that read nothing, and clients that read slowly."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator

import pytest
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from bot.health import http_endpoint

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
    async with http_endpoint("127.0.0.1", 0, flood.routes, patience=0.2) as address:
        reader, writer = await asked(address)
        async with asyncio.timeout(20):
            await flood.ended.wait()
            with pytest.raises(ConnectionResetError):
                await reader.read(-1)
        assert flood.sent < HELD
        writer.close()
        await asyncio.gather(writer.wait_closed(), return_exceptions=True)


async def test_a_client_that_reads_slowly_gets_it_all() -> None:
    flood = Flood()
    async with http_endpoint("127.0.0.1", 0, flood.routes, patience=5.0) as address:
        reader, writer = await asked(address)
        got = 0
        async with asyncio.timeout(30):
            while got < CHUNKS * len(CHUNK):
                got += len(await reader.read(8_192))
        assert flood.ended.is_set()
        writer.close()
        await writer.wait_closed()
