"""The web's way out: what a reply shows is its run's post state, which pages are made from.

Onlookers of this process are told at once, those of others find it in the database. The database
is the platform: one reply belongs to one run, so that no crash can make it two.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from adapters.web.limits import SAVE_ATTEMPTS, SECONDS_BETWEEN_SAVE_ATTEMPTS
from adapters.web.live import Live
from adapters.web.shown import Shown, changed, next_turn, shown
from bot.answers import Answer, PlanView
from bot.errors import (
    FootnoteError,
    PageUnreadable,
    PlatformUnavailable,
    RunLost,
    StorageUnavailable,
)
from bot.logs import get_logger
from bot.messages import Attachment, Message
from bot.posting import PostState, RunRef, too_large
from bot.rendering.texts import texts_for
from bot.storage.files import Files

log = get_logger()


class WebPoster:
    """``between`` are the seconds from one save of what a reply shows to the next."""

    amends = True

    def __init__(self, live: Live, files: Files, between: float) -> None:
        self._live = live
        self._files = files
        self._between = between

    async def open(self, run: RunRef, saved: PostState | None) -> WebReply:
        before = shown(saved)
        if run.is_written and before.answer is not None:
            begun = next_turn(before)
            return await self._begun(run, begun)
        # The plan of an attempt that was interrupted stays until this one has its own.
        begun = next_turn(
            before,
            ahead=0,
            anew=before.answer is not None,
            plan=None if before.answer is not None else before.plan,
            text="",
            answer=None,
        )
        return await self._begun(run, begun)

    async def _begun(self, run: RunRef, now: Shown) -> WebReply:
        reply = WebReply(run, self._live, now, self._between)
        await reply.begin()
        return reply

    async def queued(self, run: RunRef, ahead: int) -> None:
        """It stands in the reply's place until that is begun; a run that has begun shows more."""
        try:
            await run.save(changed(Shown(), ahead=ahead).json())
        except RunLost:
            return
        self._live.look_soon()

    async def remove(self, run: RunRef, saved: PostState | None) -> None:
        await run.save(Shown().json())
        self._live.leave(run.message.thread, run.id)

    async def history(self, run: RunRef) -> Sequence[Message]:
        return ()  # all that is said here is said to Footnote, and kept

    async def download(self, run: RunRef, attachment: Attachment, limit: int) -> bytes:
        body = await self._files.body(attachment.url)
        if body is None:
            raise PageUnreadable(f"The file {attachment.name} is no longer there: attach it again.")
        if len(body) > limit:
            raise too_large(attachment.name, limit)
        return body


class WebReply:
    """One answer being shown."""

    def __init__(self, run: RunRef, live: Live, now: Shown, between: float) -> None:
        self._run = run
        self._live = live
        self._now = now
        self._between = between
        self._changed = asyncio.Event()
        self._ending = asyncio.Event()
        self._saver: asyncio.Task[None] | None = None

    async def begin(self) -> None:
        await self._save(self._now)
        self._show(self._now)
        self._saver = asyncio.create_task(self._keep_saving())

    def progress(self, plan: PlanView) -> None:
        self._change(plan=plan, anew=False)

    def stream(self, text: str) -> None:
        self._change(text=text)

    async def finish(self, answer: Answer) -> None:
        await self._end(answer)

    async def fail(self, answer: Answer, error: FootnoteError) -> None:
        await self._end(answer)

    async def abandon(self) -> None:
        self._ending.set()
        if self._saver is not None:
            # Not cancelled: a transaction that is broken off would hold up the database's others.
            await asyncio.wait({self._saver})
        self._live.leave(self._run.message.thread, self._run.id)

    # ------------------------------------------------------------ showing

    def _change(self, **changes: object) -> None:
        if not self._ending.is_set():
            self._now = changed(self._now, **changes)
            self._show(self._now)
            self._changed.set()

    def _show(self, now: Shown) -> None:
        self._live.show(self._run.message.thread, self._run.id, now)

    async def _end(self, answer: Answer) -> None:
        self._ending.set()
        if self._saver is not None:
            # A save under way is waited for: it must not come after the answer's.
            await asyncio.wait({self._saver})
        self._now = changed(self._now, anew=False, plan=None, text="", answer=answer)
        await self._save(self._now)
        self._show(self._now)
        self._live.leave(self._run.message.thread, self._run.id)

    # ------------------------------------------------------------ keeping

    async def _keep_saving(self) -> None:
        while not self._ending.is_set():
            await _first(self._changed, self._ending)
            if self._ending.is_set():
                return
            self._changed.clear()
            try:
                await self._run.save(self._now.json())
            except StorageUnavailable as away:
                log.info("progress not kept", run=self._run.id, error=str(away))
                self._changed.set()
            except RunLost as lost:
                # Another process shows it now; finishing will say so too.
                log.info("progress of a lost run", run=self._run.id, error=str(lost))
                self._live.leave(self._run.message.thread, self._run.id)
                return
            await _first(self._ending, seconds=self._between)

    async def _save(self, now: Shown) -> None:
        """Raises ``RunLost``, and ``PlatformUnavailable`` while the database is away."""
        for attempt in range(1, SAVE_ATTEMPTS + 1):
            try:
                return await self._run.save(now.json())
            except StorageUnavailable as away:
                if attempt == SAVE_ATTEMPTS:
                    texts = texts_for(self._run.message.locale)
                    raise PlatformUnavailable(texts("try-again"), detail=str(away)) from away
                await asyncio.sleep(SECONDS_BETWEEN_SAVE_ATTEMPTS)
        return None


async def _first(*events: asyncio.Event, seconds: float | None = None) -> None:
    """Return when one of the events is set, or after so many seconds."""
    waiting = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waiting:
            task.cancel()
