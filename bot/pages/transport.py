"""Connections under the address rule and size limits, with httpx on top of guard and meter.

Behind a proxy, hosts are reached through a tunnel (``bot.pages.tunnel``). If the proxy receives
names, requests for http: addresses are sent to the proxy itself, since few proxies allow tunnels to
port 80.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import httpcore
import httpx

from bot.core.egress import Egress, Proxy
from bot.core.errors import AddressRefused
from bot.pages.bounds import MeteredStream, meter_of
from bot.pages.guard import Guard, IPAddress, Route
from bot.pages.tunnel import SECONDS, refused, to_proxy, tunnel

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
        return MeteredStream(await self._connected(host, port, timeout or SECONDS))

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        raise AddressRefused("Footnote reads web addresses only; give an http or https address.")

    async def sleep(self, seconds: float) -> None:
        await self._network.sleep(seconds)

    async def _connected(self, host: str, port: int, seconds: float) -> httpcore.AsyncNetworkStream:
        route = await self._guard.route(self._scheme, host, port)
        return await connect_route(route, self._guard.egress, self._network, seconds)


class _ProxyBackend(GuardedBackend):
    """Connections to a proxy that receives whole addresses, each of which was judged before."""

    async def _connected(self, host: str, port: int, seconds: float) -> httpcore.AsyncNetworkStream:
        proxy = self._guard.egress.http  # with its real scheme: httpcore treats it as plain http
        return await to_proxy(self._network, proxy, self._guard.egress, seconds)


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
        await _close_losers([task for task in attempts if task is not winner])
    return winner.result() if winner is not None else attempts[0].result()


async def _close_losers(attempts: Sequence[asyncio.Task[httpcore.AsyncNetworkStream]]) -> None:
    for attempt in attempts:
        attempt.cancel()
    for outcome in await asyncio.gather(*attempts, return_exceptions=True):
        if isinstance(outcome, httpcore.AsyncNetworkStream):
            await outcome.aclose()


def _families_in_turn(addresses: Sequence[IPAddress]) -> list[IPAddress]:
    first = [address for address in addresses if address.version == addresses[0].version]
    second = [address for address in addresses if address.version != addresses[0].version]
    ordered: list[IPAddress] = []
    while first or second:
        ordered += first[:1] + second[:1]
        first, second = first[1:], second[1:]
    return ordered


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
            raise refused(proxy, url.host, response.status)
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
