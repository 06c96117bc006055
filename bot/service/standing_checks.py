"""Decides whether the result of checking a standing question again is posted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta

from bot.core.logs import get_logger
from bot.core.messages import Answer, Provenance, Transcript, Wording
from bot.core.reader import Reach, documents_in
from bot.core.texts import texts_for
from bot.reasoning.reasoner import Pairs
from bot.rendering.marks import without_marks
from bot.storage.standing_questions import Outcome, StandingQuestions, Watch
from bot.storage.store import RunRecord, Store

DAYS = 60  # without interest until a standing question ends
MOST = 20  # pairs of sentences compared in one call

log = get_logger()

Compared = Callable[[Pairs], Awaitable[tuple[bool | None, ...]]]
"""Returns, for each pair of an old and a new sentence, whether they mean the same; None if
unknown."""


class StandingChecks:
    """Handles runs that check standing questions: ends them, or moves them to the question's
    thread.

    Such a run starts in a hidden thread of its own. If there is something to post, one transaction
    stores the answer and moves the run to the question's thread: it is then posted like any answer,
    even after a crash.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._standing = StandingQuestions(store.database)

    async def watch(self, record: RunRecord) -> Watch | None:
        """A run's standing question. If it is no longer watched, end the run and return None."""
        watch = await self._standing.watch(record.options.watch)
        if watch is None or watch.state == "ended":
            await self._end(record, "")
            return None
        return watch

    async def earlier_answers(self, record: RunRecord) -> Transcript:
        """Return the earlier answers in the question's thread, whose pages keep their numbers."""
        watch = await self._standing.watch(record.options.watch)
        if watch is None:
            return Transcript()
        return await self._store.transcript(replace(record.message, thread=watch.thread))

    async def is_over(self, watch: Watch, record: RunRecord) -> bool:
        """Return True if there was no sign of interest for ``DAYS``."""
        until = await self._standing.interest(watch) + timedelta(days=DAYS)
        return record.message.at >= until

    async def announce_end(self, record: RunRecord, watch: Watch, reach: Reach) -> RunRecord:
        """Prepare a notice in the question's thread that it is no longer watched, and why."""
        texts = texts_for(watch.locale)
        shown = reach.wording(watch.question) or Wording(texts("words-out-of-reach"))
        said = texts("watch-over", days=DAYS, question=shown.text)
        answer = Answer(
            "answered", said, shown.text, record.id, documents=documents_in(shown.made_from).urls
        )
        await self._standing.tell(
            watch, record.id, record.attempt, answer, record.message.at, is_over=True
        )
        log.info("standing question ended", watch=watch.id)
        return await self._again(record)

    async def conclude(
        self,
        record: RunRecord,
        watch: Watch,
        answer: Answer,
        reach: Callable[[], Reach],
        compared: Compared,
    ) -> RunRecord | None:
        """Return the run to post, with the changes above its answer. Without changes, end the run
        and return None. Old sentences that rest on documents out of ``reach`` are left out and not
        sent to ``compared``; if any are shown, the comparison rests on all that they rest on."""
        from bot.service.answer_changes import changes, in_order, undecided, with_changes

        before = await self._store.run(watch.run)
        if before is None or before.answer is None or answer.status not in ("answered", "partial"):
            await self._end(record, "no_answer")
            return None
        pages = [await self._standing.pages(run) for run in (before.id, record.id)]
        found = changes(before.answer, answer, *pages)
        old = before.answer.rests_on
        doubtful = undecided(before.answer, answer, *pages)[:MOST]
        if doubtful and reach().covers(old):
            pairs = [(without_marks(one.before), without_marks(one.after)) for one in doubtful]
            same = await compared(pairs)
            other = [one for one, verdict in zip(doubtful, same, strict=True) if verdict is False]
            found = in_order(answer, (*found, *other))
        if not reach().covers(old):
            found = tuple(replace(one, before="") for one in found if one.after)
        if not found:
            await self._end(record, "same")
            return None
        texts = texts_for(watch.locale)
        since = f"{before.message.at:%Y-%m-%d}"
        labels = texts("watch-now"), texts("watch-before")
        heading = texts("watch-changed", since=since)
        told = with_changes(answer, before.answer, found, heading, labels)
        if any(one.before for one in found):
            documents = Provenance.of(told.documents, documents_in(old))
            told = replace(told, documents=documents.urls)
        added = told.citations[len(answer.citations) :]
        now = record.message.at
        await self._standing.tell(watch, record.id, record.attempt, told, now, added=added)
        log.info("standing question changed", watch=watch.id, sentences=len(found))
        return await self._again(record)

    async def end_unpostable(self, record: RunRecord) -> None:
        """End a standing question whose answer cannot be posted, as when its thread is gone."""
        await self._standing.end(record.options.watch, "refused")

    async def _end(self, record: RunRecord, outcome: Outcome) -> None:
        watch, now = record.options.watch, record.message.at
        await self._standing.found_nothing(watch, record.id, record.attempt, outcome, now)
        log.info("standing question checked", watch=watch, outcome=outcome)

    async def _again(self, record: RunRecord) -> RunRecord:
        """Read the record again, keeping its attempt."""
        current = await self._store.run(record.id)
        return record if current is None else replace(current, attempt=record.attempt)
