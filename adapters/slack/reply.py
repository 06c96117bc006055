"""One answer being shown in Slack: a task of its own brings the latest state out, at Slack's pace.

``progress`` and ``stream`` only set the state and wake that task, so that a slow or limiting Slack
never holds up a run. ``finish`` and ``fail`` wait for it and then see to it that exactly the answer
is there.
"""

from __future__ import annotations

import asyncio
from time import monotonic

from adapters.slack.calls import Away, Limited, Refusal
from adapters.slack.delivery import Delivery
from adapters.slack.features import Ability, Features
from adapters.slack.format import Final, escaped, failure, final, parts
from adapters.slack.limits import SESSION_TITLE_CHARACTERS
from adapters.slack.plan import plain
from adapters.slack.posted_messages import PostedMessages
from adapters.slack.streaming import Streaming, TakenOver, message_parts
from adapters.slack.teams import Team
from adapters.slack.updating import Updating
from adapters.slack.view import View
from bot.answers import Answer, PlanView
from bot.errors import FootnoteError, PlatformUnavailable, PostRefused, RunLost, StorageUnavailable
from bot.logs import get_logger
from bot.posting import RunRef
from bot.rendering.lines import shortened
from bot.rendering.texts import texts_for

QUESTION = 100  # characters of a question that is named
SESSION_PATIENCE = 65.0  # seconds; Slack counts calls by the minute

# Slack refuses everything else there as well.
CLOSED = frozenset(
    {
        *("channel_not_found", "is_archived", "thread_not_found", "invalid_thread_ts"),
        *("invalid_auth", "not_authed", "token_revoked", "token_expired", "account_inactive"),
    }
)

# The place is closed to Footnote, but not the asker.
PLACE_GONE = frozenset({"channel_not_found", "is_archived", "not_in_channel"})

log = get_logger()


class SlackReply:
    """See the module docstring. Begins with ``begin``."""

    def __init__(self, team: Team, features: Features, run: RunRef, record: PostedMessages) -> None:
        self._team = team
        self._calls = team.calls
        self._features = features
        self._run = run
        self._record = record
        self._texts = texts_for(run.message.locale)
        self._delivery = Delivery(team.calls, team.identity, record)
        self._edited = record.settled and bool(record.posts)
        self._view = View(PlanView(run.message.text, ()))
        self._way: Streaming | Updating | None = None
        self._session = False  # Slack says that Footnote is at work, and shows its Stop button
        self._session_begun = False  # or may say so
        self._wake = asyncio.Event()
        self._closing = asyncio.Event()
        self._seen = asyncio.Event()  # a first sign is there
        self._began = monotonic()
        self._shown_at = self._began - team.calls.timing.between
        self._sender: asyncio.Task[None] | None = None

    async def begin(self) -> None:
        """Give a first sign, and wait a little for it. Raises ``PostRefused`` and ``RunLost``."""
        self._sender = asyncio.create_task(self._send())
        seen = asyncio.create_task(self._seen.wait())
        try:
            await asyncio.wait(
                {self._sender, seen},
                timeout=self._calls.timing.first_sign,
                return_when=asyncio.FIRST_COMPLETED,
            )
        finally:
            seen.cancel()
        if self._sender.done():
            self._sender.result()

    # ------------------------------------------------------------ what the run tells

    def progress(self, plan: PlanView) -> None:
        self._view = View(plan, self._view.text)
        self._wake.set()

    def stream(self, text: str) -> None:
        self._view = View(self._view.plan, text)
        self._wake.set()

    async def finish(self, answer: Answer) -> None:
        depth = self._run.options.depth
        await self._end(final(answer, self._texts, depth=depth, page=self._run.page))

    async def fail(self, answer: Answer, error: FootnoteError) -> None:
        await self._end(failure(answer, error.sentence, self._texts, page=self._run.page))

    async def abandon(self) -> None:
        self._closing.set()
        if self._sender is not None and not self._sender.done():
            self._sender.cancel()
            await asyncio.wait({self._sender})
        if self._sender is not None and not self._sender.cancelled():
            self._sender.exception()  # whatever it was, this attempt is over

    # ------------------------------------------------------------ the end

    async def _end(self, ending: Final) -> None:
        self._closing.set()
        if self._sender is not None:
            await asyncio.wait({self._sender})
            if not self._sender.cancelled() and isinstance(self._sender.exception(), RunLost):
                self._sender.result()
        await self._record.save()  # an attempt that lost its run ends here
        try:
            await self._settle(ending)
        except Refusal as refusal:
            if refusal.code in PLACE_GONE:
                await self._tell_asker()
            raise
        self._record.settled = True
        await self._record.save()
        await self._end_session()

    async def _settle(self, ending: Final) -> None:
        """Have exactly the answer there."""
        patience = self._calls.timing.patience
        await self._delivery.recover(patience=patience)
        told = "active" if self._session_begun else None
        way = None if self._record.settled else self._way  # what has ended streams no more
        shown = isinstance(way, Streaming) and await way.finish(ending, self._view.plan, told)
        if not shown:
            await self._delivery.settle(message_parts(parts(ending.text), ending))

    async def _tell_asker(self) -> None:
        """Say in a direct message that nothing can be posted where it was asked any more; what
        still streams there is ended, if Slack lets it."""
        channel, asker = self._record.channel, self._run.message.author.id
        try:
            for post in self._record.posts:
                if post.streamed:
                    await self._delivery.end_stream(post, patience=0.0)
        except (PlatformUnavailable, PostRefused) as error:
            log.info("stream not ended", run=self._run.id, error=str(error))
        if channel.startswith("D"):
            return
        question = shortened(self._run.message.text, QUESTION)
        text = escaped(self._texts("answer-place-gone", question=question))
        try:
            await self._calls.patiently(
                "chat.postMessage",
                patience=self._calls.timing.patience,
                channel=asker,
                text=f"<#{channel}>: {text}",
            )
        except (PlatformUnavailable, PostRefused) as error:
            log.warning("asker not told", run=self._run.id, error=str(error))

    async def _end_session(self) -> None:
        """Set the status that never changes by itself."""
        ended = isinstance(self._way, Streaming) and self._way.session_ended
        if ended or not self._session_begun:
            return
        try:
            await self._calls.patiently(
                "agents.sessions.setStatus",
                patience=min(SESSION_PATIENCE, self._calls.timing.patience),
                channel_id=self._record.channel,
                thread_ts=self._record.thread,
                status="active",
            )
        except (PlatformUnavailable, PostRefused) as error:
            log.warning("session status not ended", run=self._run.id, error=str(error))

    # ------------------------------------------------------------ while it works

    async def _send(self) -> None:
        """Show what is new until the reply ends. Raises what makes showing more pointless."""
        await self._begin_session()
        self._way = await self._chosen_way()
        if self._session:
            self._seen.set()
        if self._run.is_written and self._record.settled:
            self._seen.set()
            return  # the answer is there, and stays until it is finished again
        if self._record.posts or not self._session:
            self._wake.set()  # what an earlier attempt left is not shown as if it were current
        tries = 0
        while await self._something_new():
            try:
                await self._show()
                tries = 0
            except PlatformUnavailable as away:
                log.debug("not shown yet", run=self._run.id, error=str(away))
                wait = away.retry_after or self._calls.timing.backoff * 2 ** min(tries, 6)
                tries += 1
                self._wake.set()
                await self._pause(wait)
            except StorageUnavailable as error:
                log.warning("posts not kept", run=self._run.id, error=str(error))
                await self._pause(self._calls.timing.backoff)

    async def _show(self) -> None:
        assert self._way is not None  # noqa: S101
        self._wake.clear()
        self._shown_at = monotonic()
        try:
            if not await self._way.show(self._view):
                self._wake.set()
        except TakenOver:
            self._update_instead()
        except Refusal as refusal:
            if refusal.code in CLOSED or isinstance(self._way, Updating):
                raise
            await self._lacks("streaming", refusal)
            self._update_instead()
        else:
            self._seen.set()

    async def _something_new(self) -> bool:
        """Wait until there is something to show and Slack may be asked; False at the end."""
        while not self._closing.is_set():
            await self._woken()
            wait = self._wait()
            if wait <= 0:
                break
            await self._pause(wait)
        return not self._closing.is_set()

    def _wait(self) -> float:
        """Seconds until the next call may be made."""
        assert self._way is not None  # noqa: S101
        timing = self._calls.timing
        rest = self._shown_at + timing.between - monotonic()
        if rest > 0:
            return rest
        if isinstance(self._way, Streaming) and not self._way.begun:
            # A session tells that Footnote is at work; a run that ends at once needs no stream.
            delay = self._began + timing.stream_delay - monotonic() if self._session else 0.0
            return delay if delay > 0 else self._calls.due("chat.startStream")
        return self._calls.due(self._way.method)

    async def _woken(self) -> None:
        waits = [asyncio.create_task(event.wait()) for event in (self._wake, self._closing)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    async def _pause(self, seconds: float) -> None:
        """Sleep, but not beyond the end."""
        try:
            await asyncio.wait_for(self._closing.wait(), seconds)
        except TimeoutError:
            return

    # ------------------------------------------------------------ sessions and ways

    async def _begin_session(self) -> None:
        """Say that Footnote is at work, which also brings Slack's own Stop button."""
        where = self._run.message.thread
        if not await self._features.has("sessions", where.workspace, self._record.channel):
            return
        left = self._run.attempt > 1  # an earlier attempt may have set the status
        self._session_begun = left
        if self._calls.due("agents.sessions.setStatus") > 0:
            return  # in a rush the calls are left for statuses that have to end
        self._session_begun = True
        try:
            await self._calls.once(
                "agents.sessions.setStatus",
                channel_id=self._record.channel,
                thread_ts=self._record.thread,
                status="processing",
                title=plain(self._run.message.text, SESSION_TITLE_CHARACTERS),
            )
            self._session = True
        except Refusal as refusal:
            self._session_begun = False
            if refusal.code in CLOSED:
                raise
            await self._lacks("sessions", refusal)
        except Limited:
            self._session_begun = left
        except Away as away:
            log.debug("session perhaps not begun", run=self._run.id, error=str(away))

    async def _chosen_way(self) -> Streaming | Updating:
        where = self._run.message.thread
        streams = await self._features.has("streaming", where.workspace, self._record.channel)
        if streams and not self._record.posts:
            asker = await self._team.workspace_of_author(self._run.message)
            return Streaming(self._calls, self._delivery, self._record, self._texts, asker)
        return self._updating()

    def _update_instead(self) -> None:
        """Go on at once by changing a message."""
        self._way = self._updating()
        self._shown_at -= self._calls.timing.between
        self._wake.set()

    def _updating(self) -> Updating:
        return Updating(
            self._calls,
            self._delivery,
            self._record,
            self._texts,
            note=self._texts("edited-question") if self._edited else "",
            stop="" if self._session else self._run.id,
        )

    async def _lacks(self, ability: Ability, refusal: Refusal) -> None:
        where = self._run.message.thread
        await self._features.lacks(ability, where.workspace, self._record.channel, refusal)
