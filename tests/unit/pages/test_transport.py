"""Connections go to judged addresses under the name that was asked for, also through a proxy."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import httpcore
import httpx
import pytest

from bot.core.egress import Egress, Target
from bot.core.errors import AddressRefused, FootnoteError, PageUnreadable, Unavailable
from bot.pages.guard import Allow, Guard, Resolver
from bot.pages.retrieval import DownloadSettings, Retrieval
from bot.pages.transport import GuardedTransport
from tests.fakes.egress_proxy import LIES, egress_proxy
from tests.fakes.http2 import AUTHORITY, HOST, Http2Site, http2_site
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


# ---------------------------------------------------------------- through a proxy


SITE = "93.184.215.14"
PASSWORD = "hunter2"
PAGE = f"https://{HOST}/"
REDIRECT = "/to?url=http%3A%2F%2F10.0.0.7%2Fsecret"


def answering(*addresses: str) -> Resolver:
    async def resolve(host: str, port: int) -> Sequence[str]:
        return addresses

    return resolve


PUBLICLY = answering(SITE)


async def nowhere(host: str, port: int) -> Sequence[str]:
    raise AssertionError(f"{host} was looked up here")


@asynccontextmanager
async def retrieval(
    proxy: str,
    *,
    target: Target = "address",
    resolver: Resolver = PUBLICLY,
    bypass: str = "",
    allow: tuple[str, ...] = (),
    bundle: str = str(AUTHORITY),
) -> AsyncIterator[Retrieval]:
    egress = Egress(proxy, proxy, bypass, bundle, target)
    way = DownloadSettings(allow, 1_000_000, 20.0, "", respects_robots=False, egress=egress)
    opened = Retrieval(way, resolver)
    try:
        yield opened
    finally:
        await opened.aclose()


# ---------------------------------------------------------------- what the proxy is asked for


@pytest.mark.parametrize(
    ("target", "asked"),
    [
        ("address", f"CONNECT {SITE}:443"),
        ("name", f"CONNECT {HOST}:443"),
    ],
)
async def test_a_page_comes_through_a_tunnel(target: Target, asked: str) -> None:
    async with (
        http2_site(Http2Site(html=ARTICLE)) as site,
        egress_proxy("honest", site.port, PASSWORD) as proxy,
        retrieval(proxy.url_with_password, target=target) as pages,
    ):
        document = await pages.get(PAGE)
    assert document.data == ARTICLE.encode()
    assert proxy.asked == [asked]
    assert site.names == [HOST]  # TLS asks for the name, whatever the proxy was asked for


@pytest.mark.parametrize(
    ("target", "asked"),
    [
        ("address", f"CONNECT {SITE}:80"),
        ("name", "GET http://example.org/article"),
        ("unresolved", "GET http://example.org/article"),
    ],
)
async def test_an_unprotected_page_comes_too(target: Target, asked: str) -> None:
    web = Web()
    resolver = nowhere if target == "unresolved" else PUBLICLY
    with serve(web) as base:
        async with (
            egress_proxy("honest", int(base.rpartition(":")[2]), PASSWORD) as proxy,
            retrieval(proxy.url_with_password, target=target, resolver=resolver) as pages,
        ):
            document = await pages.get("http://example.org/article")
    assert b"Norderney" in document.data
    assert proxy.asked == [asked]
    assert web.seen[0].headers["host"] == "example.org"
    assert "proxy-authorization" not in web.seen[0].headers


async def test_what_is_excepted_is_reached_without_the_proxy() -> None:
    with serve(Web()) as base:
        port = base.rpartition(":")[2]
        async with (
            egress_proxy() as proxy,
            retrieval(
                proxy.url,
                bypass=".example.org",
                resolver=answering("127.0.0.1"),
                allow=(f"wiki.example.org:{port}",),
            ) as pages,
        ):
            await pages.get(f"http://wiki.example.org:{port}/article")
    assert proxy.asked == []


# ---------------------------------------------------------------- the rule


@pytest.mark.parametrize("target", ["address", "name"])
@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_name_of_a_private_network_is_refused_before_the_proxy_is_asked(
    target: Target, scheme: str
) -> None:
    async with (
        egress_proxy() as proxy,
        retrieval(proxy.url, target=target, resolver=answering(SITE, "10.0.0.7")) as pages,
    ):
        with pytest.raises(AddressRefused):
            await pages.get(f"{scheme}://rebinding.example.org/")
    assert proxy.asked == []


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "0x7f.1", "[::1]", "[::ffff:10.0.0.1]", "169.254.169.254", "metadata.internal",
     "intranet", "wiki.corp", "printer.lan", "printer.local", "localhost", "example.org:22"],
)  # fmt: skip
@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_what_is_surely_private_is_refused_where_only_the_proxy_resolves(
    host: str, scheme: str
) -> None:
    async with (
        egress_proxy() as proxy,
        retrieval(proxy.url, target="unresolved", resolver=nowhere) as pages,
    ):
        with pytest.raises(AddressRefused):
            await pages.get(f"{scheme}://{host}/")
    assert proxy.asked == []


@pytest.mark.parametrize("target", ["address", "name", "unresolved"])
async def test_a_redirect_is_judged_before_the_proxy_is_asked(target: Target) -> None:
    """Over http, where redirects to anywhere are followed."""
    with serve(Web()) as base:
        async with (
            egress_proxy("honest", int(base.rpartition(":")[2])) as proxy,
            retrieval(proxy.url, target=target) as pages,
        ):
            with pytest.raises(AddressRefused):
                await pages.get(f"http://example.org{REDIRECT}")
    assert proxy.asked == [
        f"CONNECT {SITE}:80" if target == "address" else f"GET http://example.org{REDIRECT}"
    ]


# ---------------------------------------------------------------- proxies that do not work


async def sentence_of(url: str, page: str = PAGE, **how: str) -> str:
    """The one sentence about a page that does not come."""
    async with retrieval(url, target="name", **how) as pages:  # type: ignore[arg-type]
        with pytest.raises((PageUnreadable, Unavailable)) as told:
            await pages.get(page)
    error: FootnoteError = told.value
    assert PASSWORD not in str(error)
    assert error.sentence.count(". ") == 0
    assert error.sentence.endswith(".")
    return error.sentence


@pytest.mark.usefixtures("no_waiting")
@pytest.mark.parametrize("lie", [*LIES, "page in the tunnel"])
async def test_a_proxy_that_lies_is_told(lie: str) -> None:
    async with egress_proxy(lie) as proxy:
        sentence = await sentence_of(proxy.url)
    assert sentence.startswith(f"The proxy {proxy.url} gave no connection that can be used")


@pytest.mark.usefixtures("no_waiting")
@pytest.mark.parametrize(
    ("status", "told"),
    [("407", "asks for a user name"), ("403", "does not let Footnote through to"),
     ("302", "does not let Footnote through to"), ("502", "cannot reach")],
)  # fmt: skip
async def test_a_proxy_that_refuses_is_told(status: str, told: str) -> None:
    async with egress_proxy(status) as proxy:
        assert told in await sentence_of(proxy.url)


@pytest.mark.parametrize("page", [PAGE, "http://example.org/"])
async def test_a_wrong_password_is_told_without_it(page: str) -> None:
    async with egress_proxy("honest", 9, "another") as proxy:
        url = f"http://me:{PASSWORD}@127.0.0.1:{proxy.port}"
        sentence = await sentence_of(url, page)
        assert f"The proxy {proxy.url} asks for a user name and password" in sentence
        assert len(proxy.asked) == 1  # directories lock accounts after a few


@pytest.mark.usefixtures("no_waiting")
@pytest.mark.parametrize("page", [PAGE, "http://example.org/"])
async def test_a_proxy_that_is_not_there_is_told(page: str) -> None:
    async with egress_proxy() as proxy:
        url = proxy.url
    assert await sentence_of(url, page) == (
        f"The proxy {url} cannot be reached; check its address and that it works."
    )


@pytest.mark.usefixtures("no_waiting")
async def test_a_proxy_that_never_answers_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.pages.download.TIMEOUT", {"connect": 0.2})
    async with egress_proxy("silent") as proxy, asyncio.timeout(60):
        assert "did not answer within" in await sentence_of(proxy.url)


async def test_a_forged_certificate_is_told() -> None:
    async with http2_site(Http2Site(html=ARTICLE)) as site, egress_proxy(site=site.port) as proxy:
        sentence = await sentence_of(proxy.url, "https://example.org/")
        assert sentence.startswith("example.org cannot prove that it is example.org through the")
        assert "FOOTNOTE_CA_BUNDLE" in await sentence_of(proxy.url, bundle="")
