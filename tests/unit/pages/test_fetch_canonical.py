"""The cases in which a page's claim to another address is believed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.pages.extract import from_bytes
from bot.pages.fetch import cited_as
from bot.pages.urls import dedupe_key, parse
from tests.fakes.web import Web
from tests.unit.pages.conftest import OpenFetcher


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
