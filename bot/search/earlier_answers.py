"""Earlier answers as a source: what they quote, for questions about the same.

    a query → answers with its words → those that the readers of this run may see → their pages

A hit is a page that such an answer quotes, with the quote, and with when and where it was asked.
Reading it reads that page as it is now: a new answer cites pages, never an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bot.core.errors import FootnoteError
from bot.core.lines import label, one_line, shortened
from bot.core.logs import get_logger
from bot.core.messages import UPLOADED, Answer, Citation, people_only, zone_named
from bot.core.posting import Locating, Poster, RunRef
from bot.core.reader import (
    ATTACHED,
    FOUND_IN,
    Reach,
    Reader,
    documents_in,
    is_conversation,
    is_correction,
    is_document,
)
from bot.core.texts import Texts, texts_for
from bot.pages.urls import dedupe_key
from bot.search.conversation_search import day_of
from bot.search.provider import Hit, ProviderKind, Query
from bot.storage.store import RunRecord
from bot.storage.word_search import FoundWords

MOST_ANSWERS = 3  # that a query finds
MOST_PAGES = 3  # of one answer
ASKED, QUOTED = 120, 400  # characters of a question and a quote in a snippet

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
        if query.freshness or query.domains or query.talk.first:
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
        told = asked_sentence(self._texts, question, day_of(at), place)
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
