"""The article on a page of the press, found by trafilatura.

Its tree is written out by ``bot.pages.writing``: trafilatura's own Markdown escapes words and marks
emphasis, and quotes are cut from this text.
"""

from __future__ import annotations

import logging
from typing import Any

import trafilatura
from lxml import etree  # type: ignore[import-untyped]
from trafilatura.utils import load_html

from bot.pages.formats.blocks import without_breaks_in_cjk
from bot.pages.furniture import without_hidden
from bot.pages.grids import make_plain
from bot.pages.writing import written

# Its warnings say that a page has no content, which the caller finds out by itself.
logging.getLogger("trafilatura").setLevel(logging.CRITICAL)


def article_text(html: str) -> str:
    """The text of what trafilatura takes for the article, or ""."""
    if not html.isascii() and "<pre" not in html:
        html = without_breaks_in_cjk(html)  # trafilatura makes spaces of them
    tree = load_html(html)
    if tree is None:
        return ""
    without_hidden(tree)
    _keep_fixed_width(tree)
    make_plain(tree)
    try:
        document = trafilatura.bare_extraction(
            tree,
            # Not compared with other algorithms' choices: F1 of the extraction bench is 0.963 so,
            # 0.961 with the comparison, which takes seconds on large pages.
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
    """Make trafilatura keep the line breaks of <pre>: it does for a <pre> with a single <span>."""
    for pre in list(tree.iter("pre")):
        text = "".join(pre.itertext())
        tail = pre.tail
        pre.clear()
        pre.tail = tail
        etree.SubElement(pre, "span").text = text
