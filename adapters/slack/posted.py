"""The record of a reply's messages: which were posted where, and how to find them in a thread.

The intention to post a message is saved before posting it, its timestamp afterwards. An attempt
that finds an unfinished intention looks into the thread before it posts again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from adapters.slack.calls import Calls, Json, Refusal
from adapters.slack.limits import PAGE_MESSAGES
from bot.core.logs import get_logger
from bot.core.messages import Thread
from bot.core.posting import PostState, RunRef

EVENT_TYPE = "footnote_run"
# The part number of the message that repeats the question of a slash command or a pressed
# suggestion.
QUESTION = -1
SEARCH = "search"  # in the post state: the asker's search token, see ``conversations``

log = get_logger()


@dataclass(slots=True)
class Post:
    """One message of a reply. ``streamed`` tells that it is a stream that was not replaced yet."""

    ts: str
    streamed: bool = False


@dataclass(slots=True)
class PostedMessages:
    """A run's posts in order; ``pending`` is the number of the part being posted, or None.

    ``settled`` tells that the whole answer was posted. ``command`` is the state that a slash
    command stored, ``question`` the ts of the message with the pressed suggestion, ``search`` the
    asker's search token as the listener stored it (``adapters.slack.conversations``).
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
        )

    async def save(self) -> None:
        """Save the record in the run's post state. Raises ``RunLost``, ``StorageUnavailable``."""
        posts = [{"ts": post.ts, "streamed": post.streamed} for post in self.posts]
        state: PostState = {"posts": posts, "pending": self.pending, "settled": self.settled}
        if self.command:
            state["command"] = self.command
        if self.question:
            state["question"] = self.question
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
        """Move the run to its thread, which begins with the message ``ts``."""
        where = self.run.message.thread
        await self.run.move(Thread(where.platform, where.workspace, self.channel, ts))
        self.thread, self.pending = ts, None
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
        ts = str(message.get("ts", ""))
        run, part = run_of(message)
        streamed = str(message.get("streaming_state", "")) == "in_progress"
        ours = message.get("user") == bot_user
        orphan = ours and run is None and "streaming_state" in message and ts > (asked or "")
        if ts in known or orphan or (run == record.run.id and part != QUESTION):
            found.append((part or 0, ts, Post(ts, streamed)))
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
) -> list[Json]:
    """Return a thread's messages, oldest first, from its root on, about ``most`` of them at most.

    Raises ``Refusal``, ``Limited`` and ``Away``.
    """
    deadline = monotonic() + (calls.timing.reading if patience is None else patience)
    found: dict[str, Json] = {}
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
            found[str(message.get("ts", ""))] = message
        cursor = (page.get("response_metadata") or {}).get("next_cursor") or None
        if cursor is None or len(found) >= most:
            return [found[ts] for ts in sorted(found)]


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
        messages = page.get("messages") or []
    for message in messages:
        if run_of(message) == (record.run.id, QUESTION):
            return str(message["ts"])
    return None


def run_of(message: Json) -> tuple[str | None, int | None]:
    """Return the run and the part that a message's metadata names."""
    metadata = message.get("metadata") or {}
    payload = metadata.get("event_payload") or {}
    if metadata.get("event_type") != EVENT_TYPE or not isinstance(payload.get("run"), str):
        return None, None
    part = payload.get("part")
    return payload["run"], part if isinstance(part, int) else 0


def message_ts(run: RunRef) -> str | None:
    """Return the ts of the message that began the run or that it is about; None without one."""
    fields = run.message.event_id.split(":")
    return fields[1] if len(fields) > 1 and is_ts(fields[1]) else None


def is_about(run: RunRef) -> bool:
    """Return True if the run is about someone's message, rather than asked in it."""
    return message_ts(run) is not None and run.message.event_id.count(":") > 1


def is_suggestion(run: RunRef) -> bool:
    """Return True if the question is a pressed suggestion, which no message contains yet."""
    return run.message.event_id.split(":")[1:2] == ["follow-up"]


def is_ts(text: str) -> bool:
    """Return True if a text is a Slack timestamp, the id of a message."""
    whole, _, rest = text.partition(".")
    return whole.isdigit() and rest.isdigit()
