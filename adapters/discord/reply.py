"""Shows one answer in Discord: first the progress, then the answer, in the same messages.

They are posted through an outlet: a channel, or the response to an interaction. A listener begins
the saved state with ``{"message": ID}`` (the question's message) or ``{"interaction": {"id": …,
"token": …, "application_id": …}}`` (a deferred command), or both (a command on a message). The
poster adds the rest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from time import monotonic
from typing import Annotated, Any, Literal

import discord
from discord.http import handle_message_parameters
from pydantic import Field, TypeAdapter

from adapters.discord import buttons, limits
from adapters.discord.format import Look, Row, answer_text, format_answer, working, written_in
from adapters.discord.messages import DiscordMessage
from adapters.discord.rest import Code, DiscordRefused, RestClient
from bot.core.errors import FootnoteError
from bot.core.logs import get_logger
from bot.core.messages import Answer
from bot.core.posting import PostState, RunRef
from bot.core.texts import texts_for
from bot.service.replying import Display, View

Through = Literal["bot", "interaction"]
ORIGINAL = "@original"  # Discord's name for the first response to an interaction
FILE = "answer.md"

log = get_logger()


@dataclass(frozen=True, slots=True)
class Deferred:
    """An interaction that waits for its response. Its token is valid for 15 minutes."""

    id: str
    token: str
    application_id: str


@dataclass(frozen=True, slots=True)
class Posted:
    """The posts of a reply so far, saved in this form.

    ``question`` is the message that contains or repeats the question. ``place`` is the channel or
    thread of the reply ("" before it is chosen), ``through`` tells by which right the bot writes
    there. ``posts`` are its messages, in order; ``done`` tells that they hold the answer. ``turn``
    counts how often parts were deleted; ``file`` is the message with the whole answer as a file;
    ``gaps`` are the text ids of what the bot may not do there.
    """

    question: Annotated[str, Field(alias="message")] = ""
    interaction: Deferred | None = None
    place: str = ""
    through: Through = "bot"
    posts: tuple[str, ...] = ()
    done: bool = False
    turn: int = 0
    file: str = ""
    gaps: tuple[str, ...] = ()

    def json(self) -> PostState:
        state: PostState = _adapter.dump_python(self, mode="json", by_alias=True)
        return state


_adapter = TypeAdapter(Posted)


def parse_posted(state: PostState | None) -> Posted:
    """Parse the state that a listener set or an earlier attempt saved."""
    return _adapter.validate_python(state or {})


@dataclass(frozen=True, slots=True)
class Post:
    """A message to post. Its ``nonce`` prevents duplicates; ``answers`` is the message that it
    replies to, or ""."""

    look: Look
    rows: tuple[Row, ...] = ()
    nonce: str = ""
    answers: str = ""


def nonce_of(run: str, turn: int, part: int) -> str:
    """Return a nonce that is the same for every attempt at a part, until parts are deleted."""
    return hashlib.sha256(f"{run}/{turn}/{part}".encode()).hexdigest()[: limits.NONCE]


def body_of(post: Post) -> dict[str, Any]:
    """Return a new message as JSON."""
    with handle_message_parameters(
        view=post.look.layout(post.rows),
        nonce=post.nonce or None,
        allowed_mentions=discord.AllowedMentions.none(),
    ) as parameters:
        body: dict[str, Any] = dict(parameters.payload or {})
    body.pop("tts", None)
    if post.answers:
        body["message_reference"] = {"message_id": post.answers, "fail_if_not_exists": False}
    return body


# ---------------------------------------------------------------- outlets


class ChannelOutlet:
    """A channel, thread or direct message in which the bot posts messages of its own.

    All methods raise ``PlatformUnavailable`` and ``DiscordRefused``.
    """

    most_posts: int | None = None

    def __init__(self, rest: RestClient, channel: str) -> None:
        self._rest = rest
        self._channel = channel

    async def create(self, post: Post) -> str:
        """Post a message; return its id."""
        made = await self.create_unless_there(post)
        if written_in(made["components"]).strip() != post.look.written.strip():
            await self.edit(str(made["id"]), post)  # an earlier one was found by its nonce
        return str(made["id"])

    async def create_unless_there(self, post: Post) -> Any:
        """Post a message, but leave an earlier one with its nonce unchanged; return what is there
        now, as JSON."""
        body = body_of(post)
        try:
            return await self._call("POST", json=body)
        except DiscordRefused as refused:
            if refused.code != Code.NO_HISTORY_TO_REPLY or not post.answers:
                raise
        del body["message_reference"]
        return await self._call("POST", json=body)

    async def edit(self, id: str, post: Post) -> None:
        body = body_of(Post(post.look, post.rows))
        try:
            await self._call("PATCH", id, json=body)
        except DiscordRefused as refused:
            if refused.code != Code.THREAD_ARCHIVED:
                raise
            await self._rest.request(
                "PATCH",
                "/channels/{channel_id}",
                json={"archived": False},
                channel_id=self._channel,
            )
            await self._call("PATCH", id, json=body)

    async def delete(self, id: str) -> None:
        """Delete a message, which may be gone already."""
        try:
            await self._call("DELETE", id)
        except DiscordRefused as refused:
            if refused.code not in (Code.UNKNOWN_MESSAGE, Code.UNKNOWN_CHANNEL):
                raise

    async def latest(self, after: str = "") -> list[DiscordMessage]:
        """Return the messages after ``after``, oldest first."""
        query: dict[str, Any] = {"limit": limits.HISTORY_PAGE}
        if after:
            query["after"] = after
        told = await self._call("GET", query=query)
        found = [self._rest.parsed(raw) for raw in told]
        return sorted(found, key=lambda message: int(message.id))

    async def _call(self, method: str, id: str = "", **data: Any) -> Any:
        path = "/channels/{channel_id}/messages"
        if not id:
            return await self._rest.request(method, path, channel_id=self._channel, **data)
        path += "/{message_id}"
        return await self._rest.request(
            method, path, channel_id=self._channel, message_id=id, **data
        )


async def direct_with(rest: RestClient, person: str) -> str:
    """Return the channel of the direct messages with a person. Raises as ``tell_directly`` does."""
    direct = await rest.request("POST", "/users/@me/channels", json={"recipient_id": person})
    return str(direct["id"])


async def tell_directly(rest: RestClient, person: str, post: Post) -> None:
    """Send a person a direct message. Raises ``PlatformUnavailable`` and ``DiscordRefused``."""
    await ChannelOutlet(rest, await direct_with(rest, person)).create_unless_there(post)


class InteractionOutlet:
    """The response to an interaction and its follow-ups, for 15 minutes. It is the only outlet
    if only the asker installed the app. Follow-ups have no nonce. For the methods see
    ``ChannelOutlet``."""

    most_posts: int | None = 1 + limits.FOLLOW_UPS_ELSEWHERE

    def __init__(self, rest: RestClient, deferred: Deferred) -> None:
        self.rest = self._rest = rest
        self._deferred = deferred
        self._used = False

    async def create(self, post: Post) -> str:
        """Post a message; the first one becomes the response itself."""
        if not self._used:
            await self.edit(ORIGINAL, post)
            return ORIGINAL
        body = body_of(Post(post.look, post.rows))
        made = await self._call(
            "POST", "", json=body, query={"wait": "true", "with_components": "true"}
        )
        return str(made["id"])

    async def edit(self, id: str, post: Post) -> str:
        """Edit a message; return its id, which is not ``ORIGINAL``."""
        self._used = True
        body = body_of(Post(post.look, post.rows))
        edited = await self._call("PATCH", f"/messages/{id}", json=body)
        return str(edited["id"])

    async def delete(self, id: str) -> None:
        try:
            await self._call("DELETE", f"/messages/{id}")
        except DiscordRefused as refused:
            if refused.code not in (Code.UNKNOWN_MESSAGE, Code.INVALID_WEBHOOK_TOKEN):
                raise

    @property
    def is_ending(self) -> bool:
        """True if Discord will soon accept no edit of the response any more."""
        age = datetime.now(UTC) - discord.utils.snowflake_time(int(self._deferred.id))
        return age.total_seconds() >= limits.RESPONSE_SECONDS

    async def attach(self, id: str, sentence: str, text: str) -> str:
        """Post a text as a file, or replace that of message ``id``; return the message's id."""
        sent: dict[str, Any] = {
            "json": {"content": sentence, "allowed_mentions": {"parse": []}},
            "file": (FILE, text.encode()),
        }
        if id:
            return str((await self._call("PATCH", f"/messages/{id}", **sent))["id"])
        return str((await self._call("POST", "", query={"wait": "true"}, **sent))["id"])

    async def latest(self, after: str = "") -> list[DiscordMessage]:
        return []  # only members may read the channel

    async def _call(self, method: str, path: str, **data: Any) -> Any:
        return await self._rest.request(
            method,
            "/webhooks/{webhook_id}/{webhook_token}" + path,
            webhook_id=self._deferred.application_id,
            webhook_token=self._deferred.token,
            **data,
        )


Outlet = ChannelOutlet | InteractionOutlet

# Why an answer leaves an interaction, as text ids.
_GAPS: dict[int, str] = {
    Code.INVALID_WEBHOOK_TOKEN: "only-for-minutes",
    Code.UNKNOWN_INTERACTION: "only-for-minutes",
    Code.TOO_MANY_FOLLOW_UPS: "only-so-many-messages",
}


# ---------------------------------------------------------------- the reply


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
        *,
        answers: str,
        opening: str,
        recovered: bool,
        apologise: Callable[[], Awaitable[None]],
    ) -> None:
        self._run = run
        self._posted = posted
        self._outlet = outlet
        self._answers = answers
        self._apologise = apologise
        self._opening = opening
        self._recovered = recovered
        self._texts = texts_for(run.message.locale)
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
        if await self._leave_in_time():
            return True
        look = working(
            view.plan,
            view.text,
            self._texts,
            run=self._run.id,
            seconds=monotonic() - self._began,
            title=self._title,
            opening=self._opening,
        )
        await self._put_all([look], buttons.rows_while_working(self._run.id, self._texts))
        return True

    # ------------------------------------------------------------ its end

    async def finish(self, answer: Answer, error: FootnoteError | None, view: View) -> None:
        await self._run.save(self._posted.json())  # raises if another attempt has the run
        try:
            await self._put_answer(answer, error)
        except DiscordRefused:
            await self._apologise()
            raise
        self._posted = replace(self._posted, done=True)
        await self._run.save(self._posted.json())

    def _buttons_below(self, answer: Answer, error: FootnoteError | None) -> tuple[Row, ...]:
        if error is not None:
            return buttons.rows_of_failed(self._run.id, self._texts, self._run.page)
        researched = bool(answer.citations or answer.queries)  # unlike a greeting
        return buttons.rows_for(
            self._run.id,
            self._texts,
            deeper=researched and self._run.options.depth not in ("deep", "exhaustive"),
            details=researched,
            corrects=answer.corrects,
            suggestions=answer.suggestions,
        )

    def _looks(self, answer: Answer) -> Sequence[Look]:
        return format_answer(
            answer,
            self._texts,
            gaps=self._posted.gaps,
            opening=self._opening,
            page=self._run.page,
        )

    async def _put_answer(self, answer: Answer, error: FootnoteError | None) -> None:
        """Put the answer's messages in place. What an interaction has no room for is in a file."""
        looks, outlet, below = self._looks(answer), self._outlet, self._buttons_below(answer, error)
        most = outlet.most_posts or len(looks)
        shown = looks if len(looks) <= most else (*looks[: most - 2], looks[-1])
        try:
            await self._put_all(shown, below)
            if isinstance(outlet, InteractionOutlet) and (self._posted.file or shown != looks):
                sentence = self._texts("answer-in-file")
                text = answer_text(answer, self._texts, self._run.page)
                id = await outlet.attach(self._posted.file, sentence, text)
                self._posted = replace(self._posted, file=id)
        except DiscordRefused as refused:
            gap = _GAPS.get(refused.code)
            if gap is None or not isinstance(outlet, InteractionOutlet):
                raise
            await self._continue_directly(outlet, gap)
            await self._put_all(self._looks(answer), below)

    # ------------------------------------------------------------ leaving an interaction

    async def _leave_in_time(self) -> bool:
        """Before the response to an interaction ends, say in it that the answer comes as a direct
        message, and continue there. Return True if that is impossible, which is said there too."""
        outlet = self._outlet
        if not isinstance(outlet, InteractionOutlet) or not outlet.is_ending:
            return False
        told = "answer-comes-directly"
        try:
            await self._continue_directly(outlet, "only-for-minutes")
        except DiscordRefused as refused:
            log.info("no direct message", run=self._run.id, error=str(refused))
            told = "direct-closed"
        try:
            await outlet.edit(ORIGINAL, Post(Look(self._texts(told))))
        except DiscordRefused as refused:
            log.info("response has ended", run=self._run.id, error=str(refused))
        return self._outlet is outlet

    async def _continue_directly(self, left: InteractionOutlet, gap: str) -> None:
        """Continue in a direct message to the asker, which says why by ``gap``."""
        person = self._run.message.author.id
        channel = await direct_with(left.rest, person)
        outlet, turn = ChannelOutlet(left.rest, channel), self._posted.turn + 1
        nonce = nonce_of(self._run.id, turn, 0)
        first = await outlet.create(Post(Look(self._opening or "…"), nonce=nonce))
        self._outlet = outlet
        self._posted = replace(
            self._posted, place=channel, through="bot", file="", turn=turn, gaps=(gap,)
        )
        await self._keep((first,), turn)

    # ------------------------------------------------------------ messages

    async def _put_all(self, looks: Sequence[Look], rows: tuple[Row, ...]) -> None:
        for index, look in enumerate(looks):
            last = index == len(looks) - 1
            await self._put(index, Post(look, rows if last else ()))
        await self._drop(len(looks))

    async def _put(self, index: int, post: Post) -> None:
        if index < len(self._posted.posts):
            try:
                await self._outlet.edit(self._posted.posts[index], post)
            except DiscordRefused as refused:
                if refused.code != Code.UNKNOWN_MESSAGE:
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
            if message.is_ours and message.id not in known:
                same = bool(known) and not message.runs and message.content == post.look.written
                if same or self._run.id in message.runs:
                    return message.id
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
