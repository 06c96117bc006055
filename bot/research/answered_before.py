"""Earlier answers to the same question: offered besides research, or given instead of it.

    the question → an earlier answer its asker may see → its sources read again → the notice

The plan shows the earlier answer as soon as it is found. Its cited pages are then read again,
concurrently and without the cache, and compared by their digests. Finding the answer and reading
its sources are steps of the run, so a later attempt offers the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime
from typing import Literal

from pydantic import TypeAdapter

from bot.answers import Answer, Before, StepView
from bot.errors import FootnoteError
from bot.labels import label
from bot.logs import get_logger
from bot.messages import RunOptions, zone_named
from bot.pages.page import Page
from bot.reasoning.questions import Rewritten
from bot.reasoning.repeated import (
    is_local,
    is_of_its_time,
    is_personal,
    is_repeat,
    terms_of,
    wants_research,
)
from bot.rendering.lines import one_line, shortened
from bot.rendering.marks import without_marks
from bot.rendering.plan import EARLIER, earlier_id
from bot.rendering.tables import plain_text
from bot.rendering.texts import Texts
from bot.rendering.verbatim import as_label
from bot.research.answer.write import with_numbers
from bot.research.evidence.library import Library
from bot.research.run import Run
from bot.rights.provenance import Provenance
from bot.rights.reader import FOUND_IN, Reach, documents_in, is_conversation
from bot.search.talk import day_of
from bot.storage.answered import AnsweredQuestions
from bot.storage.records import RunRecord
from bot.storage.store import Store
from bot.text.sentences import sentences

LOOK_SECONDS = 10.0  # for rereading all sources of an earlier answer
BEGINNING = 200  # characters of an earlier answer shown with the offer
OTHER_STYLES = ("report", "check")

Spot = tuple[str, str]
"""The place of an earlier answer: the name of its channel ("#" if unknown, "" if it is the
question's own), and the address of the question there, or ""."""
UNNAMED = "#"

Sources = Literal["same", "changed", "unread"]
_kept = TypeAdapter(tuple[str, Spot])
_sources = TypeAdapter(Sources)

log = get_logger()


class Memory:
    """The earlier answers that may be shown in the place of one run.

    ``library`` rereads pages, for the readers with that ``reach``. ``sees`` returns the place of an
    earlier run, or None if not everyone in this run's place may read it. With ``instead``, an
    earlier answer is given if its sources are unchanged and no correction matches the question.
    """

    def __init__(
        self,
        store: Store,
        library: Library,
        reach: Callable[[], Reach],
        sees: Callable[[RunRecord], Awaitable[Spot | None]],
        *,
        instead: bool,
    ) -> None:
        self._store = store
        self._questions = AnsweredQuestions(store.database)
        self._library = library
        self._reach = reach
        self._sees = sees
        self._instead = instead
        self._looking: asyncio.Task[Sources] | None = None
        self.before: Before | None = None  # once its sources were read again

    async def recall(self, run: Run, asked: Rewritten) -> Answer | None:
        """Offer an earlier answer to the question, if there is one; returns the answer to give
        instead of research, or None. Does nothing after the first offer."""
        if self._looking is not None or not may_be_repeated(run, asked):
            return None
        question = asked.question

        async def find() -> tuple[str, Spot]:
            return await self._find(run, question)

        id, spot = await run.keep("remember", {"question": question}, find, _kept, title="")
        record = await self._store.run(id) if id else None
        if record is None or record.answer is None or not self._may_tell(record.answer):
            return None  # it may have been deleted since an earlier attempt found it
        log.info("answered before", run=run.id, earlier=record.id)
        is_theirs = record.message.author.id == run.message.author.id
        instead = self._instead and (is_theirs or not is_personal(question))
        look = self._look(run, record, record.answer, spot, is_told=not instead)
        self._looking = asyncio.create_task(look)
        if not instead or await self._looking != "same" or self.before is None:
            return None
        if await self._library.is_corrected(question, record.answer.rests_on):
            return None
        return await self._given(run, question, record.answer, self.before)

    async def settle(self) -> None:
        """Wait until the sources of the earlier answer were read again."""
        if self._looking is not None:
            await self._looking

    async def aclose(self) -> None:
        """Cancel work in progress."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)

    # ------------------------------------------------------------ finding it

    async def _find(self, run: Run, question: str) -> tuple[str, Spot]:
        """Return the id of the run with the earlier answer and its place; "" if there is none."""
        for record in await self._questions.find(terms_of(question), run.message.thread):
            answer = record.answer
            is_fit = (
                record.id != run.id
                and answer is not None
                and is_repeat(question, answer.question)
                and _chosen(record.options) == _chosen(run.options)
                and self._may_tell(answer)
            )
            spot = await self._sees(record) if is_fit else None
            if spot is not None and not (spot[0] and is_local(question)):
                return record.id, spot
        return "", ("", "")

    def _may_tell(self, answer: Answer) -> bool:
        return may_be_kept(answer) and self._reach().covers(answer.rests_on)

    # ------------------------------------------------------------ looking at its sources

    async def _look(
        self, run: Run, record: RunRecord, answer: Answer, spot: Spot, *, is_told: bool
    ) -> Sources:
        """Show the offer, reread the sources, and show the result; with ``is_told``, a note is
        added even if nothing has changed."""
        at, (place, link) = record.accepted_at, spot
        at = at.astimezone(zone_named(run.options.zone))
        line = StepView(
            earlier_id(record.id),
            EARLIER,
            earlier_answer_sentence("offered", run.texts, at, place),
            "running",
            link=link,
        )
        self._show(run, answer, line)
        cited = {(each.url, each.page_hash) for each in answer.citations}

        async def look() -> Sources:
            try:
                async with asyncio.timeout(LOOK_SECONDS):
                    pages = await asyncio.gather(*(self._read(url) for url, _ in sorted(cited)))
            except TimeoutError:
                return "unread"
            if None in pages:
                return "unread"
            now = [page.hash for page in pages if page is not None]
            return "same" if now == [digest for _, digest in sorted(cited)] else "changed"

        inputs = {"run": record.id, "cited": sorted(cited)}
        sources = await run.keep("look", inputs, look, _sources, title="")
        sentence = earlier_answer_sentence(sources, run.texts, at, place)
        self.before = Before(record.id, at, place, link, sources, sentence=sentence)
        self._show(run, answer, replace(line, title=sentence, state="done"))
        if is_told or sources != "same":
            run.note(sentence)
        return sources

    async def _read(self, url: str) -> Page | None:
        try:
            return await self._library.read(url)
        except FootnoteError as error:
            log.info("source not read again", url=url, error=str(error))
            return None

    def _show(self, run: Run, answer: Answer, line: StepView) -> None:
        """Show the line in the plan. Since it quotes the answer, it lists all sources of the
        answer."""
        pages = {each.url for each in answer.citations}
        sources = Provenance.of(documents_in(answer.rests_on), pages).urls
        run.show(replace(line, detail=_beginning(answer), sources=sources))

    # ------------------------------------------------------------ giving it

    async def _given(
        self, run: Run, question: str, earlier: Answer, before: Before
    ) -> Answer | None:
        """The earlier answer as this run's answer; None if a cited page is no longer stored."""
        run.recalled |= {each.url: each.page_hash for each in earlier.citations}
        urls = list(dict.fromkeys(each.url for each in earlier.citations))
        read = await run.read(urls)
        pages = [page for page in read if isinstance(page, Page)]
        stored = {(page.url, page.hash) for page in pages}
        run.recalled.clear()
        if any((each.url, each.page_hash) not in stored for each in earlier.citations):
            return None
        of_urls = dict(zip(urls, await run.number(pages), strict=True))
        numbers = {each.number: of_urls[each.url] for each in earlier.citations}
        run.account.count(pages=len(urls))
        sentence = earlier_answer_sentence("given", run.texts, before.at, before.place)
        self.before = before = replace(before, is_given=True, sentence=sentence)
        lead = f"> {as_label(sentence)}\n\n"
        documents = Provenance.of(run.documents, documents_in(earlier.rests_on))
        given = with_numbers(earlier, numbers)
        return replace(
            given,
            text=lead + given.text,
            lead=len(lead),
            question=question,
            run=run.id,
            queries=(),
            steps=run.steps,
            usage=run.usage,
            notes=tuple(run.notes),
            documents=documents.urls,
            before=before,
        )


def may_be_repeated(run: Run, asked: Rewritten) -> bool:
    """Return True if an earlier answer may be repeated: the question is not about earlier sources
    or files, wants no deep research, and does not depend on the time of asking."""
    return (
        asked.kind == "search"
        and not asked.long_form
        and not asked.correction
        and not asked.scope.freshness
        and not asked.scope.talk.first
        and run.options.depth != "deep"
        and not run.options.research_again
        and run.options.style not in OTHER_STYLES
        and not run.message.attachments
        and not wants_research(run.message.text)
        and not is_of_its_time(f"{run.message.text}\n{asked.question}")
    )


def may_be_kept(answer: Answer) -> bool:
    """Return True if an answer may be offered to others who ask the same: it is complete, has
    sources, and uses no people's messages, which may serve one question only."""
    spoken = (url.startswith(FOUND_IN) or is_conversation(url) for url in answer.rests_on)
    return (
        answer.status == "answered"
        and bool(answer.citations)
        and not answer.lead
        and not any(spoken)
    )


def earlier_answer_sentence(
    what: Sources | Literal["offered", "given"], texts: Texts, at: datetime, place: str
) -> str:
    """Return the sentence about an earlier answer of that time and place."""
    where = texts("before-there", place=label(place)) if place else texts("before-here")
    where = texts("before-elsewhere") if place == UNNAMED else where
    date = day_of(at) if texts.locale == "en" else f"{at.year}年{at.month}月{at.day}日"
    return texts(f"before-{what}", where=where, date=date)


def _chosen(options: RunOptions) -> tuple[object, ...]:
    """Return the options that make answers to the same question differ."""
    collections = None if options.collections is None else frozenset(options.collections)
    return frozenset(options.providers), collections, options.instructions, options.style


def _beginning(answer: Answer) -> str:
    """Return the first sentence of an answer, as plain text on one line."""
    for span in sentences(answer.text):
        if span.kind in ("paragraph", "item"):
            words = plain_text(without_marks(answer.text[span.start : span.end]))
            return shortened(one_line(words), BEGINNING)
    return ""
