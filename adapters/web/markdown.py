"""Renders answers as HTML: Markdown by markdown-it, which is then always sanitized.

Models write answers from pages that anyone may have written. Their HTML is removed, links lead to
web addresses only, and footnote marks become links that scripts recognise.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from urllib.parse import unquote

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token

from adapters.web.code import coloured, language_of
from adapters.web.formulas import Formulas, read_formulas
from bot.rendering.footnotes import link_target
from bot.rendering.verbatim import answer_parser, with_marks

PAGE_HEADINGS = 2  # levels that the page itself uses above an answer
TAGS = {
    *("p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote"),
    *("pre", "code", "em", "strong", "s", "a", "sup", "div", "span", "mark"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
ATTRIBUTES = {
    "a": {"href", "class", "role", "data-n", "data-q", "title", "tabindex", "target"},
    "sup": {"class"},
    "p": {"class"},
    "li": {"class"},
    "ol": {"start"},
    "div": {"class", "tabindex"},
    "pre": {"tabindex"},
    "code": {"class"},
    "span": {"class", "id"},
    "mark": {"data-q"},
    "th": {"class"},
    "td": {"class"},
}
_FIGURE = re.compile(r"[-+−±~≈<>≤≥]?\s?[$€£¥]?\d[\d.,\s\u2009%]*\s?(?:[A-Za-zµ°%€£¥]{1,4})?")
_ALIGNED = re.compile(r"text-align:(right|center)")
_SENTENCE_END = re.compile(r"[.!?…](?:\s|$)|[。！？]")


@dataclass(frozen=True, slots=True)
class Place:
    """The target of a footnote mark: a URL of the console, and the anchors of the quotes that
    support its sentence, the closest match first."""

    href: str
    quotes: tuple[str, ...] = ()


Places = Callable[[int, str], Place]
"""Finds the place of a footnote number by the words of its sentence."""


def answer_html(
    text: str, targets: Mapping[int, str], pages: str = "", places: Places | None = None
) -> str:
    """Render the Markdown ``text`` as safe HTML. ``targets`` are the URLs of its footnote numbers.

    A mark leads to its place in ``places``, or without these to its URL, if that is a web address.
    A link to a page of ``targets`` that is not on the web leads to the stored copy below the path
    ``pages``; without that path only the link's words are kept.
    """
    tokens = _parser().parse(text)
    formulas = Formulas()
    shown = _Shown(targets, pages, places, formulas)
    for token in tokens:
        if token.type == "inline" and token.children:
            token.children = [*shown.inline(token.children)]
        elif token.type == "fence":
            language = language_of(token.info)
            pieces = coloured(token.content, language)
            token.type, token.content = "html_block", fence_html(_coloured(pieces), language)
        elif token.type == "formula":
            place = formulas.place(token.content, token.markup, True)
            token.type, token.content = "html_block", f"<p>{place}</p>"
        else:
            shown.begin(token)
    set_headings(tokens, PAGE_HEADINGS)
    set_columns(tokens)
    return formulas.put_in(safe(_parser().renderer.render(tokens, _parser().options, {})))


def inline_html(text: str) -> str:
    """Render one line of Markdown as safe HTML, without footnotes and links."""
    shown = _Shown({}, "", None, Formulas())
    tokens = _parser().parseInline(text)
    for token in tokens:
        token.children = [*shown.inline(token.children or ())]
    return shown.formulas.put_in(safe(_parser().renderer.render(tokens, _parser().options, {})))


def safe(rendered: str) -> str:
    """Sanitize rendered Markdown: keep only what our Markdown can produce."""
    # nh3 escapes a text in time that grows with its square; comments, which it drops, divide it.
    divided = _TAG_OR_TEXT.sub(
        lambda found: f"{found[0]}<!---->" if len(found[0]) >= DIVIDED and found[1] else found[0],
        rendered,
    )
    return nh3.clean(
        scrolling(divided),
        tags=TAGS,
        attributes=ATTRIBUTES,
        url_schemes={"http", "https"},
        url_relative="pass_through",  # only for our own copies of pages: see _leads
        link_rel="noopener noreferrer nofollow",
    )


def fence_html(code: str, language: str) -> str:
    """Return a code block for code that is HTML already."""
    about = f' class="language-{escape(language)}"' if language else ""
    return f"<pre><code{about}>{code}</code></pre>\n"


def _coloured(pieces: Sequence[tuple[str, str]]) -> str:
    return "".join(
        f'<span class="{colour}">{escape(words)}</span>' if colour else escape(words)
        for colour, words in pieces
    )


def scrolling(rendered: str) -> str:
    """Make wide tables and code scroll on their own, also by keyboard."""
    rendered = rendered.replace("<pre>", '<pre tabindex="0">')
    rendered = rendered.replace("<table>", '<div class="wide" tabindex="0"><table>')
    return rendered.replace("</table>", "</table></div>")


def set_headings(tokens: Sequence[Token], below: int) -> None:
    """Shift headings below ``below`` levels of the page, without skipping a level, which would
    confuse users of screen readers."""
    opened = [token for token in tokens if token.type == "heading_open"]
    closed = [token for token in tokens if token.type == "heading_close"]
    levels = sorted({token.tag for token in opened})
    above = below
    for opening, closing in zip(opened, closed, strict=True):
        above = min(below + 1 + levels.index(opening.tag), above + 1, 6)
        opening.tag = closing.tag = f"h{above}"


def set_columns(tokens: Sequence[Token]) -> None:
    """Align cells by class, because the policy forbids styles, and columns of figures right."""
    cells: list[tuple[int, Token, str]] = []  # of one table: column, opening token, words
    column = 0
    for token, after in zip(tokens, [*tokens, None][1:], strict=True):
        if token.type == "table_open":
            cells = []
        elif token.type == "tr_open":
            column = 0
        elif token.type in ("th_open", "td_open"):
            words = after.content if after is not None else ""
            cells.append((column, token, words.strip()))
            column += 1
        elif token.type == "table_close":
            _align(cells)


def _align(cells: Sequence[tuple[int, Token, str]]) -> None:
    by_column: dict[int, list[str]] = {}
    for column, token, words in cells:
        if token.type == "td_open" and words:
            by_column.setdefault(column, []).append(words)
    figures = {
        column
        for column, words in by_column.items()
        if all(_FIGURE.fullmatch(_MARKS.sub("", one).strip("*` ")) for one in words)
    }
    for column, token, _ in cells:
        stated = _ALIGNED.search(str(token.attrs.pop("style", "")))
        if stated or column in figures:
            token.attrSet("class", stated[1] if stated else "right")


DIVIDED = 2_000  # characters of a text without tags
_TAG_OR_TEXT = re.compile(rf"<[^<>]*+>|((?:&[#\w]{{1,32}};|[^<>&]){{1,{DIVIDED}}}+)")
_MARKS = re.compile(r"(?:(?<!\s)\s++)?\[\d{1,4}\]")


@cache
def _parser() -> MarkdownIt:
    return read_formulas(answer_parser())


class _Shown:
    """Converts inline tokens: footnote marks to HTML, and links to allowed targets."""

    def __init__(
        self, targets: Mapping[int, str], pages: str, places: Places | None, formulas: Formulas
    ) -> None:
        self.formulas = formulas
        self._targets = targets
        self._pages = pages
        self._places = places
        self._said = ""  # the text of this paragraph, item or row so far

    def begin(self, token: Token) -> None:
        """Begin a block."""
        if token.type in ("paragraph_open", "heading_open", "tr_open"):
            self._said = ""
        elif token.type in ("th_open", "td_open"):
            self._said += " "

    def inline(self, children: Sequence[Token]) -> Iterator[Token]:
        pieces = list(with_marks(children, self._targets))
        kept: list[bool] = []  # for each open link: whether it is kept
        for piece, after in zip(pieces, [*pieces[1:], None], strict=True):
            if isinstance(piece, int):
                yield Token("html_inline", "", 0, content=self._mark(piece))
            elif piece.type == "formula":
                place = self.formulas.place(piece.content, piece.markup, piece.block)
                yield Token("html_inline", "", 0, content=place)
            elif piece.type == "link_open":
                href = _leads(str(piece.attrs.get("href", "")), self._targets, self._pages)
                kept.append(bool(href))
                if href:
                    yield Token("link_open", "a", 1, attrs={"href": href, "target": "_blank"})
            elif piece.type != "link_close" or kept.pop():
                if isinstance(after, int) and piece.type == "text":
                    piece.content = piece.content.rstrip(" ")
                self._said += " " if piece.type == "softbreak" else piece.content
                yield piece

    def _mark(self, number: int) -> str:
        target = link_target(self._targets[number])
        leads = f'href="{escape(target)}" target="_blank"' if target else 'tabindex="0"'
        if self._places is not None:
            place = self._places(number, _last_sentence(self._said))
            leads = f'href="{escape(place.href)}"'
            if place.quotes:
                leads += f' data-q="{escape(" ".join(place.quotes))}"'
        # The role makes screen readers announce a note reference, and not a link named "1".
        about = f'class="mark" data-n="{number}" role="doc-noteref"'
        return f'<sup class="fn"><a {about} {leads}>{number}</a></sup>'


def _last_sentence(said: str) -> str:
    parts = [part for part in _SENTENCE_END.split(said) if part.strip()]
    return parts[-1] if parts else ""


def _leads(href: str, targets: Mapping[int, str], pages: str) -> str:
    """Return a link's target: a web address or the stored copy of a page; "" if there is none."""
    if target := link_target(href):
        return target
    numbers = [number for number, url in targets.items() if unquote(url) == unquote(href)]
    return f"{pages}{numbers[0]}" if pages and numbers else ""
