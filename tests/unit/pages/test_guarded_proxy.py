"""The proxy of the browser: every connection is judged, and what comes in is counted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import httpcore
import httpx
import pytest

from bot.core.egress import Egress, Target
from bot.pages.browser_process import HEAD_BYTES, GuardedProxy
from bot.pages.guard import Allow, Guard
from tests.fakes.egress_proxy import egress_proxy
from tests.fakes.server import serve
from tests.fakes.web import Web
from tests.unit.pages.conftest import to_loopback


class Names:
    """Answers for a name in turn, and counts how often it is asked."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        return [self.answers[min(len(self.asked), len(self.answers)) - 1]]


class Nowhere(httpcore.AsyncNetworkBackend):
    """Connects to nothing, and keeps what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def connect_tcp(self, host: str, port: int, *rest: Any) -> httpcore.AsyncNetworkStream:
        self.asked.append(host)
        raise httpcore.ConnectError("not connected in a test")


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with serve(Web()) as base:
        yield base.removeprefix("http://")


@asynccontextmanager
async def proxied(
    guard: Guard, most_bytes: int = 1_000_000
) -> AsyncIterator[tuple[GuardedProxy, int]]:
    proxy = GuardedProxy(guard, most_bytes)
    port = await proxy.start()
    try:
        yield proxy, port
    finally:
        await proxy.aclose()


async def said(port: int, request: str) -> bytes:
    """The first line of what the proxy answers to raw bytes; nothing where it hangs up."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request.encode("latin-1"))
    try:
        return (await reader.readline()).strip()
    except ConnectionResetError:
        return b""
    finally:
        writer.transport.abort()


def permitting(site: str) -> Guard:
    return Guard(Allow.parse((f"lighthouse.test:{site.rpartition(':')[2]}",)), to_loopback)


async def test_a_page_comes_through(site: str) -> None:
    port_of_site = site.rpartition(":")[2]
    async with (
        proxied(permitting(site)) as (_, port),
        httpx.AsyncClient(proxy=f"http://127.0.0.1:{port}") as client,
    ):
        for _ in range(2):
            page = await client.get(f"http://lighthouse.test:{port_of_site}/article?x=1")
            assert page.status_code == 200
            assert "Norderney" in page.text


async def test_a_tunnel_comes_through(site: str) -> None:
    place = f"lighthouse.test:{site.rpartition(':')[2]}"
    async with proxied(permitting(site)) as (_, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n".encode())
        assert b" 200 " in await reader.readuntil(b"\r\n\r\n")
        writer.write(b"GET /plain HTTP/1.0\r\nHost: x\r\n\r\n")
        assert b"200 OK" in await reader.readline()
        writer.transport.abort()


@pytest.mark.parametrize(
    "place",
    ["127.0.0.1:80", "[::1]:80", "localhost:80", "169.254.169.254:80", "0x7f000001:80",
     "[::ffff:10.0.0.1]:443", "metadata.internal:80"],
)  # fmt: skip
async def test_private_addresses_are_refused(place: str) -> None:
    async with proxied(Guard(Allow(), to_loopback)) as (proxy, port):
        tunnel = f"CONNECT {place} HTTP/1.1\r\n\r\n"
        plain = f"GET http://{place}/ HTTP/1.1\r\nHost: good.test\r\n\r\n"
        assert b"403" in await said(port, tunnel)
        assert b"403" in await said(port, plain)
        assert len(proxy.refused) == 2


async def test_a_name_that_changes_its_mind_gains_nothing() -> None:
    names = Names("93.184.216.34", "127.0.0.1")
    nowhere = Nowhere()
    proxy = GuardedProxy(Guard(Allow(), names.resolve), 1_000, nowhere)
    port = await proxy.start()
    try:
        assert b"502" in await said(port, "CONNECT rebinding.test:80 HTTP/1.1\r\n\r\n")
        assert (names.asked, nowhere.asked) == (["rebinding.test"], ["93.184.216.34"])
        assert b"403" in await said(port, "CONNECT rebinding.test:80 HTTP/1.1\r\n\r\n")
    finally:
        await proxy.aclose()


@pytest.mark.parametrize(
    "request_line",
    [
        "GET / HTTP/1.1",
        "GET ftp://a.test/ HTTP/1.1",
        "GET http://me:pass@a.test/ HTTP/1.1",
        "CONNECT a.test HTTP/1.1",
        "CONNECT :80 HTTP/1.1",
        "CONNECT a.test:0 HTTP/1.1",
        "CONNECT a.test:99999 HTTP/1.1",
        "CONNECT a.test:8a HTTP/1.1",
        "CONNECT",
        "x",
    ],
)
async def test_what_is_no_proxy_request_is_answered_so(request_line: str) -> None:
    async with proxied(Guard(Allow(), to_loopback)) as (_, port):
        assert b"400" in await said(port, f"{request_line}\r\n\r\n")


async def test_an_endless_head_is_cut_off() -> None:
    async with proxied(Guard(Allow(), to_loopback)) as (_, port):
        assert await said(port, "GET " + "x" * 4 * HEAD_BYTES) == b""


async def test_more_than_may_come_ends_all_connections(site: str) -> None:
    place = f"lighthouse.test:{site.rpartition(':')[2]}"
    async with (
        proxied(permitting(site), most_bytes=300) as (proxy, port),
        httpx.AsyncClient(proxy=f"http://127.0.0.1:{port}") as client,
    ):
        with pytest.raises(httpx.TransportError):
            await client.get(f"http://{place}/article")
        assert proxy.spent.is_set()
        assert await said(port, f"CONNECT {place} HTTP/1.1\r\n\r\n") == b""


@pytest.mark.parametrize(
    ("target", "asked"),
    [("address", ["CONNECT 127.0.0.1:{}"]), ("name", ["GET http://lighthouse.test:{}/article"])],
)
async def test_behind_the_operators_proxy_a_page_comes_through_both(
    site: str, target: Target, asked: list[str]
) -> None:
    port_of_site = site.rpartition(":")[2]
    async with egress_proxy("honest", int(port_of_site), "hunter2") as operators:
        url = operators.url_with_password
        guard = Guard(
            Allow.parse((f"lighthouse.test:{port_of_site}",)),
            to_loopback,
            Egress(url, url, target=target),
        )
        async with (
            proxied(guard) as (_, port),
            httpx.AsyncClient(proxy=f"http://127.0.0.1:{port}") as client,
        ):
            page = await client.get(f"http://lighthouse.test:{port_of_site}/article")
    assert "Norderney" in page.text
    assert operators.asked == [each.format(port_of_site) for each in asked]
