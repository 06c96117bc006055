"""Whole fetches against a loopback web: what a page gives, where redirects lead, what fails."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from bot import __version__
from bot.core.errors import (
    AddressRefused,
    BrowserNeeded,
    FootnoteError,
    InvalidSetting,
    PageUnreadable,
    Unavailable,
)
from bot.operation.configuration import load_settings
from bot.pages.extract import from_bytes
from bot.pages.fetch import Fetcher, cited_as
from bot.pages.page import Page
from bot.pages.retrieval import ATTEMPTS, LONGEST_WAIT, _wait_before_retry
from bot.pages.urls import dedupe_key, parse
from bot.pages.workers import Workers
from tests.fakes.http2 import AUTHORITY, Http2Site, http2_site
from tests.fakes.server import serve
from tests.fakes.web import ARTICLE, FILES, SECRET, Web, resetting
from tests.unit.pages.conftest import Here, OpenFetcher

pytestmark = pytest.mark.usefixtures("no_waiting")


# ---------------------------------------------------------------- pages as they should be


async def test_an_article_becomes_a_page(open_fetcher: OpenFetcher, web: Web, base: str) -> None:
    before = datetime.now(UTC)
    fetcher = open_fetcher(workers=Workers())
    page = await fetcher.fetch(f"{base}/./article?utm_source=chat#light")
    assert page.url == f"{base}/article"
    assert page.title == "The Lighthouse of Norderney"
    assert page.text.startswith("# The Lighthouse of Norderney\n\nThe lighthouse of Norderney was")
    assert "\n\n## Construction\n\n" in page.text
    assert "- Height: 54 m\n- Range: 23 nautical miles" in page.text
    assert "| 1874 | petroleum |" in page.text
    assert "by order of the building inspector Taaks. The lens" in page.text
    for noise in ("Ships", "Imprint", "cookie", "http", "people/taaks", "<", "]("):
        assert noise not in page.text
    assert before <= page.fetched_at <= datetime.now(UTC)


async def test_the_request_says_who_asks(open_fetcher: OpenFetcher, web: Web, base: str) -> None:
    await open_fetcher().fetch(f"{base}/article")
    headers = web.seen[0].headers
    assert headers["user-agent"].startswith(f"footnote-bot/{__version__} ")
    assert headers["accept"].startswith("text/html")
    assert headers["accept-encoding"] == "gzip"
    assert not {"cookie", "authorization", "referer"} & headers.keys()


async def test_a_pdf_file_that_came_with_a_message_is_read(open_fetcher: OpenFetcher) -> None:
    fetcher = open_fetcher(workers=Workers())
    page = await fetcher.read_file(
        "https://chat.example/files/F1", FILES["pdf"], "application/pdf", "light.pdf"
    )
    assert (page.url, page.title) == ("https://chat.example/files/F1", "Light")
    assert "1874" in page.text


@pytest.mark.parametrize("encoding", ["identity", "gzip"])
async def test_compressed_pages_are_read(
    open_fetcher: OpenFetcher, base: str, encoding: str
) -> None:
    page = await open_fetcher().fetch(f"{base}/encoded/{encoding}")
    assert page.text.endswith("turns to the left.")


async def test_a_hostile_title_becomes_one_plain_line(open_fetcher: OpenFetcher, base: str) -> None:
    page = await open_fetcher().fetch(f"{base}/hostile-title")
    assert len(page.title) <= 300
    assert page.title.isprintable()
    assert "\u202e" not in page.title
    assert "253 steps" in page.text


async def test_connections_are_shared_by_pages_of_a_host(
    open_fetcher: OpenFetcher, web: Web, base: str
) -> None:
    fetcher = open_fetcher()
    pages = [await fetcher.fetch(f"{base}/article?n={n}") for n in range(3)]
    assert len({page.hash for page in pages}) == 1
    assert len({seen.client for seen in web.seen}) == 1


# ---------------------------------------------------------------- redirects


async def test_the_page_is_known_by_where_it_is_found(
    open_fetcher: OpenFetcher, web: Web, base: str
) -> None:
    page = await open_fetcher().fetch(f"{base}/redirect/5")
    assert page.url == f"{base}/article"
    assert [seen.path for seen in web.seen] == [
        *(f"/redirect/{n}" for n in (5, 4, 3, 2, 1)),
        "/article",
    ]
    assert len({seen.client for seen in web.seen}) == 1, "one connection for all hops"


@pytest.mark.parametrize("path", ["/redirect/6", "/loop"])
async def test_more_than_five_redirects_are_too_many(
    open_fetcher: OpenFetcher, web: Web, base: str, path: str
) -> None:
    with pytest.raises(PageUnreadable, match="more than 5 redirects"):
        await open_fetcher().fetch(base + path)
    assert len(web.seen) == 6


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    "target", ["/article", "article", "//{host}/article", "http://{host}/article"]
)
async def test_every_kind_of_redirect_is_followed(
    open_fetcher: OpenFetcher, base: str, status: int, target: str
) -> None:
    url = quote(target.format(host=base.removeprefix("http://")), safe="")
    page = await open_fetcher().fetch(f"{base}/to?url={url}&status={status}")
    assert page.url == f"{base}/article"


async def test_a_page_that_only_points_elsewhere_is_followed(
    open_fetcher: OpenFetcher, base: str
) -> None:
    assert (await open_fetcher().fetch(f"{base}/pointer")).url == f"{base}/article"


async def test_a_cookie_lasts_for_one_page(open_fetcher: OpenFetcher, web: Web, base: str) -> None:
    fetcher = open_fetcher()
    await fetcher.fetch(f"{base}/cookie")
    await fetcher.fetch(f"{base}/cookie")
    assert [seen.headers.get("cookie") for seen in web.seen] == [None, "seen=yes"] * 2


async def test_from_https_no_redirect_leads_to_http(
    open_fetcher: OpenFetcher, web: Web, base: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(AUTHORITY))
    async with http2_site(Http2Site(location=f"{base}/article")) as site:
        with pytest.raises(AddressRefused, match="from https to unprotected http"):
            await open_fetcher().fetch(f"https://wiki.test:{site.port}/")
    assert web.seen == []


async def test_a_site_that_cannot_prove_its_name_is_unreadable_at_once(
    open_fetcher: OpenFetcher,
) -> None:
    async with http2_site(Http2Site(ARTICLE)) as site:  # its authority is not trusted here
        with pytest.raises(PageUnreadable, match="certificate is not valid"):
            await open_fetcher().fetch(f"https://wiki.test:{site.port}/a")
        assert site.connections == 0


@pytest.mark.parametrize(
    "target",
    [
        "http://127.0.0.1:{port}/secret",
        "http://127.1:{port}/secret",
        "http://[::ffff:127.0.0.1]:{port}/secret",
        "http://private.test:{port}/secret",
        "http://169.254.169.254/latest/meta-data/",
        "http://metadata.google.internal/",
        "file:///etc/passwd",
        "http://user:pw@open.test:{port}/secret",
        "http://[::1/",
        "javascript:alert(1)",
    ],
)
async def test_a_redirect_leads_to_no_private_address(
    open_fetcher: OpenFetcher, web: Web, base: str, target: str
) -> None:
    port = base.rsplit(":", 1)[1]
    fetcher = open_fetcher(fetch_allow=("open.test",))
    url = f"http://open.test:{port}/to?url={quote(target.format(port=port), safe='')}"
    with pytest.raises(AddressRefused):
        await fetcher.fetch(url)
    assert web.count("/secret") == 0
    assert web.count("/to") == 1


async def test_a_redirect_without_target_is_unreadable(
    open_fetcher: OpenFetcher, base: str
) -> None:
    with pytest.raises(PageUnreadable, match="without saying where"):
        await open_fetcher().fetch(f"{base}/nowhere")


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:{port}/secret", "http://localhost:{port}/secret", "http://0:{port}/secret",
            "http://[::1]:{port}/secret", "http://intranet.test:{port}/secret"]
)  # fmt: skip
async def test_without_permission_nothing_private_is_fetched(
    open_fetcher: OpenFetcher, web: Web, base: str, url: str
) -> None:
    with pytest.raises(AddressRefused) as refusal:
        await open_fetcher(fetch_allow=()).fetch(url.format(port=base.rsplit(":", 1)[1]))
    assert web.seen == []
    assert SECRET not in str(refusal.value)


def test_a_malformed_permission_is_told_at_once() -> None:
    with pytest.raises(InvalidSetting, match="FOOTNOTE_FETCH_ALLOW"):
        Fetcher(load_settings(fetch_allow=("10.0.0.0/99",)))


# ---------------------------------------------------------------- pages for browsers


class InTurn:
    """A name that is here for the plain fetch, and public for whoever judges it afterwards."""

    def __init__(self) -> None:
        self.answers = ["127.0.0.1"]

    async def __call__(self, host: str, port: int) -> list[str]:
        return [self.answers.pop() if self.answers else "93.184.216.34"]


@pytest.fixture
def service() -> Iterator[tuple[list[str], str]]:
    """A reading service: the paths it was asked for, and where it is."""
    asked: list[str] = []

    async def answer(request: Request) -> Response:
        asked.append(request.url.path)
        return PlainTextResponse(f"# Norderney\n\n{LIT} See [the map](/map).", 200)

    with serve(Starlette(routes=[Route("/{path:path}", answer)])) as base:
        yield asked, base


LIT = "The lighthouse was lit for the first time in 1874."


async def fetched_by_service(path: str, base: str, place: str, **settings: Any) -> Page:
    port = base.rpartition(":")[2]
    fetcher = Fetcher(
        load_settings(
            fetch_allow=("127.0.0.1", f":{port}"),
            robots="ignore",
            reader_url=place,
            **settings,
        ),
        resolver=InTurn(),
        workers=Here(),
    )
    try:
        return await fetcher.fetch(f"http://coast.test:{port}{path}")
    finally:
        await fetcher.aclose()


@pytest.mark.parametrize("path", ["/script", "/status/403"])
async def test_a_page_for_browsers_is_asked_of_the_reading_service(
    service: tuple[list[str], str], web: Web, base: str, path: str
) -> None:
    page = await fetched_by_service(path, base, service[1])
    assert (page.title, page.via) == ("Norderney", "127.0.0.1")
    assert page.text == f"# Norderney\n\n{LIT} See the map."
    assert len(service[0]) == 1


async def test_a_page_that_can_be_fetched_is_not(
    service: tuple[list[str], str], web: Web, base: str
) -> None:
    page = await fetched_by_service("/article", base, service[1])
    assert (page.via, service[0]) == ("", [])


@pytest.mark.parametrize("path", ["/status/404", "/status/401", "/status/402"])
async def test_what_no_browser_could_read_is_not(
    service: tuple[list[str], str], web: Web, base: str, path: str
) -> None:
    with pytest.raises(PageUnreadable):
        await fetched_by_service(path, base, service[1])
    assert service[0] == []


async def test_where_the_service_fails_the_wall_is_told(web: Web, base: str) -> None:
    with pytest.raises(BrowserNeeded, match="does not let Footnote in"):
        await fetched_by_service("/status/403", base, "http://127.0.0.1:9")


async def test_a_browser_that_is_not_there_costs_no_page(
    service: tuple[list[str], str], web: Web, base: str
) -> None:
    page = await fetched_by_service("/status/403", base, service[1], browser="no-such-browser")
    assert page.via == "127.0.0.1"


@pytest.mark.parametrize("text", ["Just a moment...", "Please enable JavaScript."])
async def test_a_wall_that_somebody_else_met_is_no_page(
    open_fetcher: OpenFetcher, text: str
) -> None:
    with pytest.raises(BrowserNeeded):
        await open_fetcher().read_given("https://a.test/", "", text, "Tavily")


# ---------------------------------------------------------------- the address that a page declares


@pytest.mark.parametrize(
    ("found", "said", "cited"),
    [
        ("https://a.example/x", "https://www.a.example/x", "https://www.a.example/x"),
        ("https://m.news.example/x", "https://www.news.example/x", "https://www.news.example/x"),
        ("https://en.m.wiki.example/x", "https://en.wiki.example/x", "https://en.wiki.example/x"),
        ("https://a.example/y/x/", "../x", "https://a.example/y/x"),
        ("https://a.example/x?ref=home", "https://a.example/x", "https://a.example/x"),
        ("https://a.example/x?b=c&ref=home", "/x?b=c", "https://a.example/x?b=c"),
        ("https://a.example/index.html", "https://a.example/", "https://a.example/"),
        ("https://a.example/x", "https://a.example/x#part", "https://a.example/x"),
        ("https://a.example/x/", "https://a.example/x?utm_source=y", "https://a.example/x"),
        ("http://a.example/x", "https://www.a.example/x", "http://www.a.example/x"),
        ("https://a.example/x", "http://www.a.example/x", "https://www.a.example/x"),
    ],
)  # fmt: skip
def test_variants_of_one_page_are_one(found: str, said: str, cited: str) -> None:
    assert cited_as(found, said) == cited


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ("https://a.example/x", ""),
        ("https://a.example/x", "  "),
        ("https://a.example/x", "https://b.example/x"),
        ("https://a.example/x", "https://news.a.example/x"),
        ("https://a.example/x", "https://a.example:8443/x"),
        ("https://a.example/x", "https://a.example/"),
        ("https://a.example/~mallory", "https://a.example/~alice"),
        ("https://a.example/x?page=2", "https://a.example/x"),
        ("https://a.example/x?chapter=2", "https://a.example/x"),
        ("https://a.example/watch?v=abc", "https://a.example/watch"),
        ("https://a.example/?p=123", "https://a.example/"),
        ("https://a.example/x", "https://a.example/x?page=all"),
        ("https://a.example/x", "http://127.0.0.1/x"),
        ("https://a.example/x", "http://169.254.169.254/x"),
        ("https://a.example/x", "file:///x"),
        ("https://a.example/x", "javascript:alert(1)"),
        ("https://a.example/x", "https://user:word@a.example/x"),
        ("https://a.example/x", "https://[a.example/x"),
        ("https://a.example/x", "//b.example/x"),
        ("https://a.example/x/amp", "https://a.example/x"),
    ],
)
def test_what_may_be_another_page_is_not_believed(found: str, said: str) -> None:
    assert cited_as(found, said) == found


@given(
    st.sampled_from(
        ["a.example", "www.a.example", "m.a.example", "b.example", "10.0.0.1", "[::1]"]
    ),
    st.sampled_from(["http", "https"]),
    st.sampled_from(["", "/", "/x", "/x/index.html", "/y", "/x?ref=z", "/x?id=4"]),
    st.text(max_size=12) | st.sampled_from(["https://a.example/x", "//m.a.example/x", "/x"]),
)
def test_a_page_never_leaves_its_page(host: str, scheme: str, path: str, said: str) -> None:
    found = str(parse(f"{scheme}://{host}{path}"))
    cited = cited_as(found, said)
    assert parse(cited).scheme == parse(found).scheme
    assert dedupe_key(cited).partition("?")[0] == dedupe_key(found).partition("?")[0]


# ---------------------------------------------------------------- what a page says


@pytest.mark.parametrize(
    ("head", "body", "said"),
    [
        ('<link rel="canonical" href="/x">', "", "/x"),
        ('<link href="/x" rel="shortlink Canonical">', "", "/x"),
        ('<link rel="canonical" href="/x"><link rel="canonical" href="/x">', "", "/x"),
        ('<link rel="canonical" href="/x"><link rel="canonical" href="/y">', "", ""),
        ('<link rel="canonical">', "", ""),
        ("", '<p>A comment: <link rel="canonical" href="/evil"></p>', ""),
    ],
)
def test_the_head_of_a_page_says_where_it_is_at_home(head: str, body: str, said: str) -> None:
    html = f"<html><head><title>T</title>{head}</head><body><p>Words.</p>{body}</body></html>"
    assert from_bytes(html.encode(), "text/html", "x").canonical == said


@pytest.mark.parametrize(
    ("path", "said", "at"),
    [
        ("/home/", "/home", "/home"),
        ("/home", "https://evil.example/home", "/home"),
        ("/home", "/other", "/home"),
    ],
)
async def test_a_fetched_page_is_known_by_its_own_address(
    open_fetcher: OpenFetcher, web: Web, base: str, path: str, said: str, at: str
) -> None:
    web.canonical = said
    assert (await open_fetcher().fetch(base + path)).url == base + at


# ---------------------------------------------------------------- pages that cannot be had


# ---------------------------------------------------------------- outcomes


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        (400, "cannot be read"),
        (401, "asks for a login"),
        (402, "asks for payment"),
        (403, "does not let Footnote in"),
        (404, "does not exist"),
        (410, "removed permanently"),
        (451, "legal reasons"),
        (204, "is empty"),
        (304, "cannot be read"),
    ],
)
async def test_what_will_not_change_is_unreadable_at_once(
    open_fetcher: OpenFetcher, web: Web, base: str, status: int, sentence: str
) -> None:
    with pytest.raises(PageUnreadable, match=sentence):
        await open_fetcher().fetch(f"{base}/status/{status}")
    assert len(web.seen) == 1


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 520])
async def test_what_may_pass_is_tried_again_and_then_unavailable(
    open_fetcher: OpenFetcher, web: Web, base: str, status: int
) -> None:
    with pytest.raises(Unavailable, match="try again later"):
        await open_fetcher().fetch(f"{base}/status/{status}")
    assert len(web.seen) == ATTEMPTS


async def test_a_server_that_asks_to_wait_is_asked_again(
    open_fetcher: OpenFetcher, web: Web, base: str
) -> None:
    web.busy_for = 2
    page = await open_fetcher().fetch(f"{base}/busy")
    assert page.title == "The Lighthouse of Norderney"
    assert web.count("/busy") == 3


async def test_a_wait_beyond_the_deadline_is_told_and_not_waited_for(
    open_fetcher: OpenFetcher,
    web: Web,
    base: str,
) -> None:
    web.retry_after = "3600"
    with pytest.raises(Unavailable) as error:
        await open_fetcher().fetch(f"{base}/busy")
    assert error.value.retry_after == 3600
    assert web.count("/busy") == 1


async def test_a_wait_may_be_given_as_a_date(
    open_fetcher: OpenFetcher, web: Web, base: str
) -> None:
    later = datetime.now(UTC) + timedelta(hours=1)
    web.retry_after = format_datetime(later, usegmt=True)
    with pytest.raises(Unavailable) as error:
        await open_fetcher().fetch(f"{base}/busy")
    assert error.value.retry_after == pytest.approx(3600, abs=30)


@pytest.mark.parametrize("value", ["soon", "", "-5", "1e9", "9" * 50])
async def test_a_wait_that_means_nothing_is_none(
    open_fetcher: OpenFetcher, web: Web, base: str, value: str
) -> None:
    web.busy_for = 9
    web.retry_after = value
    with pytest.raises(Unavailable) as error:
        await open_fetcher().fetch(f"{base}/busy")
    assert error.value.retry_after is None


def test_waits_end_before_the_deadline() -> None:
    now = time.monotonic()
    roomy, tight = _wait_before_retry(now + 60), _wait_before_retry(now + LONGEST_WAIT / 2)
    assert roomy(Unavailable("x")) is True
    assert tight(Unavailable("x")) is False
    assert roomy(Unavailable("x", retry_after=7.0)) == 7.0
    assert tight(Unavailable("x", retry_after=7.0)) is False
    assert roomy(PageUnreadable("x")) is False


async def test_a_cut_connection_is_tried_again(
    open_fetcher: OpenFetcher, web: Web, base: str
) -> None:
    page = await open_fetcher().fetch(f"{base}/cut")
    assert page.text.endswith("turns to the left.")
    assert web.count("/cut") == 2


async def test_a_reset_connection_is_unavailable(open_fetcher: OpenFetcher) -> None:
    with resetting() as base, pytest.raises(Unavailable, match="broke"):
        await open_fetcher().fetch(f"{base}/article")


async def test_a_closed_port_is_unavailable(open_fetcher: OpenFetcher) -> None:
    with serve(Web()) as base:
        pass
    with pytest.raises(Unavailable, match="cannot be reached"):
        await open_fetcher().fetch(f"{base}/article")


# ---------------------------------------------------------------- sizes and times


async def test_a_page_that_does_not_answer_is_given_up(
    open_fetcher: OpenFetcher, base: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.pages.retrieval.SECONDS", 0.3)
    with pytest.raises(Unavailable, match=r"did not answer within 0\.3 seconds"):
        await open_fetcher().fetch(f"{base}/silent")


async def test_a_page_that_trickles_for_ever_is_given_up(
    open_fetcher: OpenFetcher, base: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.pages.retrieval.SECONDS", 1.0)
    with pytest.raises(PageUnreadable, match=r"did not arrive in full within 1 seconds"):
        await open_fetcher().fetch(f"{base}/trickle")


@pytest.mark.parametrize("path", ["/endless", "/bomb", "/huge", "/huge?bytes=500001"])
async def test_a_page_that_is_too_large_is_given_up_early(
    open_fetcher: OpenFetcher, web: Web, base: str, path: str
) -> None:
    with pytest.raises(PageUnreadable, match=r"larger than 0\.5 MB"):
        await open_fetcher(fetch_max_bytes=500_000).fetch(base + path)
    assert web.sent[path.partition("?")[0]] < 20_000_000


async def test_a_page_just_within_the_limit_is_read(open_fetcher: OpenFetcher, base: str) -> None:
    page = await open_fetcher(fetch_max_bytes=10_000).fetch(f"{base}/article")
    assert page.title


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("/layers", "did not request"),
        ("/encoded/br", "did not request"),
        ("/encoded/broken", "damaged"),
    ],
)
async def test_compression_that_cannot_be_undone_is_unreadable(
    open_fetcher: OpenFetcher, base: str, path: str, sentence: str
) -> None:
    with pytest.raises(PageUnreadable, match=sentence):
        await open_fetcher().fetch(base + path)


async def test_a_fetch_can_be_cancelled(open_fetcher: OpenFetcher, web: Web, base: str) -> None:
    fetcher = open_fetcher()
    task = asyncio.create_task(fetcher.fetch(f"{base}/trickle"))
    while not web.sent["/trickle"]:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await fetcher.fetch(f"{base}/article")).title, "the fetcher goes on"


# ---------------------------------------------------------------- contents


async def test_every_sentence_names_the_page_and_ends_like_one(
    open_fetcher: OpenFetcher, base: str
) -> None:
    paths = ["/empty", "/login", "/robots", "/status/404", "/status/503", "/loop", "/bomb",
             "/layers", "/nowhere", "/file/png", "/file/css?type=text/css"]  # fmt: skip
    fetcher = open_fetcher(fetch_max_bytes=500_000)
    for path in paths:
        with pytest.raises(FootnoteError) as error:
            await fetcher.fetch(base + path)
        assert base + path in error.value.sentence
        assert error.value.sentence.endswith(".")
        assert "\n" not in error.value.sentence
