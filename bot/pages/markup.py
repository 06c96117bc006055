"""Converts HTML to page text: the content of a page without what surrounds it.

If a page marks its content, that part is rendered whole. On other pages trafilatura finds the
article; if it finds too little, the whole page is rendered.
"""

from __future__ import annotations

import re
from typing import Any

from lxml import etree  # type: ignore[import-untyped]

from bot.core.errors import BrowserNeeded
from bot.pages.content import body_of, content_of, is_of_press
from bot.pages.formats.blocks import Reading
from bot.pages.furniture import without_furniture, without_hidden
from bot.pages.gates import Signs, refuse_gate
from bot.pages.page import share
from bot.pages.titles import title_of
from bot.pages.writing import written

_SHORT = 250
"""Characters; below this length trafilatura discards its result (MIN_EXTRACTED_SIZE in its
settings) and returns all words of the page on one line.
"""
_SMALL_PAGE = 3_000
"""Characters of visible text; such a page up to this length is rendered whole, with its structure:
a notice, a table, a glossary. A larger one is mostly navigation.
"""

_NOT_FREE = re.compile(r"\"isAccessibleForFree\"\s*:\s*\"?false", re.IGNORECASE)
"""https://developers.google.com/search/docs/appearance/structured-data/paywalled-content"""

_NO_CHARACTERS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")  # not allowed in XML


_MOST_OF_IT = 0.7
"""Share of a page's text outside links; if trafilatura's result is smaller, it lacks part of the
content, except on news and blog pages, of which half is comments and other articles. Chosen on the
news set of the extraction benchmark, where all pages not marked as news keep at least 0.8.
"""


def read_html(html: str, name: str) -> Reading:
    """Read an HTML document; ``name`` is its name in errors.

    The share of kept text refers to the element that holds the content or, if the page does not
    mark one, to all text outside links.

    Raises ``PageUnreadable`` for a page that is only a login form or an error, ``BrowserNeeded``
    for a page without text, a cookie wall and a bot check.
    """
    tree = parse_html(html)
    if tree is None:
        raise _without_words(name)
    title = title_of(tree)
    signs = _signs(tree)
    canonical = _canonical(tree)
    without_hidden(tree)
    text, kept = _text(tree, html)
    refuse_gate(name, title, text, signs)
    if not text:
        raise _without_words(name)
    return Reading(title, text, kept, canonical)


def _signs(tree: Any) -> Signs:
    data: list[str] = tree.xpath("//script[@type='application/ld+json']/text()")
    return Signs(
        asks_password=bool(tree.xpath("//input[@type='password']")),
        paid=any(_NOT_FREE.search(each) for each in data),
    )


def _canonical(tree: Any) -> str:
    """The page's canonical address, if its head names exactly one."""
    addresses: list[str] = tree.xpath(
        "/html/head/link[contains(concat(' ', translate(@rel, 'CANOIL', 'canoil'), ' '),"
        " ' canonical ')]/@href"
    )
    return addresses[0] if len(set(addresses)) == 1 else ""


def parse_html(html: str) -> Any:
    """Parse a document; None if that fails. Comments are dropped, since browsers do not show them.

    Elements are lxml's own: those of lxml.html, which trafilatura needs, take twice the time.
    """
    html = _NO_CHARACTERS.sub("", html)
    parser = etree.HTMLParser(
        encoding="utf-8", remove_comments=True, remove_pis=True, collect_ids=False
    )
    try:
        return etree.fromstring(html.encode("utf-8"), parser)
    except (etree.LxmlError, ValueError, AssertionError):
        return None


# ---------------------------------------------------------------- text


def _text(tree: Any, html: str) -> tuple[str, float]:
    """The text of a page, and its share of the page's words."""
    content = content_of(tree)
    if content is not None:
        without_furniture(content)
        text = written(content)
        return text, share(text, content.xpath("string()"))
    from bot.pages.articles import article_text  # loads trafilatura

    is_press = is_of_press(tree)
    article = article_text(html)
    body = body_of(tree)
    without_furniture(body)
    links = "".join(text for link in body.iter("a") for text in link.itertext())
    kept = share(article, body.xpath("string()"), without=links)
    if len(article) < _SHORT or (kept < _MOST_OF_IT and not is_press):
        visible = written(body)
        if not article or len(visible) <= _SMALL_PAGE or len(article) >= _SHORT:
            return visible, share(visible, body.xpath("string()"))
    return article, kept


def _without_words(name: str) -> BrowserNeeded:
    return BrowserNeeded(
        f"{name} contains no text that can be read without a browser; paste the text."
    )
