"""Web servers that are made to keep a client busy: each member of ``KINDS`` in its own way.

They write HTTP/1.1 by hand, because no server library would send any of it. What they send has no
end unless it says so; a connection lasts until the client leaves.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import itertools
import json
import os
import sys
import zlib
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager

BLOCK = 65_536  # bytes that are sent at once
PAUSE = 0.02  # seconds between the bytes of a slow server

Parts = Iterator[bytes | float]
"""The parts of a response: bytes, and seconds to wait."""

CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n%s\r\n"
HONEST = (
    b"<html><head><title>Tides</title></head><body><article><h1>Tides</h1>"
    + b"<p>The tide rises and falls twice in a day because of the moon.</p>" * 40
    + b"</article></body></html>"
)
ROW = b"<tr>" + b"<td>the tide</td>" * 20 + b"</tr>"
LABORIOUS = b"<html><body><article><table>" + ROW * 12_000 + b"</table></article></body></html>"


def _for_ever(piece: bytes, *, head: bytes = CHUNKED % b"") -> Parts:
    yield head
    yield from itertools.repeat(piece * max(1, BLOCK // len(piece)))


def _slowly(head: bytes, piece: bytes) -> Parts:
    yield head
    while True:
        yield piece
        yield PAUSE


def one_byte_chunks() -> Parts:
    return _for_ever(b"1\r\na\r\n")


def early_hints() -> Parts:
    return _for_ever(b"HTTP/1.1 103 Early Hints\r\n\r\n", head=b"")


def hints_with_links() -> Parts:
    hint = b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload; as=style\r\n\r\n"
    return _for_ever(hint, head=b"")


def slow_headers() -> Parts:
    return _slowly(b"HTTP/1.1 200 OK\r\nX-Long: ", b"a")


def many_slow_headers() -> Parts:
    return _slowly(b"HTTP/1.1 200 OK\r\n", b"X-A: a\r\n")


def slow_body() -> Parts:
    return _slowly(CHUNKED % b"", b"1\r\na\r\n")


def silent_body() -> Parts:
    yield CHUNKED % b""
    while True:
        yield 60.0


def slow_redirect() -> Parts:
    head = b"HTTP/1.1 302 Found\r\nLocation: /next\r\nContent-Length: 16000\r\n\r\n"
    return _slowly(head, b"a")


def tiny_packets() -> Parts:
    """As many packets as bytes, as fast as they go."""
    yield CHUNKED % b""
    while True:
        yield b"1\r\na\r\n"
        yield 0.0


def chunk_extensions() -> Parts:
    return _for_ever(b"1;" + b"x" * 200 + b"\r\na\r\n")


def trailers() -> Parts:
    return _for_ever(b"X-A: a\r\n", head=CHUNKED % b"" + b"5\r\nhello\r\n0\r\n")


def header_flood() -> Parts:
    return _for_ever(b"X-A: a\r\n", head=b"HTTP/1.1 200 OK\r\n")


def compressed_bomb() -> Parts:
    squeeze = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    begin = squeeze.compress(bytes(1_000_000)) + squeeze.flush(zlib.Z_FULL_FLUSH)
    yield CHUNKED % b"Content-Encoding: gzip\r\n"
    yield b"%x\r\n%s\r\n" % (len(begin), begin)
    more = squeeze.compress(bytes(1_000_000)) + squeeze.flush(zlib.Z_FULL_FLUSH)
    yield from itertools.repeat(b"%x\r\n%s\r\n" % (len(more), more))


def _compressed(members: bytes) -> Parts:
    data = members * max(1, BLOCK // len(members))
    return _for_ever(
        b"%x\r\n%s\r\n" % (len(data), data), head=CHUNKED % b"Content-Encoding: gzip\r\n"
    )


def empty_members() -> Parts:
    return _compressed(gzip.compress(b""))


def one_byte_members() -> Parts:
    return _compressed(gzip.compress(b"a"))


KINDS: dict[str, Callable[[], Parts]] = {
    make.__name__: make
    for make in (
        one_byte_chunks,
        early_hints,
        hints_with_links,
        slow_headers,
        many_slow_headers,
        slow_body,
        silent_body,
        slow_redirect,
        tiny_packets,
        chunk_extensions,
        trailers,
        header_flood,
        compressed_bomb,
        empty_members,
        one_byte_members,
    )
}


def _page(page: bytes) -> Parts:
    yield b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(page)
    yield page


def honest() -> Parts:
    return _page(HONEST)


def laborious() -> Parts:
    """A page that comes at once, and whose text takes some seconds to be found."""
    return _page(LABORIOUS)


def hints_and_a_pause() -> Parts:
    yield b"HTTP/1.1 103 Early Hints\r\n\r\n" * 3
    yield 0.5
    yield from honest()


def many_headers() -> Parts:
    head, rest = b"".join(honest()).split(b"\r\n\r\n", 1)  # type: ignore[arg-type]
    cookies = b"".join(b"\r\nSet-Cookie: c%d=%s" % (n, b"x" * 300) for n in range(200))
    yield head + cookies + b"\r\n\r\n" + rest


def small_chunks() -> Parts:
    """As templates send them."""
    yield CHUNKED % b""
    page = HONEST.replace(b"</article>", b"<p>Ebb and flood.</p>" * 10_000 + b"</article>")
    pieces = (page[at : at + 40] for at in range(0, len(page), 40))
    yield b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


def chunks_of_one_byte() -> Parts:
    """Of a page that is short."""
    yield CHUNKED % b""
    yield b"".join(b"1\r\n%c\r\n" % byte for byte in HONEST) + b"0\r\n\r\n"


def slow_start() -> Parts:
    yield CHUNKED % b""
    yield 0.1
    yield b"%x\r\n%s\r\n0\r\n\r\n" % (len(HONEST), HONEST)


REAL: dict[str, Callable[[], Parts]] = {
    make.__name__: make
    for make in (
        hints_and_a_pause,
        many_headers,
        small_chunks,
        chunks_of_one_byte,
        slow_start,
    )
}
"""Responses that look alike, but have an end and are to be read."""


@asynccontextmanager
async def hostile(kinds: Sequence[str], *, robots: bool = False) -> AsyncIterator[list[int]]:
    """Serve a port of 127.0.0.1 for each of the kinds, one that is laborious and one that is
    honest; yields the ports. ``robots``: their robots.txt is hostile, too, else there is none."""
    makers = [*((KINDS | REAL)[kind] for kind in kinds), laborious, honest]
    servers: list[asyncio.Server] = []
    tasks: set[asyncio.Task[None]] = set()
    for make in makers:

        async def met(
            reader: asyncio.StreamReader,
            writer: asyncio.StreamWriter,
            make: Callable[[], Parts] = make,
        ) -> None:
            task = asyncio.current_task()
            assert task is not None
            tasks.add(task)
            try:
                await _serve(reader, writer, make, robots)
            except (OSError, EOFError, asyncio.IncompleteReadError):
                pass  # the client has left
            finally:
                tasks.discard(task)
                writer.transport.abort()

        servers.append(await asyncio.start_server(met, "127.0.0.1", 0))
    try:
        yield [server.sockets[0].getsockname()[1] for server in servers]
    finally:
        for server in servers:
            server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _serve(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    make: Callable[[], Parts],
    robots: bool,
) -> None:
    while True:
        request = await reader.readuntil(b"\r\n\r\n")
        if b" /robots.txt " in request and (not robots or make in (laborious, honest)):
            writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
            continue
        for part in make():
            if isinstance(part, float):
                await asyncio.sleep(part)
            else:
                writer.write(part)
                await writer.drain()
                await asyncio.sleep(0)  # draining waits only when much is unsent


async def _main(kinds: Sequence[str]) -> None:
    os.nice(10)  # what they take of the processor is not to be measured
    async with hostile(kinds) as ports:
        print(json.dumps(ports), flush=True)
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_main(sys.argv[1:]))
