"""The browser's side of a rendering that needs no Chromium: rules, replies, refusals, its proxy."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import httpcore
import httpx
import pytest

from bot.core.egress import Egress, Target
from bot.core.errors import (
    AddressRefused,
    BrowserNeeded,
    FootnoteError,
    InvalidSetting,
    PageUnreadable,
    Unavailable,
)
from bot.operation.configuration import load_settings
from bot.pages import browser_process as rendering
from bot.pages.browser import Browser, Order, Rendered
from bot.pages.browser_process import HEAD_BYTES, GuardedProxy, Unrendered
from bot.pages.fetch import Fetcher
from bot.pages.guard import Allow, Guard
from tests.fakes.egress_proxy import egress_proxy
from tests.fakes.server import serve
from tests.fakes.web import Web
from tests.unit.pages.children import asked
from tests.unit.pages.conftest import Here, to_loopback

REPLY = "send(replies, {'number': number, 'reply': told}, b'')"
LIT = "The lighthouse was lit for the first time in 1874."


def order(url: str, *allow: str) -> Order:
    return Order("chromium", True, 5.0, 10_000, allow, "footnote-bot", url=url, folder="/nowhere")


@asynccontextmanager
async def browser(code: str) -> AsyncIterator[Browser]:
    """One whose process runs this code, with the next request as ``asked``."""
    order = Order(sys.executable, True, 5.0, 10_000_000, (), "footnote-bot")
    opened = Browser(order, command=asked(f"def reply(told):\n    {REPLY}\n{code}"))
    try:
        yield opened
    finally:
        await opened.aclose()


async def test_what_a_process_has_rendered_comes_back() -> None:
    reply = "reply({'url': asked['url'] + '?x', 'html': '<p>é'})"
    async with browser(reply) as chromium:
        assert await chromium.render("https://a.test/") == Rendered("https://a.test/?x", "<p>é")


@pytest.mark.parametrize(
    ("problem", "kind", "said"),
    [
        ("refused", AddressRefused, "leads to why, a private"),
        ("downgrade", AddressRefused, "leads from https to unprotected http"),
        ("unreachable", Unavailable, "could not be reached with a browser"),
        ("size", PageUnreadable, "loads more than 50 MB or is larger than 10 MB"),
        ("memory", PageUnreadable, "needs more memory"),
        ("file", PageUnreadable, "gives a browser a file and not a page"),
        ("slow", BrowserNeeded, "within 5 seconds"),
        ("crash", BrowserNeeded, "which crashed"),
        ("nonsense", BrowserNeeded, "which crashed"),
        ("start", InvalidSetting, "FOOTNOTE_BROWSER"),
    ],
)
async def test_problems_are_told_by_meaning(
    problem: str, kind: type[FootnoteError], said: str
) -> None:
    reply = f"reply({{'problem': {problem!r}, 'detail': 'why'}})"
    async with browser(reply) as chromium:
        with pytest.raises(kind, match=said) as caught:
            await chromium.render("https://a.test/page")
    if problem != "start":
        assert "a.test/page" in caught.value.sentence


@pytest.mark.parametrize(
    "code", ["raise SystemExit", "reply({'html': 5})", "reply([])", "send(replies, [], b'')"]
)
async def test_a_process_that_breaks_is_a_page_that_broke_it(code: str) -> None:
    async with browser(code) as chromium:
        with pytest.raises(BrowserNeeded, match="which crashed"):
            await chromium.render("https://a.test/")


async def test_a_browser_without_its_sandbox_is_explained() -> None:
    reply = "reply({'problem': 'start', 'detail': 'No usable sandbox!'})"
    async with browser(reply) as chromium:
        with pytest.raises(InvalidSetting, match="set FOOTNOTE_BROWSER_SANDBOX=off"):
            await chromium.report()


async def test_a_browser_that_is_not_installed_is_named() -> None:
    settings = load_settings(browser="no-such-chromium")
    fetcher = Fetcher(settings)
    assert fetcher._browser is not None
    with pytest.raises(InvalidSetting, match="FOOTNOTE_BROWSER names no-such-chromium, which is"):
        await fetcher._browser.report()
    await fetcher.aclose()


# ---------------------------------------------------------------- the rule for a page


@pytest.mark.parametrize(
    ("url", "may"),
    [("http://127.0.0.1:8080/page", True), ("https://93.184.216.34/page", False)],
)
async def test_what_is_permitted_is_for_permitted_pages_only(url: str, may: bool) -> None:
    guard = await rendering._guard(order(url, "127.0.0.0/8", "wiki.corp"))
    if may:
        assert [str(each) for each in await guard.addresses("127.0.0.1", 80)] == ["127.0.0.1"]
    else:
        with pytest.raises(AddressRefused):
            await guard.addresses("127.0.0.1", 80)


class Navigation:
    """A request for a document, as Playwright tells it."""

    def __init__(self, url: str, frame: object) -> None:
        self.url = url
        self.frame = frame

    def is_navigation_request(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("first", "then", "is_ours", "refused"),
    [
        ("https://a.test/", "http://a.test/", True, True),
        ("https://a.test/", "http://a.test/", False, False),
        ("https://a.test/", "https://b.test/", True, False),
        ("http://a.test/", "http://b.test/", True, False),
    ],
)
async def test_no_page_leads_from_https_to_http(
    first: str, then: str, is_ours: bool, refused: bool
) -> None:
    nothing: Any = None
    one = rendering._Rendering(nothing, nothing, order(first))
    main: Any = object()
    one._page = SimpleNamespace(main_frame=main)  # type: ignore[assignment]
    request: Any = Navigation(then, main if is_ours else object())
    one._begun(request)
    assert one._failed.done() == refused
    if refused:
        with pytest.raises(Unrendered):
            one._failed.result()


async def test_all_processes_together_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    had = [100, 200, 301]
    monkeypatch.setattr(rendering, "MEMORY_OF_ALL", 300)
    monkeypatch.setattr(rendering, "WATCH_EVERY", 0)
    monkeypatch.setattr(rendering, "memory_below", lambda process: had.pop(0))
    with pytest.raises(Unrendered) as caught:
        await rendering._watch_memory()
    assert (caught.value.problem, had) == ("memory", [])


# ---------------------------------------------------------------- between fetch and page


@pytest.fixture
async def fetched(web: Web, base: str) -> AsyncIterator[Callable[..., Any]]:
    """Fetches a page for browsers, which the browser shows as told."""
    opened: list[Fetcher] = []

    async def fetch(shown: Rendered, **settings: Any) -> Any:
        fetcher = Fetcher(
            load_settings(browser=sys.executable, fetch_allow=("127.0.0.1",), **settings),
            resolver=to_loopback,
            workers=Here(),
        )
        opened.append(fetcher)

        async def render(url: str) -> Rendered:
            assert url == f"{base}/script"
            return shown

        assert fetcher._browser is not None
        fetcher._browser.render = render  # type: ignore[method-assign]
        return await fetcher.fetch(f"{base}/script")

    yield fetch
    for fetcher in opened:
        await fetcher.aclose()


async def test_the_page_is_cited_where_the_browser_ended(
    fetched: Callable[..., Any], base: str
) -> None:
    html = f"<title>Norderney</title><h1>Norderney</h1><p>{LIT}"
    page = await fetched(Rendered(f"{base}/lights?utm_source=x#top", html))
    assert (page.url, page.title, page.via) == (f"{base}/lights", "Norderney", "")
    assert LIT in page.text


@pytest.mark.parametrize("url", ["about:blank", "chrome-error://chromewebdata/", "file:///etc/x"])
async def test_what_is_no_web_page_is_none(fetched: Callable[..., Any], url: str) -> None:
    with pytest.raises(BrowserNeeded, match="without a browser"):
        await fetched(Rendered(url, f"<p>{LIT}"))


async def test_robots_txt_is_heeded_where_the_browser_ended(
    fetched: Callable[..., Any], web: Web, base: str
) -> None:
    from starlette.responses import PlainTextResponse

    web.robots = PlainTextResponse("User-agent: *\nDisallow: /closed")
    with pytest.raises(BrowserNeeded):
        await fetched(Rendered(f"{base}/closed", f"<p>{LIT}"))
    assert LIT in (await fetched(Rendered(f"{base}/open", f"<p>{LIT}"))).text


async def test_a_wall_that_the_browser_met_is_no_page(
    fetched: Callable[..., Any], base: str
) -> None:
    with pytest.raises(BrowserNeeded):
        await fetched(Rendered(f"{base}/script", "<title>Just a moment...</title><p>Checking"))


# ---------------------------------------------------------------- the proxy of a page


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
