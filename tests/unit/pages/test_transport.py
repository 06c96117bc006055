"""Connections go to addresses that were judged, under the name that was asked for."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import httpcore
import httpx
import pytest

from bot.core.errors import AddressRefused
from bot.pages.guard import Allow, Guard, Resolver
from bot.pages.transport import GuardedTransport
from tests.fakes.http2 import AUTHORITY, Http2Site, http2_site
from tests.fakes.server import serve
from tests.fakes.web import ARTICLE, SECRET, Web

PUBLIC, OTHER_PUBLIC = "93.184.215.14", "2606:2800:21f:cb07::1"
LIMITS = httpx.Limits(max_connections=10)


class Internet(httpcore.AsyncNetworkBackend):
    """Leads connections to public addresses to a loopback server; keeps where they wanted to go.

    ``slow`` addresses do not answer, ``dead`` ones refuse.
    """

    def __init__(self, port: int = 0, slow: Iterable[str] = (), dead: Iterable[str] = ()) -> None:
        self.port = port
        self.slow, self.dead = frozenset(slow), frozenset(dead)
        self.asked: list[str] = []
        self.given_up: list[str] = []
        self._network = httpcore.AnyIOBackend()

    async def connect_tcp(self, host: str, port: int, *rest: Any) -> httpcore.AsyncNetworkStream:
        self.asked.append(host)
        if host in self.dead:
            raise httpcore.ConnectError(f"{host} refuses")
        if host in self.slow:
            try:
                await asyncio.Event().wait()
            finally:
                self.given_up.append(host)
        return await self._network.connect_tcp("127.0.0.1", self.port)


def resolving(*answers: Sequence[str]) -> Resolver:
    """Gives one answer after the other, then the last one again."""
    left = list(answers)

    async def resolve(host: str, port: int) -> Sequence[str]:
        return left.pop(0) if len(left) > 1 else left[0]

    return resolve


@asynccontextmanager
async def client(
    resolver: Resolver, *allow: str, internet: Internet | None = None
) -> AsyncIterator[httpx.AsyncClient]:
    transport = GuardedTransport(Guard(Allow.parse(allow), resolver), LIMITS, network=internet)
    async with httpx.AsyncClient(transport=transport, trust_env=False) as opened:
        yield opened


# ---------------------------------------------------------------- rebinding


async def test_the_connection_goes_to_the_address_that_was_judged() -> None:
    web = Web()
    with serve(web) as base:
        internet = Internet(int(base.rsplit(":", 1)[1]))
        async with client(resolving([PUBLIC]), internet=internet) as browser:
            response = await browser.get("http://site.test/article")
    assert response.status_code == 200
    assert internet.asked == [PUBLIC]
    assert web.seen[0].headers["host"] == "site.test"


async def test_a_name_that_turns_private_after_it_was_judged_gains_nothing() -> None:
    """The resolver answers publicly once and privately ever after: the answer is used, not asked
    for again."""
    web = Web()
    with serve(web) as base:
        internet = Internet(int(base.rsplit(":", 1)[1]))
        async with client(resolving([PUBLIC], ["127.0.0.1"]), internet=internet) as browser:
            assert (await browser.get("http://flip.test/article")).status_code == 200
            with pytest.raises(AddressRefused):
                # over a connection of its own, since a judged one would rightly be used again
                await browser.get("http://flip.test:81/secret")
    assert internet.asked == [PUBLIC]
    assert SECRET not in str(web.seen)
    assert web.count("/secret") == 0


async def test_a_judged_connection_is_used_again() -> None:
    web = Web()
    with serve(web) as base:
        internet = Internet(int(base.rsplit(":", 1)[1]))
        async with client(resolving([PUBLIC], ["127.0.0.1"]), internet=internet) as browser:
            for _ in range(3):
                await browser.get("http://site.test/article")
    assert internet.asked == [PUBLIC]


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "2130706433", "0x7f.1", "localhost"])
async def test_this_machine_is_out_of_reach(host: str) -> None:
    web = Web()
    address = "::1" if host == "[::1]" else "127.0.0.1"
    with serve(web, address) as base:
        port = base.rsplit(":", 1)[1]
        async with client(resolving([address])) as browser:
            with pytest.raises(AddressRefused):
                await browser.get(f"http://{host}:{port}/secret")
    assert web.seen == []


@pytest.mark.parametrize(("address", "entry"), [("127.0.0.1", "127.0.0.0/8"), ("::1", "::1")])
async def test_what_the_operator_lists_is_in_reach(address: str, entry: str) -> None:
    web = Web()
    with serve(web, address) as base:
        async with client(resolving([address]), entry) as browser:
            assert SECRET in (await browser.get(f"{base}/secret")).text


async def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    web, proxy = Web(), Web()
    with serve(web) as base, serve(proxy) as proxy_base:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy_base)
        async with client(resolving(["127.0.0.1"]), "127.0.0.1") as browser:
            await browser.get(f"{base}/article")
    assert web.count("/article") == 1
    assert proxy.seen == []


# ---------------------------------------------------------------- several addresses


async def test_a_silent_address_does_not_hold_up_the_next() -> None:
    web = Web()
    with serve(web) as base:
        internet = Internet(int(base.rsplit(":", 1)[1]), slow=[OTHER_PUBLIC])
        async with client(resolving([OTHER_PUBLIC, PUBLIC]), internet=internet) as browser:
            assert (await browser.get("http://site.test/article")).status_code == 200
    assert internet.asked == [OTHER_PUBLIC, PUBLIC]
    assert internet.given_up == [OTHER_PUBLIC]


async def test_a_dead_address_is_passed_over_and_families_take_turns() -> None:
    web = Web()
    addresses = ["2606:4700::1", "2606:4700::2", PUBLIC]
    with serve(web) as base:
        internet = Internet(int(base.rsplit(":", 1)[1]), dead=["2606:4700::1", PUBLIC])
        async with client(resolving(addresses), internet=internet) as browser:
            assert (await browser.get("http://site.test/article")).status_code == 200
    assert internet.asked == ["2606:4700::1", PUBLIC, "2606:4700::2"]


async def test_when_all_addresses_are_dead_the_first_error_is_told() -> None:
    internet = Internet(dead=[PUBLIC, OTHER_PUBLIC])
    async with client(resolving([OTHER_PUBLIC, PUBLIC]), internet=internet) as browser:
        with pytest.raises(httpx.ConnectError, match="2606:2800"):
            await browser.get("http://site.test/")


async def test_cancelling_ends_all_attempts() -> None:
    internet = Internet(slow=[PUBLIC, OTHER_PUBLIC])
    async with client(resolving([OTHER_PUBLIC, PUBLIC]), internet=internet) as browser:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1.0):
                await browser.get("http://site.test/")
    assert sorted(internet.given_up) == sorted([PUBLIC, OTHER_PUBLIC])


# ---------------------------------------------------------------- TLS and HTTP/2


@pytest.fixture
def trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests' authority, trusted in the way a company makes its own one trusted."""
    monkeypatch.setenv("SSL_CERT_FILE", str(AUTHORITY))


@pytest.mark.usefixtures("trusted")
async def test_tls_asks_for_the_name_and_http2_is_spoken() -> None:
    async with (
        http2_site(Http2Site(ARTICLE)) as site,
        client(resolving(["127.0.0.1"]), "wiki.test") as browser,
    ):
        for _ in range(2):
            response = await browser.get(f"https://wiki.test:{site.port}/a")
            assert response.http_version == "HTTP/2"
            assert "253 steps" in response.text
        assert site.names == ["wiki.test"]
        assert site.authorities == [f"wiki.test:{site.port}"] * 2
        assert site.connections == 1


@pytest.mark.usefixtures("trusted")
async def test_a_certificate_for_another_name_is_not_accepted() -> None:
    async with (
        http2_site(Http2Site(ARTICLE)) as site,
        client(resolving(["127.0.0.1"]), "other.test") as browser,
    ):
        with pytest.raises(httpx.ConnectError) as refusal:
            await browser.get(f"https://other.test:{site.port}/a")
        assert _causes(refusal.value, lambda e: isinstance(e, ssl.SSLCertVerificationError))
        assert site.authorities == []


def _causes(error: BaseException | None, test: Callable[[BaseException], bool]) -> bool:
    return error is not None and (
        test(error) or _causes(error.__cause__ or error.__context__, test)
    )
