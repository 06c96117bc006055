"""Limits on how a response arrives, and on the size of its decompressed body.

A server can keep a reader busy indefinitely with very little data: one-byte chunks, endless interim
responses (RFC 9110 section 15.2), chunk extensions and trailers (RFC 9112 section 7.1), one-byte
packets, a byte now and then. The cost of such a response is not its size but the handling of its
pieces. So pieces are counted too, and so is everything sent in addition to the body.

The limits leave room for what real servers do: pages that templates send in pieces of some 30
bytes, headers of 64 kB, a slow line of 8 kbit/s.

httpx would decompress all received data in one step, a thousandfold, and once for each encoding
that a server stacks; that way a page of 100 kB can fill any memory.
"""

from __future__ import annotations

import asyncio
import ssl
import time
import zlib
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpcore

from bot.core.errors import PageUnreadable

FREE_PIECES = 4_000  # pieces of a body that may have any size
PIECE = 32  # bytes that further pieces must have on average
FREE_READS = 2_000  # from a connection, per response
HEAD_READS = 50  # reads during which headers may arrive at any speed
FREE_AROUND = 131_072  # bytes outside the body, per response: h11 accepts headers of 100 kB
GRACE = 5.0  # seconds after the headers during which a body may arrive at any speed
RATE = 1_000.0  # bytes a second, the required average after that


class Wasteful(Exception):
    """A response arrives in a way that keeps a reader busy. The message says how."""


class _Head:
    """Counters for interim responses and headers. A server may take any time between them (RFC 8297
    on early hints), so only headers that arrive in many small packets can be too slow.
    """

    def __init__(self) -> None:
        self._bytes = self._reads = 0
        self._began = 0.0

    def count(self, size: int) -> None:
        now = time.monotonic()
        self._began = self._began or now
        self._bytes += size
        self._reads += 1
        late = now - self._began - GRACE
        if self._reads > HEAD_READS and self._bytes < late * RATE:
            raise Wasteful(f"fewer than {RATE:g} bytes of headers a second")


class Meter:
    """Counters for the data received over one connection.

    Everything except bodies counts as overhead: status lines, headers, framing and, with HTTP/2,
    data that the requests on the connection have not consumed yet, at most 64 kB for each.
    """

    def __init__(self) -> None:
        self._received = self._reads = self._taken = 0
        self._responses = 1  # including the pending one
        self._head: _Head | None = None

    def note_request(self) -> None:
        """Note that a request was sent; the head of its response comes next."""
        self._head = _Head()

    def count(self, size: int) -> None:
        """Count received bytes. Raises ``Wasteful``."""
        self._received += size
        self._reads += 1
        if self._head is not None:
            self._head.count(size)
        if self._reads > FREE_READS * self._responses + self._received / PIECE:
            raise Wasteful("packets of a few bytes")
        around = self._received - self._taken
        if around > FREE_AROUND * self._responses + self._taken:
            raise Wasteful(f"{around} bytes around {self._taken} bytes of text")

    def note_response(self) -> None:
        """Note that a response has begun: its headers are complete."""
        self._responses += 1
        self._head = None

    def count_body(self, size: int) -> None:
        """Count bytes as belonging to a body."""
        self._taken += size


class WrappedStream(httpcore.AsyncNetworkStream):
    """A connection that delegates to another one; subclasses implement TLS and override other
    methods as needed.
    """

    def __init__(self, stream: httpcore.AsyncNetworkStream) -> None:
        self._stream = stream

    async def read(
        self,
        max_bytes: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature
    ) -> bytes:
        return await self._stream.read(max_bytes, timeout)

    async def write(
        self,
        buffer: bytes,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature
    ) -> None:
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class MeteredStream(WrappedStream):
    """A connection whose reads are counted by a ``Meter``; reading raises ``Wasteful``."""

    def __init__(self, stream: httpcore.AsyncNetworkStream) -> None:
        super().__init__(stream)
        self.meter = Meter()
        tls = stream.get_extra_info("ssl_object")
        self._is_shared = tls is not None and tls.selected_alpn_protocol() == "h2"

    async def read(
        self,
        max_bytes: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature
    ) -> bytes:
        data = await super().read(max_bytes, timeout)
        self.meter.count(len(data))
        return data

    async def write(
        self,
        buffer: bytes,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature
    ) -> None:
        await super().write(buffer, timeout)
        if not self._is_shared:
            self.meter.note_request()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature
    ) -> httpcore.AsyncNetworkStream:
        return MeteredStream(await self._stream.start_tls(ssl_context, server_hostname, timeout))


def meter_of(extensions: Mapping[str, Any]) -> Meter | None:
    """The meter of the connection that a response arrived on, from httpcore's extensions."""
    stream = extensions.get("network_stream")
    return stream.meter if isinstance(stream, MeteredStream) else None


class Pieces:
    """Counter for the pieces of one body."""

    def __init__(self, limit: asyncio.Timeout) -> None:
        self._limit = limit
        self._began = asyncio.get_running_loop().time()
        self._count = self._bytes = 0

    def count(self, size: int) -> None:
        """Count a received piece. Raises ``Wasteful``."""
        self._count += 1
        self._bytes += size
        if self._count > FREE_PIECES + self._bytes / PIECE:
            raise Wasteful(f"{self._count} pieces for {self._bytes} bytes")
        self._limit.reschedule(self._began + GRACE + self._bytes / RATE)


@asynccontextmanager
async def in_pieces() -> AsyncIterator[Pieces]:
    """Limits how a body is received; report each piece to what it yields. Raises ``Wasteful``."""
    try:
        async with asyncio.timeout(GRACE) as limit:
            yield Pieces(limit)
    except TimeoutError:
        if limit.expired():
            raise Wasteful(f"fewer than {RATE:g} bytes a second") from None
        raise


ACCEPT_ENCODING = "gzip, deflate"

MEMBERS = 1_000  # gzip members in one body: block gzip has 16 per MB (SAM specification, 4.1)
_PIECE = 65_536  # bytes decompressed at a time
_GZIP = zlib.MAX_WBITS | 16
_ZLIB = zlib.MAX_WBITS
_RAW_DEFLATE = -zlib.MAX_WBITS


class Decoder:
    """Decodes the Content-Encoding of one body; ``name`` is the page's name in errors."""

    def __init__(self, content_encoding: str, name: str) -> None:
        """Raises ``PageUnreadable`` for an encoding that was not requested."""
        encodings = [part.strip().lower() for part in content_encoding.split(",")]
        applied = [encoding for encoding in encodings if encoding not in ("", "identity")]
        self._name = name
        self._window: int | None = None
        if applied in (["gzip"], ["x-gzip"]):
            self._window = _GZIP
        elif applied == ["deflate"]:
            self._window = _ZLIB
        elif applied:
            raise PageUnreadable(
                f"{name} has a compression that Footnote did not request; paste its text.",
                detail=f"content-encoding: {content_encoding[:100]}",
            )
        self._inflate = None if self._window is None else zlib.decompressobj(self._window)
        self._begun = False
        self._ended = False
        self._members = 1

    def decoded(self, data: bytes) -> Iterator[bytes]:
        """The next pieces, each small; decompression stops when the caller stops iterating."""
        if self._inflate is None:
            yield data
            return
        more = True
        while more:
            if self._ended:
                data = data.lstrip(b"\x00")  # padding
                if self._window != _GZIP or not data.startswith(b"\x1f"):
                    return  # data after the end is not part of the body
                # another gzip member, RFC 1952 section 2.2
                self._members += 1
                if self._members > MEMBERS:
                    raise PageUnreadable(
                        f"{self._name} is compressed in more than {MEMBERS:,} parts; paste its"
                        " text."
                    )
                self._inflate, self._ended = zlib.decompressobj(_GZIP), False
            piece = self._step(data)
            if piece:
                yield piece
            self._ended = self._inflate.eof
            data = self._inflate.unused_data if self._ended else self._inflate.unconsumed_tail
            # if the piece was full, zlib may have consumed all input and still hold output
            more = bool(data) or len(piece) == _PIECE

    def _step(self, data: bytes) -> bytes:
        if self._inflate is None:
            return data
        try:
            piece = self._inflate.decompress(data, _PIECE)
        except zlib.error as error:
            if self._window != _ZLIB or self._begun:
                raise PageUnreadable(
                    f"{self._name} arrives damaged from its server; try again, or paste its text.",
                    detail=str(error),
                ) from None
            # "deflate" should mean zlib, but some servers send raw deflate
            self._window = _RAW_DEFLATE
            self._inflate = zlib.decompressobj(_RAW_DEFLATE)
            return self._step(data)
        self._begun = True
        return piece
