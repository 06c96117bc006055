"""Pages through a proxy: the address rule holds, and a proxy that fails is named in a sentence."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from bot.core.egress import Egress, Target
from bot.core.errors import AddressRefused, FootnoteError, PageUnreadable, Unavailable
from bot.pages import transport as tunnel
from bot.pages.guard import Resolver
from bot.pages.retrieval import DownloadSettings, Retrieval
from tests.fakes.egress_proxy import LIES, egress_proxy
from tests.fakes.http2 import AUTHORITY, HOST, Http2Site, http2_site
from tests.fakes.server import serve
from tests.fakes.web import ARTICLE, Web

PUBLIC = "93.184.215.14"
SECRET = "hunter2"
PAGE = f"https://{HOST}/"
REDIRECT = "/to?url=http%3A%2F%2F10.0.0.7%2Fsecret"


def answering(*addresses: str) -> Resolver:
    async def resolve(host: str, port: int) -> Sequence[str]:
        return addresses

    return resolve


PUBLICLY = answering(PUBLIC)


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
        ("address", f"CONNECT {PUBLIC}:443"),
        ("name", f"CONNECT {HOST}:443"),
    ],
)
async def test_a_page_comes_through_a_tunnel(target: Target, asked: str) -> None:
    async with (
        http2_site(Http2Site(html=ARTICLE)) as site,
        egress_proxy("honest", site.port, SECRET) as proxy,
        retrieval(proxy.url_with_password, target=target) as pages,
    ):
        document = await pages.get(PAGE)
    assert document.data == ARTICLE.encode()
    assert proxy.asked == [asked]
    assert site.names == [HOST]  # TLS asks for the name, whatever the proxy was asked for


@pytest.mark.parametrize(
    ("target", "asked"),
    [
        ("address", f"CONNECT {PUBLIC}:80"),
        ("name", "GET http://example.org/article"),
        ("unresolved", "GET http://example.org/article"),
    ],
)
async def test_an_unprotected_page_comes_too(target: Target, asked: str) -> None:
    web = Web()
    resolver = nowhere if target == "unresolved" else PUBLICLY
    with serve(web) as base:
        async with (
            egress_proxy("honest", int(base.rpartition(":")[2]), SECRET) as proxy,
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
        retrieval(proxy.url, target=target, resolver=answering(PUBLIC, "10.0.0.7")) as pages,
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
        f"CONNECT {PUBLIC}:80" if target == "address" else f"GET http://example.org{REDIRECT}"
    ]


# ---------------------------------------------------------------- proxies that do not work


async def sentence_of(url: str, page: str = PAGE, **how: str) -> str:
    """The one sentence about a page that does not come."""
    async with retrieval(url, target="name", **how) as pages:  # type: ignore[arg-type]
        with pytest.raises((PageUnreadable, Unavailable)) as told:
            await pages.get(page)
    error: FootnoteError = told.value
    assert SECRET not in str(error)
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
        url = f"http://me:{SECRET}@127.0.0.1:{proxy.port}"
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


def test_the_limit_of_an_answer_is_less_than_that_of_a_lie() -> None:
    assert len(LIES["headers without end"]) > tunnel.ANSWER_BYTES
