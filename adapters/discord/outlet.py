"""Outlets of a reply's posts: a channel or the response to an interaction, and their saved state.

A listener sets ``{"message": ID}`` (the question's message) or
``{"interaction": {"id": …, "token": …, "application_id": …}}`` (a deferred command), or both (a
command on a message). The poster adds the rest of the post state.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import discord
from discord.http import handle_message_parameters
from pydantic import Field, TypeAdapter

from adapters.discord import limits, wire
from adapters.discord.format import Look
from adapters.discord.wire import DiscordRefused, Wire
from bot.core.posting import PostState

Through = Literal["bot", "interaction"]
ORIGINAL = "@original"  # Discord's name for the first response to an interaction


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
    counts how often parts were deleted; ``gaps`` are the text ids of what the bot may not do there.
    """

    question: Annotated[str, Field(alias="message")] = ""
    interaction: Deferred | None = None
    place: str = ""
    through: Through = "bot"
    posts: tuple[str, ...] = ()
    done: bool = False
    turn: int = 0
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
    view: discord.ui.View | None
    nonce: str = ""
    answers: str = ""


def nonce_of(run: str, turn: int, part: int) -> str:
    """Return a nonce that is the same for every attempt at a part, until parts are deleted."""
    return hashlib.sha256(f"{run}/{turn}/{part}".encode()).hexdigest()[: limits.NONCE]


def body_of(post: Post) -> dict[str, Any]:
    """Return a message as JSON, with all fields, so that an edit replaces everything."""
    # A message without embeds of its own shows no link previews either.
    flags = discord.MessageFlags(suppress_embeds=not post.look.embeds)
    with handle_message_parameters(
        content=post.look.content,
        embeds=post.look.embeds,
        view=post.view,
        flags=flags,
        nonce=post.nonce or None,
        allowed_mentions=discord.AllowedMentions.none(),
    ) as parameters:
        body: dict[str, Any] = dict(parameters.payload or {})
    body.pop("tts", None)
    if post.answers:
        body["message_reference"] = {"message_id": post.answers, "fail_if_not_exists": False}
    return body


class ChannelOutlet:
    """A channel, thread or direct message in which the bot posts messages of its own.

    All methods raise ``PlatformUnavailable`` and ``DiscordRefused``.
    """

    most_posts: int | None = None

    def __init__(self, wire: Wire, channel: str) -> None:
        self._wire = wire
        self._channel = channel

    async def create(self, post: Post) -> str:
        """Post a message; return its id."""
        made = await self._made(post)
        id = str(made["id"])
        if not _looks_like(made, body_of(post)):  # found by its nonce
            await self.edit(id, post)
        return id

    async def create_unless_there(self, post: Post) -> None:
        """Post a message, but leave an earlier one with its nonce unchanged."""
        await self._made(post)

    async def _made(self, post: Post) -> Any:
        """Post a message; return it, or the earlier one with its nonce, in Discord's form."""
        body = body_of(post)
        try:
            return await self._send(body)
        except DiscordRefused as refused:
            if refused.code != wire.NO_HISTORY_TO_REPLY or not post.answers:
                raise
        del body["message_reference"]
        return await self._send(body)

    async def _send(self, body: dict[str, Any]) -> Any:
        return await self._wire.request(
            "POST", "/channels/{channel_id}/messages", json=body, channel_id=self._channel
        )

    async def edit(self, id: str, post: Post) -> None:
        body = body_of(Post(post.look, post.view))
        try:
            await self._change(id, body)
        except DiscordRefused as refused:
            if refused.code != wire.THREAD_ARCHIVED:
                raise
            await self._wire.request(
                "PATCH",
                "/channels/{channel_id}",
                json={"archived": False},
                channel_id=self._channel,
            )
            await self._change(id, body)

    async def _change(self, id: str, body: dict[str, Any]) -> None:
        await self._wire.request(
            "PATCH",
            "/channels/{channel_id}/messages/{message_id}",
            json=body,
            channel_id=self._channel,
            message_id=id,
        )

    async def delete(self, id: str) -> None:
        """Delete a message, which may be gone already."""
        try:
            await self._wire.request(
                "DELETE",
                "/channels/{channel_id}/messages/{message_id}",
                channel_id=self._channel,
                message_id=id,
            )
        except DiscordRefused as refused:
            if refused.code not in (wire.UNKNOWN_MESSAGE, wire.UNKNOWN_CHANNEL):
                raise

    async def latest(self, after: str = "") -> list[dict[str, Any]]:
        """Return the messages after ``after``, oldest first, in Discord's form."""
        query: dict[str, Any] = {"limit": limits.HISTORY_PAGE}
        if after:
            query["after"] = after
        told = await self._wire.request(
            "GET", "/channels/{channel_id}/messages", query=query, channel_id=self._channel
        )
        return sorted(told, key=lambda message: int(message["id"]))


async def tell_directly(wire: Wire, person: str, post: Post) -> None:
    """Send a person a direct message. Raises ``PlatformUnavailable`` and ``DiscordRefused``."""
    direct = await wire.request("POST", "/users/@me/channels", json={"recipient_id": person})
    await ChannelOutlet(wire, str(direct["id"])).create_unless_there(post)


class InteractionOutlet:
    """The response to an interaction and its follow-ups, for 15 minutes. It is the only outlet
    if only the asker installed the app. Follow-ups have no nonce. For the methods see
    ``ChannelOutlet``."""

    most_posts: int | None = 1 + limits.FOLLOW_UPS_ELSEWHERE

    def __init__(self, wire: Wire, deferred: Deferred) -> None:
        self._wire = wire
        self._deferred = deferred
        self._used = False

    async def create(self, post: Post) -> str:
        """Post a message; the first one becomes the response itself."""
        if not self._used:
            await self.edit(ORIGINAL, post)
            return ORIGINAL
        made = await self._wire.request(
            "POST",
            "/webhooks/{webhook_id}/{webhook_token}",
            json=body_of(Post(post.look, post.view)),
            query={"wait": "true"},
            webhook_id=self._deferred.application_id,
            webhook_token=self._deferred.token,
        )
        return str(made["id"])

    async def edit(self, id: str, post: Post) -> None:
        self._used = True
        await self.change(id, body_of(Post(post.look, post.view)))

    async def change(self, id: str, body: dict[str, Any]) -> Any:
        """Edit a message; return it in Discord's form."""
        return await self._wire.request(
            "PATCH",
            "/webhooks/{webhook_id}/{webhook_token}/messages/{message_id}",
            json=body,
            message_id=id,
            webhook_id=self._deferred.application_id,
            webhook_token=self._deferred.token,
        )

    async def delete(self, id: str) -> None:
        try:
            await self._wire.request(
                "DELETE",
                "/webhooks/{webhook_id}/{webhook_token}/messages/{message_id}",
                message_id=id,
                webhook_id=self._deferred.application_id,
                webhook_token=self._deferred.token,
            )
        except DiscordRefused as refused:
            if refused.code not in (wire.UNKNOWN_MESSAGE, wire.INVALID_WEBHOOK_TOKEN):
                raise

    async def latest(self, after: str = "") -> list[dict[str, Any]]:
        return []  # only members may read the channel


Outlet = ChannelOutlet | InteractionOutlet


def _looks_like(made: dict[str, Any], body: dict[str, Any]) -> bool:
    """Return True if a message looks like the one just sent. Apps can read their own messages even
    without the message-content intent."""
    same_text = str(made.get("content", "")).strip() == str(body.get("content") or "").strip()
    return same_text and len(made.get("embeds", ())) == len(body.get("embeds", ()))
