"""Slack's way out: where replies are begun, found again, taken away; see ``reply`` for showing."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from time import monotonic

from adapters.slack.calls import Away, Calls, Limited, Refusal
from adapters.slack.delivery import Delivery
from adapters.slack.ephemeral import Recipient, tell
from adapters.slack.features import Features
from adapters.slack.format import escaped, markdown_block, notification, question_text
from adapters.slack.history import downloaded, thread_history
from adapters.slack.posted_messages import (
    QUESTION,
    Post,
    PostedMessages,
    found_question,
    is_suggestion,
    is_ts,
    message_ts,
)
from adapters.slack.reply import SlackDisplay
from adapters.slack.teams import Team, Teams
from bot.errors import PlatformUnavailable, PostRefused
from bot.logs import get_logger
from bot.messages import Attachment, Message
from bot.posting import PostState, Reply, RunRef
from bot.rendering.texts import texts_for
from bot.replying import Pace, open_reply
from bot.storage.workspaces import Workspaces

log = get_logger()


class SlackPoster:
    """Speaks in each run's workspace; ``teams`` may be shared with the listeners."""

    amends = True
    groups_setting = "slack_groups"

    def __init__(self, teams: Teams, workspaces: Workspaces) -> None:
        self._teams = teams
        self._features = Features(workspaces)

    async def open(self, run: RunRef, saved: PostState | None) -> Reply:
        team = await self._team(run)
        record = PostedMessages.of(run, saved)
        if not is_ts(record.thread):
            await self._begin_thread(team, record)
        elif is_suggestion(run) and not record.question:
            await self._show_question(team, record)
        if record.pending is not None:
            await Delivery(team, record).recover(patience=team.calls.timing.first_sign)
        timing = team.calls.timing
        display = SlackDisplay(team, self._features, run, record)
        pace = Pace(timing.between, timing.backoff, first_sign=timing.first_sign)
        try:
            return await open_reply(run, display, pace)
        except PostRefused:
            await self._tell_asker(team, record, texts_for(run.message.locale)("cannot-post"))
            raise

    async def queued(self, run: RunRef, ahead: int) -> None:
        calls = (await self._team(run)).calls
        where = run.message.thread
        text = texts_for(run.message.locale)("queued", ahead=ahead)
        await calls.patiently(
            "chat.postEphemeral",
            patience=calls.timing.first_sign,
            repeat=False,
            channel=where.channel,
            user=run.message.author.id,
            text=text,
            **({"thread_ts": where.thread} if is_ts(where.thread) else {}),
        )

    async def remove(self, run: RunRef, saved: PostState | None) -> None:
        record = PostedMessages.of(run, saved)
        if not is_ts(record.thread):
            return
        team = await self._team(run)
        await self._close_session(team, record)  # with its last message the thread would be gone
        delivery = Delivery(team, record)
        patience = team.calls.timing.patience
        await delivery.recover(patience=patience)
        if record.question:
            record.posts.append(Post(record.question))
        await delivery.trim(0, patience=patience)

    async def history(self, run: RunRef) -> Sequence[Message]:
        return await thread_history(await self._team(run), run)

    async def download(self, run: RunRef, attachment: Attachment, limit: int) -> bytes:
        return await downloaded((await self._team(run)).calls, attachment, limit)

    async def groups(self, message: Message, among: Collection[str]) -> frozenset[str]:
        """See ``bot.rights.rights.Membership``."""
        team = await self._teams.of(message.thread.workspace)
        return await team.groups_of_author(message, among)

    async def is_guest(self, message: Message) -> bool:
        """See ``bot.rights.rights.Hosting``."""
        return await (await self._teams.of(message.thread.workspace)).is_guest(message)

    async def _team(self, run: RunRef) -> Team:
        """Raises ``PostRefused`` where the app is not installed any more."""
        return await self._teams.of(run.message.thread.workspace)

    # ------------------------------------------------------------ threads and sessions

    async def _begin_thread(self, team: Team, record: PostedMessages) -> None:
        """Say in the channel what a slash command asked: the answer goes below.

        Raises ``PostRefused``, after telling the asker, and ``PlatformUnavailable``.
        """
        texts = texts_for(record.run.message.locale)
        calls = team.calls
        deadline = monotonic() + calls.timing.patience
        tries = 0
        while True:
            try:
                await record.move(await _question(calls, record, calls.timing.patience))
            except Away:
                if not await calls.back_off(tries, deadline):
                    raise
                tries += 1
            except Refusal:
                await self._tell_asker(team, record, texts("cannot-post"))
                raise
            else:
                return

    async def _show_question(self, team: Team, record: PostedMessages) -> None:
        """Say in the thread which suggestion was pressed, or its readers would see an answer
        without a question. Raises ``PlatformUnavailable``."""
        try:
            record.question = await _question(team.calls, record, team.calls.timing.first_sign)
        except Refusal as refusal:  # the answer will meet it as well
            log.info("question not shown", run=record.run.id, error=str(refusal))
        except Limited:
            await record.unintend()
            raise
        await record.unintend()

    async def _tell_asker(self, team: Team, record: PostedMessages, sentence: str) -> None:
        """Answer a slash command where only the asker sees it."""
        url = record.command.get("response_url", "")
        if not url:
            return
        recipient = Recipient(record.channel, record.command.get("user", ""), response_url=url)
        try:
            await tell(team.calls, recipient, escaped(sentence))
        except (PostRefused, PlatformUnavailable) as error:
            log.warning("asker not told", run=record.run.id, error=str(error))

    async def _close_session(self, team: Team, record: PostedMessages) -> None:
        """A deleted question leaves nothing being worked on in its thread.

        Raises ``PlatformUnavailable``: nobody else would end a session that an attempt began.
        """
        where = record.run.message.thread
        if not await self._features.has("sessions", where.workspace, record.channel):
            return
        own_thread = message_ts(record.run) == record.thread
        try:
            await team.calls.patiently(
                "agents.sessions.setStatus",
                channel_id=record.channel,
                thread_ts=record.thread,
                status="closed" if own_thread else "active",
            )
        except PostRefused as error:
            log.info("session not ended", run=record.run.id, error=str(error))


async def _question(calls: Calls, record: PostedMessages, patience: float) -> str:
    """The ts of the message that says what was asked, posted unless it is there."""
    if record.pending == QUESTION and (ts := await found_question(calls, record)) is not None:
        return ts
    message = record.run.message
    text = question_text(message.author.name, message.text, texts_for(message.locale))
    await record.intend(QUESTION)
    posted = await calls.patiently(
        "chat.postMessage",
        patience=patience,
        repeat=False,
        channel=record.channel,
        text=notification(f"{message.author.name}: {message.text}"),
        blocks=[markdown_block(text)],
        metadata=record.metadata(QUESTION),
        unfurl_links=False,
        unfurl_media=False,
        **({"thread_ts": record.thread} if is_ts(record.thread) else {}),
    )
    return str(posted["ts"])
