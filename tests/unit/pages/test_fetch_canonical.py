"""The cases in which a page's claim to another address is believed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.pages.extract import from_bytes
from bot.pages.fetch import cited_as
from bot.pages.urls import dedupe_key, parse, without_amp_cache
from tests.fakes.web import Web
from tests.unit.pages.conftest import OpenFetcher


@pytest.mark.parametrize(
    ("found", "said", "cited"),
    [
        ("https://a.example/x", "https://www.a.example/x", "https://www.a.example/x"),
        ("https://m.news.example/x", "https://www.news.example/x", "https://www.news.example/x"),
        ("https://en.m.wiki.example/x", "https://en.wiki.example/x", "https://en.wiki.example/x"),
        ("https://amp.a.example/x", "https://a.a.example/x", "https://amp.a.example/x"),
        ("https://amp.news.example/x", "https://news.example/x", "https://news.example/x"),
        ("https://a.example/x/amp", "https://a.example/x", "https://a.example/x"),
        ("https://a.example/x/amp/", "/x/", "https://a.example/x/"),
        ("https://a.example/amp/x", "../x", "https://a.example/x"),
        ("https://a.example/x?amp=1", "https://a.example/x", "https://a.example/x"),
        ("https://a.example/x?outputType=amp", "/x", "https://a.example/x"),
        ("https://a.example/x.amp.html", "x.html", "https://a.example/x.html"),
        ("https://a.example/x?ref=home", "https://a.example/x", "https://a.example/x"),
        ("https://a.example/x?b=c&ref=home", "/x?b=c", "https://a.example/x?b=c"),
        ("https://a.example/index.html", "https://a.example/", "https://a.example/"),
        ("https://a.example/x", "https://a.example/x#part", "https://a.example/x"),
        ("https://a.example/x/", "https://a.example/x?utm_source=y", "https://a.example/x"),
        ("http://a.example/x", "https://www.a.example/x", "http://www.a.example/x"),
        ("https://a.example/x", "http://www.a.example/x", "https://www.a.example/x"),
        ("https://a.example/x/amp", "https://a-example.cdn.ampproject.org/c/s/a.example/x",
         "https://a.example/x"),
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
        ("https://a.example/x", "https://b-example.cdn.ampproject.org/c/s/b.example/x"),
    ],
)
def test_what_may_be_another_page_is_not_believed(found: str, said: str) -> None:
    assert cited_as(found, said) == found


@given(
    st.sampled_from(
        ["a.example", "www.a.example", "m.a.example", "b.example", "10.0.0.1", "[::1]"]
    ),
    st.sampled_from(["http", "https"]),
    st.sampled_from(["", "/", "/x", "/x/amp", "/amp/x", "/y", "/x?amp=1", "/x?ref=z", "/x?id=4"]),
    st.text(max_size=12) | st.sampled_from(["https://a.example/x", "//m.a.example/x", "/x"]),
)
def test_a_page_never_leaves_its_page(host: str, scheme: str, path: str, said: str) -> None:
    found = str(parse(f"{scheme}://{host}{path}"))
    cited = cited_as(found, said)
    assert parse(cited).scheme == parse(found).scheme
    assert dedupe_key(cited).partition("?")[0] == dedupe_key(found).partition("?")[0]


# ---------------------------------------------------------------- AMP caches


@pytest.mark.parametrize(
    ("cached", "own"),
    [
        ("https://www.google.com/amp/s/www.a.example/x/amp", "https://www.a.example/x/amp"),
        ("https://www.google.com/amp/a.example/x?b=1", "http://a.example/x?b=1"),
        ("https://a-example.cdn.ampproject.org/c/s/a.example/x", "https://a.example/x"),
        ("https://a-example.cdn.ampproject.org/v/s/a.example", "https://a.example/"),
        ("https://www.bing-amp.com/c/s/a.example/x", "https://a.example/x"),
        ("https://www.google.com/search?q=amp", "https://www.google.com/search?q=amp"),
        ("https://www.google.com/amp/", "https://www.google.com/amp/"),
        ("https://ampproject.org/c/s/a.example/x", "https://ampproject.org/c/s/a.example/x"),
        ("https://a.example/amp/s/b.example/x", "https://a.example/amp/s/b.example/x"),
        ("https://x.cdn.ampproject.org/c/s/a..example/x",
         "https://x.cdn.ampproject.org/c/s/a..example/x"),
    ],
)  # fmt: skip
def test_a_page_in_an_amp_cache_has_its_publishers_address(cached: str, own: str) -> None:
    assert without_amp_cache(cached) == own


@pytest.mark.parametrize(
    "variant",
    [
        "https://www.a.example/x", "https://a.example/x/", "https://m.a.example/x",
        "https://a.example/x/amp", "https://a.example/amp/x", "https://a.example/x?amp=1",
        "https://a.example/x?outputType=amp", "https://amp.a.example/x.amp",
        "https://www.google.com/amp/s/www.a.example/x/amp",
        "https://a-example.cdn.ampproject.org/c/s/a.example/x?usqp=mq331AQ",
        "https://a.example/x?amp_js_v=0.1",
    ],
)  # fmt: skip
def test_all_variants_share_a_key(variant: str) -> None:
    assert dedupe_key(variant) == "a.example/x"


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
        ("/home/amp", "/home", "/home"),
        ("/home", "https://evil.example/home", "/home"),
        ("/home", "/other", "/home"),
    ],
)
async def test_a_fetched_page_is_known_by_its_own_address(
    open_fetcher: OpenFetcher, web: Web, base: str, path: str, said: str, at: str
) -> None:
    web.canonical = said
    assert (await open_fetcher().fetch(base + path)).url == base + at


async def test_a_page_in_an_amp_cache_is_asked_of_its_publisher(
    open_fetcher: OpenFetcher, web: Web, base: str
) -> None:
    host = base.removeprefix("http://").replace("127.0.0.1", "news.example")
    fetcher = open_fetcher(fetch_allow=("news.example",))
    page = await fetcher.fetch(f"https://news-example.cdn.ampproject.org/c/{host}/article")
    assert page.url == f"http://{host}/article"
    assert "253 steps" in page.text
