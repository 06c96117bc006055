"""Texts of pages that a search engine gave along with its hits.

They stand in for pages that cannot be fetched. They are kept beside the hits, since a hit is
cached, shown, and stored with every search of a run, where whole pages have no place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import monotonic
from typing import TYPE_CHECKING

from bot.errors import AddressRefused
from bot.pages.urls import canonical, dedupe_key
from bot.search.provider import GivenText

if TYPE_CHECKING:
    from cachetools import TTLCache

KEPT_CHARACTERS = 16_000_000  # of all texts of one provider
LONGEST = 400_000  # characters of one text; the rest is dropped
KEPT_SECONDS = 3_600.0  # a run that found the page reads it by then


class SuppliedTexts:
    """The texts that one engine gave, the newest ones; ``by`` is what people call the engine."""

    def __init__(self, by: str, clock: Callable[[], float] = monotonic) -> None:
        from cachetools import TTLCache  # here: the files of providers load nothing heavy

        self._by = by
        self._texts: TTLCache[str, GivenText] = TTLCache(
            KEPT_CHARACTERS, KEPT_SECONDS, timer=clock, getsizeof=lambda one: len(one.text) + 1_000
        )

    def keep(
        self, url: object, title: object, text: object, media_type: str = "text/markdown"
    ) -> None:
        """Keep the text of a page; nothing of what is no page or no text."""
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
        """Keep excerpts of a page, each a paragraph of plain text, where there are several.

        A single one is what the hit shows already.
        """
        distinct = list(dict.fromkeys(each.strip() for each in excerpts if each.strip()))
        if len(distinct) > 1:
            self.keep(url, title, "\n\n".join(distinct), "text/plain")

    def of(self, url: str) -> GivenText | None:
        """The text that a search engine sent for the page at an address, if it is still kept."""
        try:
            return self._texts.get(dedupe_key(url))
        except AddressRefused:
            return None
