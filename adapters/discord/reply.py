"""One answer being shown in Discord: first its progress, then itself, in the same message.

``progress`` and ``stream`` only note the latest state; one task shows it, at most every 1.5 s.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from time import monotonic

import discord

from adapters.discord import buttons, wire
from adapters.discord.format import Look, answered, working
from adapters.discord.limits import SECONDS_BETWEEN_EDITS
from adapters.discord.outlet import Outlet, Post, nonce_of
from adapters.discord.state import Posted
from adapters.discord.wire import DiscordRefused
from bot.answers import Answer, PlanView
from bot.errors import FootnoteError, PlatformUnavailable
from bot.logs import get_logger
from bot.posting import RunRef
from bot.rendering.texts import Texts, texts_for

CANNOT_EMBED = "cannot-embed"  # the text id of this gap
REFRESH_SECONDS = 15.0  # how often the elapsed time is shown again while nothing else happens

log = get_logger()


class DiscordReply:
    """Made by ``DiscordPoster.open``, with its place settled and its first message posted.

    ``answers`` is the message it replies to, or ""; ``opening`` stands before its text.
    ``recovered`` tells that an earlier attempt may have posted more than it could save;
    ``apologise`` tells the asker elsewhere that nothing can be posted here.
    """

    def __init__(
        self,
        run: RunRef,
        posted: Posted,
        outlet: Outlet,
        our_id: str,
        *,
        answers: str = "",
        opening: str = "",
        apologise: Callable[[], Awaitable[None]] | None = None,
        recovered: bool = False,
        between: float = SECONDS_BETWEEN_EDITS,
    ) -> None:
        self._run = run
        self._posted = posted
        self._outlet = outlet
        self._our_id = our_id
        self._answers = answers
        self._apologise = apologise
        self._opening = opening
        self._recovered = recovered
        self._between = between
        self._texts: Texts = texts_for(run.message.locale)
        self._title = self._texts("edited-question") if posted.done else ""
        self._plan: PlanView | None = None
        self._text = ""
        self._began = monotonic()
        self._shown_at = monotonic() if posted.posts else -between
        self._changed = asyncio.Event()
        self._ending = asyncio.Event()
        self._sender: asyncio.Task[None] | None = None

    # ------------------------------------------------------------ while it works

    def progress(self, plan: PlanView) -> None:
        self._plan = plan
        self._wake()

    def stream(self, text: str) -> None:
        self._text = text
        self._wake()

    def _wake(self) -> None:
        if self._ending.is_set():
            return
        self._changed.set()
        if self._sender is None:
            self._sender = asyncio.create_task(self._show_progress())

    async def _show_progress(self) -> None:
        while not self._ending.is_set():
            wait = self._between - (monotonic() - self._shown_at)
            if wait > 0 and await _is_set(self._ending, wait):
                return
            self._changed.clear()
            try:
                await self.show_working()
            except PlatformUnavailable as away:
                log.info("progress not shown", run=self._run.id, error=str(away))
                if await _is_set(self._ending, max(away.retry_after or 0.0, self._between)):
                    return
            except FootnoteError as error:
                # The answer will find out whether this lasts.
                log.info("progress not shown", run=self._run.id, error=str(error))
                return
            self._shown_at = monotonic()
            await self._change_or_end()

    async def _change_or_end(self) -> None:
        change = asyncio.create_task(self._changed.wait())
        end = asyncio.create_task(self._ending.wait())
        try:
            await asyncio.wait(
                {change, end}, timeout=REFRESH_SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            change.cancel()
            end.cancel()

    async def show_working(self) -> None:
        """Show the progress now, in the reply's first message; what an earlier answer had beside
        it goes."""
        view = buttons.view_while_working(self._run.id, self._texts)
        self._posted = replace(self._posted, done=False)
        await self._show(lambda embeds: [self._working(embeds)], view)

    def _working(self, embeds: bool) -> Look:
        return working(
            self._plan,
            self._text,
            self._texts,
            run=self._run.id,
            seconds=monotonic() - self._began,
            embeds=embeds,
            title=self._title,
            opening=self._opening,
        )

    # ------------------------------------------------------------ its end

    async def finish(self, answer: Answer) -> None:
        researched = bool(answer.citations or answer.queries)  # a greeting is not
        view = buttons.view_for(
            self._run.id,
            self._texts,
            deeper=researched and self._run.options.depth != "deep",
            details=researched,
            suggestions=answer.suggestions,
        )
        await self._end(answer, view)

    async def fail(self, answer: Answer, error: FootnoteError) -> None:
        await self._end(answer, buttons.view_of_link(self._texts, self._run.page))

    async def abandon(self) -> None:
        self._ending.set()
        if self._sender is not None:
            self._sender.cancel()
            await asyncio.wait({self._sender})

    async def _end(self, answer: Answer, view: discord.ui.View | None) -> None:
        self._ending.set()
        if self._sender is not None:
            # An edit under way is waited for: it must not arrive after the answer's.
            await asyncio.wait({self._sender})
        await self._run.save(self._posted.json())  # an attempt that lost the run ends here
        try:
            await self._put_all(self._looks(answer), view)
        except DiscordRefused:
            if self._apologise is not None:
                await self._apologise()
            raise
        self._posted = replace(self._posted, done=True)
        await self._run.save(self._posted.json())

    def _looks(self, answer: Answer) -> Sequence[Look]:
        looks = answered(
            answer,
            self._texts,
            gaps=[gap for gap in self._posted.gaps if gap != CANNOT_EMBED],
            opening=self._opening,
            page=self._run.page,
        )
        most = self._outlet.most_posts
        if most is None or len(looks) <= most:
            return looks
        log.warning("answer too long for an interaction", run=self._run.id, parts=len(looks))
        return (*looks[: most - 1], looks[-1])

    # ------------------------------------------------------------ messages

    async def _show(
        self, looks: Callable[[bool], Sequence[Look]], view: discord.ui.View | None
    ) -> None:
        """Let the reply consist of these messages; ``looks`` makes them with or without embeds."""
        may_embed = CANNOT_EMBED not in self._posted.gaps
        try:
            await self._put_all(looks(may_embed), view)
        except DiscordRefused as refused:
            if not may_embed or refused.code not in (wire.MISSING_PERMISSIONS, wire.INVALID_FORM):
                raise
            log.warning("shown without embeds", run=self._run.id, error=str(refused))
            if refused.code == wire.MISSING_PERMISSIONS:
                self._posted = replace(self._posted, gaps=(*self._posted.gaps, CANNOT_EMBED))
            await self._put_all(looks(False), view)
            await self._run.save(self._posted.json())

    async def _put_all(self, looks: Sequence[Look], view: discord.ui.View | None) -> None:
        for index, look in enumerate(looks):
            last = index == len(looks) - 1
            await self._put(index, Post(look, view if last else None))
        await self._drop(len(looks))

    async def _put(self, index: int, post: Post) -> None:
        if index < len(self._posted.posts):
            try:
                await self._outlet.edit(self._posted.posts[index], post)
            except DiscordRefused as refused:
                if refused.code != wire.UNKNOWN_MESSAGE:
                    raise
                await self._drop(index)  # somebody deleted it: what follows is posted again too
            else:
                return
        nonce = nonce_of(self._run.id, self._posted.turn, index)
        post = replace(post, nonce=nonce, answers="" if index else self._answers)
        id = await self._left_behind(post)
        if id:
            await self._outlet.edit(id, post)
        else:
            id = await self._outlet.create(post)
        await self._keep((*self._posted.posts, id), self._posted.turn)

    async def _left_behind(self, post: Post) -> str:
        """The id of a message that an earlier attempt posted here but could not save, or "".

        Nonces are forgotten after some minutes; until then, and where history may not be read,
        they are what finds it.
        """
        if not self._recovered:
            return ""
        known = self._posted.posts
        for message in await self._outlet.latest(known[-1] if known else ""):
            ours = str(message["author"]["id"]) == self._our_id
            if not ours or str(message["id"]) in known:
                continue
            runs = buttons.runs_in(message.get("components", ()))
            same = bool(known) and message.get("content", "") == post.look.content
            if self._run.id in runs or (same and not runs):
                return str(message["id"])
        return ""

    async def _drop(self, kept: int) -> None:
        """Take away all messages but the first ``kept``."""
        surplus = self._posted.posts[kept:]
        for id in surplus:
            await self._outlet.delete(id)
        if surplus:
            await self._keep(self._posted.posts[:kept], self._posted.turn + 1)

    async def _keep(self, posts: tuple[str, ...], turn: int) -> None:
        self._posted = replace(self._posted, posts=posts, turn=turn)
        await self._run.save(self._posted.json())


async def _is_set(event: asyncio.Event, seconds: float) -> bool:
    """Whether the event comes within some seconds."""
    try:
        async with asyncio.timeout(seconds):
            return await event.wait()
    except TimeoutError:
        return False
