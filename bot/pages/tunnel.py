"""Connections through an HTTP proxy: CONNECT, RFC 9110 section 9.3.6.

The operator chose the proxy, but it may be broken, or another program may listen in its place. So
its answer is limited in time and size, and each kind of failure has an error that names the proxy.
TLS through a tunnel verifies the host by its name, whatever name or address the proxy received.
"""

from __future__ import annotations

import asyncio
import re
import ssl
from typing import TYPE_CHECKING, NoReturn

import httpcore

from bot.core.egress import Egress, Proxy
from bot.core.errors import FootnoteError, PageUnreadable, Unavailable
from bot.pages.bounds import WrappedStream
from bot.pages.guard import system_resolver

if TYPE_CHECKING:
    from bot.core.settings import Settings

ANSWER_BYTES = 65_536  # the longest head of a proxy's answer
PROBE = "example.com"  # reserved for documentation, RFC 2606; always available
UNAUTHORIZED = (401, 407)  # tinyproxy answers 401 to a wrong password
SECONDS = 10.0  # within which a proxy must connect and answer, unless the caller has less time

_STATUS = re.compile(rb"HTTP/1\.[01] ([1-5][0-9][0-9])(?: [^\r\n]*)?\r?\n")


async def to_proxy(
    network: httpcore.AsyncNetworkBackend, url: str, egress: Egress, seconds: float
) -> httpcore.AsyncNetworkStream:
    """Connect to the proxy itself. Raises ``Unavailable``."""
    proxy = Proxy.of(url)
    try:
        stream = await network.connect_tcp(proxy.host, proxy.port, seconds)
        if proxy.is_secure:
            context = egress.ssl_context("proxy")
            stream = await stream.start_tls(context, proxy.host, seconds)
    except (httpcore.TimeoutException, httpcore.NetworkError, OSError) as error:
        raise _unreachable(proxy, error) from None
    return stream


async def tunnel(
    network: httpcore.AsyncNetworkBackend,
    url: str,
    egress: Egress,
    target: str,
    port: int,
    host: str,
    seconds: float,
) -> httpcore.AsyncNetworkStream:
    """Connect through the proxy to ``target``, an address or a name; ``host`` is its name in
    errors. Raises ``PageUnreadable`` if the proxy refuses, and ``Unavailable``.
    """
    proxy = Proxy.of(url)
    stream, status = await _asked(network, url, egress, target, port, seconds)
    if not 200 <= status < 300:
        await stream.aclose()
        raise refused(proxy, host, status)
    return _Tunnel(stream, proxy, host)


async def report(settings: Settings) -> str:
    """Check that the proxies of the settings and the environment answer; returns the rest of a
    sentence about them. Raises ``InvalidSetting``, ``PageUnreadable`` and ``Unavailable``.
    """
    egress, pages = Egress.of(settings), Egress.of_pages(settings)
    egress.ssl_context()
    believed = f"the authorities in {egress.ca_bundle} are trusted too" if egress.ca_bundle else ""
    urls = list(dict.fromkeys(filter(None, (egress.https, egress.http, pages.https))))
    if not urls:
        return "; ".join(filter(None, ("no proxy is set", believed)))
    for url in urls:
        network = httpcore.AnyIOBackend()
        stream, status = await _asked(network, url, egress, PROBE, 443, SECONDS)
        await stream.aclose()
        if status in UNAUTHORIZED:
            raise refused(Proxy.of(url), PROBE, status)
    names = " and ".join(Proxy.of(url).url for url in urls)
    said = [f"{names} {'answers' if len(urls) == 1 else 'answer'}"]
    if pages.https:
        said.append(f"pages go through {Proxy.of(pages.https).url} ({pages.target})")
        said += await _lookup_problem(pages)
    else:
        said.append("pages do not go through a proxy")
    if egress.bypass:
        said.append(f"{egress.bypass} is reached without it")
    return "; ".join(filter(None, (*said, believed)))


async def _lookup_problem(pages: Egress) -> list[str]:
    if pages.target == "unresolved":
        return []
    try:
        await system_resolver(PROBE, 443)
    except OSError:
        return [
            "but internet names cannot be looked up on this machine:"
            " FOOTNOTE_FETCH_PROXY_TARGET=unresolved leaves that to the proxy"
        ]
    return []


async def _asked(
    network: httpcore.AsyncNetworkBackend,
    url: str,
    egress: Egress,
    target: str,
    port: int,
    seconds: float,
) -> tuple[httpcore.AsyncNetworkStream, int]:
    """Ask the proxy for a tunnel; return the connection and the status. Raises ``Unavailable``."""
    proxy = Proxy.of(url)
    stream = await to_proxy(network, url, egress, seconds)
    try:
        async with asyncio.timeout(seconds):
            await stream.write(_request(proxy, target, port))
            return stream, await _answer(stream, proxy)
    except BaseException as error:
        await stream.aclose()
        if isinstance(error, TimeoutError | httpcore.TimeoutException):
            raise Unavailable(
                f"The proxy {proxy.url} did not answer within {seconds:g} seconds; check that it"
                " works.",
            ) from None
        if isinstance(error, httpcore.NetworkError):
            raise _liar(proxy, "it closed the connection") from None
        raise


def refused(proxy: Proxy, host: str, status: int) -> FootnoteError:
    """The error for a status that the proxy itself answered."""
    detail = f"the proxy answered with status {status}"
    if status in UNAUTHORIZED:
        return PageUnreadable(
            f"The proxy {proxy.url} asks for a user name and password, or rejects those"
            " that it received; an operator can correct them in the proxy's address.",
            detail=detail,
        )
    if status >= 500:
        return Unavailable(
            f"The proxy {proxy.url} cannot reach {host} (status {status}); check the address, or"
            " try again later.",
            detail=detail,
        )
    return PageUnreadable(
        f"The proxy {proxy.url} does not let Footnote through to {host} (status {status}); an"
        " operator can permit it there, or see FOOTNOTE_FETCH_PROXY_TARGET.",
        detail=detail,
    )


def _request(proxy: Proxy, target: str, port: int) -> bytes:
    place = f"[{target}]:{port}" if ":" in target else f"{target}:{port}"
    lines = [f"CONNECT {place} HTTP/1.1", f"Host: {place}"]
    if proxy.authorization:
        lines.append(f"Proxy-Authorization: {proxy.authorization}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("ascii")


async def _answer(stream: httpcore.AsyncNetworkStream, proxy: Proxy) -> int:
    """The status of the answer. No data may follow it: nothing was sent to the host yet."""
    head = b""
    while b"\r\n\r\n" not in head:
        data = await stream.read(ANSWER_BYTES)
        head += data
        if not data:
            raise _liar(proxy, "it closed the connection")
        if len(head) > ANSWER_BYTES:
            raise _liar(proxy, "an endless answer")
    status = _STATUS.match(head)
    if status is None:
        raise _liar(proxy, f"it answered {head[:60]!r}")
    answered = int(status[1])
    if 200 <= answered < 300 and not head.endswith(b"\r\n\r\n"):
        raise _liar(proxy, "it sent data in the host's place")
    return answered


class _Tunnel(WrappedStream):
    """A connection whose TLS errors name the proxy."""

    def __init__(self, stream: httpcore.AsyncNetworkStream, proxy: Proxy, host: str) -> None:
        super().__init__(stream)
        self._proxy = proxy
        self._host = host

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature
    ) -> httpcore.AsyncNetworkStream:
        try:
            return await self._stream.start_tls(ssl_context, server_hostname, timeout)
        except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
            self._fail(error)

    def _fail(self, error: Exception) -> NoReturn:
        if isinstance(error.__cause__ or error.__context__, ssl.SSLCertVerificationError):
            raise PageUnreadable(
                f"{self._host} cannot prove that it is {self._host} through the proxy"
                f" {self._proxy.url}: its certificate is not valid; where the proxy opens TLS, an"
                " operator can name its authority in FOOTNOTE_CA_BUNDLE.",
                detail=str(error),
            ) from None
        raise _liar(self._proxy, f"no TLS with {self._host}: {error!r}") from None


def _unreachable(proxy: Proxy, error: Exception) -> FootnoteError:
    if isinstance(error.__cause__ or error.__context__, ssl.SSLError):
        return Unavailable(
            f"The proxy {proxy.url} cannot be spoken to over TLS; check that its address begins"
            " with the right scheme, and FOOTNOTE_CA_BUNDLE.",
            detail=str(error),
        )
    return Unavailable(
        f"The proxy {proxy.url} cannot be reached; check its address and that it works.",
        detail=f"{type(error).__name__}: {error}",
    )


def _liar(proxy: Proxy, detail: str) -> Unavailable:
    return Unavailable(
        f"The proxy {proxy.url} gave no connection that can be used; check that it is an HTTP proxy"
        " and that it works.",
        detail=detail,
    )
