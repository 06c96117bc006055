"""Page text as HTML: its words are kept, its quotes are marked, and nothing in it acts."""

from __future__ import annotations

import lxml.html  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.web.html.markdown import LONGEST_CODE, answer_html, coloured, mathml
from adapters.web.html.page_text import page_html
from bot.research.trace import Quoted

SAFE = {
    *("p", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "pre", "code", "table", "thead"),
    *("tbody", "tr", "th", "td", "strong", "em", "mark", "span", "div", "blockquote", "hr", "br"),
    *("a", "s", "del", "sup", "sub", "math", "mi", "mo", "mn", "mrow"),
}


def tags(html: str) -> set[str]:
    tree = lxml.html.fragment_fromstring(html, create_parent="div")
    return {one.tag for one in tree.iter() if isinstance(one.tag, str)} - {"div"}


@given(st.text(max_size=200))
def test_no_text_of_a_page_becomes_markup_that_acts(text: str) -> None:
    html = page_html(f"Before {text} after.")
    tree = lxml.html.fragment_fromstring(html, create_parent="div")
    for element in tree.iter():
        if isinstance(element.tag, str):
            assert element.tag in SAFE, element.tag
            assert not [name for name in element.attrib if name.startswith("on")]
            assert not str(element.get("href", "")).lower().startswith("javascript:")


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[press](javascript:alert(1))",
        "![picture](https://elsewhere.example/track.png)",
        '<iframe src="https://elsewhere.example"></iframe>',
    ],
)
def test_hostile_pages_are_shown_and_do_nothing(text: str) -> None:
    assert not tags(page_html(text)) & {"script", "img", "iframe"}


def test_headings_tables_and_code_are_shown_as_such() -> None:
    html = page_html("## Synopsis\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n```sh\ngit reset\n```\n")
    assert {"table", "pre", "td"} <= tags(html)
    assert "##" not in html
    assert "git" in html


@given(st.text(max_size=300), st.sampled_from(["python", "sh", "json", "", "nonsense"]))
def test_colours_keep_every_character_of_code(code: str, language: str) -> None:
    assert "".join(text for _, text in coloured(code, language)) == code


def test_long_code_is_not_coloured() -> None:
    assert coloured("x = 1\n" * LONGEST_CODE, "python") == (("", "x = 1\n" * LONGEST_CODE),)


def test_a_formula_becomes_mathml() -> None:
    assert mathml(r"\frac{a}{b}", False).startswith("<math")


@pytest.mark.parametrize(
    "latex",
    [
        r"\href{javascript:alert(1)}{x}",
        r"\text{<script>alert(1)</script>}",
        r"\unknowncommand{",
        r"\style{background:url(https://elsewhere.example)}{x}",
    ],
)
def test_no_formula_brings_links_styles_or_scripts(latex: str) -> None:
    html = answer_html(f"${latex}$", {})
    assert not tags(f"<div>{html}</div>") & {"a", "script", "style"}
    assert "href=" not in html
    assert "style=" not in html


def test_a_quote_over_several_lines_is_one_mark() -> None:
    text = "One two\nthree four\nfive. Six.\n"
    html = page_html(text, [Quoted("q", 4, 23)])
    assert '<mark data-q="q">two\nthree four\nfive</mark>. Six.' in html
