"""Connections under the address rule and bounds: httpx on top, guard and meter at the bottom."""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import httpcore
import httpx

from bot.errors import AddressRefused
from bot.pages.bounds import MeteredStream, meter_of
from bot.pages.guard import Guard, IPAddress

HEAD_START = 0.25
"""Seconds before the next address of a host is tried beside the first (RFC 8305 section 5)."""


class GuardedBackend(httpcore.AsyncNetworkBackend):
    """httpcore's way to open connections, with the address rule in it.

    TLS (its server name included) and the Host header are httpcore's business above this and still
    carry the name that was asked for.
    """

    def __init__(self, guard: Guard, network: httpcore.AsyncNetworkBackend | None = None) -> None:
        self._guard = guard
        self._network = network or httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        async def connect(address: IPAddress) -> httpcore.AsyncNetworkStream:
            return await self._network.connect_tcp(
                str(address), port, timeout, local_address, socket_options
            )

        stream = await _first_to_connect(await self._guard.addresses(host, port), connect)
        return MeteredStream(stream)

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        raise AddressRefused("Footnote reads web addresses only; give an http or https address.")

    async def sleep(self, seconds: float) -> None:
        await self._network.sleep(seconds)


async def _first_to_connect(
    addresses: Sequence[IPAddress],
    connect: Callable[[IPAddress], Awaitable[httpcore.AsyncNetworkStream]],
) -> httpcore.AsyncNetworkStream:
    """Happy Eyeballs, RFC 8305: families in turn, each attempt with a head start on the next.

    Raises the first attempt's error when all have failed.
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


@lru_cache(maxsize=2)
def _trust(file: str | None, folder: str | None) -> ssl.SSLContext:
    """The certificates to trust; reading them takes 20 ms, so it is done once.

    ``file`` and ``folder`` are SSL_CERT_FILE and SSL_CERT_DIR, where companies put their CA; httpx
    looks them up by itself.
    """
    return httpx.create_ssl_context(trust_env=True)


class GuardedTransport(httpx.AsyncBaseTransport):
    """An httpx transport whose every connection is judged by a guard and metered. HTTP/1.1 and
    HTTP/2. Raises ``Wasteful`` besides httpx's own errors.

    A transport of our own over httpcore's pool, since httpx offers no way to give its pool another
    network backend, and a private attribute that is renamed one day would switch the guard off.
    """

    def __init__(
        self,
        guard: Guard,
        limits: httpx.Limits,
        network: httpcore.AsyncNetworkBackend | None = None,
    ) -> None:
        """``network`` opens the connections that the guard has judged; a test may bring its own."""
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=_trust(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")),
            max_connections=limits.max_connections,
            max_keepalive_connections=limits.max_keepalive_connections,
            keepalive_expiry=limits.keepalive_expiry,
            http2=True,
            network_backend=GuardedBackend(guard, network),
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        with_pool = httpcore.Request(
            method=request.method,
            url=httpcore.URL(
                scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
            ),
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        with _httpx_errors():
            response = await self._pool.handle_async_request(with_pool)
        return httpx.Response(
            status_code=response.status,
            headers=response.headers,
            stream=_Body(response),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        await self._pool.aclose()


class _Body(httpx.AsyncByteStream):
    def __init__(self, response: httpcore.Response) -> None:
        self._response = response
        self._meter = meter_of(response.extensions)
        if self._meter is not None:
            self._meter.begun()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _httpx_errors():
            async for part in self._response.aiter_stream():
                if self._meter is not None:
                    self._meter.taken(len(part))
                yield part

    async def aclose(self) -> None:
        await self._response.aclose()


@contextmanager
def _httpx_errors() -> Iterator[None]:
    """httpcore's errors as httpx's of the same name, as httpx's own transport does."""
    try:
        yield
    except (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError) as error:
        known: type[httpx.TransportError] = getattr(
            httpx, type(error).__name__, httpx.TransportError
        )
        raise known(str(error)) from error
    except httpcore.UnsupportedProtocol as error:
        raise httpx.UnsupportedProtocol(str(error)) from error
