"""HTML to page text: what a page says, without what surrounds it.

trafilatura finds the main content; its tree, or the page's own where it finds too little, is
written out as the text that ``Page`` describes. Writing it ourselves keeps words as they are on
the page: trafilatura's Markdown escapes them and marks emphasis, and quotes are cut from this text.
"""

from __future__ import annotations

import logging
import re
from copy import deepcopy
from typing import Any, NamedTuple

import lxml.html  # type: ignore[import-untyped]
import trafilatura
from trafilatura.utils import load_html

from bot.errors import PageUnreadable
from bot.pages.content import content_of
from bot.pages.furniture import without_furniture
from bot.pages.gates import Signs, refuse_gate
from bot.pages.grids import make_plain
from bot.pages.writing import written

# Its warnings say that a page has no content, which is said here as an error or not at all.
logging.getLogger("trafilatura").setLevel(logging.CRITICAL)

_NO_CONTENT = (
    *("script", "style", "noscript", "template", "svg", "math", "iframe", "object", "canvas"),
    *("nav", "footer", "aside", "form", "button", "select", "dialog", "audio", "video", "map"),
    *("head", "title", "textarea", "input", "label"),
)

_STYLE = "translate(@style, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ ', 'abcdefghijklmnopqrstuvwxyz')"
_HIDDEN = (
    f"//*[@hidden or contains({_STYLE}, 'display:none') or contains({_STYLE}, 'visibility:hidden')]"
)
_HIDDEN_AT_MOST = 0.5
"""Share of a page's text that may be hidden; a page that hides more shows it by script."""

_SHORT = 250
"""Characters under which trafilatura gives up its choice (MIN_EXTRACTED_SIZE in its settings) and
returns all words of the page on one line."""
_SMALL_PAGE = 3_000
"""Characters of visible text up to which such a page is written out whole, with its structure: a
notice, a table, a glossary. A larger one is mostly navigation."""

_LARGE = 1_000_000
"""Characters of HTML above which trafilatura does not compare its choice with other algorithms'; on
a page of that size the comparison takes seconds and changes little."""

_NOT_FREE = re.compile(r"\"isAccessibleForFree\"\s*:\s*\"?false", re.IGNORECASE)
"""https://developers.google.com/search/docs/appearance/structured-data/paywalled-content"""

_CJK = "\u2e80-\u303f\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff01-\uff60"
_BREAK_IN_CJK = re.compile(f"(?<=[{_CJK}])[ \t]*\r?\n[ \t]*(?=[{_CJK}])")


class Reading(NamedTuple):
    """What an HTML document says; title and canonical address may be empty, the latter relative."""

    title: str
    text: str
    canonical: str = ""


def read_html(html: str, name: str) -> Reading:
    """What an HTML document says; ``name`` is what errors call it.

    Raises ``PageUnreadable`` for a page without words, and for one that is only a login form, a
    cookie wall or a check for robots.
    """
    tree = _parsed(html)
    if tree is None:
        raise _without_words(name)
    title = _title(tree)
    signs = _signs(tree)
    canonical = _canonical(tree)
    _drop_hidden(tree)
    content = content_of(tree)
    if content is None:
        _keep_fixed_width(tree)
        make_plain(tree)
        text = _main_text(tree, quick=len(html) > _LARGE)
    else:
        without_furniture(content)
        text = written(content)
    refuse_gate(name, title, text, signs)
    if not text:
        raise _without_words(name)
    return Reading(title, text, canonical)


def _signs(tree: Any) -> Signs:
    data: list[str] = tree.xpath("//script[@type='application/ld+json']/text()")
    return Signs(
        asks_password=bool(tree.xpath("//input[@type='password']")),
        paid=any(_NOT_FREE.search(each) for each in data),
    )


def _canonical(tree: Any) -> str:
    """Where the page says it is at home: in its head, and in one place only."""
    said: list[str] = tree.xpath(
        "/html/head/link[contains(concat(' ', translate(@rel, 'CANOIL', 'canoil'), ' '),"
        " ' canonical ')]/@href"
    )
    return said[0] if len(set(said)) == 1 else ""


def _parsed(html: str) -> Any:
    if not html.isascii() and "<pre" not in html:
        # East Asian text has no spaces where its source has line breaks (CSS Text 3, 4.1.3)
        html = _BREAK_IN_CJK.sub("", html)
    try:
        tree = load_html(html)
        return lxml.html.document_fromstring(html) if tree is None else tree
    except (lxml.etree.LxmlError, ValueError, AssertionError):
        return None


# ---------------------------------------------------------------- title


def _title(tree: Any) -> str:
    """The only <h1> if <title> repeats it (else it may be the site's name), or what a page says."""
    title = _words(tree.find(".//head/title"))
    headings = tree.findall(".//h1")
    heading = _words(headings[0]) if len(headings) == 1 else ""
    if heading and (not title or heading.casefold() in title.casefold()):
        return heading
    shared: list[str] = tree.xpath("//meta[@property='og:title']/@content")
    return (" ".join(shared[0].split()) if shared else "") or title or heading


def _words(element: Any) -> str:
    return "" if element is None else " ".join("".join(element.itertext()).split())


# ---------------------------------------------------------------- text


def _main_text(tree: Any, *, quick: bool) -> str:
    article = _article(tree, quick=quick)
    if len(article) >= _SHORT:
        return article
    visible = _visible(tree)
    return visible if not article or len(visible) <= _SMALL_PAGE else article


def _article(tree: Any, *, quick: bool) -> str:
    """What trafilatura takes for the content, or ""; quick is without a second opinion."""
    try:
        document = trafilatura.bare_extraction(
            tree,
            fast=quick,
            output_format="xml",  # a tree, without the cost of writing it out
            include_comments=False,
            include_formatting=False,
        )
    except Exception:  # noqa: BLE001 - a library at work on hostile input; the page's own text is left
        return ""
    body = getattr(document, "body", None)
    return "" if body is None else written(body)


def _visible(tree: Any) -> str:
    """All text of a page but its navigation, forms and scripts."""
    body = tree.find(".//body")
    content = deepcopy(tree if body is None else body)
    for element in list(content.iter(*_NO_CONTENT)):
        if element is not content:
            element.drop_tree()
    return written(content)


def _drop_hidden(tree: Any) -> None:
    """Remove what a reader does not see, where instructions to machines like to hide."""
    found = [element for element in tree.xpath(_HIDDEN) if element.tag not in ("html", "body")]
    all_hidden = set(found)
    hidden = [element for element in found if all_hidden.isdisjoint(element.iterancestors())]
    if _length(hidden) <= _HIDDEN_AT_MOST * _length([tree]):
        for element in hidden:
            element.drop_tree()


def _length(elements: list[Any]) -> int:
    """Characters of text in the elements, scripts and white space aside."""
    return sum(
        len("".join(text.split()))
        for element in elements
        for text in element.xpath(".//text()[not(parent::script or parent::style)]")
    )


def _keep_fixed_width(tree: Any) -> None:
    """Make trafilatura keep the line breaks of <pre>: it does for a <pre> with a single <span>."""
    for pre in list(tree.iter("pre")):
        text = pre.text_content()
        tail = pre.tail
        pre.clear()
        pre.tail = tail
        lxml.etree.SubElement(pre, "span").text = text


def _without_words(name: str) -> PageUnreadable:
    return PageUnreadable(
        f"{name} holds no text that can be read without a browser; paste the text."
    )
