"""Earlier answers and people's corrections of them as sources, for the readers of one answer.

    a query → what has its words → what the readers of this run may see → pages

A hit of an answer is a page that it quotes, with the quote, and with when and where it was asked.
Reading it reads that page as it is now: a new answer cites pages, never an answer. A correction is
a page of its own.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime, tzinfo

from bot.core.errors import FootnoteError, PageUnreadable
from bot.core.lines import is_unnamed, label, one_line, shortened
from bot.core.logs import get_logger
from bot.core.messages import UPLOADED, Answer, Citation, people_only, zone_named
from bot.core.posting import Locating, Poster, RunRef
from bot.core.reader import (
    ATTACHED,
    FOUND_IN,
    Reach,
    Reader,
    correction_address,
    documents_in,
    is_conversation,
    is_correction,
    is_document,
)
from bot.core.texts import Texts, listed, texts_for, whole_day
from bot.pages.page import Page
from bot.pages.urls import dedupe_key
from bot.search.conversation_search import without_headings
from bot.search.provider import UNKNOWN_DOCUMENT, Hit, ProviderKind, Query
from bot.storage.store import RunRecord
from bot.storage.word_search import Correction, Corrections, FoundWords
from bot.text.terms import STOP_WORDS, keywords

MOST_ANSWERS = 3  # that a query finds
MOST_PAGES = 3  # of one answer
ASKED, QUOTED = 120, 400  # characters of a question and a quote in a snippet
MOST_CORRECTIONS = 3  # for one query
ENOUGH = 0.5  # a correction must have more than this share of the query's words
SNIPPET = 600  # characters of a correction

log = get_logger()


class EarlierAnswers:
    """The answers for the readers of the run ``asked``, except those of its own thread, which its
    transcript has. ``reference`` gives the poster's form of a run."""

    name = "answers"

    def __init__(
        self,
        words: FoundWords,
        asked: RunRecord,
        reader: Reader,
        posters: Mapping[str, Poster],
        reference: Callable[[RunRecord], RunRef],
    ) -> None:
        self._words = words
        self._asked = asked
        self._reader = reader
        self._poster = posters[asked.message.thread.platform]
        self._reference = reference
        self._texts = texts_for(asked.message.locale)
        self._places: dict[str, str | None] = {}  # by the run that was asked there
        self._is_indexed = False

    async def search(self, query: Query, kind: ProviderKind | None) -> list[Hit]:
        """Return the pages that the best answers quote. Raises ``StorageUnavailable``."""
        if query.freshness or query.domains or query.talk.first or query.only:
            return []
        if not self._is_indexed:
            await self._words.index()  # the latest ones
            self._is_indexed = True
        hits: dict[str, Hit] = {}
        answers = 0
        for record in await self._words.answered(query.text, self._asked.message.thread):
            if answers == MOST_ANSWERS:
                break
            answer = record.answer
            if answer is None or not _is_told(answer, query.reach):
                continue
            quoted = _quoted(answer, kind)
            place = await self._place(record) if quoted else None
            if place is None:
                continue
            answers += 1
            for each in quoted[:MOST_PAGES]:
                hits.setdefault(each.url, self._hit(record, answer, each, place))
        return list(hits.values())

    def _hit(self, record: RunRecord, answer: Answer, cited: Citation, place: str) -> Hit:
        at = record.accepted_at.astimezone(zone_named(self._asked.options.zone))
        question = shortened(one_line(people_only(record.asked)), ASKED)
        told = asked_sentence(self._texts, question, self._texts.say(whole_day(at)), place)
        snippet = f"{told} {shortened(one_line(cited.quote), QUOTED)}"
        made_from = documents_in(answer.rests_on)
        return Hit(cited.title, cited.url, snippet, self.name, made_from=made_from)

    async def _place(self, earlier: RunRecord) -> str | None:
        """Return the name of an answer's channel, "" for that of this run; None if not all readers
        of this run may see it."""
        if earlier.id not in self._places:
            self._places[earlier.id] = await self._located(earlier)
        return self._places[earlier.id]

    async def _located(self, earlier: RunRecord) -> str | None:
        here, there = self._asked.message.thread, earlier.message.thread
        if not isinstance(self._poster, Locating):
            return "" if here.place == there.place else None
        try:
            where = await self._poster.whereabouts(self._reference(earlier))
        except FootnoteError as error:
            log.info("earlier answer not located", earlier=earlier.id, error=str(error))
            return None
        if here.place == there.place and where.place != there.key:
            return ""
        is_hidden = self._reader.guest or earlier.options.audience in ("person", "outsiders")
        if is_hidden or where.place != there.home or here.home != there.home:
            return None
        return f"#{where.channel_name}"


def asked_sentence(texts: Texts, question: str, day: str, place: str) -> str:
    """Return when and where a question was asked; ``place`` is the name of a channel, "#" if it is
    unknown, "" for the same channel."""
    where = texts("asked-there", place=label(place)) if place else texts("asked-here")
    where = texts("asked-elsewhere") if place == "#" else where
    return texts("asked-earlier", question=label(question), date=day, where=where)


def _is_told(answer: Answer, reach: Reach) -> bool:
    """Return True if an answer serves other questions, for readers with this reach: what people
    said in conversations may serve one question only."""
    rests_on = answer.rests_on
    spoken = (url.startswith(FOUND_IN) or is_conversation(url) for url in rests_on)
    return not any(spoken) and reach.covers(rests_on)


def _quoted(answer: Answer, kind: ProviderKind | None) -> list[Citation]:
    """Return the first quote of each page that an answer quotes and a search of this kind finds."""
    found: dict[str, Citation] = {}
    for each in answer.citations:
        is_of_message = each.url.startswith(UPLOADED) or each.url.endswith(ATTACHED)
        if not each.quote or is_of_message or is_correction(each.url):
            continue
        if kind is None or is_document(each.url) == (kind == "knowledge"):
            found.setdefault(dedupe_key(each.url), each)
    return list(found.values())


class CorrectionSearch:
    """Searches the corrections of ``places``, except the one made by the run's own message.

    A page that the author linked follows its correction in the results, so that it can be read.
    Words that a model made from documents out of reach are neither searched nor shown: there the
    author's own words stand alone, or, if a model had to complete them, nothing does.
    """

    name = "corrections"
    kind: ProviderKind = "knowledge"

    def __init__(
        self,
        stored: Corrections,
        places: Collection[str],
        run_id: str,
        texts: Texts,
        zone: tzinfo = UTC,
    ) -> None:
        self._stored = stored
        self._places = places
        self._run_id = run_id
        self._texts = texts
        self._zone = zone
        self._known: dict[str, Correction] | None = None  # by address, the newest first
        self._readable: tuple[Reach, dict[str, Correction]] | None = None  # within the last reach

    async def search(self, query: Query) -> list[Hit]:
        """Return the best hits. Raises ``StorageUnavailable``."""
        hits: list[Hit] = []
        for each in best(await self._within(query.reach), query.text):
            beside = self._about(each) if each.is_own_words else one_line(each.text)
            said = f"{each.statement} ({beside})"[:SNIPPET] if beside else each.statement
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
        head = self._about(each) if each.is_own_words else each.statement
        text = "\n\n".join(filter(None, (head and f"# {head}", without_headings(each.text))))
        digest = hashlib.sha256(text.encode()).hexdigest()
        now = datetime.now(UTC)
        return Page(url, self._title(each), text, now, digest, made_from=each.made_from)

    def _about(self, each: Correction) -> str:
        asked = one_line(each.question)
        return self._texts("correction-of", question=asked) if asked else ""

    def _title(self, each: Correction) -> str:
        return title_of(each, self._texts, self._zone)

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


def title_of(each: Correction, texts: Texts, zone: tzinfo = UTC) -> str:
    """Return the title for a footnote: "Correction by Ann, #travel, 3 June 2026"."""
    day = whole_day(each.at.astimezone(zone))
    when = texts.say(listed([f"#{label(each.channel_name)}", day]) if each.channel_name else day)
    if is_unnamed(each.author, each.thread):
        return texts("correction-title-own", when=when)
    return texts("correction-title", name=label(each.author.name), when=when)


def link_in(links: Sequence[str]) -> str:
    """Return the first page linked by a correction's author that can be read later, or ""."""
    web = (link for link in links if link.startswith(("http://", "https://")))
    return next((link for link in web if not is_conversation(link)), "")


def best(known: dict[str, Correction], text: str) -> list[Correction]:
    """Return the corrections that match a query best; newest first among equals."""
    asked = set(keywords(text)) - STOP_WORDS
    shares = {url: len(asked & each.terms) / max(1, len(asked)) for url, each in known.items()}
    fit = [url for url, share in shares.items() if share > ENOUGH]
    return [known[url] for url in sorted(fit, key=lambda url: -shares[url])[:MOST_CORRECTIONS]]


def _address(each: Correction) -> str:
    return correction_address(each.place, each.id, each.url)
