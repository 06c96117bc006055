"""The parts of a page that serve to get about are left out, and nothing else."""

from __future__ import annotations

import pytest

from bot.pages.markup import read_html

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
