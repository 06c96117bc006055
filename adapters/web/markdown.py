"""Answers as HTML: Markdown by markdown-it, then sanitized, whatever it came from.

Answers are written by models from pages that anyone may have written. No HTML of theirs is let
through, links lead to web addresses only, and footnote marks become links that scripts know.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from html import escape
from urllib.parse import unquote

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token

from bot.rendering.footnotes import link_target
from bot.rendering.verbatim import answer_parser, with_marks

PAGE_HEADINGS = 2  # levels that the page itself uses above an answer
TAGS = {
    *("p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote"),
    *("pre", "code", "em", "strong", "s", "a", "sup", "div"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
ATTRIBUTES = {
    "a": {"href", "class", "data-n", "title", "tabindex"},
    "sup": {"class"},
    "ol": {"start"},
    "div": {"class", "tabindex"},
    "pre": {"tabindex"},
    "th": {"class"},
    "td": {"class"},
}


def answer_html(text: str, targets: Mapping[int, str], pages: str = "") -> str:
    """The Markdown ``text`` as safe HTML. ``targets`` are the URLs of its footnote numbers; a mark
    whose URL is no web address leads to its source in the list below the answer.

    A link to a page of ``targets`` that is no web address leads to the copy of it under the path
    ``pages``; without one it keeps its words only.
    """
    tokens = _parser().parse(text)
    for token in tokens:
        if token.type == "inline" and token.children:
            token.children = [*_shown(token.children, targets, pages)]
    _set_headings(tokens)
    rendered = _parser().renderer.render(tokens, _parser().options, {})
    return nh3.clean(
        scrolling(rendered),
        tags=TAGS,
        attributes=ATTRIBUTES,
        url_schemes={"http", "https"},
        url_relative="pass_through",  # only to our own copies of pages: see _leads
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )


def scrolling(rendered: str) -> str:
    """Rendered Markdown whose wide tables and code scroll by themselves, by keyboard too."""
    rendered = rendered.replace("<pre>", '<pre tabindex="0">')
    rendered = rendered.replace("<table>", '<div class="wide" tabindex="0"><table>')
    return rendered.replace("</table>", "</table></div>")


def _set_headings(tokens: Sequence[Token]) -> None:
    """The page's own headings come above those of an answer, and no level is left out: who hears
    the page would look for what is missing."""
    opened = [token for token in tokens if token.type == "heading_open"]
    closed = [token for token in tokens if token.type == "heading_close"]
    levels = sorted({token.tag for token in opened})
    above = PAGE_HEADINGS
    for opening, closing in zip(opened, closed, strict=True):
        above = min(PAGE_HEADINGS + 1 + levels.index(opening.tag), above + 1, 6)
        opening.tag = closing.tag = f"h{above}"


@cache
def _parser() -> MarkdownIt:
    return answer_parser()


def _shown(children: Sequence[Token], targets: Mapping[int, str], pages: str) -> Iterator[Token]:
    """Inline tokens with footnote marks as HTML, and links only to where they may lead."""
    pieces = list(with_marks(children, targets))
    kept: list[bool] = []  # of the links that are open: whether they lead anywhere
    for piece, after in zip(pieces, [*pieces[1:], None], strict=True):
        if isinstance(piece, int):
            yield Token("html_inline", "", 0, content=_mark(piece, targets[piece]))
        elif piece.type == "link_open":
            href = _leads(str(piece.attrs.get("href", "")), targets, pages)
            kept.append(bool(href))
            if href:
                yield Token("link_open", "a", 1, attrs={"href": href})
        elif piece.type != "link_close" or kept.pop():
            if isinstance(after, int) and piece.type == "text":
                piece.content = piece.content.rstrip(" ")
            yield piece


def _leads(href: str, targets: Mapping[int, str], pages: str) -> str:
    """The target of a link: a web address, or the stored copy of a page; "" if there is none."""
    if target := link_target(href):
        return target
    numbers = [number for number, url in targets.items() if unquote(url) == unquote(href)]
    return f"{pages}{numbers[0]}" if pages and numbers else ""


def _mark(number: int, url: str) -> str:
    target = link_target(url)
    leads = f'href="{escape(target, quote=True)}"' if target else 'tabindex="0"'
    return f'<sup class="fn"><a class="mark" data-n="{number}" {leads}>{number}</a></sup>'
