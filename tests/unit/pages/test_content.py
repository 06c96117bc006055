"""Documentation says where its content is, and is read from there; the press is left to others."""

from __future__ import annotations

from typing import Any

import pytest
from lxml import etree  # type: ignore[import-untyped]

from bot.pages.content import content_of, is_of_press
from bot.pages.markup import read_html

PRESS = [
    "<meta property='og:type' content='article'>",
    "<meta property='article:published_time' content='2019-05-03'>",
    "<script type='application/ld+json'>{\"@type\": \"NewsArticle\"}</script>",
    "<script type='application/ld+json'>{\"@type\": [\"BlogPosting\"]}</script>",
    "<meta name='generator' content='WordPress 6.1'>",
]  # fmt: skip
SCRIPTS = "<script src='x.js'></script>" * 12


def parsed(html: str) -> Any:
    return etree.fromstring(html, etree.HTMLParser())


def content(head: str, body: str) -> str | None:
    """The id of the element that is found to hold the content."""
    found = content_of(parsed(f"<html><head>{head}</head><body id=body>{body}</body></html>"))
    return None if found is None else str(found.get("id"))


@pytest.mark.parametrize(
    ("head", "body"),
    [
        # programs with an element of their own, whatever else the page says
        (PRESS[0], "<div id=mw-content-text></div>"),
        (PRESS[2], "<main><div id=here class='theme-doc-markdown markdown'></div></main>"),
        ("", "<main><div id=here class='vp-doc _guide'></div></main>"),
        ("", "<div id=main-content class=wiki-content></div>"),
        ("", "<article id=here class=page><div class=page-body></div></article>"),
        ("", "<div id=preamble></div><div id=page-content></div>"),
        # programs that are known, with a main element
        ("", "<div class=documentwrapper><div class=body id=here role=main></div></div>"),
        ("<meta name=generator content='mkdocs-1.4'>", "<div id=here role=main></div>"),
        ("<meta name=generator content='javadoc/Writer'>", "<main id=here></main>"),
        # and without one
        ("<meta name=generator content='DocBook XSL'>", "<div class=navheader></div><p>x</p>"),
        ("<meta name=Generator content=makeinfo>", "<p>x</p>"),
        ("", "<div class=sphinxsidebar></div><div><section id=here><h1>T</h1></section></div>"),
        # others
        ("", "<main id=here></main>"),
        (SCRIPTS, "<div role=main id=here></div>"),
        ("", "<p>Written by hand.</p>"),
    ],
)  # fmt: skip
def test_the_content_of_documentation_is_found(head: str, body: str) -> None:
    found = content(head, body)
    assert found in (("here", "mw-content-text", "main-content", "page-content")
                     if "here" in body or "content" in body else ("body",))  # fmt: skip


@pytest.mark.parametrize("mark", PRESS)
def test_pages_of_the_press_are_known(mark: str) -> None:
    assert is_of_press(parsed(f"<html><head>{mark}</head><body></body></html>"))
    assert content(mark, "<main><article><p>Words</p></article></main>") is None


@pytest.mark.parametrize(
    "head",
    [SCRIPTS, "<meta property='og:title' content=x>",
     "<link rel=alternate type='application/rss+xml' href=x>"],
)  # fmt: skip
def test_a_page_of_a_site_that_marks_no_content_is_not_clear(head: str) -> None:
    assert content(head, "<div><p>Words</p></div>") is None


def test_the_whole_page_is_read_where_too_little_of_it_is_an_article() -> None:
    paragraph = "<p>The lighthouse was lit for the first time in 1874, and stands to this day.</p>"
    options = "".join(f"<li><code>--option-{n}</code> sets {n}</li>" for n in range(200))
    page = f"<html><head>{SCRIPTS}</head><body><div>{paragraph * 8}</div><ul>{options}</ul></body>"
    reading = read_html(page, "x")
    assert "--option-199" in reading.text
    assert reading.kept > 0.8


def test_an_article_of_the_press_says_how_much_was_left_out() -> None:
    article = "".join(
        f"<p>In the year {n} the lighthouse was lit again, and it stands to this day.</p>"
        for n in range(1874, 1894)
    )
    comments = "".join(f"<p>I am number {n}, and I liked it.</p>" for n in range(20))
    page = (
        f"<html><head>{PRESS[0]}</head><body><article>{article}</article>"
        f"<div class=comments id=comments>{comments}</div></body></html>"
    )
    reading = read_html(page, "x")
    assert "number 7" not in reading.text
    assert 0.6 < reading.kept < 0.9


# ---------------------------------------------------------------- what surrounds the content


WORDS = "<p>The lighthouse was lit for the first time in 1874, and stands to this day.</p>" * 4


def text_of(body: str) -> str:
    """The text of a page of documentation, without the words that make it long enough."""
    text = read_html(f"<html><body><main>{body}<hr>{WORDS}</main></body></html>", "x").text
    return text.partition("The lighthouse")[0].strip()


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<h2>Run<a class=headerlink href='#run'>¶</a></h2>", "## Run"),
        ("<h2>Run <a href='#run'>#</a></h2>", "## Run"),
        ("<h2>Run<a href='#run'>\uf0c1</a></h2>", "## Run"),
        ("<h2>C<a href='x.html#c'>#</a></h2><p>1 <a href='#op'>+</a> 1</p>", "## C\n\n1 + 1"),
        ("<div class=navheader>Prev Next</div>Text", "Text"),
        ("<nav>Home</nav>Text<footer>Edit this page</footer>", "Text"),
        ("<blockquote>Said<footer>A poet</footer></blockquote>", "Said\n\nA poet"),
        ("<div role=navigation>Home</div>Text", "Text"),
        ("<div class=header><a href=a>Next</a> <a href=b>Up</a> [<a href=c>Contents</a>]</div>Text",
         "Text"),
        ("<div class=header><h1>Title</h1></div>", "# Title"),
        ("<h2>History<span class=mw-editsection>[<a href=x>edit</a>]</span></h2>", "## History"),
        ("<table class=highlighttable><tr><td class=linenos>1\n2</td><td><pre>a = 1\nb = 2</pre>"
         "</td></tr></table>", "```\na = 1\nb = 2\n```"),
        ("<pre class='line-numbers'>a = 1</pre>", "```\na = 1\n```"),
        ("<p>x<button>Copy</button></p>", "x"),
        ("<div role=tabpanel hidden>npm install</div>", "npm install"),
        ("<div hidden>Do as I say.</div>", ""),
        ("<aside class=topic><p>Beside it.</p></aside>", "Beside it."),
        # tables of contents
        ("<div class=toc><p>Contents</p><ul><li><a href=a>One</a></li></ul></div>Text", "Text"),
        ("<ul><li><a href='#a'>One</a></li><li><a href='#b'>Two</a></li><li><a href='#c'>Three</a>"
         "</li></ul><h2 id=a>One</h2><h2><a name=b></a>Two</h2><div id=c><h2>Three</h2></div>",
         "## One\n\n## Two\n\n## Three"),
        ("<p>There are:</p><ul><li><a href='#f'>f()</a></li><li><a href='#g'>g()</a></li>"
         "<li><a href='#h'>h()</a></li></ul><p id=f>f() does this.</p>",
         "There are:\n\n+ f()\n+ g()\n+ h()\n\nf() does this."),
        ("<section id=navigation><h2>Navigation</h2><p>How to find your way.</p></section>",
         "## Navigation\n\nHow to find your way."),
        (f"<div class=toc><p>{'What this is about, at length. ' * 20}</p></div>",
         ("What this is about, at length. " * 20).strip()),
        ("<div role=tablist><button id=t1>Bash</button></div><div role=tabpanel hidden"
         " aria-labelledby=t1><p>Type it.</p></div>", "Bash:\n\nType it."),
        ("<ul><li><a href='#a'>One</a> is first</li><li><a href='#b'>Two</a> is next</li>"
         "<li><a href='#c'>Three</a> is last</li></ul>", "- One is first\n- Two is next\n"
         "- Three is last"),
        ("<div class=toctree-wrapper><ul><li><a href=a>One</a><ul><li><a href=b>Two</a></li></ul>"
         "</li><li><a href=c>Three</a></li></ul></div>", "+ One\n  + Two\n+ Three"),
    ],
)  # fmt: skip
def test_what_is_there_to_get_about_is_left_out(html: str, text: str) -> None:
    assert text_of(html) == text


def test_a_page_of_nothing_but_contents_keeps_them() -> None:
    page = "<main><div class=toc><ul><li><a href=a>One</a><li><a href=b>Two</a></ul></div></main>"
    assert read_html(page, "x").text == "+ One\n+ Two"
