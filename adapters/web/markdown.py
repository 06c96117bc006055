"""Answers as HTML: Markdown by markdown-it, then sanitized, whatever it came from.

Answers are written by models from pages that anyone may have written. No HTML of theirs is let
through, links lead to web addresses only, and footnote marks become links that scripts know.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token

from bot.rendering.footnotes import link_target

_MARK = re.compile(r"\[(\d{1,4})\]")
PAGE_HEADINGS = 2  # levels that the page itself uses above an answer
_TAGS = {
    *("p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote"),
    *("pre", "code", "em", "strong", "s", "a", "sup", "div"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
_ATTRIBUTES = {
    "a": {"href", "class", "data-n", "title", "tabindex"},
    "sup": {"class"},
    "ol": {"start"},
    "div": {"class", "tabindex"},
    "th": {"class"},
    "td": {"class"},
}


def answer_html(text: str, targets: Mapping[int, str]) -> str:
    """The Markdown ``text`` as safe HTML. ``targets`` are the URLs of its footnote numbers; a mark
    whose URL is no web address leads to its source in the list below the answer."""
    tokens = _parser().parse(text)
    for token in tokens:
        if token.type == "inline" and token.children:
            token.children = _with_marks(token.children, targets)
    _set_headings(tokens)
    rendered = _parser().renderer.render(tokens, _parser().options, {})
    rendered = rendered.replace("<table>", '<div class="wide" tabindex="0"><table>')
    rendered = rendered.replace("</table>", "</table></div>")
    return nh3.clean(
        rendered,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes={"http", "https"},
        url_relative="deny",
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )


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
    """CommonMark with tables, without HTML, pictures and link definitions ("[1]: …")."""
    parser = MarkdownIt("commonmark", {"html": False})
    return parser.enable(["table", "strikethrough"]).disable(["image", "reference"])


def _with_marks(children: Sequence[Token], targets: Mapping[int, str]) -> list[Token]:
    out: list[Token] = []
    inside_link = 0
    for child in children:
        inside_link += child.type == "link_open"
        inside_link -= child.type == "link_close"
        if child.type != "text" or inside_link:
            out.append(child)
            continue
        end = 0
        for match in _MARK.finditer(child.content):
            number = int(match[1])
            if number not in targets:
                continue
            out.append(_piece("text", child.content[end : match.start()].rstrip(" ")))
            out.append(_piece("html_inline", _mark(number, targets[number])))
            end = match.end()
        out.append(_piece("text", child.content[end:]))
    return out


def _piece(kind: str, content: str) -> Token:
    return Token(kind, "", 0, content=content)


def _mark(number: int, url: str) -> str:
    target = link_target(url)
    leads = f'href="{escape(target, quote=True)}"' if target else 'tabindex="0"'
    return f'<sup class="fn"><a class="mark" data-n="{number}" {leads}>{number}</a></sup>'
