"""Titles of documents: an HTML page's without its site's name, and those in file properties."""

from __future__ import annotations

import re
from typing import Any

_NO_TITLE = re.compile(
    r"\s*+(?:untitled|title|unknown|(?:document|presentation|book|sheet)\d*|slide 1"
    r"|powerpoint presentation|word document"
    r"|microsoft (?:word|powerpoint|excel) - .*+|[^ ]*\.(?:docx?|pptx?|xlsx?|pdf|tex|dvi|indd|qxd"
    r"|rtf|od[tsp]|html?))?\s*+",
    re.IGNORECASE,
)


def meaningful_title(title: str) -> str:
    """The title on one line; "" for one that a program inserted by default."""
    line = " ".join(title.split())
    return "" if _NO_TITLE.fullmatch(line) else line


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
