"""Marks become links, citations become numbered sources."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bot.answers import Citation
from bot.rendering.footnotes import SourceView, by_number, link_target, linked, sources
from bot.research.links import link_targets

TOWER = "https://example.org/tower"
NOTES = "file:///home/ada/notes.md"
URLS = {1: TOWER, 2: NOTES, 3: "https://example.org/a_(b)"}


def slack(number: int, url: str) -> str:
    return f"[[{number}]]({url})"


def discord(number: int, url: str) -> str:
    return f"[[{number}]](<{url}>)"


def a_citation(number: int, quote: str = "words", url: str = TOWER, title: str = "T") -> Citation:
    return Citation(number, url, title, quote, "hash", 0, len(quote))


# ---------------------------------------------------------------- marks


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Tall [1].", f"Tall [[1]]({TOWER})."),
        ("Tall [1][3].", f"Tall [[1]]({TOWER})[[3]](https://example.org/a_%28b%29)."),
        ("From a file [2].", "From a file [2]."),
        ("Never given [9].", "Never given [9]."),
        ("`a[1]` and [1]", f"`a[1]` and [[1]]({TOWER})"),
        ("```\na[1]\n```\n[1]", f"```\na[1]\n```\n[[1]]({TOWER})"),
        ("$a[1]$ and $$b[1]$$", "$a[1]$ and $$b[1]$$"),
        ("Yes![1]", f"Yes! [[1]]({TOWER})"),
        ("见塔[1]。", f"见塔[[1]]({TOWER})。"),
        (f"[[1]]({TOWER})", f"[[1]]({TOWER})"),
        ("\\[1]", "\\[1]"),
        ("| a [1] | b |", f"| a [[1]]({TOWER}) | b |"),
        ("", ""),
    ],
)
def test_a_mark_becomes_the_platform_s_link(text: str, shown: str) -> None:
    assert linked(text, URLS, slack) == shown


def test_the_platform_says_how_a_link_looks() -> None:
    assert linked("Tall [1].", URLS, discord) == f"Tall [[1]](<{TOWER}>)."


@given(st.text(alphabet="ab [](1)!.。\n", max_size=60))
def test_linking_twice_is_linking_once(text: str) -> None:
    once = linked(text, URLS, slack)
    assert linked(once, URLS, slack) == once


# ---------------------------------------------------------------- targets


@pytest.mark.parametrize(
    ("url", "target"),
    [
        (TOWER, TOWER),
        ("https://example.org", "https://example.org"),
        ("https://example.org/a b", "https://example.org/a%20b"),
        ("https://example.org/a|b>c", "https://example.org/a%7Cb%3Ec"),
        ("https://example.org/(x)?q=[y]#z", "https://example.org/%28x%29?q=%5By%5D#z"),
        ("https://example.org/塔", "https://example.org/%E5%A1%94"),
        ("https://example.org/%E5%A1%94", "https://example.org/%E5%A1%94"),
        ("https://example.org/@here", "https://example.org/%40here"),
        ("https://example.org/@ada", "https://example.org/@ada"),
        ("https://[2001:db8::1]/x", "https://[2001:db8::1]/x"),
        ("HTTPS://Bücher.example/x", "https://xn--bcher-kva.example/x"),
        (NOTES, ""),
        ("javascript:alert(1)", ""),
        ("https://user:word@example.org/", ""),
        ("notes.md", ""),
        ("", ""),
    ],
)
def test_a_target_is_a_web_address_that_markdown_cannot_break(url: str, target: str) -> None:
    assert link_target(url) == target


@given(st.text(max_size=30))
def test_whatever_an_address_holds_markdown_reads_one_link(path: str) -> None:
    target = link_target(f"https://example.org/{path}")
    if target:
        for written in (slack(1, target), discord(1, target)):
            assert list(link_targets(f"See {written}, then.")) == [target]
        assert MarkdownIt().render(f"See {slack(1, target)}|x>").count("</a>|x&gt;") == 1


# ---------------------------------------------------------------- sources


def test_a_source_stands_once_with_all_its_quotes() -> None:
    cited = (
        a_citation(2, "second"),
        a_citation(1, "one"),
        a_citation(2, "other"),
        a_citation(2, "second"),
    )
    assert [(view.number, view.quotes) for view in sources(cited)] == [
        (1, ("one",)),
        (2, ("second", "other")),
    ]
    assert [(number, len(group)) for number, group in by_number(cited)] == [(1, 1), (2, 3)]


def test_a_source_is_shown_on_one_harmless_line() -> None:
    cited = a_citation(1, "a\n b\x1b[31m", "https://www.example.org/x", "The\ntower\u202e")
    assert sources([cited]) == (
        SourceView(1, "https://www.example.org/x", "The tower", "example.org", ("a b",)),
    )


@pytest.mark.parametrize(
    ("url", "title"), [(TOWER, "example.org"), (NOTES, "file:///home/ada/notes.md")]
)
def test_a_page_without_a_title_is_called_by_its_address(url: str, title: str) -> None:
    assert sources([a_citation(1, url=url, title=" \n")])[0].title == title


def test_quotes_and_titles_are_shortened_at_words() -> None:
    cited = a_citation(1, "word " * 100, title="塔" * 300)
    view = sources([cited], longest_quote=20, longest_title=10)[0]
    assert view.quotes == ("word word word …",)
    assert view.title == "塔" * 8 + "…"


def test_no_citations_no_sources() -> None:
    assert sources([]) == ()
