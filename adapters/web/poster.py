"""The web's poster: it saves what a reply shows as its run's post state, which pages are made from.

Viewers in this process get updates at once; other processes find them in the database. A reply is
stored with its run, so a crash cannot duplicate it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from adapters.web.live import Live, ReplyState, next_state, next_turn, parse_state
from bot.core.errors import (
    FootnoteError,
    PageUnreadable,
    PlatformUnavailable,
    RunLost,
    StorageUnavailable,
)
from bot.core.messages import Answer, Attachment, Message
from bot.core.posting import PostState, Reply, RunRef, too_large
from bot.core.texts import said, texts_for
from bot.service.replying import Display, Pace, View, open_reply
from bot.storage.conversations import Files


class WebPoster:
    """``between`` is the number of seconds between two saves of what a reply shows."""

    amends = True

    def __init__(self, live: Live, files: Files, between: float) -> None:
        self._live = live
        self._files = files
        self._between = between

    async def open(self, run: RunRef, saved: PostState | None) -> Reply:
        now = next_turn(parse_state(saved))
        if now.answer is None or not run.is_written:
            # The plan of an interrupted attempt stays until this one has its own.
            fresh = now.answer is not None
            plan = None if fresh else now.plan
            now = replace(now, ahead=0, fresh=fresh, plan=plan, text="", answer=None)
        pace = Pace(self._between, backoff=self._between)
        return await open_reply(run, WebDisplay(run, self._live, now), pace)

    async def queued(self, run: RunRef, ahead: int) -> None:
        """Show that the run is queued, in place of its reply, unless the reply has begun."""
        try:
            await run.save(next_state(ReplyState(), ahead=ahead).json())
        except RunLost:
            return
        self._live.look_soon()

    async def remove(self, run: RunRef, saved: PostState | None) -> None:
        await run.save(ReplyState().json())
        self._live.leave(run.message.thread, run.id)

    async def history(self, run: RunRef) -> Sequence[Message]:
        return ()  # every message here is addressed to Footnote and stored

    async def download(self, run: RunRef, attachment: Attachment, limit: int) -> bytes:
        body = await self._files.body(attachment.url)
        if body is None:
            raise PageUnreadable(said("file-lost", name=attachment.name))
        if len(body) > limit:
            raise too_large(attachment.name, limit)
        return body


class WebDisplay(Display):
    """Shows a reply on its thread's page; viewers in this process see changes at once."""

    def __init__(self, run: RunRef, live: Live, now: ReplyState) -> None:
        self._run = run
        self._live = live
        self._now = now

    async def begin(self, view: View) -> bool:
        await self._end_change()
        return False

    def view_changed(self, view: View) -> None:
        has_plan = bool(view.plan.steps)
        self._now = next_state(
            self._now,
            plan=view.plan if has_plan else self._now.plan,
            fresh=self._now.fresh and not has_plan,
            text=view.text,
        )
        self._live.show(self._run.message.thread, self._run.id, self._now)

    async def show(self, view: View) -> bool:
        await self._run.save(self._now.json())
        return True

    async def finish(self, answer: Answer, error: FootnoteError | None, view: View) -> None:
        self._now = next_state(self._now, fresh=False, plan=None, text="", answer=answer)
        await self._end_change()
        self.close()

    def close(self) -> None:
        self._live.leave(self._run.message.thread, self._run.id)

    async def _end_change(self) -> None:
        """Save the last change. Raises ``RunLost``, and ``PlatformUnavailable`` if the database is
        away."""
        try:
            await self._run.save(self._now.json())
        except StorageUnavailable as away:
            texts = texts_for(self._run.message.locale)
            raise PlatformUnavailable(texts("try-again"), detail=str(away)) from away
        self._live.show(self._run.message.thread, self._run.id, self._now)
