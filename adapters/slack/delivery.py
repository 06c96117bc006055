"""Delivers a reply's messages so that each is visible exactly once, in order (see ``posted``)."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic

from adapters.slack.calls import Away, Json, Refusal
from adapters.slack.format import Part, simpler
from adapters.slack.posted import Post, PostedMessages, found_in_thread
from adapters.slack.teams import Team
from bot.core.logs import get_logger

log = get_logger()

# The message cannot be changed any more, but a new one may replace it.
_UNCHANGEABLE = frozenset({"message_not_found", "edit_window_closed", "cant_update_message"})
# The workspace does not know a kind of block, or a limit is narrower than Slack's pages say.
_UNSHOWABLE = frozenset(
    {
        *("invalid_blocks", "invalid_blocks_format", "msg_blocks_too_many", "msg_too_long"),
        *("blocks_too_long", "unsupported_block"),
    }
)
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
