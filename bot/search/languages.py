"""Parts of a language tag (BCP 47, RFC 5646) that search engines ask for: language, region,
script."""

from __future__ import annotations

from bot.search.provider import Query

_TRADITIONAL_CHINESE = {"HANT", "TW", "HK", "MO"}


def language(query: Query) -> str:
    """The primary language in lower case, ``de`` for ``de-AT``; "" where it is not known."""
    first = _parts(query.language)[0].lower()
    return first if first.isascii() and first.isalpha() and len(first) in (2, 3) else ""


def region(query: Query) -> str:
    """The region in upper case: the query's own, else the one its language tag names; or ""."""
    named = [query.region, *_parts(query.language)[1:]]
    codes = (code.upper() for code in named if len(code) == 2 and code.isascii() and code.isalpha())
    return next(codes, "")


def is_traditional_chinese(query: Query) -> bool:
    """Whether Chinese is asked for in traditional characters."""
    parts = [part.upper() for part in _parts(query.language)]
    named = [*parts[1:], query.region.upper()]
    if "HANS" in named:
        return False
    return parts[0] == "ZH" and not _TRADITIONAL_CHINESE.isdisjoint(named)


def _parts(tag: str) -> list[str]:
    return tag.strip().replace("_", "-").split("-")
