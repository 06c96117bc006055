"""Whole fetches against a loopback web: what a page gives, and where redirects may lead."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from bot import __version__
from bot.core.errors import AddressRefused, BrowserNeeded, InvalidSetting, PageUnreadable
from bot.operation.configuration import load_settings
from bot.pages.fetch import Fetcher
from bot.pages.page import Page
from bot.pages.workers import Workers
from tests.fakes.http2 import AUTHORITY, Http2Site, http2_site
from tests.fakes.server import serve
from tests.fakes.web import ARTICLE, FILES, SECRET, SENTENCES, Web
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


@pytest.mark.parametrize(
    ("path", "title", "text"),
    [
        ("/note.md", "Notes", "See the wiki."),
        ("/plain", "Opening hours", "Opening hours\n\nWe are open from 9 to 5."),
        ("/json", "Station", '{\n  "title": "Station",\n  "height_m": 54\n}'),
    ],
)
async def test_other_kinds_of_text_are_read_too(
    open_fetcher: OpenFetcher, base: str, path: str, title: str, text: str
) -> None:
    page = await open_fetcher().fetch(base + path)
    assert (page.title, page.text) == (title, text)


@pytest.mark.parametrize("label", [None, "text/html", "application/octet-stream"])
async def test_a_pdf_document_is_read_whatever_it_is_called(
    open_fetcher: OpenFetcher, base: str, label: str | None
) -> None:
    page = await open_fetcher().fetch(f"{base}/file/pdf" + (f"?type={label}" if label else ""))
    assert page.title == "Light"
    assert page.text == "## Page 1\n\nThe lighthouse was lit for the first time in 1874."


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


@pytest.mark.parametrize("encoding", ["gbk", "shift_jis", "utf-8", "utf-16"])
@pytest.mark.parametrize("said", ["header", "meta", "nowhere", "wrongly"])
async def test_a_page_is_read_in_the_encoding_it_is_in(
    open_fetcher: OpenFetcher, base: str, encoding: str, said: str
) -> None:
    if encoding == "utf-16" and said != "header":
        said = "nowhere"  # it is known by its byte order mark; a meta element cannot tell
    query = {
        "header": f"?declared={encoding}",
        "meta": f"?meta={encoding}",
        "nowhere": "",
        "wrongly": "?declared=" + ("iso-8859-1" if encoding == "utf-8" else "utf-8"),
    }[said]
    page = await open_fetcher().fetch(f"{base}/charset/{encoding}{query}")
    assert page.text == SENTENCES[encoding]


@pytest.mark.parametrize(
    "label",
    [
        None,
        "",
        "text/plain",
        "application/octet-stream",
        "application/pdf",
        "image/png",
        "text/x-y",
    ],
)
async def test_html_is_read_whatever_it_is_called(
    open_fetcher: OpenFetcher, base: str, label: str | None
) -> None:
    query = "" if label is None else f"?type={label}"
    page = await open_fetcher().fetch(f"{base}/typed{query}")
    assert page.title == "The Lighthouse of Norderney"


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


async def test_pages_are_fetched_side_by_side(
    open_fetcher: OpenFetcher, web: Web, base: str
) -> None:
    fetcher = open_fetcher(workers=Workers())
    pages = await asyncio.gather(*(fetcher.fetch(f"{base}/article?n={n}") for n in range(20)))
    assert len({page.url for page in pages}) == 20


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


async def test_https_pages_are_read(
    open_fetcher: OpenFetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(AUTHORITY))
    async with http2_site(Http2Site(ARTICLE)) as site:
        page = await open_fetcher().fetch(f"https://wiki.test:{site.port}/a")
    assert (page.url, page.title) == (
        f"https://wiki.test:{site.port}/a",
        "The Lighthouse of Norderney",
    )


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
