"""Corrections as a source, limited to those visible to the readers of one run's answer."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Collection, Sequence
from datetime import UTC, datetime

from bot.core.errors import PageUnreadable
from bot.core.lines import label, one_line
from bot.core.reader import Reach, correction_address, is_conversation
from bot.core.texts import Texts
from bot.pages.page import Page
from bot.search.conversation_search import day_of, page_of
from bot.search.provider import UNKNOWN_DOCUMENT, Hit, ProviderKind, Query
from bot.storage.word_search import Correction, Corrections
from bot.text.terms import STOP_WORDS, keywords

MOST_FOUND = 3  # corrections for one query
ENOUGH = 0.5  # a correction must have more than this share of the query's words
SNIPPET = 600  # characters


class CorrectionSearch:
    """Searches the corrections of ``places``, except the one made by the run's own message.

    A page that the author linked follows its correction in the results, so that it can be read.
    Words that a model made from documents out of reach are neither searched nor shown: there the
    author's own words stand alone, or, if a model had to complete them, nothing does.
    """

    name = "corrections"
    kind: ProviderKind = "knowledge"

    def __init__(
        self, stored: Corrections, places: Collection[str], run_id: str, texts: Texts
    ) -> None:
        self._stored = stored
        self._places = places
        self._run_id = run_id
        self._texts = texts
        self._known: dict[str, Correction] | None = None  # by address, the newest first
        self._readable: tuple[Reach, dict[str, Correction]] | None = None  # within the last reach

    async def search(self, query: Query) -> list[Hit]:
        """Return the best hits. Raises ``StorageUnavailable``."""
        hits: list[Hit] = []
        for each in best(await self._within(query.reach), query.text):
            said = f"{each.statement} ({one_line(each.text)})"[:SNIPPET]
            found = [(self._title(each), _address(each), said)]
            if each.link:
                found.append((each.link, each.link, each.statement[:SNIPPET]))
            hits += [Hit(*one, self.name, made_from=each.made_from) for one in found]
        return hits

    async def read(self, url: str, reach: Reach) -> Page:
        """Return a correction as a page: its text under its author, date and subject. Raises
        ``PageUnreadable`` for one that is gone, and ``StorageUnavailable``."""
        known = (await self._all()).get(url)
        current = known and await self._stored.correction(known.id)
        if current is None or _address(current) != url:
            raise PageUnreadable(UNKNOWN_DOCUMENT)
        return self._page(current.within(reach), url)

    def _page(self, each: Correction, url: str) -> Page:
        """Build the page. Above the author's words is the statement they make, if it depends on the
        thread ("it opens at 07:00 now"), or else the question whose answer they correct."""
        said = [(each.author.name, each.at, each.text)]
        page = page_of(url, self._title(each), said, datetime.now(UTC), "")
        about = each.question and self._texts("correction-of", question=one_line(each.question))
        head = about if each.is_own_words else each.statement
        text = f"# {head}\n\n{page.text}" if head else page.text
        digest = hashlib.sha256(text.encode()).hexdigest()
        return Page(url, page.title, text, page.fetched_at, digest, made_from=each.made_from)

    def _title(self, each: Correction) -> str:
        return title_of(each, self._texts)

    async def _within(self, reach: Reach) -> dict[str, Correction]:
        """Return what of the corrections may be searched. In a thread: 2,000 out of reach take half
        a second."""
        if self._readable is None or self._readable[0] != reach:
            known = await self._all()
            found = await asyncio.to_thread(_readable, known, reach)
            self._readable = reach, found
        return self._readable[1]

    async def _all(self) -> dict[str, Correction]:
        if self._known is None:
            found = await self._stored.of_places(self._places)
            self._known = {_address(each): each for each in found if each.id != self._run_id}
        return self._known


def _readable(known: dict[str, Correction], reach: Reach) -> dict[str, Correction]:
    return {
        url: each.within(reach)
        for url, each in known.items()
        if reach.covers(each.made_from) or each.is_own_words
    }


def title_of(each: Correction, texts: Texts) -> str:
    """Return the title for a footnote: "Correction by Ann, #travel, 3 June 2026"."""
    where = f"#{label(each.channel_name)}" if each.channel_name else ""
    said = ", ".join(filter(None, (label(each.author.name), where, day_of(each.at))))
    return texts("correction-title", said=said)


def link_in(links: Sequence[str]) -> str:
    """Return the first page linked by a correction's author that can be read later, or ""."""
    web = (link for link in links if link.startswith(("http://", "https://")))
    return next((link for link in web if not is_conversation(link)), "")


def best(known: dict[str, Correction], text: str) -> list[Correction]:
    """Return the corrections that match a query best; newest first among equals."""
    asked = set(keywords(text)) - STOP_WORDS
    shares = {url: len(asked & each.terms) / max(1, len(asked)) for url, each in known.items()}
    fit = [url for url, share in shares.items() if share > ENOUGH]
    return [known[url] for url in sorted(fit, key=lambda url: -shares[url])[:MOST_FOUND]]


def _address(each: Correction) -> str:
    return correction_address(each.place, each.id, each.url)
