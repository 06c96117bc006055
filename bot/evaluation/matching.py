"""Comparison of answers, quotes and sources with the words and pages that were expected."""

from __future__ import annotations

import re
from functools import cache
from urllib.parse import unquote, urlsplit

from bot.pages.urls import dedupe_key

CJK = "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"

_ALIKE = str.maketrans(
    {"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "‐": "-", "‑": "-", "−": "-"}
)
_MARKS = str.maketrans("", "", "`*|")
_TOKEN = re.compile(f"[{CJK}]|[^\\W{CJK}]+|[^\\w\\s]")
_CJK_CHARACTER = re.compile(f"[{CJK}]")


def normal(text: str) -> str:
    """Text in the form in which words are looked for: no Markdown marks, one kind of quotes and
    dashes, no capitals."""
    return text.translate(_ALIKE).translate(_MARKS).casefold()


def holds(text: str, words: str) -> bool:
    """Whether the words stand in a text, whatever the white space in and around them.

    They must not be part of a longer word or number: "90" does not stand in "1990".
    """
    return holds_normal(normal(text), words)


def holds_normal(text: str, words: str) -> bool:
    """``holds`` for a text that is ``normal`` already."""
    return _pattern(words).search(text) is not None


def is_findable(words: str) -> bool:
    """Whether there is anything in the words that can be looked for."""
    return bool(normal(words).strip())


@cache
def _pattern(words: str) -> re.Pattern[str]:
    plain = normal(words).strip()
    inner = r"\s*".join(re.escape(token) for token in _TOKEN.findall(plain))
    return re.compile(f"(?<!{_same(plain[0])}){inner}(?!{_same(plain[-1])})")


def _same(character: str) -> str:
    """A class of characters that would continue a word or number with this one at its end."""
    if character.isdigit():
        return r"\d"
    is_letter = character.isalpha() and not _CJK_CHARACTER.match(character)
    return rf"[^\W\d{CJK}]" if is_letter else r"(?!)"


def is_page(wanted: str, url: str, title: str = "") -> bool:
    """Whether a page is the one that ``wanted`` names: by its address, by the end of the path in
    its address, or by its title. Capitals do not matter in titles."""
    wanted = wanted.strip()
    if title and wanted.casefold() == title.strip().casefold():
        return True
    if "://" in wanted:
        return dedupe_key(wanted.partition("#")[0]) == dedupe_key(url.partition("#")[0])
    end = wanted.partition("#")[0].removeprefix("./").strip("/")
    path = unquote(urlsplit(url).path).strip("/")
    return bool(end) and (path == end or path.endswith(f"/{end}"))
