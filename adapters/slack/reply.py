"""Shows one answer in Slack while it is written: as a stream, or by updating a message if streams
are not allowed or an earlier attempt left messages. In the end they hold exactly the answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any, Literal

from cachetools import TTLCache

from adapters.slack.calls import CREDENTIALS, Away, Calls, Json, Limited, Refusal
from adapters.slack.delivery import TOO_LONG, Delivery, Post, PostedMessages
from adapters.slack.format import (
    Final,
    Part,
    Task,
    block_characters,
    chunk_characters,
    cut_before,
    escaped,
    failure,
    final,
    heading,
    markdown,
    notification,
    parts,
    plain,
    ready,
    task_chunk,
    tasks,
    text_blocks,
    text_chunks,
    without_open_table,
    working_blocks,
)
from adapters.slack.incoming import is_direct, is_person
from adapters.slack.limits import (
    BLOCK_CHARACTERS,
    PART_CHARACTERS,
    PLAN_CHARACTERS,
    SESSION_TITLE_CHARACTERS,
    STREAM_CHARACTERS,
    STREAM_RESERVE,
    STREAM_SECONDS_USED,
)
from adapters.slack.teams import Team
from bot.core.errors import FootnoteError, PlatformUnavailable, PostRefused
from bot.core.lines import shortened
from bot.core.logs import get_logger
from bot.core.messages import Answer, PlanView
from bot.core.posting import RunRef
from bot.core.texts import Texts, texts_for
from bot.service.replying import Display, View

log = get_logger()


_ENDED = frozenset({"message_not_in_streaming_state", "message_not_found"})


class TakenOver(Exception):
    """An earlier attempt left a stream with unknown content, which can only be replaced."""


@dataclass(slots=True)
class _Stream:
    """One streamed message, and what was sent to it."""

    post: Post
    began: float = field(default_factory=monotonic)
    characters: int = 0
    plan_characters: int = 0
    title: str = ""
    said: dict[str, tuple[str, str]] = field(default_factory=dict)  # task → title, state
    detailed: set[str] = field(default_factory=set)
    linked: set[tuple[str, str]] = field(default_factory=set)  # task and URL
    text: str = ""
    tabled: bool = False

    def take(self, chunks: Sequence[Json], text: str = "") -> None:
        """Record the chunks that Slack accepted, and the text of the answer in them."""
        self.text += text
        for chunk in chunks:
            size = chunk_characters(chunk)
            self.characters += size
            match chunk["type"]:
                case "markdown_text":
                    continue
                case "blocks":
                    self.tabled = True
                    continue
                case "plan_update":
                    self.title = chunk["title"]
                case "task_update":
                    self.said[chunk["id"]] = (chunk["title"], chunk["status"])
                    if chunk.get("details"):
                        self.detailed.add(chunk["id"])
                    self.linked |= {(chunk["id"], link["url"]) for link in chunk.get("sources", ())}
            self.plan_characters += size

    @property
    def room(self) -> int:
        """The number of characters of text that still fit."""
        return STREAM_CHARACTERS - STREAM_RESERVE - self.characters


class Streaming:
    """Shows a run by Slack's streaming methods in plan mode. Calls that can wait are made once; the
    caller retries.

    https://docs.slack.dev/reference/methods/chat.startStream. Text can only be appended to a
    stream, so only final text is sent. A stream is limited in time and length, so it is continued
    in another message. If the final answer differs from the streamed text, the messages are
    replaced.
    """

    method = "chat.appendStream"

    def __init__(
        self,
        calls: Calls,
        delivery: Delivery,
        record: PostedMessages,
        texts: Texts,
        askers_team: str,
    ) -> None:
        """``askers_team`` is the id of the asker's own workspace."""
        self._calls = calls
        self._askers_team = askers_team
        self._delivery = delivery
        self._record = record
        self._texts = texts
        self._stream: _Stream | None = None
        self._sent = ""  # the part of the answer sent so far, in all messages
        self._stale: Post | None = None
        self._plan_told = False  # an earlier message shows the plan
        self._quiet = False  # nothing more can be shown before the end
        self.session_ended = False  # the session's status was set with the stream's end

    @property
    def begun(self) -> bool:
        return self._stream is not None

    async def show(self, view: View) -> bool:
        """Update the reply; return False if one call was not enough.

        Raises ``Refusal`` if streams cannot be begun here, ``TakenOver``, ``Limited``, ``Away``.
        """
        if self._quiet:
            return True
        if self._record.pending is not None:
            await self._delivery.recover(patience=0.0)
            if self._record.posts:
                raise TakenOver
        await self._clear(patience=0.0)
        if self._stream is None:
            await self._begin(view)
        elif monotonic() - self._stream.began > STREAM_SECONDS_USED:
            await self._continue_elsewhere(view)
        else:
            await self._grow(self._stream, view)
        return self._quiet or not self._fresh(view)

    async def finish(self, final: Final, plan: PlanView, session_status: str | None) -> bool:
        """End with the whole answer; return False if the messages have to be replaced instead.

        Raises ``PlatformUnavailable`` and ``PostRefused``.
        """
        stream = self._stream
        if stream is None or self._quiet or self._record.pending is not None:
            return False
        if not final.text.startswith(self._sent):
            return False
        await self._clear(patience=self._calls.timing.patience)
        rest = final.text[len(self._sent) :]
        chunks = [] if self._plan_told else self._plan_chunks(stream, plan, final.title, ended=True)
        room = STREAM_CHARACTERS - stream.characters - sum(map(chunk_characters, chunks))
        at = len(rest) if len(rest) <= room else cut_before(rest, room)
        here, elsewhere = rest[:at], rest[at:].strip()
        if here:
            chunks += text_chunks(here, tabled=stream.tabled)
        last = [] if elsewhere else list(final.closing)
        if not await self._stop(stream, chunks, last, None if elsewhere else session_status):
            return False
        self._sent += here
        if elsewhere:
            first = len(self._record.posts)
            await settle_in_parts(self._delivery, elsewhere, final, first=first)
        return True

    # ------------------------------------------------------------ growing

    async def _begin(self, view: View) -> None:
        """Begin a stream with the plan and the text so far."""
        stream = _Stream(Post("", streamed=True))
        chunks, text = self._news(stream, view)
        message = self._record.run.message
        arguments: dict[str, Any] = {
            "channel": self._record.channel,
            "thread_ts": self._record.thread,
            "task_display_mode": "plan",
        }
        if not is_direct(self._record.channel):
            arguments["recipient_user_id"] = message.author.id
            arguments["recipient_team_id"] = self._askers_team
        if chunks:
            arguments["chunks"] = chunks
        await self._record.intend(len(self._record.posts))
        try:
            begun = await self._calls.once("chat.startStream", **arguments)
        except (Limited, Refusal):
            await self._record.unintend()  # not after ``Away``: the stream may have begun
            raise
        stream.post = Post(str(begun["ts"]), streamed=True)
        stream.take(chunks, text)
        self._sent += text
        self._stream = stream
        await self._record.arrived(len(self._record.posts), stream.post)

    async def _grow(self, stream: _Stream, view: View) -> None:
        chunks, text = self._news(stream, view)
        if not chunks:
            if self._fresh(view):
                await self._continue_elsewhere(view)
            return
        try:
            await self._calls.once(
                self.method, channel=self._record.channel, ts=stream.post.ts, chunks=chunks
            )
        except Away:
            # The chunks may have arrived, and sending them again could show them twice.
            self._quiet = True
            raise
        except Refusal as refusal:
            await self._refused(refusal, view)
            return
        stream.take(chunks, text)
        self._sent += text

    async def _refused(self, refusal: Refusal, view: View) -> None:
        if refusal.code in _ENDED or refusal.code == "msg_too_long":
            await self._continue_elsewhere(view)
        else:
            log.info("stream not continued", run=self._record.run.id, error=str(refusal))
            self._quiet = True

    async def _continue_elsewhere(self, view: View) -> None:
        """Continue in another message, because the stream has ended, is about to, or is full."""
        old = self._stream
        assert old is not None  # noqa: S101
        if not old.text:
            await self._begin(view)
            self._stale = old.post
            await self._clear(patience=0.0)
            return
        ended = [] if self._plan_told else self._plan_chunks(old, view.plan, "", ended=True)
        if not await self._stop(old, ended, [], None, patience=0.0):
            self._quiet = self._quiet or old.post.streamed
        self._plan_told = True
        self._stream = None
        if not self._quiet:
            await self._begin(view)

    async def _clear(self, *, patience: float) -> None:
        """Delete the message whose plan a later message shows now."""
        if self._stale is not None:
            await self._delivery.delete(self._stale, patience=patience)
            self._stale = None

    async def _stop(
        self,
        stream: _Stream,
        chunks: Sequence[Json],
        blocks: Sequence[Json],
        session_status: str | None,
        *,
        patience: float | None = None,
    ) -> bool:
        """End a stream; return False if Slack did not accept the last chunks or blocks."""
        arguments: dict[str, Any] = {}
        if chunks:
            arguments["chunks"] = list(chunks)
        if blocks:
            arguments["blocks"] = list(blocks)
        if session_status:
            arguments["session_status"] = session_status
        try:
            await self._calls.patiently(
                "chat.stopStream",
                patience=patience,
                repeat=False,
                channel=self._record.channel,
                ts=stream.post.ts,
                metadata=self._record.metadata(self._record.posts.index(stream.post)),
                **arguments,
            )
        except Away as away:
            log.info("stream may not have ended", run=self._record.run.id, error=str(away))
            return False
        except Refusal as refusal:
            log.info("stream not ended", run=self._record.run.id, error=str(refusal))
            if refusal.code in _ENDED:
                stream.post.streamed = False
            return False
        stream.post.streamed = False
        self.session_ended = session_status is not None
        stream.take(chunks)
        await self._record.save()
        return True

    # ------------------------------------------------------------ what is new

    def _news(self, stream: _Stream, view: View) -> tuple[list[Json], str]:
        """Return the chunks of what is new, and the text of the answer in them."""
        chunks = [] if self._plan_told else self._plan_chunks(stream, view.plan, view.plan.title)
        fresh = self._fresh(view)
        room = stream.room - sum(map(chunk_characters, chunks))
        if len(fresh) > room:
            at = cut_before(fresh, room)
            # A block longer than any stream has to be cut somewhere.
            fresh = fresh[: room if at == 0 and not stream.text and room > 0 else at]
        if fresh:
            chunks += text_chunks(fresh, tabled=stream.tabled)
        return chunks, fresh

    def _plan_chunks(
        self, stream: _Stream, plan: PlanView, title: str, *, ended: bool = False
    ) -> list[Json]:
        chunks: list[Json] = []
        wanted = heading(title)
        if wanted and wanted != stream.title:
            chunks.append({"type": "plan_update", "title": wanted})
        closing: dict[str, Json] = {}  # the shortest chunks that close the open tasks
        for task in tasks(plan, self._texts, ended=ended):
            chunk = _task_news(stream, task)
            if chunk is not None:
                chunks.append(chunk)
            if ended and stream.said.get(task.id, ("", task.state))[1] != task.state:
                closing[task.id] = task_chunk(task, details="", links=())
        budget = STREAM_RESERVE if ended else 0
        budget += PLAN_CHARACTERS - stream.plan_characters
        budget -= sum(map(chunk_characters, closing.values()))
        kept: list[Json] = []
        for chunk in chunks:
            least = closing.get(chunk.get("id", ""))
            more = chunk_characters(chunk) - (chunk_characters(least) if least else 0)
            if more <= budget:
                kept.append(chunk)
                budget -= more
            elif least:
                kept.append(least)
            else:
                budget = min(budget, 0)  # later tasks are not shown before earlier ones
        return kept

    def _fresh(self, view: View) -> str:
        """Return the part of the answer that is final and not sent yet."""
        urls: Mapping[int, str] = dict(view.plan.numbered)
        text = without_open_table(markdown(ready(view.text, urls), urls))
        if self._sent and not text.startswith(self._sent):
            return ""  # text already sent was withdrawn: ``finish`` corrects it
        return text[len(self._sent) :]


def _task_news(stream: _Stream, task: Task) -> Json | None:
    """Return the changes of a task that the stream does not show yet, or None."""
    details = task.details if task.id not in stream.detailed else ""
    links = [link for link in task.links if (task.id, link.url) not in stream.linked]
    if stream.said.get(task.id) == (task.title, task.state) and not details and not links:
        return None
    return task_chunk(task, details=details, links=links)


def message_parts(pieces: Sequence[str], final: Final) -> list[Part]:
    """Return the messages for an answer's pieces; the last has the closing blocks."""
    last = len(pieces) - 1
    return [
        Part(
            blocks=(*text_blocks(piece), *(final.closing if number == last else ())),
            text=notification(final.plain if number == 0 else piece),
            markdown=piece,
        )
        for number, piece in enumerate(pieces)
    ]


async def settle_in_parts(delivery: Delivery, text: str, final: Final, *, first: int = 0) -> None:
    """Show a text and the closing blocks in messages from number ``first`` on, which become shorter
    as long as they are above Slack's limit, or refused as too long: at last without the closing
    blocks. Raises as ``Delivery.settle`` does."""
    sizes = [PART_CHARACTERS >> halved for halved in range(4)]
    for size, ending in [
        *((size, final) for size in sizes),
        (sizes[-1], replace(final, closing=())),
    ]:
        messages = message_parts(parts(text, size), ending)
        is_last = ending is not final
        if not is_last and max(map(block_characters, messages)) > BLOCK_CHARACTERS:
            continue
        try:
            await delivery.settle(messages, first=first)
        except Refusal as refusal:
            if is_last or refusal.code not in TOO_LONG:
                raise
            log.info("messages too long", characters=size, code=refusal.code)
        else:
            return


Ability = Literal["streaming", "sessions"]

REFUSED_SECONDS = 86_400.0  # then a refused feature is tried again: an admin may allow it

# Refusals about the app or the workspace, and not about the place or the content:
# https://docs.slack.dev/reference/methods/chat.startStream and …/agents.sessions.setStatus
_WORKSPACE = frozenset(
    {
        *("missing_scope", "not_allowed", "not_allowed_token_type", "unknown_method"),
        *("method_deprecated", "deprecated_endpoint", "feature_disabled", "feature_not_enabled"),
        *("no_permission", "access_denied", "enterprise_is_restricted", "ekm_access_denied"),
        *("team_access_not_granted", "method_not_supported", "not_supported", "two_factor_setup"),
        *("accesslimited", "free_team_not_allowed", "paid_teams_only", "team_not_eligible"),
    }
)
# Refusals about the channel or the kind of channel.
_CHANNEL = frozenset(
    {
        *("channel_type_not_supported", "method_not_supported_for_channel_type"),
        *("not_authorized", "restricted_action", "restricted_action_read_only_channel"),
        *("restricted_action_thread_only_channel", "restricted_action_non_threadable_channel"),
        *("restricted_action_thread_locked", "cannot_reply_to_message", "slack_connect_file_link"),
        *("is_connect_channel", "external_channel_not_supported", "user_not_in_channel"),
    }
)


class Features:
    """Remembers for a day which features a workspace or a channel refuses."""

    def __init__(self) -> None:
        self._refused: TTLCache[tuple[Ability, str], None] = TTLCache(10_000, REFUSED_SECONDS)

    def has(self, ability: Ability, workspace: str, channel: str) -> bool:
        return all((ability, place) not in self._refused for place in (workspace, channel))

    def lacks(self, ability: Ability, workspace: str, channel: str, refusal: Refusal) -> None:
        """Remember a refusal for the channel or the workspace in which it would occur again."""
        log.info("slack refuses", ability=ability, channel=channel, code=refusal.code)
        if refusal.code in _CHANNEL:
            self._refused[ability, channel] = None
        elif refusal.code in _WORKSPACE:
            self._refused[ability, workspace] = None


QUESTION = 100  # characters of the question in a notice to the asker
SESSION_PATIENCE = 65.0  # seconds; Slack counts calls by the minute

# After these errors Slack refuses all other calls in that place too.
CLOSED = CREDENTIALS.union(
    ("channel_not_found", "is_archived", "thread_not_found", "invalid_thread_ts")
)

# Footnote cannot post in that place, but can still reach the asker.
PLACE_GONE = frozenset({"channel_not_found", "is_archived", "not_in_channel"})


class SlackDisplay(Display):
    """Shows a reply in a thread; see the module docstring."""

    def __init__(self, team: Team, features: Features, run: RunRef, record: PostedMessages) -> None:
        self._team = team
        self._calls = team.calls
        self._features = features
        self._run = run
        self._record = record
        self._texts = texts_for(run.message.locale)
        self._delivery = Delivery(team, record)
        self._edited = record.settled and bool(record.posts)
        self._way: Streaming | Updating | None = None
        self._session = False  # Slack shows that Footnote is working, and its Stop button
        self._session_begun = False  # Slack may be showing it
        self._is_finished = False  # if an amendment is refused, the answer before it stays
        self._began = monotonic()

    # ------------------------------------------------------------ while it works

    async def begin(self, view: View) -> bool:
        """Begin the reply. A session counts as its first sign, unless an earlier attempt left posts
        that would be mistaken for current ones."""
        await self._begin_session()
        self._way = await self._chosen_way()
        return bool(self._record.posts) or not self._session

    def due(self) -> float:
        assert self._way is not None  # noqa: S101
        if isinstance(self._way, Updating) or self._way.begun:
            return self._calls.due(self._way.method)
        # The session shows that Footnote is working; a run that ends at once needs no stream.
        delay = self._began + self._calls.timing.stream_delay - monotonic()
        return delay if self._session and delay > 0 else self._calls.due("chat.startStream")

    async def show(self, view: View) -> bool:
        assert self._way is not None  # noqa: S101
        try:
            return await self._way.show(view)
        except TakenOver:
            pass
        except Refusal as refusal:
            if refusal.code in CLOSED or isinstance(self._way, Updating):
                raise
            await self._lacks("streaming", refusal)
        self._way = self._updating()
        return self.due() <= 0 and await self._way.show(view)

    # ------------------------------------------------------------ the end

    async def finish(self, answer: Answer, error: FootnoteError | None, view: View) -> None:
        page = self._run.page
        if error is not None:
            ending = failure(answer, self._texts, page=page)
        else:
            asker = self._run.message.author.id
            asker = asker if is_person(asker) else ""
            depth = self._run.options.depth
            ending = final(answer, self._texts, depth=depth, page=page, asker=asker)
        await self._record.save()  # raises if another attempt has taken over the run
        try:
            await self._settle(ending, view.plan)
        except Refusal as refusal:
            if refusal.code in PLACE_GONE:
                await self._tell_asker("answer-place-gone", refusal)
            elif refusal.code not in CLOSED and not self._is_finished:
                await self._show_refusal(answer, refusal)
            raise
        self._is_finished = self._record.settled = True
        await self._record.save()
        await self._end_session()

    async def _settle(self, ending: Final, plan: PlanView) -> None:
        """Make the messages hold exactly the answer."""
        await self._delivery.recover(patience=self._calls.timing.patience)
        told = "active" if self._session_begun else None
        way = None if self._record.settled else self._way  # a finished reply is not streamed again
        shown = isinstance(way, Streaming) and await way.finish(ending, plan, told)
        if not shown:
            await settle_in_parts(self._delivery, ending.text, ending)

    async def _show_refusal(self, answer: Answer, refusal: Refusal) -> None:
        """Show in place of an answer that Slack refuses it; if it refuses that too, notify the
        asker."""
        said = self._texts("answer-refused", code=refusal.code, question=self._question)
        instead = failure(replace(answer, text=said), self._texts, page=self._run.page)
        try:
            await settle_in_parts(self._delivery, instead.text, instead)
            await self._end_session()
        except (PlatformUnavailable, PostRefused) as error:
            log.warning("refusal not shown", run=self._run.id, error=str(error))
            await self._tell_asker("answer-refused", refusal)

    @property
    def _question(self) -> str:
        return shortened(self._run.message.text, QUESTION)

    async def _tell_asker(self, text_id: str, refusal: Refusal) -> None:
        """Notify the asker by direct message that there is no answer where the question was asked,
        after ending any stream there if Slack allows it."""
        channel, asker = self._record.channel, self._run.message.author.id
        try:
            for post in self._record.posts:
                if post.streamed:
                    await self._delivery.end_stream(post, patience=0.0)
        except (PlatformUnavailable, PostRefused) as error:
            log.info("stream not ended", run=self._run.id, error=str(error))
        if is_direct(channel):
            return
        text = escaped(self._texts(text_id, question=self._question, code=refusal.code))
        try:
            await self._calls.patiently(
                "chat.postMessage",
                patience=self._calls.timing.patience,
                channel=asker,
                text=f"<#{channel}>: {text}",
            )
        except (PlatformUnavailable, PostRefused) as error:
            log.warning("asker not notified", run=self._run.id, error=str(error))

    async def _end_session(self) -> None:
        """End the session, whose status does not change by itself."""
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

    # ------------------------------------------------------------ sessions and ways

    async def _begin_session(self) -> None:
        """Begin a session, which shows that Footnote is working and Slack's own Stop button."""
        where = self._run.message.thread
        if not self._features.has("sessions", where.workspace, self._record.channel):
            return
        left = self._run.attempt > 1  # an earlier attempt may have set the status
        self._session_begun = left
        if self._calls.due("agents.sessions.setStatus") > 0:
            return  # under load, the calls are saved for sessions that have to end
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
        streams = self._features.has("streaming", where.workspace, self._record.channel)
        if streams and not self._record.posts:
            asker = await self._team.workspace_of_author(self._run.message)
            return Streaming(self._calls, self._delivery, self._record, self._texts, asker)
        return self._updating()

    def _updating(self) -> Updating:
        return Updating(
            self._delivery,
            self._texts,
            note=self._texts("edited-question") if self._edited else "",
            stop="" if self._session else self._run.id,
        )

    async def _lacks(self, ability: Ability, refusal: Refusal) -> None:
        where = self._run.message.thread
        self._features.lacks(ability, where.workspace, self._record.channel, refusal)


class Updating:
    """Shows a run by updating one message with the plan and the text so far.

    ``note`` is the first line of the message; ``stop`` is the run that its button stops, or "" if
    Slack shows its own Stop button.
    """

    method = "chat.update"

    def __init__(self, delivery: Delivery, texts: Texts, *, note: str, stop: str) -> None:
        self._delivery = delivery
        self._texts = texts
        self._note = note
        self._stop = stop
        self._shown: Part | None = None

    async def show(self, view: View) -> bool:
        """Update the message, with one call of each kind. Raises as ``Streaming.show`` does."""
        part = self._part(view)
        if part == self._shown:
            return True
        await self._delivery.put(0, part, patience=0.0)
        await self._delivery.trim(1, patience=0.0)
        self._shown = part
        return True

    def _part(self, view: View) -> Part:
        urls = dict(view.plan.numbered)
        blocks = working_blocks(
            tasks(view.plan, self._texts),
            markdown(ready(view.text, urls), urls).strip(),
            self._texts,
            stop=self._stop,
            note=self._note,
        )
        return Part(tuple(blocks), notification(self._note or self._texts("working")))
