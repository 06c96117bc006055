"""Shows one answer in Slack while it is written: as a stream, or by updating a message if streams
are not allowed or an earlier attempt left messages. In the end they hold exactly the answer.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Any, Literal, get_args

from adapters.slack.calls import CREDENTIALS, Away, Limited, Refusal
from adapters.slack.delivery import Delivery
from adapters.slack.format import (
    Final,
    Part,
    escaped,
    failure,
    final,
    markdown,
    notification,
    parts,
    working_blocks,
)
from adapters.slack.limits import SESSION_TITLE_CHARACTERS
from adapters.slack.places import is_direct
from adapters.slack.plan import plain, ready, tasks
from adapters.slack.posted import PostedMessages
from adapters.slack.streaming import Streaming, TakenOver, message_parts
from adapters.slack.teams import Team
from bot.core.errors import FootnoteError, PlatformUnavailable, PostRefused, StorageUnavailable
from bot.core.lines import shortened
from bot.core.logs import get_logger
from bot.core.messages import Answer, PlanView
from bot.core.posting import RunRef
from bot.core.texts import Texts, texts_for
from bot.service.replying import Display, View
from bot.storage.workspaces import Workspaces

Ability = Literal["streaming", "sessions"]

PLATFORM = "slack"
RECONSIDERED = timedelta(days=7)  # then a refused feature is tried again: an admin may allow it

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

log = get_logger()


class Features:
    """Remembers refused features: of a workspace in the database, of a channel in this process."""

    def __init__(self, workspaces: Workspaces) -> None:
        self._workspaces = workspaces
        self._refused: dict[str, set[str]] = {}  # workspace → features it does not have
        self._channels: set[tuple[str, str, str]] = set()

    async def has(self, ability: Ability, workspace: str, channel: str) -> bool:
        if workspace not in self._refused:
            self._refused[workspace] = await self._remembered(workspace)
        return (
            ability not in self._refused[workspace]
            and (ability, workspace, channel) not in self._channels
        )

    async def lacks(self, ability: Ability, workspace: str, channel: str, refusal: Refusal) -> None:
        """Remember a refusal for the channel or the workspace in which it would occur again."""
        log.info("slack refuses", ability=ability, channel=channel, code=refusal.code)
        if refusal.code in _CHANNEL:
            self._channels.add((ability, workspace, channel))
        elif refusal.code in _WORKSPACE:
            self._refused.setdefault(workspace, set()).add(ability)
            fact = {"refused": refusal.code, "at": datetime.now(UTC).isoformat()}
            try:
                await self._workspaces.remember(PLATFORM, workspace, ability, fact)
            except StorageUnavailable as away:
                log.warning("refusal not stored", ability=ability, error=str(away))

    async def _remembered(self, workspace: str) -> set[str]:
        try:
            facts = await self._workspaces.facts(PLATFORM, workspace)
        except StorageUnavailable as away:
            log.warning("refusals not read", error=str(away))
            return set()
        return {name for name in get_args(Ability) if _holds(facts.get(name))}


def _holds(fact: Any) -> bool:
    if not isinstance(fact, dict) or not fact.get("refused"):
        return False
    try:
        at = datetime.fromisoformat(fact["at"])
    except (KeyError, TypeError, ValueError):
        return False
    return datetime.now(UTC) - at < RECONSIDERED


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
            ending = failure(answer, error.sentence, self._texts, page=page)
        else:
            ending = final(answer, self._texts, depth=self._run.options.depth, page=page)
        await self._record.save()  # raises if another attempt has taken over the run
        try:
            await self._settle(ending, view.plan)
        except Refusal as refusal:
            if refusal.code in PLACE_GONE:
                await self._tell_asker()
            raise
        self._record.settled = True
        await self._record.save()
        await self._end_session()

    async def _settle(self, ending: Final, plan: PlanView) -> None:
        """Make the messages hold exactly the answer."""
        await self._delivery.recover(patience=self._calls.timing.patience)
        told = "active" if self._session_begun else None
        way = None if self._record.settled else self._way  # a finished reply is not streamed again
        shown = isinstance(way, Streaming) and await way.finish(ending, plan, told)
        if not shown:
            await self._delivery.settle(message_parts(parts(ending.text), ending))

    async def _tell_asker(self) -> None:
        """Notify the asker by direct message that Footnote can no longer post where the question
        was asked, after ending any stream there if Slack allows it."""
        channel, asker = self._record.channel, self._run.message.author.id
        try:
            for post in self._record.posts:
                if post.streamed:
                    await self._delivery.end_stream(post, patience=0.0)
        except (PlatformUnavailable, PostRefused) as error:
            log.info("stream not ended", run=self._run.id, error=str(error))
        if is_direct(channel):
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
        if not await self._features.has("sessions", where.workspace, self._record.channel):
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
        streams = await self._features.has("streaming", where.workspace, self._record.channel)
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
        await self._features.lacks(ability, where.workspace, self._record.channel, refusal)


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
