"""HTML documents with structure, made up by hypothesis, and their words by another reader.

Every word of a document is unique (w0, w1, …), so that one which is lost, doubled or out of its
place is seen.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html.parser import HTMLParser
from itertools import count

from hypothesis import strategies as st

WORD = re.compile(r"[wn]\d+")

_INLINE = [
    "{}", "{}", "<b>{}</b>", "<i>{}</i>", "<a href='x.html'>{}</a>", "<code>{}</code>",
    "<code>__init__({})</code>", "<kbd>{}</kbd>", "<code>`{}`</code>", "<span>{}</span>",
    "{}<br>", "2*{}*4", "__{}__", "_{}_", "*{}", "[{}][1]", "{}\\*", "<q>{}</q>", "<tt> {}</tt>",
    "<code>{}</code><code>[0]</code>", "# {}", "({})", "2<sup>31</sup> {}", "{} &amp;lt; &lt;b&gt;",
    "<strong>{}</strong>:", "`{}'", "| {}", "- {}", "1. {}", "+ {}",
]  # fmt: skip
_CODE_LINES = ["{}", "  if {}:", "# {}", "", "*{}*  [0][1]", "```{}", "$ run {} \\", "&lt;{}&gt;"]
_BOXES = ["<div>{}</div>", "<section>{}</section>", "<blockquote>{}</blockquote>",
          "<div class='note'><h3>{}</h3></div>", "<details><summary>{}</summary></details>",
          "<div class='admonition'><p class='admonition-title'>{}</p></div>"]  # fmt: skip

_inline = st.lists(st.sampled_from(_INLINE), min_size=1, max_size=5).map(" ".join)
_paragraph = _inline.map("<p>{}</p>".format)
_heading = st.tuples(st.sampled_from(["h1", "h2", "h3", "h4"]), _inline).map(
    lambda made: f"<{made[0]}>{made[1]}</{made[0]}>"
)
_code = st.lists(st.sampled_from(_CODE_LINES), min_size=1, max_size=4).map(
    lambda lines: "<pre class='code'>start {}\n" + "\n".join(lines) + "\n</pre>"
)


def _table(rows: list[list[str]]) -> str:
    width = max(map(len, rows))
    cells = [[*row, *["{}"] * (width - len(row))] for row in rows]
    head = "".join(f"<th>{cell}</th>" for cell in cells[0])
    body = "".join(
        "<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in cells[1:]
    )
    return f"<table><tr>{head}</tr>{body}</table>"


_tables = st.lists(st.lists(_inline, min_size=2, max_size=3), min_size=1, max_size=3).map(_table)


def _nested(blocks: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    several = st.lists(blocks, min_size=1, max_size=3).map("".join)
    content = st.one_of(_inline, several)
    items = st.lists(content.map("<li>{}</li>".format), min_size=1, max_size=3).map("".join)
    terms = st.lists(
        st.tuples(_inline, content).map(lambda made: f"<dt>{made[0]}</dt><dd>{made[1]}</dd>"),
        min_size=1,
        max_size=3,
    ).map("".join)
    return st.one_of(
        st.tuples(st.sampled_from(["ul", "ol"]), items).map(
            lambda made: f"<{made[0]}>{made[1]}</{made[0]}>"
        ),
        terms.map("<dl>{}</dl>".format),
        st.tuples(st.sampled_from(_BOXES), several).map(lambda made: made[0] + made[1]),
    )


_block = st.recursive(
    st.one_of(_paragraph, _paragraph, _heading, _code, _tables), _nested, max_leaves=8
)

_PAGES = [
    "<html><body><nav>{menu}</nav><main>{content}</main><footer>{menu}</footer></body></html>",
    "<html><body><div role='navigation'>{menu}</div><div class='document'><div class='body'"
    " role='main'>{content}</div><div class='sphinxsidebar'>{menu}</div></div></body></html>",
    "<html><head><meta name='generator' content='DocBook XSL Stylesheets'></head><body><div"
    " class='navheader'>{menu}</div><div class='chapter'>{content}</div><div class='navfooter'>"
    "{menu}</div></body></html>",
    "<html><body><div id='mw-navigation'>{menu}</div><div id='content'><div id='mw-content-text'>"
    "{content}</div></div></body></html>",
    "<html><body>{content}</body></html>",
    "{content}",
]


@dataclass(frozen=True, slots=True)
class Document:
    """HTML, the words of its content in order, and the code that it shows line by line."""

    html: str
    words: tuple[str, ...]
    code: tuple[str, ...]


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """Pages whose content is marked in one of several ways, with navigation around it."""
    template = draw(st.lists(_block, min_size=1, max_size=5).map("".join))
    numbers = count()
    content = re.sub(r"\{\}", lambda _: f"w{next(numbers)}", template)
    menu = " ".join(f"<a href='{n}.html'>n{n}</a>" for n in range(5))
    page = draw(st.sampled_from(_PAGES)).replace("{content}", content).replace("{menu}", menu)
    reader = _Reader()
    reader.feed(content)
    reader.close()
    return Document(page, tuple(WORD.findall(reader.text)), tuple(reader.code))


class _Reader(HTMLParser):
    """Another converter: all text in order, that of <pre> apart as well."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.text = ""
        self.code: list[str] = []
        self._in_code = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.text += "" if tag in ("b", "i", "code", "span", "sup", "a") else " "
        if tag == "pre":
            self._in_code = True
            self.code.append("")

    def handle_endtag(self, tag: str) -> None:
        self._in_code = self._in_code and tag != "pre"

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._in_code:
            self.code[-1] += data
