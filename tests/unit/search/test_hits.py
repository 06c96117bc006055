"""Hits from what search engines answer: plain text, web addresses, wanted domains."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.search.engines import host_of, is_within, matching_hits, plain, short, web_hit, with_sites
from bot.search.provider import Query


@pytest.mark.parametrize(
    ("given_text", "text"),
    [
        ("a <strong>b</strong> c", "a b c"),
        ("<b>AT&amp;T</b> &#x27;n&#39; co&nbsp;", "AT&T 'n' co"),
        ("one<br>two<br/>three", "one two three"),
        ("line\none\ttab\x00nul\u200b.", "line one tab nul ."),
        ("if a < b and b > c", "if a < b and b > c"),
        ("The <div> element", "The <div> element"),
        ("a <!-- hidden --> b", "a b"),
        ("x&lt;b&gt;y", "x<b>y"),
        ('<a href="https://x.example/?a>b">link</a>', "link"),
        ("نمی\u200cدانم 👩\u200d🚀", "نمی\u200cدانم 👩\u200d🚀"),
        ("\ud800broken", "broken"),
        ("", ""),
        (None, ""),
        (["a"], ""),
        (7, ""),
    ],
)
def test_text_is_made_plain(given_text: object, text: str) -> None:
    assert plain(given_text) == text


@pytest.mark.parametrize(
    "url",
    [
        None,
        7,
        "",
        "/relative",
        "javascript:alert(1)",
        "ftp://a.example/",
        "https://",
        "https://user:secret@a.example/",
        "http://[::1",
        "data:text/html,x",
        "https://a.example/" + "x" * 9_000,
    ],
)
def test_what_is_no_web_address_is_no_hit(url: object) -> None:
    assert web_hit("x", url, "Title", "Text") is None


def test_a_hit_carries_the_address_in_its_one_spelling() -> None:
    hit = web_hit("x", "HTTPS://Bücher.example:443/a b?utm_source=y#top", "T")
    assert hit is not None
    assert hit.url == "https://xn--bcher-kva.example/a%20b"


def test_several_snippets_are_one_and_none_is_repeated() -> None:
    hit = web_hit("x", "https://a.example/", "T", "One.", "Two.", "One.", None, "")
    assert hit is not None
    assert hit.snippet == "One. … Two."


@pytest.mark.parametrize("title", ["", None, "<b></b>", "\n"])
def test_a_page_without_title_is_called_by_its_host(title: object) -> None:
    hit = web_hit("x", "https://a.example/page", title)
    assert hit is not None
    assert hit.title == "a.example"


def test_very_long_texts_are_cut_between_words() -> None:
    hit = web_hit("x", "https://a.example/", "word " * 500, "word " * 5_000)
    assert hit is not None
    assert len(hit.title) <= 300
    assert len(hit.snippet) <= 2_000
    assert hit.title.endswith("word …")
    assert hit.snippet.endswith("word …")


def test_each_page_is_wanted_once_and_no_more_than_the_limit() -> None:
    urls = ["https://a.example/", "http://www.a.example", "https://b.example/", "https://c.example"]
    hits = matching_hits([web_hit("x", url, url) for url in urls], Query("q", 2))
    assert [hit.url for hit in hits] == ["https://a.example/", "https://b.example/"]


@pytest.mark.parametrize(
    ("domains", "kept"),
    [
        (("a.example",), ["a.example", "sub.a.example"]),
        (("*.a.example",), ["a.example", "sub.a.example"]),
        (("https://www.b.example/page",), ["b.example"]),
        (("a.example", "b.example"), ["a.example", "sub.a.example", "b.example"]),
        (("none.example",), []),
        (("no host",), []),
        ((), ["a.example", "sub.a.example", "nota.example", "b.example"]),
    ],
)
def test_only_pages_of_the_wanted_domains_are_kept(
    domains: tuple[str, ...], kept: list[str]
) -> None:
    hosts = ["a.example", "sub.a.example", "nota.example", "b.example"]
    found = [web_hit("x", f"https://{host}/", host) for host in hosts]
    assert [hit.title for hit in matching_hits(found, Query("q", 9, domains=domains))] == kept


def test_a_host_within_is_the_host_itself_or_below_it() -> None:
    assert is_within("https://www.a.example/x", [host_of("A.example")])
    assert not is_within("https://a.example.evil.example/", ["a.example"])
    assert not is_within("not a url", ["a.example"])


@pytest.mark.parametrize(
    ("domains", "query"),
    [
        ((), "the tides"),
        (("a.example",), "the tides site:a.example"),
        (("a.example", "A.example"), "the tides site:a.example"),
        (("a.example", "b.example"), "the tides (site:a.example OR site:b.example)"),
        (("no host",), "the tides"),
    ],
)
def test_domains_become_operators(domains: tuple[str, ...], query: str) -> None:
    assert with_sites("the tides", domains, 400) == query


@given(
    st.text(),
    st.lists(st.from_regex(r"[a-z]{1,40}\.example", fullmatch=True), max_size=40),
    st.integers(10, 500),
    st.integers(3, 60),
)
def test_a_query_with_operators_keeps_the_engines_limits(
    text: str, domains: list[str], characters: int, words: int
) -> None:
    query = with_sites(text, domains, characters, words)
    assert len(query) <= characters
    assert len(query.split()) <= words


@given(st.text(), st.integers(1, 100), st.integers(1, 20))
def test_a_shortened_text_is_its_beginning_in_whole_words(
    text: str, characters: int, words: int
) -> None:
    kept = short(text, characters, words)
    assert len(kept) <= characters
    assert len(kept.split()) <= words
    whole = text.split()
    if whole and len(whole[0]) <= characters:
        assert kept.split() == whole[: len(kept.split())]
        assert kept


@given(st.text())
def test_plain_text_is_one_line_without_marks_or_controls(text: str) -> None:
    made = plain(text)
    assert made == " ".join(made.split())
    assert "\x00" not in made
    made.encode()
