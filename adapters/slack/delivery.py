"""Delivers a reply's messages so that each is visible exactly once, in order, and records them.

The intention to post a message is saved before posting it, its timestamp afterwards. An attempt
that finds an unfinished intention looks into the thread before it posts again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any

from adapters.slack.calls import Away, Calls, Json, Limited, Refusal
from adapters.slack.format import Part, simpler
from adapters.slack.incoming import EVENT_TYPE, SlackMessage, attachments_of, parse_message
from adapters.slack.limits import PAGE_MESSAGES
from adapters.slack.mrkdwn import is_ts
from adapters.slack.teams import Team
from bot.core.logs import get_logger
from bot.core.messages import Thread
from bot.core.posting import PREVIEWS, PostState, RunRef

log = get_logger()

# The part number of the message that repeats the question of a slash command or a pressed
# suggestion.
QUESTION = -1
SEARCH = "search"  # in the post state: the asker's search token, see ``conversations``


@dataclass(slots=True)
class Post:
    """One message of a reply. ``streamed`` tells that it is a stream that was not replaced yet."""

    ts: str
    streamed: bool = False


@dataclass(slots=True)
class PostedMessages:
    """A run's posts in order; ``pending`` is the number of the part being posted, or None.

    ``settled`` tells that the whole answer was posted. ``command`` is the state that a slash
    command stored, ``question`` the ts of the message that repeats the question, ``search`` the
    asker's search token as the listener stored it (``adapters.slack.conversations``), ``previews``
    the messages that show a preview of the answer, each with its ``channel``, ``ts`` and ``url``.
    """

    run: RunRef
    channel: str
    thread: str
    posts: list[Post] = field(default_factory=list)
    pending: int | None = None
    settled: bool = False
    command: dict[str, str] = field(default_factory=dict)
    question: str = ""
    search: str = ""
    previews: list[dict[str, str]] = field(default_factory=list)

    @classmethod
    def of(cls, run: RunRef, saved: PostState | None) -> PostedMessages:
        state: dict[str, Any] = saved or {}
        where = run.message.thread
        return cls(
            run=run,
            channel=where.channel,
            thread=where.thread,
            posts=[Post(post["ts"], bool(post.get("streamed"))) for post in state.get("posts", ())],
            pending=state.get("pending"),
            settled=bool(state.get("settled")),
            command=dict(state.get("command") or {}),
            question=str(state.get("question") or ""),
            search=str(state.get(SEARCH) or ""),
            previews=list(state.get(PREVIEWS) or ()),
        )

    async def save(self) -> None:
        """Save the record in the run's post state. Raises ``RunLost``, ``StorageUnavailable``."""
        posts = [{"ts": post.ts, "streamed": post.streamed} for post in self.posts]
        state: PostState = {"posts": posts, "pending": self.pending, "settled": self.settled}
        if self.command:
            state["command"] = self.command
        if self.question:
            state["question"] = self.question
        if self.previews:
            state[PREVIEWS] = self.previews
        if self.search and not self.settled:
            state[SEARCH] = self.search
        await self.run.save(state)

    async def intend(self, part: int) -> None:
        """Save which part is about to be posted."""
        self.pending, self.settled = part, False
        await self.save()

    async def arrived(self, number: int, post: Post) -> None:
        """Save that the pending part was posted."""
        self.posts.insert(number, post)
        await self.unintend()

    async def unintend(self) -> None:
        """Save that no part is being posted."""
        self.pending = None
        await self.save()

    async def move(self, ts: str) -> None:
        """Move the run to its thread, which begins with the message ``ts``, its question."""
        where = self.run.message.thread
        await self.run.move(Thread(where.platform, where.workspace, self.channel, ts))
        self.thread = self.question = ts
        self.pending = None
        await self.save()

    def metadata(self, part: int) -> Json:
        return {"event_type": EVENT_TYPE, "event_payload": {"run": self.run.id, "part": part}}


async def found_in_thread(
    calls: Calls, record: PostedMessages, bot_user: str, *, patience: float
) -> list[Post] | None:
    """Return the run's posts found in its thread, in order; None if the thread cannot be read.

    A stream has no metadata before its end. Our stream without metadata, begun after the question,
    must belong to this run, because the runs of a thread do not overlap. Raises ``Away`` and
    ``Limited`` if Slack does not answer in time.
    """
    asked = message_ts(record.run)
    try:
        messages = await thread_messages(
            calls, record.channel, record.thread, oldest=asked, patience=patience
        )
    except Refusal as refusal:
        if refusal.code == "thread_not_found":
            return []
        log.warning("thread not readable", run=record.run.id, error=str(refusal))
        return None
    known = {post.ts for post in record.posts}
    found: list[tuple[int, str, Post]] = []
    for message in messages:
        ours = message.user == bot_user and not message.run
        orphan = ours and message.stream is not None and message.ts > (asked or "")
        of_run = message.run == record.run.id and message.part != QUESTION
        if message.ts in known or orphan or of_run:
            post = Post(message.ts, message.stream == "in_progress")
            found.append((message.part, message.ts, post))
    return [post for _, _, post in sorted(found, key=lambda one: one[:2])]


async def thread_messages(
    calls: Calls,
    channel: str,
    thread: str,
    *,
    oldest: str | None = None,
    latest: str | None = None,
    most: int = 3_000,
    patience: float | None = None,
) -> list[SlackMessage]:
    """Return a thread's messages, oldest first, from its root on, about ``most`` of them at most.

    Raises ``Refusal``, ``Limited`` and ``Away``.
    """
    deadline = monotonic() + (calls.timing.reading if patience is None else patience)
    found: dict[str, SlackMessage] = {}
    cursor: str | None = None
    while True:
        page = await calls.patiently(
            "conversations.replies",
            patience=max(deadline - monotonic(), 0.0),
            channel=channel,
            ts=thread,
            limit=PAGE_MESSAGES,
            include_all_metadata=True,
            oldest=oldest,
            latest=latest,
            cursor=cursor,
        )
        for message in page.get("messages") or ():
            if "ts" in message:
                found[str(message["ts"])] = parse_message(message, channel)
        cursor = (page.get("response_metadata") or {}).get("next_cursor") or None
        if cursor is None or len(found) >= most:
            return [found[ts] for ts in sorted(found)]


async def with_files(calls: Calls, message: SlackMessage, patience: float) -> SlackMessage:
    """Return a message with the files that Slack only named; those about which it does not answer
    within ``patience`` seconds cannot be read.

    https://docs.slack.dev/apis/slack-connect: files of other teams are told by ``files.info`` only.
    """

    async def about(id: str) -> Json:
        try:
            async with asyncio.timeout(patience):
                return dict((await calls.once("files.info", file=id))["file"])
        except (Refusal, Limited, Away, TimeoutError) as error:
            log.info("file not known", file=id, error=repr(error))
            is_gone = isinstance(error, Refusal) and error.code == "file_deleted"
            return {"id": id, "mode": "tombstone" if is_gone else ""}

    found = await asyncio.gather(*map(about, message.stubs))
    return replace(message, files=(*message.files, *attachments_of(found)), stubs=())


async def found_question(calls: Calls, record: PostedMessages) -> str | None:
    """Return the ts of the message that repeats the question, if it was posted."""
    if is_ts(record.thread):
        messages = await thread_messages(calls, record.channel, record.thread)
    else:
        page = await calls.patiently(
            "conversations.history",
            channel=record.channel,
            limit=PAGE_MESSAGES,
            include_all_metadata=True,
        )
        channel = record.channel
        messages = [parse_message(each, channel) for each in page.get("messages") or ()]
    for message in messages:
        if (message.run, message.part) == (record.run.id, QUESTION):
            return message.ts
    return None


def message_ts(run: RunRef) -> str | None:
    """Return the ts of the message that began the run or that it is about; None without one in
    the run's channel."""
    channel, _, rest = run.message.event_id.partition(":")
    ts = rest.partition(":")[0]
    return ts if is_ts(ts) and channel == run.message.thread.channel else None


def is_about(run: RunRef) -> bool:
    """Return True if the run is about someone's message, rather than asked in it."""
    return message_ts(run) is not None and run.message.event_id.count(":") > 1


def is_suggestion(run: RunRef) -> bool:
    """Return True if the question is a pressed suggestion, which no message contains yet."""
    return run.message.event_id.split(":")[1:2] == ["follow-up"]


# The message cannot be changed any more, but a new one may replace it.
_UNCHANGEABLE = frozenset({"message_not_found", "edit_window_closed", "cant_update_message"})
# The workspace does not know a kind of block, or a limit is narrower than Slack's pages say.
_UNSHOWABLE = frozenset(
    {
        *("invalid_blocks", "invalid_blocks_format", "msg_blocks_too_many", "unsupported_block"),
    }
)
# The message has to be shorter.
TOO_LONG = frozenset({"msg_too_long", "msg_blocks_too_long", "blocks_too_long"})
_NOT_STREAMING = frozenset(
    {"message_not_in_streaming_state", "stopped_by_user", "message_not_found"}
)


class Delivery:
    """Delivers the messages of one run. ``patience`` is in seconds; 0.0 means one try."""

    def __init__(self, team: Team, record: PostedMessages) -> None:
        self._team = team
        self._calls = team.calls
        self._record = record

    async def settle(self, parts: Sequence[Part], *, first: int = 0) -> None:
        """Make these the reply's messages, from number ``first`` on, and delete any after them.

        Idempotent. Raises ``PlatformUnavailable`` and ``PostRefused``.
        """
        patience = self._calls.timing.patience
        for number, part in enumerate(parts, start=first):
            await self.put(number, part, patience=patience)
        await self.trim(first + len(parts), patience=patience)

    async def put(self, number: int, part: Part, *, patience: float) -> None:
        """Show a part as message ``number``, or after the last one, with simpler blocks if Slack
        refuses those it has."""
        await self.recover(patience=patience)
        try:
            await self._put(number, part, patience)
        except Refusal as refusal:
            plainer = simpler(part) if refusal.code in _UNSHOWABLE else None
            if plainer is None:
                raise
            log.warning("blocks refused", run=self._record.run.id, error=str(refusal))
            await self.put(number, plainer, patience=patience)

    async def _put(self, number: int, part: Part, patience: float) -> None:
        if number < len(self._record.posts):
            await self._replace(number, part, patience)
        else:
            await self._post(number, part, patience)

    async def trim(self, kept: int, *, patience: float) -> None:
        """Delete the messages after the first ``kept``."""
        while len(self._record.posts) > kept:
            await self.delete(self._record.posts[-1], patience=patience)

    async def delete(self, post: Post, *, patience: float) -> None:
        """Delete one message, which may be gone already. Slack does not delete a message that is
        being streamed, so its stream is ended first."""
        if post.streamed:
            await self.end_stream(post, patience=patience)
        try:
            await self._delete(post, patience)
        except Refusal as refusal:
            if refusal.code == "cant_delete_message":  # perhaps a stream we do not know of
                await self.end_stream(post, patience=patience)
                await self._delete(post, patience)
            elif refusal.code not in ("message_not_found", "thread_not_found"):
                raise
        self._record.posts.remove(post)
        await self._record.save()

    async def _delete(self, post: Post, patience: float) -> None:
        await self._calls.patiently(
            "chat.delete", patience=patience, channel=self._record.channel, ts=post.ts
        )

    async def recover(self, *, patience: float) -> None:
        """Look into the thread for a message of which it is unknown whether it was posted."""
        if self._record.pending is None:
            return
        bot_user = await self._team.bot_user(patience=patience)
        found = await found_in_thread(self._calls, self._record, bot_user, patience=patience)
        if found is not None:
            self._record.posts = found
        await self._record.unintend()

    async def end_stream(self, post: Post, *, patience: float) -> None:
        """End a stream, begun by this attempt or an earlier one, so that its message can be
        replaced."""
        where: Json = {"patience": patience, "channel": self._record.channel, "ts": post.ts}
        metadata = self._record.metadata(self._record.posts.index(post))
        chunks = [{"type": "markdown_text", "text": "…"}]
        try:
            try:
                await self._calls.patiently(
                    "chat.stopStream", chunks=chunks, metadata=metadata, **where
                )
            except Refusal as refusal:
                if refusal.code != "msg_too_long":  # it is full
                    raise
                await self._calls.patiently("chat.stopStream", **where)
        except Refusal as refusal:
            if refusal.code not in _NOT_STREAMING:
                raise
        post.streamed = False

    async def _replace(self, number: int, part: Part, patience: float) -> None:
        post = self._record.posts[number]
        if post.streamed:
            await self.end_stream(post, patience=patience)
        arguments: Json = {
            "channel": self._record.channel,
            "ts": post.ts,
            "text": part.text,
            "blocks": list(part.blocks),
            "metadata": self._record.metadata(number),
        }
        try:
            try:
                await self._calls.patiently("chat.update", patience=patience, **arguments)
            except Refusal as refusal:
                if refusal.code != "streaming_state_conflict":
                    raise
                await self.end_stream(post, patience=patience)
                await self._calls.patiently("chat.update", patience=patience, **arguments)
        except Refusal as refusal:
            if refusal.code not in _UNCHANGEABLE:
                raise
            log.info("message not changeable", ts=post.ts, code=refusal.code)
            self._record.posts.remove(post)
            await self._post(number, part, patience)

    async def _post(self, number: int, part: Part, patience: float) -> None:
        deadline = monotonic() + patience
        tries = 0
        await self._record.intend(number)
        while True:
            try:
                posted = await self._calls.patiently(
                    "chat.postMessage",
                    patience=max(deadline - monotonic(), 0.0),
                    repeat=False,
                    channel=self._record.channel,
                    thread_ts=self._record.thread,
                    text=part.text,
                    blocks=list(part.blocks),
                    metadata=self._record.metadata(number),
                    unfurl_links=False,
                    unfurl_media=False,
                )
            except Away:
                if not await self._calls.back_off(tries, deadline):
                    raise
                # The message may have arrived, and only Slack's response was lost.
                before = {post.ts for post in self._record.posts}
                await self.recover(patience=max(deadline - monotonic(), 0.0))
                if any(post.ts not in before for post in self._record.posts):
                    return
                await self._record.intend(number)
                tries += 1
            except Refusal:
                await self._record.unintend()
                raise
            else:
                await self._record.arrived(number, Post(str(posted["ts"])))
                return
