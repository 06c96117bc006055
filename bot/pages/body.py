"""Response bodies: decompressed as they come, never by more than is looked at.

httpx would decompress whatever arrives in one step, a thousandfold, and once for each encoding a
server stacks; a page of 100 kB can be made to fill any memory that way.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from bot.errors import PageUnreadable

ACCEPT_ENCODING = "gzip, deflate"

MEMBERS = 1_000  # of gzip in one body: block gzip has 16 in each MB (SAM specification, 4.1)
_PIECE = 65_536  # bytes decompressed at a time
_GZIP = zlib.MAX_WBITS | 16
_ZLIB = zlib.MAX_WBITS
_RAW_DEFLATE = -zlib.MAX_WBITS


class Decoder:
    """Undoes the Content-Encoding of one body; ``name`` is what errors call the page."""

    def __init__(self, content_encoding: str, name: str) -> None:
        """Raises ``PageUnreadable`` for an encoding that was not asked for."""
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
                f"{name} comes in a compression that Footnote did not ask for; paste its text.",
                detail=f"content-encoding: {content_encoding[:100]}",
            )
        self._inflate = None if self._window is None else zlib.decompressobj(self._window)
        self._begun = False
        self._ended = False
        self._members = 1

    def decoded(self, data: bytes) -> Iterator[bytes]:
        """The next pieces, each small; stop taking them and nothing more is decompressed."""
        if self._inflate is None:
            yield data
            return
        more = True
        while more:
            if self._ended:
                data = data.lstrip(b"\x00")  # padding
                if self._window != _GZIP or not data.startswith(b"\x1f"):
                    return  # what follows the end is no part of the body
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
            # zlib may have taken all input and still hold output, when the piece was full
            more = bool(data) or len(piece) == _PIECE

    def _step(self, data: bytes) -> bytes:
        if self._inflate is None:
            return data
        try:
            piece = self._inflate.decompress(data, _PIECE)
        except zlib.error as error:
            if self._window != _ZLIB or self._begun:
                raise PageUnreadable(
                    f"{self._name} comes broken from its server; try again, or paste its text.",
                    detail=str(error),
                ) from None
            # "deflate" should mean zlib, and means raw deflate to some servers
            self._window = _RAW_DEFLATE
            self._inflate = zlib.decompressobj(_RAW_DEFLATE)
            return self._step(data)
        self._begun = True
        return piece
