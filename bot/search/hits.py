"""Converts the answers of search engines to hits, and keeps page texts that came with them.

These texts replace pages that cannot be fetched. They are kept apart from the hits, because hits
are cached, shown, and stored with every search of a run, and whole pages are too large for that.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from time import monotonic
from typing import TYPE_CHECKING

from bot.core.errors import AddressRefused
from bot.pages.urls import canonical, dedupe_key, domain, parse
from bot.search.provider import GivenText, Hit, Query

if TYPE_CHECKING:
    from cachetools import TTLCache

MOST_TITLE_CHARACTERS = 300
MOST_SNIPPET_CHARACTERS = 2_000

# Only tags that mark words or break lines: "The <div> element" is a title.
_TAG = re.compile(
    r"<(?P<break>br|p)\b[^<>]*>"
    r"|</?(?:a|b|em|font|i|mark|p|small|span|strong|sub|sup|u|wbr)(?:\s(?:\"[^\"]*\"|[^<>\"])*)?/?>"
    r"|<!--(?:(?!<!--).)*?-->",
    re.DOTALL | re.IGNORECASE,
)
_LOOKED_AT = 6_000  # characters of a text that are processed, including markup
_CONTROLS = ("Cc", "Cf", "Cs", "Zl", "Zp")
_KEPT_FORMATS = "\u200c\u200d"  # joiners used inside words of Persian or Hindi, and in emoji


def web_hit(provider: str, url: object, title: object, *snippets: object) -> Hit | None:
    """A hit for a web page, or None if ``url`` is not an http(s) address.

    Title and snippets may contain HTML, with which search engines mark matching words. Several
    snippets are joined by an ellipsis. A page without a title is named after its host.
    """
    if not isinstance(url, str):
        return None
    try:
        address = canonical(url)
    except AddressRefused:
        return None
    texts = dict.fromkeys(filter(None, (plain(snippet) for snippet in snippets)))
    snippet = _cut(" … ".join(texts), MOST_SNIPPET_CHARACTERS)
    name = _cut(plain(title), MOST_TITLE_CHARACTERS) or parse(address).host
    return Hit(name, address, snippet, provider)


def matching_hits(hits: Iterable[Hit | None], query: Query) -> list[Hit]:
    """The hits that match a query's domains: each page once, up to the query's limit."""
    domains = [host_of(each) for each in query.domains]
    kept: dict[str, Hit] = {}
    for hit in hits:
        if hit is not None and (not query.domains or is_within(hit.url, domains)):
            kept.setdefault(dedupe_key(hit.url), hit)
    return list(kept.values())[: max(query.limit, 0)]


def is_within(url: str, domains: Sequence[str]) -> bool:
    """Return True if a page is on one of these hosts, or on a subdomain of one."""
    host = domain(url)
    return any(each and (host == each or host.endswith("." + each)) for each in domains)


def host_of(entry: str) -> str:
    """The host of a list entry: ``example.org``, ``*.example.org`` or a whole URL."""
    entry = entry.strip().removeprefix("*.")
    return domain(entry if "://" in entry else f"https://{entry}")


def plain(text: object) -> str:
    """Text without tags, entities, control characters and line breaks; "" if it is not a string."""
    if not isinstance(text, str):
        return ""
    text = text[:_LOOKED_AT]
    bare = html.unescape(_TAG.sub(lambda match: " " if match["break"] else "", text))
    kept = (
        " " if unicodedata.category(c) in _CONTROLS and c not in _KEPT_FORMATS else c for c in bare
    )
    return " ".join("".join(kept).split())


def short(text: str, characters: int, words: int = 1_000) -> str:
    """The first words of a text that fit; only a first word that is too long by itself is cut."""
    kept = " ".join(text.split()[:words])
    if len(kept) <= characters:
        return kept
    head = kept[: characters + 1].rpartition(" ")[0]
    return head or kept[:characters]


def with_sites(text: str, domains: Sequence[str], characters: int, words: int = 1_000) -> str:
    """A query with ``site:`` operators for its domains, within the engine's length limit.

    Hosts are dropped until the operators take no more than half of the limit; ``matching_hits``
    then filters the hits. If not even one host fits, the query is sent without operators.
    """
    hosts = list(dict.fromkeys(filter(None, map(host_of, domains))))
    while hosts:
        sites = " OR ".join(f"site:{host}" for host in hosts)
        sites = f"({sites})" if len(hosts) > 1 else sites
        room, left = characters - len(sites) - 1, words - len(sites.split())
        if room >= characters // 2 and left >= words // 2:
            return f"{short(text, room, left)} {sites}"
        hosts.pop()
    return short(text, characters, words)


def _cut(text: str, characters: int) -> str:
    return text if len(text) <= characters else short(text, characters - 2) + " …"


KEPT_CHARACTERS = 16_000_000  # in total, per provider
LONGEST = 400_000  # characters of one text; the rest is dropped
KEPT_SECONDS = 3_600.0  # enough for the run that found the page to read it


class SuppliedTexts:
    """The latest texts that an engine supplied; ``by`` is the engine's display name."""

    def __init__(self, by: str, clock: Callable[[], float] = monotonic) -> None:
        from cachetools import TTLCache  # here, because modules of providers import nothing heavy

        self._by = by
        self._texts: TTLCache[str, GivenText] = TTLCache(
            KEPT_CHARACTERS, KEPT_SECONDS, timer=clock, getsizeof=lambda one: len(one.text) + 1_000
        )

    def keep(
        self, url: object, title: object, text: object, media_type: str = "text/markdown"
    ) -> None:
        """Keep the text of a page; invalid addresses and empty texts are ignored."""
        if not (isinstance(url, str) and isinstance(text, str) and text.strip()):
            return
        try:
            address = canonical(url)
        except AddressRefused:
            return
        name = title if isinstance(title, str) else ""
        self._texts[dedupe_key(address)] = GivenText(
            address, name, text[:LONGEST], self._by, media_type
        )

    def keep_excerpts(self, url: object, title: object, excerpts: Iterable[str]) -> None:
        """Keep excerpts of a page, each as a paragraph of plain text, if there are several.

        A single one would only repeat the hit's snippet.
        """
        distinct = list(dict.fromkeys(each.strip() for each in excerpts if each.strip()))
        if len(distinct) > 1:
            self.keep(url, title, "\n\n".join(distinct), "text/plain")

    def of(self, url: str) -> GivenText | None:
        """The text that the engine supplied for the page at an address, if it is still kept."""
        try:
            return self._texts.get(dedupe_key(url))
        except AddressRefused:
            return None
