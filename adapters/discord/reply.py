"""Shows one answer in Discord: first the progress, then the answer, in the same message."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from time import monotonic

import discord

from adapters.discord import buttons, wire
from adapters.discord.format import Look, format_answer, working
from adapters.discord.outlet import Outlet, Post, Posted, nonce_of
from adapters.discord.wire import DiscordRefused, Wire
from bot.core.errors import FootnoteError
from bot.core.logs import get_logger
from bot.core.messages import Answer
from bot.core.posting import RunRef
from bot.core.texts import Texts, texts_for
from bot.service.replying import Display, View

CANNOT_EMBED = "cannot-embed"  # the text id of this gap

log = get_logger()


class DiscordDisplay(Display):
    """Shows a reply in the place that ``DiscordPoster`` has chosen.

    ``answers`` is the message it replies to, or ""; ``opening`` precedes its text. ``recovered``
    tells that an earlier attempt may have posted more than it could save; ``apologise`` notifies
    the asker elsewhere that nothing can be posted here.
    """

    def __init__(
        self,
        run: RunRef,
        posted: Posted,
        outlet: Outlet,
        wire: Wire,
        *,
        answers: str,
        opening: str,
        recovered: bool,
        apologise: Callable[[], Awaitable[None]],
    ) -> None:
        self._run = run
        self._posted = posted
        self._outlet = outlet
        self._wire = wire
        self._answers = answers
        self._apologise = apologise
        self._opening = opening
        self._recovered = recovered
        self._texts: Texts = texts_for(run.message.locale)
        self._title = self._texts("edited-question") if posted.done else ""
        self._began = monotonic()

    # ------------------------------------------------------------ while it works

    async def begin(self, view: View) -> bool:
        """Keep the posts of an earlier attempt that did not finish, or whose answer is amended."""
        if not self._posted.posts or (self._posted.done and not self._run.is_written):
            await self.show(view)
        return False

    async def show(self, view: View) -> bool:
        """Show the progress in the reply's first message, and delete the other messages of an
        earlier answer."""
        self._posted = replace(self._posted, done=False)
        buttons_of = buttons.view_while_working(self._run.id, self._texts)
        may_embed = CANNOT_EMBED not in self._posted.gaps
        try:
            await self._put_all([self._working(view, embeds=may_embed)], buttons_of)
        except DiscordRefused as refused:
            if not may_embed or refused.code not in (wire.MISSING_PERMISSIONS, wire.INVALID_FORM):
                raise
            log.warning("shown without embeds", run=self._run.id, error=str(refused))
            if refused.code == wire.MISSING_PERMISSIONS:
                self._posted = replace(self._posted, gaps=(*self._posted.gaps, CANNOT_EMBED))
            await self._put_all([self._working(view, embeds=False)], buttons_of)
            await self._run.save(self._posted.json())
        return True

    def _working(self, view: View, *, embeds: bool) -> Look:
        return working(
            view.plan,
            view.text,
            self._texts,
            run=self._run.id,
            seconds=monotonic() - self._began,
            embeds=embeds,
            title=self._title,
            opening=self._opening,
        )

    # ------------------------------------------------------------ its end

    async def finish(self, answer: Answer, error: FootnoteError | None, view: View) -> None:
        await self._run.save(self._posted.json())  # raises if another attempt has the run
        try:
            await self._put_all(self._looks(answer), self._buttons_below(answer, error))
        except DiscordRefused:
            await self._apologise()
            raise
        self._posted = replace(self._posted, done=True)
        await self._run.save(self._posted.json())

    def _buttons_below(self, answer: Answer, error: FootnoteError | None) -> discord.ui.View | None:
        if error is not None:
            return buttons.view_of_link(self._texts, self._run.page)
        researched = bool(answer.citations or answer.queries)  # unlike a greeting
        return buttons.view_for(
            self._run.id,
            self._texts,
            deeper=researched and self._run.options.depth != "deep",
            details=researched,
            corrects=answer.corrects,
            suggestions=answer.suggestions,
        )

    def _looks(self, answer: Answer) -> Sequence[Look]:
        looks = format_answer(
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
                await self._drop(index)  # it was deleted: later parts are posted again too
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
        """Return the id of a message that an earlier attempt posted but could not save, or "".

        Discord forgets nonces after some minutes. Until then, and if the history may not be read,
        the nonce finds such a message instead.
        """
        if not self._recovered:
            return ""
        known = self._posted.posts
        for message in await self._outlet.latest(known[-1] if known else ""):
            ours = str(message["author"]["id"]) == self._wire.user_id
            if not ours or str(message["id"]) in known:
                continue
            runs = buttons.runs_in(message.get("components", ()))
            same = bool(known) and message.get("content", "") == post.look.content
            if self._run.id in runs or (same and not runs):
                return str(message["id"])
        return ""

    async def _drop(self, kept: int) -> None:
        """Delete all messages after the first ``kept``."""
        surplus = self._posted.posts[kept:]
        for id in surplus:
            await self._outlet.delete(id)
        if surplus:
            await self._keep(self._posted.posts[:kept], self._posted.turn + 1)

    async def _keep(self, posts: tuple[str, ...], turn: int) -> None:
        self._posted = replace(self._posted, posts=posts, turn=turn)
        await self._run.save(self._posted.json())
