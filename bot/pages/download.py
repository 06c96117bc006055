"""One attempt to get a document: connect, follow redirects, read the body within limits.

Redirects are followed here and not by httpx, because each target must be validated, judged and
counted like any other address. A redirect from https to http is refused: an answer that cites the
page would rest on text that anyone on the way could have changed.
"""

from __future__ import annotations

import asyncio
import html
import re
import ssl
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import NoReturn
from urllib.parse import urljoin

import httpx

from bot import __version__
from bot.core.errors import AddressRefused, BrowserNeeded, PageUnreadable, Unavailable
from bot.pages import urls
from bot.pages.guard import Guard
from bot.pages.media import LOOK_AT, kind_of
from bot.pages.page import Document
from bot.pages.transport import GRACE, PIECE, RATE, GuardedTransport, Wasteful

MAX_REDIRECTS = 5
TIMEOUT = httpx.Timeout(None, connect=10.0).as_dict()
"""Seconds. The caller sets an overall deadline; an attempt to connect fails earlier."""
LIMITS = httpx.Limits(max_connections=256, max_keepalive_connections=64, keepalive_expiry=30.0)

ROBOTS_TXT_BYTES = 500 * 1024
"""Bytes of a robots.txt that are read; RFC 9309 section 2.5 requires at least this many."""

HEADERS = {
    "Accept": (
        "text/html, application/xhtml+xml;q=0.9, text/markdown;q=0.9, text/plain;q=0.8,"
        " application/pdf;q=0.8, application/json;q=0.8, */*;q=0.1"
    ),
    "Accept-Encoding": "gzip",
}

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_TRY_AGAIN = frozenset({408, 425, 429})  # and every 5xx
_SMALL_BODY = 16_384  # bytes of a redirect's body; read to reuse the connection

_POINTER_PAGE = 8_192  # bytes; only a page this small can be a mere pointer to another
_REFRESH = re.compile(
    rb"<meta\s[^>]*http-equiv\s*=\s*[\"']?refresh[\"']?[^>]*"
    rb"content\s*=\s*([\"'])\s*[0-5]?(?:\.\d*)?\s*[;,]\s*(?:url\s*=\s*)?[\"']?(.{1,2000}?)[\"']?\s*\1",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(slots=True)
class Progress:
    """Progress of a download, for the error message after a timeout."""

    url: str
    receiving: bool = False


Permit = Callable[[str], Awaitable[None]] | None
_Read = Callable[[str, httpx.Response], Awaitable[Document | str]]


class Downloads:
    """Downloads over shared connections (HTTP/2 where the server supports it)."""

    def __init__(self, guard: Guard, max_bytes: int, contact: str = "") -> None:
        """``contact`` is a web or mail address at which the operator can be reached."""
        self._max_bytes = max_bytes
        self._headers = {"User-Agent": user_agent(contact), **HEADERS}
        # without httpx.AsyncClient: its redirects, cookies, proxies and decoding are unwanted here
        self._transport = GuardedTransport(guard, LIMITS)

    async def get(self, address: str, progress: Progress, permit: Permit = None) -> Document:
        """The document at a canonical address.

        ``permit`` is called before each request and raises if the request must not be made. Raises
        ``AddressRefused``, ``PageUnreadable`` and ``Unavailable``; sets no time limit.
        """
        try:
            return await self._follow(address, progress, permit, self._page)
        except Wasteful as error:
            raise PageUnreadable(
                f"{urls.display_url(progress.url)} arrives too slowly or in pieces that are too"
                " small; paste its text.",
                detail=str(error),
            ) from None

    async def robots_txt(self, address: str) -> bytes:
        """The beginning of a robots.txt; its media type is not checked.

        Raises like ``get``; an error does not mean that the site forbids reading.
        """
        try:
            found = await self._follow(address, Progress(address), None, self._start)
        except Wasteful as error:
            raise Unavailable(
                f"{urls.display_url(address)} arrives too slowly or in pieces that are too small.",
                detail=str(error),
            ) from None
        return found.data

    async def _follow(
        self, address: str, progress: Progress, permit: Permit, read: _Read
    ) -> Document:
        cookies = httpx.Cookies()  # for this document only, so that sessions are never shared
        for _ in range(MAX_REDIRECTS + 1):
            progress.url, progress.receiving = address, False
            try:
                if permit is not None:
                    await permit(address)
                found = await self._open(address, cookies, progress, read)
            except httpx.InvalidURL as error:
                raise AddressRefused(
                    f"The address {urls.display_url(address)} cannot be read: it is malformed.",
                    detail=str(error),
                ) from None
            except httpx.HTTPError as error:
                _fail(address, error)
            if isinstance(found, Document):
                return found
            address = _next_address(address, found)
        raise PageUnreadable(
            f"{urls.display_url(address)} was reached after more than {MAX_REDIRECTS} redirects,"
            " which lead nowhere; give the final address."
        )

    async def aclose(self) -> None:
        await self._transport.aclose()

    async def _open(
        self, address: str, cookies: httpx.Cookies, progress: Progress, read: _Read
    ) -> Document | str:
        """The document, or the target of a redirect."""
        request = httpx.Request(
            "GET", address, headers=self._headers, extensions={"timeout": TIMEOUT}
        )
        cookies.set_cookie_header(request)
        response = await self._transport.handle_async_request(request)
        response.request = request
        try:
            cookies.extract_cookies(response)
            if response.status_code in _REDIRECTS:
                await _finish(response)
                location: str = response.headers.get("location", "")
                if not location.strip():
                    raise PageUnreadable(
                        f"{urls.display_url(address)} redirects without saying where; give the"
                        " final address.",
                        detail=f"status {response.status_code}",
                    )
                return location
            _check_status(address, response)
            progress.receiving = True
            return await read(address, response)
        finally:
            await response.aclose()

    async def _page(self, address: str, response: httpx.Response) -> Document | str:
        document = _document(address, response, await self._body(address, response))
        return _pointed_to(document) or document

    async def _start(self, address: str, response: httpx.Response) -> Document:
        decoder = Decoder(response.headers.get("content-encoding", ""), urls.display_url(address))
        data = bytearray()
        async with in_pieces() as pieces:
            async for raw in response.aiter_raw():
                pieces.count(len(raw))
                for piece in decoder.decoded(raw):
                    data += piece
                    if len(data) >= ROBOTS_TXT_BYTES:
                        break
                if max(len(data), response.num_bytes_downloaded) >= ROBOTS_TXT_BYTES:
                    break
        return _document(address, response, bytes(data[:ROBOTS_TXT_BYTES]))

    async def _body(self, address: str, response: httpx.Response) -> bytes:
        """The body; stops as soon as it is too large or turns out not to be readable text."""
        if _announced(response) > self._max_bytes:
            self._refuse_size(address)
        decoder = Decoder(response.headers.get("content-encoding", ""), urls.display_url(address))
        content_type = response.headers.get("content-type")
        data = bytearray()
        looked = False
        async with in_pieces() as pieces:
            async for raw in response.aiter_raw():
                pieces.count(len(raw))
                for piece in decoder.decoded(raw):
                    data += piece
                    if len(data) > self._max_bytes:
                        self._refuse_size(address)
                if not looked and len(data) >= LOOK_AT:
                    kind_of(bytes(data[:LOOK_AT]), content_type, address)
                    looked = True
                if response.num_bytes_downloaded > self._max_bytes:
                    self._refuse_size(address)
        return bytes(data)

    def _refuse_size(self, address: str) -> NoReturn:
        raise PageUnreadable(
            f"{urls.display_url(address)} is larger than {self._max_bytes / 1e6:g} MB; give a"
            " smaller page, or paste the part that matters."
        )


def user_agent(contact: str = "") -> str:
    """The User-Agent of page requests; robots.txt matches its first word (``robots.PRODUCT``)."""
    reach = f"+{contact}; " if contact else ""
    return f"footnote-bot/{__version__} ({reach}research bot; reads pages people ask about)"


def _document(address: str, response: httpx.Response, data: bytes) -> Document:
    return Document(address, response.headers.get("content-type"), data, datetime.now(UTC))


# ---------------------------------------------------------------- redirects


async def _finish(response: httpx.Response) -> None:
    """Read a small body to its end, so that the connection can serve the next request."""
    if 0 <= _announced(response) <= _SMALL_BODY:
        async with in_pieces() as pieces:
            async for raw in response.aiter_raw():
                pieces.count(len(raw))


def _pointed_to(document: Document) -> str | None:
    """The target of a page that consists of ``<meta http-equiv="refresh">`` alone."""
    data = document.data
    match = _REFRESH.search(data) if len(data) <= _POINTER_PAGE else None
    if match is None or kind_of(data[:LOOK_AT], document.content_type, document.url) != "html":
        return None
    return html.unescape(match[2].decode("utf-8", "replace")).strip()


def _next_address(address: str, location: str) -> str:
    try:
        target = urls.canonical(urljoin(address, location.strip()))
    except ValueError:  # urljoin on brackets that are no IPv6 address
        target = ""
    if not target:
        raise AddressRefused(
            f"{urls.display_url(address)} redirects to an invalid address; give another page."
        )
    if address.startswith("https:") and target.startswith("http:"):
        raise AddressRefused(
            f"{urls.display_url(address)} redirects from https to unprotected http, where its text"
            " could be changed on the way; give the http address itself if you trust it."
        )
    return target


# ---------------------------------------------------------------- errors


def _announced(response: httpx.Response) -> int:
    """Content-Length in bytes; -1 if it is missing or invalid."""
    length: str = response.headers.get("content-length", "")
    return int(length) if length.isascii() and length.isdigit() and len(length) < 19 else -1


def _check_status(address: str, response: httpx.Response) -> None:
    """Return for a page; otherwise raise the error that the status means for the user."""
    status, page = response.status_code, urls.display_url(address)
    if 200 <= status < 300 and status not in (204, 205):
        return
    if response.headers.get("cf-mitigated") == "challenge":
        raise BrowserNeeded(f"{page} lets only browsers in; paste the text.")
    if status == 403:
        raise BrowserNeeded(
            f"{page} does not let Footnote in (status 403); paste the text.", detail="status 403"
        )
    if status in _TRY_AGAIN or status >= 500:
        reason = "asks to wait" if status == 429 else "has a problem"
        raise Unavailable(
            f"The server of {page} {reason} (status {status}); try again later.",
            retry_after=_retry_after(response),
        )
    raise PageUnreadable(
        {
            204: f"{page} is empty; there is nothing to read in it.",
            205: f"{page} is empty; there is nothing to read in it.",
            401: f"{page} asks for a login; paste the text, or give a page that is public.",
            402: f"{page} asks for payment; paste the text, or give a page that is public.",
            404: f"{page} does not exist (status 404); check the address.",
            407: f"{page} asks for a login; paste the text, or give a page that is public.",
            410: f"{page} was removed permanently (status 410); look for another one.",
            451: f"{page} is withheld for legal reasons (status 451); look for another one.",
        }.get(status, f"{page} cannot be read (status {status}); open it, and paste the text."),
        detail=f"status {status}",
    )


def _retry_after(response: httpx.Response) -> float | None:
    """Seconds to wait, from delay-seconds or an HTTP date (RFC 9110 section 10.2.3)."""
    value: str = response.headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit() and len(value) < 10:
        return float(value)
    try:
        at = parsedate_to_datetime(value)
    except ValueError:
        return None
    if at.tzinfo is None:  # "-0000" means an unknown zone in RFC 5322
        at = at.replace(tzinfo=UTC)
    return max(0.0, (at - datetime.now(UTC)).total_seconds())


def _fail(address: str, error: httpx.HTTPError) -> NoReturn:
    host = urls.parse(address).host
    if _cause(error, ssl.SSLCertVerificationError):
        raise PageUnreadable(
            f"{host} cannot prove that it is {host}: its certificate is not valid; check the"
            " address.",
            detail=str(error),
        ) from None
    if isinstance(error, httpx.TimeoutException | httpx.ConnectError):
        raise Unavailable(
            f"{host} cannot be reached; check the address, or try again later.",
            detail=f"{type(error).__name__}: {error}",
        ) from None
    raise Unavailable(
        f"The connection to {host} broke while {urls.display_url(address)} was read; try again.",
        detail=f"{type(error).__name__}: {error}",
    ) from None


def _cause(error: BaseException | None, kind: type[BaseException]) -> bool:
    while error is not None:
        if isinstance(error, kind):
            return True
        error = error.__cause__ or error.__context__
    return False


# ---------------------------------------------------------------- limits on a body


FREE_PIECES = 4_000  # pieces of a body that may have any size


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


MEMBERS = 1_000  # gzip members in one body: block gzip has 16 per MB (SAM specification, 4.1)
_PIECE = 65_536  # bytes decompressed at a time
_GZIP = zlib.MAX_WBITS | 16


class Decoder:
    """Decompresses one body in small steps; ``name`` is the page's name in errors.

    httpx would decompress all received data in one step, a thousandfold, and once for each encoding
    that a server stacks; that way a page of 100 kB can fill any memory.
    """

    def __init__(self, content_encoding: str, name: str) -> None:
        """Raises ``PageUnreadable`` for an encoding that was not requested."""
        encodings = [part.strip().lower() for part in content_encoding.split(",")]
        applied = [encoding for encoding in encodings if encoding not in ("", "identity")]
        if applied not in ([], ["gzip"], ["x-gzip"]):
            raise PageUnreadable(
                f"{name} has a compression that Footnote did not request; paste its text.",
                detail=f"content-encoding: {content_encoding[:100]}",
            )
        self._name = name
        self._inflate = zlib.decompressobj(_GZIP) if applied else None
        self._members = 1

    def decoded(self, data: bytes) -> Iterator[bytes]:
        """The next pieces, each small; decompression stops when the caller stops iterating."""
        if self._inflate is None:
            yield data
            return
        more = True
        while more:
            if self._inflate.eof:
                data = data.lstrip(b"\x00")  # padding
                if not data.startswith(b"\x1f"):
                    return  # data after the end is not part of the body
                self._members += 1  # another gzip member, RFC 1952 section 2.2
                if self._members > MEMBERS:
                    raise PageUnreadable(
                        f"{self._name} is compressed in more than {MEMBERS:,} parts; paste its"
                        " text."
                    )
                self._inflate = zlib.decompressobj(_GZIP)
            try:
                piece = self._inflate.decompress(data, _PIECE)
            except zlib.error as error:
                raise PageUnreadable(
                    f"{self._name} arrives damaged from its server; try again, or paste its text.",
                    detail=str(error),
                ) from None
            if piece:
                yield piece
            ended = self._inflate.eof
            data = self._inflate.unused_data if ended else self._inflate.unconsumed_tail
            # if the piece was full, zlib may have consumed all input and still hold output
            more = bool(data) or len(piece) == _PIECE
