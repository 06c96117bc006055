"""Connections under the address rule and size limits, with httpx on top of guard and meter.

Behind a proxy, hosts are reached through a tunnel (CONNECT). If the proxy receives names, requests
for http: addresses are sent to the proxy itself, since few proxies allow tunnels to port 80. The
operator chose the proxy, but it may be broken, or another program may listen in its place. So its
answer is limited in time and size, and each kind of failure has an error that names the proxy. TLS
through a tunnel verifies the host by its name, whatever name or address the proxy received.

A server can keep a reader busy indefinitely with very little data: one-byte chunks, endless interim
responses (RFC 9110 section 15.2), chunk extensions and trailers (RFC 9112 section 7.1), one-byte
packets, a byte now and then. The cost of such a response is not its size but the handling of its
pieces. So pieces are counted too, and so is everything sent in addition to the body. The limits
leave room for what real servers do: pages that templates send in pieces of some 30 bytes, headers
of 64 kB, a slow line of 8 kbit/s.
"""

from __future__ import annotations

import asyncio
import re
import ssl
import time
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import httpcore
import httpx

from bot.core.egress import Egress, Proxy
from bot.core.errors import FootnoteError, PageUnreadable, Unavailable
from bot.core.texts import Said, said
from bot.pages.guard import Guard, IPAddress, Route, system_resolver

if TYPE_CHECKING:
    from bot.core.settings import Settings


# ---------------------------------------------------------------- limits on how a response arrives


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


class MeteredStream(httpcore.AsyncNetworkStream):
    """A connection whose reads are counted by a ``Meter``; reading raises ``Wasteful``. TLS errors
    behind a proxy name ``proxy`` and ``host``.
    """

    def __init__(
        self, stream: httpcore.AsyncNetworkStream, proxy: Proxy | None = None, host: str = ""
    ) -> None:
        self.meter = Meter()
        self._stream, self._proxy, self._host = stream, proxy, host
        tls = stream.get_extra_info("ssl_object")
        self._is_shared = tls is not None and tls.selected_alpn_protocol() == "h2"

    async def read(
        self,
        max_bytes: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature
    ) -> bytes:
        data = await self._stream.read(max_bytes, timeout)
        self.meter.count(len(data))
        return data

    async def write(
        self,
        buffer: bytes,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature
    ) -> None:
        await self._stream.write(buffer, timeout)
        if not self._is_shared:
            self.meter.note_request()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature
    ) -> httpcore.AsyncNetworkStream:
        try:
            return MeteredStream(
                await self._stream.start_tls(ssl_context, server_hostname, timeout)
            )
        except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
            if self._proxy is None:
                raise
            if isinstance(error.__cause__ or error.__context__, ssl.SSLCertVerificationError):
                raise PageUnreadable(
                    f"{self._host} cannot prove that it is {self._host} through the proxy"
                    f" {self._proxy.url}: its certificate is not valid; where the proxy opens TLS,"
                    " an operator can name its authority in FOOTNOTE_CA_BUNDLE.",
                    detail=str(error),
                ) from None
            raise _liar(self._proxy, f"no TLS with {self._host}: {error!r}") from None

    async def aclose(self) -> None:
        await self._stream.aclose()

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def meter_of(extensions: Mapping[str, Any]) -> Meter | None:
    """The meter of the connection that a response arrived on, from httpcore's extensions."""
    stream = extensions.get("network_stream")
    return stream.meter if isinstance(stream, MeteredStream) else None


# ---------------------------------------------------------------- through a proxy


ANSWER_BYTES = 65_536  # the longest head of a proxy's answer
PROBE = "example.com"  # reserved for documentation, RFC 2606; always available
UNAUTHORIZED = (401, 407)  # tinyproxy answers 401 to a wrong password
PROXY_SECONDS = (
    10.0  # within which a proxy must connect and answer, unless the caller has less time
)

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
        sentence = "cannot be reached; check its address and that it works."
        if isinstance(error.__cause__ or error.__context__, ssl.SSLError):
            sentence = (
                "cannot be spoken to over TLS; check that its address begins with the right scheme,"
                " and FOOTNOTE_CA_BUNDLE."
            )
        raise Unavailable(
            f"The proxy {proxy.url} {sentence}", detail=f"{type(error).__name__}: {error}"
        ) from None
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
        raise refused_by_proxy(proxy, host, status)
    return stream


async def proxy_report(settings: Settings) -> Said:
    """Check that the proxies of the settings and the environment answer, and say what
    they are used for. Raises ``InvalidSetting``, ``PageUnreadable`` and ``Unavailable``.
    """
    egress, pages = Egress.of(settings), Egress.of_pages(settings)
    egress.ssl_context()
    told = []
    if egress.ca_bundle:
        told.append(said("check-network-authorities", path=egress.ca_bundle))
    urls = list(dict.fromkeys(filter(None, (egress.https, egress.http, pages.https))))
    for url in urls:
        network = httpcore.AnyIOBackend()
        stream, status = await _asked(network, url, egress, PROBE, 443, PROXY_SECONDS)
        await stream.aclose()
        if status in UNAUTHORIZED:
            raise refused_by_proxy(Proxy.of(url), PROBE, status)
        told.append(said("check-network", proxy=Proxy.of(url).url))
    if pages.https:
        proxy, target = Proxy.of(pages.https).url, pages.target
        told.append(said("check-network-pages", proxy=proxy, target=target))
        try:
            if pages.target != "unresolved":
                await system_resolver(PROBE, 443)
        except OSError:
            told.append(said("check-network-names"))
    elif urls:
        told.append(said("check-network-direct"))
    else:
        told.append(said("check-network-none"))
    if urls and egress.bypass:
        told.append(said("check-network-bypass", hosts=str(egress.bypass)))
    return sum(told[1:], told[0])


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
    place = f"[{target}]:{port}" if ":" in target else f"{target}:{port}"
    lines = [f"CONNECT {place} HTTP/1.1", f"Host: {place}"]
    if proxy.authorization:
        lines.append(f"Proxy-Authorization: {proxy.authorization}")
    stream = await to_proxy(network, url, egress, seconds)
    try:
        async with asyncio.timeout(seconds):
            await stream.write(("\r\n".join(lines) + "\r\n\r\n").encode("ascii"))
            return stream, await _proxy_answer(stream, proxy)
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


def refused_by_proxy(proxy: Proxy, host: str, status: int) -> FootnoteError:
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


async def _proxy_answer(stream: httpcore.AsyncNetworkStream, proxy: Proxy) -> int:
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


def _liar(proxy: Proxy, detail: str) -> Unavailable:
    return Unavailable(
        f"The proxy {proxy.url} gave no connection that can be used; check that it is an HTTP proxy"
        " and that it works.",
        detail=detail,
    )


# ---------------------------------------------------------------- connections for httpx


HEAD_START = 0.25
"""Seconds before the next address of a host is tried in parallel (RFC 8305 section 5)."""


def is_forwarded(route: Route, scheme: str) -> bool:
    """True if a request is sent to the operator's proxy itself, without a tunnel."""
    return bool(route.proxy) and not route.addresses and scheme == "http"


async def connect_route(
    route: Route,
    egress: Egress,
    network: httpcore.AsyncNetworkBackend,
    seconds: float,
) -> httpcore.AsyncNetworkStream:
    """Connect by a judged route. Raises the errors of ``network`` and ``tunnel``."""
    if route.proxy and not route.addresses:
        return await tunnel(
            network, route.proxy, egress, route.host, route.port, route.host, seconds
        )

    async def connect(address: IPAddress) -> httpcore.AsyncNetworkStream:
        place = str(address)
        if route.proxy:
            return await tunnel(
                network, route.proxy, egress, place, route.port, route.host, seconds
            )
        return await network.connect_tcp(place, route.port, seconds)

    return await _first_to_connect(route.addresses, connect)


class GuardedBackend(httpcore.AsyncNetworkBackend):
    """A network backend for httpcore that enforces the address rule.

    TLS (including its server name) and the Host header are handled by httpcore above this layer and
    still carry the requested name.
    """

    def __init__(
        self,
        guard: Guard,
        network: httpcore.AsyncNetworkBackend | None = None,
        scheme: str = "https",
    ) -> None:
        """``scheme`` is that of the addresses: each scheme may have its own proxy."""
        self._guard = guard
        self._network = network or httpcore.AnyIOBackend()
        self._scheme = scheme

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        return await self._connected(host, port, timeout or PROXY_SECONDS)

    async def _connected(self, host: str, port: int, seconds: float) -> MeteredStream:
        route = await self._guard.route(self._scheme, host, port)
        stream = await connect_route(route, self._guard.egress, self._network, seconds)
        return MeteredStream(stream, Proxy.of(route.proxy) if route.proxy else None, host)


class _ProxyBackend(GuardedBackend):
    """Connections to a proxy that receives whole addresses, each of which was judged before."""

    async def _connected(self, host: str, port: int, seconds: float) -> MeteredStream:
        proxy = self._guard.egress.http  # with its real scheme: httpcore treats it as plain http
        return MeteredStream(await to_proxy(self._network, proxy, self._guard.egress, seconds))


async def _first_to_connect(
    addresses: Sequence[IPAddress],
    connect: Callable[[IPAddress], Awaitable[httpcore.AsyncNetworkStream]],
) -> httpcore.AsyncNetworkStream:
    """Happy Eyeballs, RFC 8305: alternate address families, each attempt with a head start.

    Raises the first attempt's error if all fail.
    """
    waiting = _families_in_turn(addresses)
    attempts: list[asyncio.Task[httpcore.AsyncNetworkStream]] = []
    running: set[asyncio.Task[httpcore.AsyncNetworkStream]] = set()
    winner: asyncio.Task[httpcore.AsyncNetworkStream] | None = None
    try:
        while winner is None and (waiting or running):
            if waiting:
                attempt = asyncio.ensure_future(connect(waiting.pop(0)))
                attempts.append(attempt)
                running.add(attempt)
            done, running = await asyncio.wait(
                running,
                timeout=HEAD_START if waiting else None,
                return_when=asyncio.FIRST_COMPLETED,
            )
            winner = next((task for task in done if task.exception() is None), None)
    finally:
        losers = [task for task in attempts if task is not winner]
        for loser in losers:
            loser.cancel()
        for outcome in await asyncio.gather(*losers, return_exceptions=True):
            if isinstance(outcome, httpcore.AsyncNetworkStream):
                await outcome.aclose()
    return winner.result() if winner is not None else attempts[0].result()


def _families_in_turn(addresses: Sequence[IPAddress]) -> list[IPAddress]:
    first = [address for address in addresses if address.version == addresses[0].version]
    second = [address for address in addresses if address.version != addresses[0].version]
    return [each for pair in zip_longest(first, second) for each in pair if each is not None]


class GuardedTransport(httpx.AsyncBaseTransport):
    """An httpx transport that judges and meters every connection. HTTP/1.1 and HTTP/2. Raises
    ``Wasteful`` in addition to httpx's own errors.

    It is built on httpcore's pool, since httpx offers no way to give its pool another network
    backend, and relying on a private attribute could disable the guard when it is renamed.
    """

    def __init__(
        self,
        guard: Guard,
        limits: httpx.Limits,
        network: httpcore.AsyncNetworkBackend | None = None,
    ) -> None:
        """``network`` opens the judged connections; tests may supply their own."""
        self._guard = guard

        def pool(backend: httpcore.AsyncNetworkBackend) -> httpcore.AsyncConnectionPool:
            return httpcore.AsyncConnectionPool(
                ssl_context=guard.egress.ssl_context(),
                max_connections=limits.max_connections,
                max_keepalive_connections=limits.max_keepalive_connections,
                keepalive_expiry=limits.keepalive_expiry,
                http2=True,
                network_backend=backend,
            )

        self._pools = {
            scheme: pool(GuardedBackend(guard, network, scheme)) for scheme in ("http", "https")
        }
        self._to_proxy = pool(_ProxyBackend(guard, network))

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        proxy = await self._forwarding(url)
        headers = request.headers.raw
        if proxy is None:
            pool, at = self._pools.get(url.scheme, self._pools["https"]), url
            target = url.raw_path
        else:
            pool, at = self._to_proxy, httpx.URL(scheme="http", host=proxy.host, port=proxy.port)
            target = bytes(
                httpcore.URL(
                    scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
                )
            )
            if proxy.authorization:
                headers = [(b"Proxy-Authorization", proxy.authorization.encode()), *headers]
        with_pool = httpcore.Request(
            method=request.method,
            url=httpcore.URL(scheme=at.raw_scheme, host=at.raw_host, port=at.port, target=target),
            headers=headers,
            content=request.stream,
            extensions=request.extensions,
        )
        with _httpx_errors():
            response = await pool.handle_async_request(with_pool)
        if proxy is not None and response.status == 407:
            await response.aclose()
            raise refused_by_proxy(proxy, url.host, response.status)
        return httpx.Response(
            status_code=response.status,
            headers=response.headers,
            stream=_Body(response),
            extensions=response.extensions,
        )

    async def _forwarding(self, url: httpx.URL) -> Proxy | None:
        """The proxy that receives the whole address, which has been judged; None for no such proxy.
        Raises like ``Guard.route``.
        """
        egress = self._guard.egress
        if url.scheme != "http" or egress.target == "address" or not egress.proxy_for(str(url)):
            return None
        route = await self._guard.route("http", url.host, url.port or 80)
        return Proxy.of(route.proxy)

    async def aclose(self) -> None:
        for pool in (*self._pools.values(), self._to_proxy):
            await pool.aclose()


class _Body(httpx.AsyncByteStream):
    def __init__(self, response: httpcore.Response) -> None:
        self._response = response
        self._meter = meter_of(response.extensions)
        if self._meter is not None:
            self._meter.note_response()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _httpx_errors():
            async for part in self._response.aiter_stream():
                if self._meter is not None:
                    self._meter.count_body(len(part))
                yield part

    async def aclose(self) -> None:
        await self._response.aclose()


@contextmanager
def _httpx_errors() -> Iterator[None]:
    """Translate httpcore's errors to httpx's of the same name, as httpx's own transport does."""
    try:
        yield
    except (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError) as error:
        known: type[httpx.TransportError] = getattr(
            httpx, type(error).__name__, httpx.TransportError
        )
        raise known(str(error)) from error
    except httpcore.UnsupportedProtocol as error:
        raise httpx.UnsupportedProtocol(str(error)) from error
