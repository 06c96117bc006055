"""The research service. It alone knows who may ask and read, and what is stored and posted.

    message → accept → rewrite → gather → write → check → post → verify → amend

Adapters call ``accept`` and provide a poster per platform; dispatchers call ``answer``.

The answer is posted at once, with the marks from the first step of its check. Each amendment is
stored before it is shown, and the run ends after the last one. If the process dies in between, the
posted answer stays pending; the next attempt posts it again and continues to verify it.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from sqlalchemy.ext.asyncio import AsyncConnection

from bot.core.errors import (
    FootnoteError,
    PlatformUnavailable,
    PostRefused,
    RunLost,
    StorageUnavailable,
    invalid,
)
from bot.core.logs import about, get_logger
from bot.core.messages import Answer, Message, RunOptions, Thread, clean_question
from bot.core.posting import Poster, PostState, Reply, RunRef, Unseen
from bot.core.reader import Reach, Reader, documents_in, readable, withheld
from bot.core.settings import Settings
from bot.core.texts import texts_for
from bot.pages.pool import For, reading_for
from bot.reasoning.calls import ModelReply
from bot.reasoning.reasoner import Pairs, ReasonerFactory
from bot.research.budget import Account, Budget, DayLimits, Days
from bot.research.composer import Numbering
from bot.research.library import Library
from bot.research.pipeline import Pipeline, looks_alike, unverified
from bot.research.run import Resources, Run, RunQuestion
from bot.rights.rights import Rights
from bot.search.conversation_search import Conversing, SearchedConversations
from bot.search.registry import searches_conversations
from bot.service.correction_service import CorrectionService
from bot.service.standing_checks import StandingChecks
from bot.storage.audit_log import Audit
from bot.storage.console import UNSEEN
from bot.storage.conversations import Conversations
from bot.storage.journal import open_journal
from bot.storage.spending import Amount, DaySpent, Holder, Payer, Reservations, Spending
from bot.storage.store import NO_FILES, RunRecord, Store
from bot.storage.word_search import FoundWords

if TYPE_CHECKING:
    from bot.search.earlier_answers import EarlierAnswers

STOPPED = "The verification was stopped."
BROKE = "The verification failed unexpectedly; see the log."
UNVERIFIED = "Its verification was switched off."

log = get_logger()


async def post_amended(
    store: Store,
    record: RunRecord,
    reply: Reply,
    work: Pipeline,
    answer: Answer,
    stop: asyncio.Event,
    *,
    is_verified_first: bool,
) -> Answer:
    """Show a pending answer and each amendment; returns the final answer. With
    ``is_verified_first``, nothing is shown until the verification ends.

    A stop ends the verification. Raises as ``Reply`` does, and ``StorageUnavailable``.
    """
    found: asyncio.Queue[Answer | None] = asyncio.Queue()
    verifying = asyncio.create_task(_verify(record.id, work, answer, found))
    stopping = asyncio.create_task(_cancel_after(stop, verifying))
    shown: Answer | None = None
    away: PlatformUnavailable | None = None
    try:
        if not is_verified_first:
            work.stop_progress()
            try:
                await reply.finish(answer)
                shown = answer
            except PlatformUnavailable as error:
                away = error  # the verification has begun and goes on; raised after it
        while (latest := await _newest(found)) is not None:
            answer = latest
            await store.save_answer(record.id, record.attempt, answer, work.page_numbers)
            if shown is not None and not looks_alike(shown, answer):
                try:
                    await reply.finish(answer)
                except PostRefused as refused:  # the first version stays posted
                    log.warning("answer not amended", run=record.id, error=str(refused))
                shown = answer
        await verifying  # raises errors that leave the run unfinished
        if away is not None:
            raise away
        if shown is None:
            await reply.finish(answer)
    finally:
        for task in (stopping, verifying):
            task.cancel()
        await asyncio.gather(stopping, verifying, return_exceptions=True)
    return answer


async def _verify(
    run_id: str, work: Pipeline, answer: Answer, found: asyncio.Queue[Answer | None]
) -> None:
    """Put each amendment into ``found``, then None; the last one is not ``pending``."""
    problem = ""
    try:
        async for answer in work.amendments():
            found.put_nowait(answer)
        if answer.is_pending:  # settings may have changed since an earlier attempt
            problem = UNVERIFIED
    except asyncio.CancelledError:
        problem = STOPPED
    except (RunLost, StorageUnavailable):
        raise
    except Exception as error:
        problem = BROKE
        log.error("verification broke", run=run_id, error=repr(error))
        log.debug("verification broke here", run=run_id, exc_info=True)
    finally:
        if problem:
            found.put_nowait(unverified(answer, problem))
        found.put_nowait(None)


async def _newest(found: asyncio.Queue[Answer | None]) -> Answer | None:
    """The latest amendment that is ready, waiting for one if need be; None after the last."""
    latest = await found.get()
    while latest is not None and not found.empty():
        later = found.get_nowait()
        if later is None:
            found.put_nowait(None)
            break
        latest = later
    return latest


async def _cancel_after(stop: asyncio.Event, work: asyncio.Task[None]) -> None:
    await stop.wait()
    work.cancel()


PREFETCHED_PAGES = 8  # read before the reasoner chooses
LEASE = timedelta(seconds=30)  # for which an accepted run is reserved for its dispatcher


class ResearchService:
    """See the module docstring.

    ``reasoner`` and ``fallback`` make a reasoner for one run; the fallback takes over when the
    first one's model cannot be reached. ``price`` returns the USD for a model reply, None if
    unknown; ``page_of`` returns the address of a run's page in the console, or "".
    """

    def __init__(
        self,
        settings: Settings,
        store: Store,
        library: Library,
        *,
        reasoner: ReasonerFactory,
        fallback: ReasonerFactory,
        price: Callable[[ModelReply], float | None],
        posters: Mapping[str, Poster],
        page_of: Callable[[str], str] = lambda run_id: "",
    ) -> None:
        self._settings = settings
        self._store = store
        self._library = library
        self._reasoner = reasoner
        self._fallback = fallback
        self._price = price
        self._posters = posters
        self._page_of = page_of
        self._conversations = Conversations(store.database)
        self._rights = Rights(settings, posters)
        self._days = Days(Reservations(store.database))
        self._standing_checks = StandingChecks(store)
        self._words = FoundWords(store.database)
        self.corrections = CorrectionService(settings, store.database)

    @property
    def is_quoting(self) -> bool:
        """True without a model."""
        return self._reasoner is self._fallback

    # ------------------------------------------------------------ accepting

    async def accept(
        self,
        message: Message,
        options: RunOptions,
        *,
        owner: str | None = None,
        post_state: PostState | None = None,
        files: Mapping[str, bytes] = NO_FILES,
        together: Callable[[AsyncConnection], Awaitable[None]] | None = None,
    ) -> tuple[str, bool]:
        """Store a message and create its run, for ``owner`` (a local dispatcher) to process.

        ``post_state`` is the state that its poster will need, ``files`` are attachments to store,
        ``together`` runs in the same transaction (see ``Store.accept``). Returns the run's id and
        whether it is new; a redelivered event finds its existing run. Raises ``Invalid``, with the
        reason if there is nothing but a file that cannot be read, ``DaySpentUp`` and
        ``StorageUnavailable``.
        """
        unread = next((file for file in message.attachments if file.unread), None)
        if unread is not None and not message.text.strip():
            raise invalid(unread.unread, name=unread.name)
        message = replace(message, text=clean_question(message.text))
        run_id = secrets.token_hex(6)
        async with Audit(self._store.database).refusals(message):
            accepted = await self._store.accept(
                run_id,
                message,
                options,
                datetime.now(UTC),
                owner=owner,
                lease=LEASE,
                post_state=post_state,
                permit=self.permit(options, has_files=bool(files)),
                files=files,
                together=together,
            )
        run_id, is_new = accepted
        thread = message.thread
        event = "accepted" if is_new else "accepted before"
        log.info(event, platform=thread.platform, **about(run_id, thread.key, thread.workspace, 0))
        return accepted

    def permit(
        self, options: RunOptions, *, has_files: bool = False
    ) -> Callable[[DaySpent], None] | None:
        """A check that raises ``DaySpentUp`` if the daily budget is spent; None without one."""
        limits = DayLimits.of(self._settings, options, has_files=has_files)
        return partial(limits.check_question, now=datetime.now(UTC)) if limits else None

    async def check_uploads(self, message: Message, size: int) -> None:
        """Raise ``DaySpentUp`` if today does not cover files of ``size`` bytes, so that refused
        ones are not even read. ``accept`` decides, and knows a repeated request."""
        now = datetime.now(UTC)
        if await self._store.run_of_event(message.thread.platform, message.event_id) is None:
            spent = await Spending(self._store.database).day(Payer.of(message), now.date())
            whole = replace(spent, user=spent.user + Amount(uploaded_bytes=size))
            DayLimits.of_uploads().check_uploads(whole, now)

    def reference(self, record: RunRecord) -> RunRef:
        """Return the run for its poster; only the record's attempt may save through it."""

        async def save(state: PostState) -> None:
            await self._store.save_post_state(record.id, record.attempt, state)

        async def move(thread: Thread) -> None:
            await self._conversations.move(record.id, record.attempt, thread, datetime.now(UTC))

        return RunRef(
            record.id,
            record.message,
            record.options,
            save,
            move,
            attempt=record.attempt,
            page=self._page_of(record.id),
            is_written=record.answer is not None,
        )

    async def library_for(self, message: Message) -> Library:
        """Return the library that readers of an answer to this message may use outside of a run."""
        return self._library.within(partial(self._rights.reach, await self._rights.reader(message)))

    async def reach_in(self, message: Message, options: RunOptions) -> Reach:
        """Return what the readers of the answer to a question with these options may see now."""
        return self._rights.reach(await self._rights.reader(message, options))

    # ------------------------------------------------------------ answering

    async def answer(self, record: RunRecord, stop: asyncio.Event) -> None:
        """Process a claimed run until its answer is posted.

        Errors are posted as a failure. Raises ``StorageUnavailable`` if the result could not be
        stored and ``PlatformUnavailable`` if it could not be posted: the run then stays unfinished
        and is resumed later, from its stored answer.
        """
        asker = f"{record.message.thread.platform}:{record.message.author.id}"
        reading_for.set(For(asker, record.id))  # safe: each attempt is a task of its own
        poster = self._posters[record.message.thread.platform]
        reader = await self._rights.reader(record.message, record.options)
        reach = partial(self._rights.reach, reader)
        if record.answer is not None and not reach().covers(record.answer.rests_on):
            record = replace(record, answer=None)  # its asker has lost the right to see it
        reply: Reply = Unseen()
        try:
            if is_standing_check(record):
                found = await self._check_again(record, stop, reader)
                if found is None:
                    return
                record = found
            run = self.reference(record)
            if record.removed:
                await poster.remove(run, record.post_state)
                await self._end(record, "removed")
                return
            work = None
            if record.options.unaddressed and record.answer is None:
                work = await self._pipeline(record, reply, reader)
                if not await work.is_for_us():
                    await self._ignore(record, reply)
                    return
            # Without a model, only what was found shows that the message was for Footnote.
            if not (record.options.unaddressed and self.is_quoting):
                try:
                    reply = await poster.open(run, record.post_state)
                except PlatformUnavailable as away:
                    # Research does not wait for the platform; the answer is posted once it is back.
                    log.info("reply not opened", run=record.id, error=str(away))
            answer, error, work = await self._answer(record, reply, stop, reader, work)
            if record.options.unaddressed and answer.status == "not_found" and not answer.corrects:
                await self._ignore(record, reply)
                return
            if not reach().covers(answer.rests_on):  # withdrawn since it was written
                answer, error = await self._withhold(record, answer)
            if isinstance(reply, Unseen):
                reply = await poster.open(run, (await self._saved(record)).post_state)
            if error is not None:
                await reply.fail(answer, error)
            elif work is not None and answer.is_pending:
                answer = await post_amended(
                    self._store,
                    record,
                    reply,
                    work,
                    answer,
                    stop,
                    is_verified_first=not poster.amends,
                )
            else:
                await reply.finish(answer)
            log.info("posted")
            if work is not None:
                await work.answer_posted()
            await self._end(record, answer.status)
        except RunLost as lost:
            # The attempt that took over posts the answer; posting here would duplicate it.
            await reply.abandon()
            log.info("run lost", run=record.id, attempt=record.attempt, error=str(lost))
        except PostRefused as refused:
            log.warning("answer not posted", run=record.id, error=str(refused))
            await self._give_up(record, reply)
            if record.options.watch:
                await self._standing_checks.end_unpostable(record)
        except (FootnoteError, asyncio.CancelledError):
            await reply.abandon()
            raise
        except Exception as broken:
            # Another try would fail the same way and block the thread.
            log.error("posting broke", run=record.id, error=repr(broken))
            log.debug("posting broke here", run=record.id, exc_info=True)
            await self._give_up(record, reply)

    async def _check_again(
        self, record: RunRecord, stop: asyncio.Event, reader: Reader
    ) -> RunRecord | None:
        """Process a standing question's run without showing anything. Returns the record to post,
        None if nothing has changed. Raises as ``answer`` does."""
        watch = await self._standing_checks.watch(record)
        if watch is None:
            return None
        if await self._standing_checks.is_over(watch, record):
            return await self._standing_checks.announce_end(
                record, watch, self._rights.reach(reader)
            )
        answer, work = record.answer, None
        if answer is None or answer.is_pending:
            answer, _, work = await self._answer(record, Unseen(), stop, reader)
            if answer.is_pending and work is not None:
                answer = await post_amended(
                    self._store, record, Unseen(), work, answer, stop, is_verified_first=True
                )

        async def compared(pairs: Pairs) -> tuple[bool | None, ...]:
            by = work or await self._pipeline(record, Unseen(), reader)
            return await by.compare(pairs)

        reach = partial(self._rights.reach, reader)
        return await self._standing_checks.conclude(record, watch, answer, reach, compared)

    async def _give_up(self, record: RunRecord, reply: Reply) -> None:
        """End a run whose answer cannot be posted, unless another attempt took it over."""
        await reply.abandon()
        try:
            await self._end(record, "failed")
        except RunLost as lost:
            log.info("run lost", run=record.id, attempt=record.attempt, error=str(lost))

    async def _ignore(self, record: RunRecord, reply: Reply) -> None:
        """End the run of a message that was not for Footnote, or for which nothing was found; what
        this or an earlier attempt has posted is removed."""
        await reply.abandon()
        if record.attempt > 1 or not isinstance(reply, Unseen):
            posted = (await self._saved(record)).post_state
            await self._posters[record.message.thread.platform].remove(
                self.reference(record), posted
            )
        await self._store.ignore(record, datetime.now(UTC))
        log.info("ignored")

    async def _end(self, record: RunRecord, state: str) -> None:
        now = datetime.now(UTC)
        searched_talk = record.options.conversations
        await self._store.end(record.id, record.attempt, state, now, searched_talk=searched_talk)
        log.info("ended", state=state, seconds=round((now - record.accepted_at).total_seconds(), 3))

    async def _saved(self, record: RunRecord) -> RunRecord:
        """Read the record again. Raises ``RunLost``."""
        current = await self._store.run(record.id)
        if current is None or current.attempt != record.attempt:
            raise RunLost(f"Run {record.id} has been taken over by a later attempt.")
        return current

    async def _answer(
        self,
        record: RunRecord,
        reply: Reply,
        stop: asyncio.Event,
        reader: Reader,
        work: Pipeline | None = None,
    ) -> tuple[Answer, FootnoteError | None, Pipeline | None]:
        """Return the run's stored answer, from an earlier attempt or made now (by ``work`` if it
        has begun), its error if it failed, and the pipeline that can still verify it."""
        stored = record.answer  # written by an earlier attempt, perhaps not posted
        if stored is not None and not stored.is_pending:
            failed = stored.status == "failed"
            return stored, FootnoteError(stored.cause or stored.text) if failed else None, None
        asked = record.message
        if not self._rights.reach(reader).covers(asked.made_from):
            unread = Answer("failed", "", "", record.id, documents=asked.made_from.urls)
            return *(await self._withhold(record, unread)), None
        if work is None:
            work = await self._pipeline(record, reply, reader)
        work.show_in(reply)
        if stored is not None:
            return stored, None, work
        answer, error = await work.answer(stop)
        if not self._rights.reach(reader).covers(answer.rests_on):  # withdrawn meanwhile
            return *(await self._withhold(record, answer)), work
        await self._store.save_answer(record.id, record.attempt, answer, work.page_numbers)
        return answer, error, work

    async def _withhold(self, record: RunRecord, answer: Answer) -> tuple[Answer, FootnoteError]:
        """Store, instead of an answer that may not be read any more, that the rights have changed.
        Its documents stay known, since the steps that made it are stored too."""
        error = FootnoteError(texts_for(record.message.locale)("documents-out-of-reach"))
        kept = withheld(answer, error.sentence)
        kept = replace(kept, documents=documents_in(answer.rests_on).urls)
        await self._store.save_answer(record.id, record.attempt, kept)
        return kept, error

    async def _talk(self, record: RunRecord, reader: Reader) -> SearchedConversations | None:
        """Return the conversations that may be searched for a run, if any."""
        poster = self._posters[record.message.thread.platform]
        is_wanted = record.options.conversations and searches_conversations(self._settings)
        if not is_wanted or reader.guest or not isinstance(poster, Conversing):
            return None
        reference = self.reference(record)
        try:
            found = await poster.conversations(reference, record.post_state, reader)
        except FootnoteError as error:
            log.warning("conversations not searched", run=record.id, error=str(error))
            return None
        if found is None:
            return None
        download = partial(poster.download, reference)
        return SearchedConversations(found, record.id, download, self._library)

    async def _pipeline(self, record: RunRecord, reply: Reply, reader: Reader) -> Pipeline:
        """Prepare this attempt's research, shown by ``reply``.

        The thread's messages from before Footnote joined are read first, once.
        """
        record, unread = await self._with_history(record)
        reach = partial(self._rights.reach, reader)
        now = reach()
        within = partial(reach, among=record.options.collections)
        talk = await self._talk(record, reader)
        journal = await open_journal(self._store.database, record.id, record.attempt, now.signature)
        stored = await self._store.transcript(record.message)
        thread = readable(stored, now)
        transcript = thread.up_to(record.options.corrects_run)
        poster = self._posters[record.message.thread.platform]
        settings = self._settings
        reference = self.reference(record)
        corrections = self.corrections.search(reference, reader)
        holder = Holder(record.id, record.attempt, record.accepted_at, journal.payer)
        allowance = self._days.allowance(holder, DayLimits.of(settings, record.options))
        run = Run(
            RunQuestion(record.id, record.message, record.options, record.accepted_at, transcript),
            Resources(
                self._library.within(
                    within,
                    talk,
                    corrections,
                    self._earlier_answers(record, reader),
                    fresh=bool(record.options.watch),
                ),
                partial(poster.download, reference),
                PREFETCHED_PAGES,
                settings.keep_documents_from_web,
                partial(self.corrections.keep, reference, reader, transcript, poster),
            ),
            journal,
            Account(Budget.of(settings), self._price, allowance, journal.seconds),
            lambda plan: work.show(plan),
        )
        if unread:
            run.note(unread)
        if thread is not stored:
            run.note(run.texts("earlier-out-of-reach"))
        # Ignore an earlier answer that its asker may no longer see.
        given = record.answer
        if given is not None and not now.covers(given.rests_on):
            given = None
        earlier = thread
        if is_standing_check(record):
            earlier = await self._standing_checks.earlier_answers(record)
        work = Pipeline(
            run,
            self._reasoner(run.calls),
            self._fallback(run.calls),
            transcript,
            settings,
            reply,
            Numbering(earlier),
            given,
            talk,
        )
        return work

    def _earlier_answers(self, record: RunRecord, reader: Reader) -> EarlierAnswers | None:
        """Return the earlier answers that a run may search; None if they are off, for a standing
        question, and without a model."""
        if not self._settings.earlier_answers or record.options.watch or self.is_quoting:
            return None
        from bot.search.earlier_answers import EarlierAnswers

        return EarlierAnswers(self._words, record, reader, self._posters, self.reference)

    async def _with_history(self, record: RunRecord) -> tuple[RunRecord, str]:
        """Store the thread's history. Returns the current record, and a sentence if the history
        cannot be read.

        The record is read again, since posting may just have given the run its thread.
        """
        record = await self._saved(record)
        thread = record.message.thread
        if is_standing_check(record) or await self._conversations.history_is_read(thread):
            return record, ""
        poster = self._posters[thread.platform]
        try:
            history = await poster.history(self.reference(record))
        except (RunLost, StorageUnavailable):
            raise
        except FootnoteError as error:
            return record, error.sentence
        await self._conversations.keep_history(thread, history, datetime.now(UTC))
        return record, ""


def is_standing_check(record: RunRecord) -> bool:
    """Return True for a run that checks a standing question and has nothing to post yet."""
    watch = record.options.watch
    is_hidden = record.message.thread.thread == UNSEEN + watch
    return bool(watch) and is_hidden and not record.removed
