"""Converts HTML to a title and page text: the content of a page without what surrounds it.

If a page marks its content, that part is rendered whole. On other pages trafilatura finds the
article; if it finds too little, the whole page is rendered. Only trafilatura's tree is used: its
own Markdown output escapes words and marks emphasis, while quotes are cut from this text.
"""

from __future__ import annotations

import logging
import re
from typing import Any

from lxml import etree  # type: ignore[import-untyped]

from bot.core.errors import BrowserNeeded
from bot.core.texts import said
from bot.pages.content import (
    body_of,
    content_of,
    is_of_press,
    with_alternatives,
    with_state,
    without_furniture,
    without_hidden,
)
from bot.pages.gates import refuse_gate
from bot.pages.page import LOST_WORD, Reading, compared, share
from bot.pages.page_markdown import STRUCK_END, STRUCK_START, without_breaks_in_cjk
from bot.pages.second_reading import of_html
from bot.pages.writing import make_plain, written

_SHORT = 250
"""Characters; below this length trafilatura discards its result (MIN_EXTRACTED_SIZE in its
settings) and returns all words of the page on one line.
"""
_SMALL_PAGE = 3_000
"""Characters of visible text; such a page up to this length is rendered whole, with its structure:
a notice, a table, a glossary. A larger one is mostly navigation.
"""
_AS_LONG = 0.97  # share of a page's letters, with links, from which its words need no comparison
_FURNITURE = 50
"""Words around the content that no mark tells from it: up to 33 on all but two of 752 pages of 23
manuals.
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
    asks_password = bool(tree.xpath("//input[@type='password']"))
    data: list[str] = tree.xpath("//script[@type='application/ld+json']/text()")
    is_paid = any(_NOT_FREE.search(each) for each in data)
    canonical = _canonical(tree)
    omitted = {"hidden text": without_hidden(tree), "comment": html.count("<!--")}
    title = title_of(tree)
    visible, around, links = of_html(tree)
    with_state(tree)
    text, kept = _text(tree, html)
    refuse_gate(name, title, text, asks_password=asks_password, is_paid=is_paid)
    if not text:
        raise _without_words(name)
    reading = Reading(title, text, kept, canonical, omitted)
    if share(text, visible, without=around) > _AS_LONG:
        return reading
    checked = compared(reading, [(LOST_WORD, visible)], by_rule=f"{around} {links}")
    return checked if checked.omitted.get(LOST_WORD, 0) > _FURNITURE else reading


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
    content = content_of(tree)
    if content is not None:
        with_alternatives(content)
        without_furniture(content)
        text = written(content)
        return text, share(text, _words_in(content))

    is_press = is_of_press(tree)
    article = article_text(html)
    body = body_of(tree)
    without_furniture(body)
    links = "".join(map(_words_in, body.iter("a")))
    kept = share(article, _words_in(body), without=links)
    if len(article) < _SHORT or (kept < _MOST_OF_IT and not is_press):
        visible = written(body)
        if not article or len(visible) <= _SMALL_PAGE or len(article) >= _SHORT:
            return visible, share(visible, _words_in(body))
    return article, kept


def _words_in(element: Any) -> str:
    text: str = element.xpath("string()")
    return text.replace(STRUCK_START, "").replace(STRUCK_END, "")


def _without_words(name: str) -> BrowserNeeded:
    return BrowserNeeded(said("unread-scripted", name=name))


# ---------------------------------------------------------------- articles of the press


# Its warnings say that a page has no content, which the caller notices anyway.
logging.getLogger("trafilatura").setLevel(logging.CRITICAL)


def article_text(html: str) -> str:
    """The text of what trafilatura takes for the article, or ""."""
    import trafilatura  # here because many pages do not need it, and it is slow
    from trafilatura.utils import load_html

    if not html.isascii() and "<pre" not in html:
        html = without_breaks_in_cjk(html)  # trafilatura turns them into spaces
    tree = load_html(html)
    if tree is None:
        return ""
    without_hidden(tree)
    with_state(tree)
    _keep_fixed_width(tree)
    make_plain(tree)
    try:
        document = trafilatura.bare_extraction(
            tree,
            # No comparison with other algorithms' results: F1 on the extraction benchmark is 0.963
            # without it and 0.961 with it, and it takes seconds on large pages.
            fast=True,
            output_format="xml",  # a tree, without the cost of writing it out
            include_comments=False,
            include_formatting=False,
        )
    except Exception:  # noqa: BLE001 - a library at work on hostile input; the page's own text is left
        return ""
    body = getattr(document, "body", None)
    return "" if body is None else written(body)


def _keep_fixed_width(tree: Any) -> None:
    """Make trafilatura keep the line breaks of <pre>, as it does if a <pre> has a single <span>."""
    for pre in list(tree.iter("pre")):
        text = "".join(pre.itertext())
        tail = pre.tail
        pre.clear()
        pre.tail = tail
        etree.SubElement(pre, "span").text = text


# ---------------------------------------------------------------- titles


_SIGN = r"[|–—·•»:(-]"  # between the parts of a title
_BETWEEN = re.compile(r"(?<!\s)\s++(?:[|–—·•»:]|-{1,2}|::)\s++")
_OF_A_MANUAL = re.compile(
    r"\b(?:documentation|docs|manual|handbook|user guide|reference|wiki|version \d)|文档|手册|指南",
    re.IGNORECASE,
)
_NAMES_MANUAL_IN_BRACKETS = re.compile(r"javadoc|makeinfo|texi2", re.IGNORECASE)
_ANCHOR_SIGN = re.compile(
    r"(?<![¶§\s\ue000-\uf8ff])(?<!\s#)[¶§\s\ue000-\uf8ff](?:[¶§\s\ue000-\uf8ff]|(?<=\s)#)*+$"
)  # private use: icon fonts
_SHORTEST = 3  # characters; shorter titles are not looked for in headings


def title_of(tree: Any) -> str:
    """The title of a page, or "".

    The page's heading if it agrees with <title> (otherwise it may be the site's name), else the
    title for sharing on social media, else <title> without the site's name.
    """
    title = _words(tree.find(".//head/title"))
    headings = [words for each in tree.iter("h1") if (words := _ANCHOR_SIGN.sub("", _words(each)))]
    if not title:
        return headings[0] if len(headings) == 1 else ""
    places = [(place, heading) for heading in headings if (place := _place(heading, title)) >= 0]
    if places:
        return min(places)[1]
    title = _without_site(tree, title)
    if len(headings) == 1 and _names(headings[0], title):
        return headings[0]
    shared: list[str] = tree.xpath("//meta[@property='og:title']/@content")
    return (" ".join(shared[0].split()) if shared else "") or title


def _without_site(tree: Any, title: str) -> str:
    """A title without the name of the site or manual at its end."""
    generator = " ".join(tree.xpath("//meta[@name='generator' or @name='Generator']/@content"))
    if title.endswith(")") and _NAMES_MANUAL_IN_BRACKETS.search(generator):
        return title[: _opening(title)].rstrip() or title
    parts = list(_BETWEEN.finditer(title))
    if not parts:
        return title
    site = title[parts[-1].end() :]
    names = tree.xpath("//meta[@property='og:site_name' or @name='application-name']/@content")
    is_site = site.casefold() in (" ".join(name.split()).casefold() for name in names)
    if is_site or _OF_A_MANUAL.search(site):
        return title[: parts[-1].start()].rstrip()
    return title


def _place(heading: str, title: str) -> int:
    """The position of a heading in a title, in characters; -1 if it is not part of it."""
    match = re.search(
        rf"(?:^|{_SIGN}\s+){re.escape(heading)}(?=\s*(?:$|{_SIGN}))", title, re.IGNORECASE
    )
    return match.start() if match else -1


def _names(heading: str, title: str) -> bool:
    """True if a heading consists of a title's words and more, like "Class List" for "List"."""
    whole_words = rf"(?<!\w){re.escape(title)}(?!\w)"
    return len(title) >= _SHORTEST and bool(re.search(whole_words, heading, re.IGNORECASE))


def _opening(title: str) -> int:
    """The position of the bracket that the title's last character closes."""
    depth = 0
    for place in range(len(title) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(title[place], 0)
        if depth == 0:
            return place
    return 0


def _words(element: Any) -> str:
    return "" if element is None else " ".join("".join(element.itertext()).split())
