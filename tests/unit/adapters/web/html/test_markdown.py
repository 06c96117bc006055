"""Answers as HTML: whatever was written, nothing in it is live but links and marks."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.web.html.markdown import answer_html
from tests.fakes.screen import Seen, seen

URLS = {1: "https://example.org/tower", 2: "https://example.org/a?b=1&c=\"2'", 3: "file:///x.md"}


def shown(text: str) -> Seen:
    return seen(answer_html(text, URLS))


def test_markdown_is_shown_as_what_it_means() -> None:
    html = answer_html(
        "# Title\n\nA **bold** `code`\n\n- one\n- two\n\n| a | b |\n|-|-|\n|1|2|", {}
    )
    for part in ("<h3>Title</h3>", "<strong>bold</strong>", "<code>code</code>", "<li>one</li>"):
        assert part in html
    assert "<table>" in html


def test_a_mark_leads_to_its_source() -> None:
    html = answer_html("It is 330 m tall [1].", URLS)
    assert 'href="https://example.org/tower"' in html
    assert 'data-n="1"' in html
    assert 'rel="noopener noreferrer nofollow"' in html
    assert ">1</a></sup>." in html
    assert 'role="doc-noteref"' in html


def test_marks_that_follow_each_other_are_all_marks() -> None:
    assert answer_html("Tall [1][2][3].", URLS).count('class="mark"') == 3


@pytest.mark.parametrize("text", ["[4]", "[0]", "`[1]`", "```\n[1]\n```", "[12345]"])
def test_what_is_no_mark_stays_as_it_is(text: str) -> None:
    assert "mark" not in answer_html(text, URLS)


def test_a_mark_of_a_local_file_leads_nowhere_outside() -> None:
    html = answer_html("Said there [3].", URLS)
    assert 'data-n="3"' in html
    assert "file:" not in html
    assert "href" not in html


def test_definitions_of_links_cannot_take_marks_over() -> None:
    html = answer_html("Tall [1].\n\n[1]: https://evil.example/x", URLS)
    assert 'href="https://evil.example' not in html
    assert 'href="https://example.org/tower"' in html


HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "![x](https://evil.example/pixel.png)",
    "[x](javascript:alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    "[x](vbscript:x)",
    "[x](/runs/1/delete) [y](?z) [z](#z) [w](//evil.example)",
    "<javascript:alert(1)>",
    "[x](JaVaScRiPt:alert(1))",
    "[x](&#106;avascript:alert(1))",
    '[x](https://a.example/"onmouseover=alert(1)//)',
    "<a href='x' onclick='y'>z</a>",
    "<iframe src=//evil.example></iframe>",
    "<style>*{display:none}</style>",
    "<base href=//evil.example>",
    "<form action=//evil.example><button>Send</button></form>",
    "</div></main><h1>Mine</h1>",
    "<!--<script>-->",
    '<sup class="fn"><a class="mark" data-n="1" href="https://evil.example">1</a></sup>',
    "```<script>\nalert(1)\n```",
    "| <script> | b |\n|---|---|\n| [x](javascript:1) | ![](x) |",
    "\x00\x1b[31m<b>",
    "<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_inert(text: str) -> None:
    for page in (shown(text), shown(f"Well [1]: {text} [2].")):
        assert page.strange == []
        assert page.buttons == []
        assert all(link.startswith(("https://", "http://")) for link in page.links)
    html = answer_html(text, URLS)
    assert "<script" not in html
    assert "<img" not in html
    assert "<form" not in html


@given(st.text(alphabet="<>[]()!`*_#|-\"'=&;:/\\ \nascript12href.x", max_size=120))
def test_nothing_but_our_own_markup_comes_out(text: str) -> None:
    page = shown(text)
    assert page.strange == []
    assert all(link.startswith(("https://", "http://")) for link in page.links)


@given(st.text(max_size=200))
def test_any_text_can_be_shown(text: str) -> None:
    shown(text)


@pytest.mark.parametrize("text", ["[" * 20_000, "*" * 20_000, "> " * 5_000, "[1]" * 5_000])
def test_piles_of_markup_take_no_time(text: str) -> None:
    shown(text)


@pytest.mark.parametrize(
    ("written", "levels"),
    [
        ("# A\n\n## B\n\n# C", [3, 4, 3]),
        ("### A\n\ntext\n\n### B", [3, 3]),
        ("### A\n\n# B\n\n### C", [3, 3, 4]),
        ("## A\n\n#### B\n\n###### C\n\n## D", [3, 4, 5, 3]),
        ("# 1\n\n## 2\n\n### 3\n\n#### 4\n\n##### 5\n\n###### 6", [3, 4, 5, 6, 6, 6]),
    ],
)
def test_no_level_of_headings_is_left_out(written: str, levels: list[int]) -> None:
    html = answer_html(written, {})
    assert [int(level) for level in re.findall(r"<h(\d)>", html)] == levels
    assert [int(level) for level in re.findall(r"</h(\d)>", html)] == levels


# ---------------------------------------------------------------- words of pages, other pages


def test_what_is_escaped_is_no_mark_and_no_markup() -> None:
    html = answer_html(r"argv\[1\] \_\_init\_\_ 2\*3 \<T> [1]", URLS)
    assert "argv[1] __init__ 2*3 &lt;T&gt;<sup" in html
    assert html.count("data-n") == 1


def test_a_mark_below_code_stands_in_a_line_of_its_own() -> None:
    html = answer_html("```\nx[1]\n```\n[1]\n\nMore.", URLS)
    assert '<pre tabindex="0"><code>x[1]\n</code></pre>\n<p><sup' in html


def test_a_link_to_a_local_page_leads_to_our_copy_of_it() -> None:
    text = "See [The x](<file:///x.md>) or [another](file:///y.md)."
    html = answer_html(text, URLS, "/runs/r1/pages/")
    assert '<a href="/runs/r1/pages/3" ' in html
    assert ">The x</a> or another." in html
    assert "file:" not in html


@pytest.mark.parametrize(
    "link", ["[x](/runs/r2)", "[x](//evil.example)", "[x](javascript:alert)", "[x](../a)", "[x]()"]
)
def test_other_links_keep_their_words_only(link: str) -> None:
    html = answer_html(f"See {link}.", URLS, "/runs/r1/pages/")
    assert html == "<p>See x.</p>\n"
