"""One attempt at a run: the research up to a written answer, and its verification.

If an earlier attempt has already written an answer, this attempt verifies it: it replays the
research from the journal, which must produce the same answer as the one posted.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import UTC, datetime

from bot.core.errors import FootnoteError, RunLost, StorageUnavailable
from bot.core.logs import get_logger
from bot.core.messages import Answer, PlanView, Usage, Verification, VerificationState
from bot.core.posting import Reply
from bot.reasoning.reasoner import Pairs
from bot.research.answer.write import Numbering
from bot.research.pipeline import Pipeline
from bot.research.run import Run
from bot.search.conversation_search import SearchedConversations
from bot.storage.journal import Journal

NOT_FOUND_AGAIN = "The answer was interrupted while it was verified, and cannot be made again."

log = get_logger()


class Investigation:
    """See the module docstring. ``given`` is the answer of an earlier attempt, or None.

    ``pipeline`` makes the run's pipeline from a callback that receives the text so far.
    ``conversations`` are the platform conversations it may search.
    """

    def __init__(
        self,
        run: Run,
        journal: Journal,
        numbering: Numbering,
        pipeline: Callable[[Callable[[str], None]], Pipeline],
        showing: Reply,
        given: Answer | None = None,
        conversations: SearchedConversations | None = None,
    ) -> None:
        self._run = run
        self._conversations = conversations
        self._journal = journal
        self._numbering = numbering
        self._pipeline = pipeline(self._on_text)
        self._showing = showing
        self._given = given
        self._is_made = False
        self._shows = given is None

    @property
    def page_numbers(self) -> dict[int, int]:
        """The number of each page in the latest answer, by its number in the run."""
        return self._numbering.page_numbers

    async def answer_posted(self) -> None:
        """Finish the search of conversations, once the answer is posted."""
        if self._conversations is not None:
            await self._conversations.answer_posted()

    def stop_progress(self) -> None:
        """Stop showing progress."""
        self._shows = False

    def show(self, plan: PlanView) -> None:
        """Show the changed plan."""
        if self._shows:
            self._showing.progress(self._numbering.plan(plan))

    def _on_text(self, text: str) -> None:
        if not self._shows:
            return
        before = self._numbering.page_numbers
        text = self._numbering.text(text, self._run.numbered)
        if self._numbering.page_numbers != before:  # so that new marks have a target
            self.show(self._run.plan())
        self._showing.stream(text)

    # ------------------------------------------------------------ the answer

    async def answer(self, stop: asyncio.Event) -> tuple[Answer, FootnoteError | None]:
        """Return the written and checked answer; a failed one comes with the error.

        Raises ``RunLost`` and ``StorageUnavailable``.
        """
        error: FootnoteError | None = None
        try:
            answer = await until_stopped(self._pipeline, stop)
        except (RunLost, StorageUnavailable):
            raise
        except FootnoteError as caught:
            log.info("run failed", run=self._run.id, error=str(caught))
            error = caught
        except Exception as caught:
            hint = "FOOTNOTE_LOG_LEVEL=debug shows where"
            log.error("run broke", run=self._run.id, error=repr(caught), hint=hint)
            log.debug("run broke here", run=self._run.id, exc_info=True)
            error = FootnoteError(self._run.texts("run-broke", run=self._run.id))
        finally:
            await self._journal.settle(datetime.now(UTC))
        if error is not None:
            answer = self._pipeline.failed_answer(error)
        self._is_made = True
        self._given = self._named(self._numbering.answer(answer))
        return self._given, error

    # ------------------------------------------------------------ its verification

    async def amendments(self) -> AsyncIterator[Answer]:
        """Yield the answer as verification amends it; any of them may be the last one shown. Raises
        ``RunLost`` and ``StorageUnavailable``."""
        assert self._given is not None  # noqa: S101
        try:
            if not self._is_made and not await self._is_made_again(self._given):
                yield unverified(self._given, NOT_FOUND_AGAIN)
                return
            async for answer in self._pipeline.amendments():
                yield self._named(self._numbering.answer(answer))
        finally:
            await self._journal.settle(datetime.now(UTC))

    async def compare(self, pairs: Pairs) -> tuple[bool | None, ...]:
        """Return True for each pair of sentences with the same meaning, as
        ``Pipeline.compare``."""
        try:
            return await self._pipeline.compare(pairs)
        finally:
            await self._journal.settle(datetime.now(UTC))

    async def _is_made_again(self, given: Answer) -> bool:
        try:
            found = self._numbering.answer(await self._pipeline.answer())
        except (RunLost, StorageUnavailable):
            raise
        except FootnoteError as error:
            log.info("answer not made again", run=self._run.id, error=str(error))
            return False
        return given.verification is not None and given.verification.of == _name(found)

    def _named(self, answer: Answer) -> Answer:
        """Return the answer with a digest that identifies its first text."""
        verification = answer.verification
        if verification is None:
            return answer
        first = self._given.verification if self._given is not None else None
        name = first.of if first is not None else _name(answer)
        return replace(answer, verification=replace(verification, of=name))


def _name(answer: Answer) -> str:
    return hashlib.sha256(answer.text.encode()).hexdigest()[:16]


def unverified(answer: Answer, problem: str) -> Answer:
    """Return the answer unchanged, with the reason why verification ended."""
    before = answer.verification or Verification("failed")
    state: VerificationState = "done" if before.sentences else "failed"
    return replace(answer, verification=replace(before, state=state, problem=problem))


def looks_alike(one: Answer, other: Answer) -> bool:
    """Return True if readers see the same; steps, usage and verification may differ."""
    bare = [replace(each, steps=(), usage=Usage(), verification=None) for each in (one, other)]
    return bare[0] == bare[1]


async def until_stopped(pipeline: Pipeline, stop: asyncio.Event) -> Answer:
    """Return the answer, or the findings at the time of the stop; the work has ended either way."""
    if stop.is_set():
        return await pipeline.stopped_answer()
    work = asyncio.create_task(pipeline.answer())
    stopping = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({work, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            work.cancel()
            await asyncio.wait({work})
            if work.cancelled():
                return await pipeline.stopped_answer()
        return work.result()
    finally:
        stopping.cancel()
        work.cancel()
        await asyncio.wait({work, stopping})
