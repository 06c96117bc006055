"""Routes of channels' messages: create, read, edit, delete, typing, reactions."""

from __future__ import annotations

from urllib.parse import unquote

from tests.fakes import discord_acts as acts
from tests.fakes.discord_errors import FormErrors, invalid, refuse
from tests.fakes.discord_limits import check_message
from tests.fakes.discord_permissions import may
from tests.fakes.discord_rest import Call, Route
from tests.fakes.discord_shapes import message_json, new_message_json
from tests.fakes.discord_state import (
    COMPONENTS_V2,
    DEFAULT,
    DIRECT_MESSAGE,
    FORUM,
    LOADING,
    REPLY,
    SUPPRESS_EMBEDS,
    SUPPRESS_NOTIFICATIONS,
    THREAD_STARTER,
    Channel,
    Guild,
    Json,
    Message,
    World,
)

# "checked for uniqueness in the past few minutes"
NONCE_SECONDS = 300.0
_MESSAGE = "/channels/{channel_id}/messages/{message_id}"
_REACTION = _MESSAGE + "/reactions/{emoji_name}"


def find_channel(world: World, id: str) -> Channel:
    """Return the channel, if it exists and the bot may see it."""
    channel = world.channels.get(id)
    if channel is None:
        raise refuse(10003)
    if not acts.bot_sees(channel, world):
        raise refuse(50001)
    return channel


def guild_of(world: World, call: Call) -> Guild:
    """Return the guild of a route, if the app is in it."""
    guild = world.guilds.get(call.parts["guild_id"])
    if guild is None or not guild.installed:
        raise refuse(10004)
    return guild


def find_message(channel: Channel, id: str) -> Message:
    message = channel.messages.get(id)
    if message is None or message.private_to is not None:
        raise refuse(10008)
    return message


def needs(world: World, channel: Channel, *names: str) -> None:
    if not may(world.bot, channel, *names):
        raise refuse(50013)


def refuse_archived(channel: Channel) -> None:
    if channel.archived:
        raise refuse(50083)


CHANGEABLE = ("content", "embeds", "attachments", "components", "flags")


def checked_fields(
    body: Json, wrong: FormErrors | None = None, before: Message | None = None
) -> Json:
    """Check the limits of a new message, or of one changed from ``before``, and return its
    fields."""
    wrong = wrong or FormErrors()
    kept = {} if before is None else {name: getattr(before, name) for name in CHANGEABLE}
    check_message({name: body[name] for name in body if name != "uploads"}, wrong, before=kept)
    wrong.raise_if_any()
    fields: Json = {}
    if "content" in body:
        fields["content"] = (body["content"] or "").strip()
    if "embeds" in body:
        fields["embeds"] = [{"type": "rich"} | embed for embed in body["embeds"] or []]
    if "components" in body:
        fields["components"] = numbered(body["components"] or [])
    if body.get("allowed_mentions") is not None:
        fields["allowed_mentions"] = body["allowed_mentions"]
    return fields


def numbered(components: list[Json], count: list[int] | None = None) -> list[Json]:
    """Return components as Discord does, each with an ``id``."""
    count = count if count is not None else [0]
    told = []
    for component in components:
        count[0] += 1
        whole: Json = {"id": count[0]} | component
        if "components" in component:
            whole["components"] = numbered(component["components"], count)
        if "accessory" in component:
            (whole["accessory"],) = numbered([component["accessory"]], count)
        told.append(whole)
    return told


def store_file(world: World, channel: Channel, name: str, media_type: str, data: bytes) -> Json:
    id = world.new_id()
    path = f"/attachments/{channel.id}/{id}/{name}"
    world.files[path] = (media_type, data)
    told = {"id": id, "filename": name, "size": len(data), "url": world.cdn + path}
    return told | {"content_type": media_type}


def stored_uploads(world: World, channel: Channel, body: Json) -> Json:
    """Store the files that come with a message; return its ``attachments``, if it names any."""
    if "attachments" not in body:
        return {}
    uploads = body.get("uploads", {})
    return {
        "attachments": [
            store_file(world, channel, name, "text/plain; charset=utf-8", data)
            for name, data in uploads.values()
        ]
    }


def is_empty(message: Json) -> bool:
    """Return True if nothing would be shown; ``message`` has the attributes as keys."""
    shown: tuple[str, ...] = ("content", "embeds", "attachments")
    if message.get("flags", 0) & COMPONENTS_V2:
        shown = (*shown, "components")
    return not any(message.get(name) for name in shown)


class Messages:
    """Handlers; each is called with the lock of the world held."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._nonces: dict[tuple[str, str], tuple[float, Message]] = {}

    def routes(self) -> list[Route]:
        channel = "/channels/{channel_id}"
        return [
            Route("POST", f"{channel}/messages", self.create),
            Route("GET", f"{channel}/messages", self.read),
            Route("GET", _MESSAGE, self.get),
            Route("PATCH", _MESSAGE, self.edit),
            Route("DELETE", _MESSAGE, self.delete),
            Route("POST", f"{channel}/typing", self.typing),
            Route("PUT", f"{_REACTION}/@me", self.react),
        ]

    def told(self, message: Message) -> Json:
        sees = self.world.app.content_intent
        return message_json(message, self.world, sees_content=sees)

    def _message(self, call: Call) -> Message:
        channel = find_channel(self.world, call.parts["channel_id"])
        return find_message(channel, call.parts["message_id"])

    def create(self, call: Call) -> Json:
        channel = find_channel(self.world, call.parts["channel_id"])
        made = self.post(channel, call.fields)
        return new_message_json(made, self.world, sees_content=True)

    def post(self, channel: Channel, body: Json) -> Message:
        """Check and post a message of the bot."""
        world = self.world
        self._may_write(channel)
        if body.get("embeds"):
            needs(world, channel, "EMBED_LINKS")
        known = self._same_nonce(channel, body)
        if known is not None:
            return known
        fields = checked_fields(body)
        flags = body.get("flags") or 0
        fields["flags"] = flags & (SUPPRESS_EMBEDS | SUPPRESS_NOTIFICATIONS | COMPONENTS_V2)
        if is_empty(fields):
            raise refuse(50006)
        replies_to = self._reference(channel, body)
        nonce = body.get("nonce")
        content = fields.pop("content", "")
        made = acts.post(
            world, channel, world.bot, content,
            replies_to=replies_to, nonce=nonce, **fields,
        )  # fmt: skip
        if nonce is not None and body.get("enforce_nonce"):
            self._nonces[channel.id, str(nonce)] = (world.clock(), made)
        return made

    def _may_write(self, channel: Channel) -> None:
        world = self.world
        if channel.type == FORUM:
            raise refuse(50008)
        if channel.type == DIRECT_MESSAGE:
            if not all(user.accepts_direct for user in channel.recipients):
                raise refuse(50007)
            return
        needs(world, channel, "SEND_MESSAGES_IN_THREADS" if channel.is_thread else "SEND_MESSAGES")
        if channel.locked and not may(world.bot, channel, "MANAGE_THREADS"):
            raise refuse(160005)

    def _same_nonce(self, channel: Channel, body: Json) -> Message | None:
        nonce = body.get("nonce")
        if nonce is None or not body.get("enforce_nonce"):
            return None
        at, message = self._nonces.get((channel.id, str(nonce)), (0.0, None))
        fresh = self.world.clock() - at < NONCE_SECONDS
        return message if message is not None and fresh and not message.deleted else None

    def _reference(self, channel: Channel, body: Json) -> Message | None:
        reference = body.get("message_reference")
        if not reference:
            return None
        if not may(self.world.bot, channel, "READ_MESSAGE_HISTORY"):
            raise refuse(160002)
        at = ("message_reference",)
        if str(reference.get("channel_id", channel.id)) != channel.id:
            raise invalid(at, "REPLIES_CANNOT_REFERENCE_OTHER_CHANNEL",
                          "Cannot reply to a message in a different channel")  # fmt: skip
        found = channel.messages.get(str(reference["message_id"]))
        if found is None or found.private_to is not None:
            if reference.get("fail_if_not_exists") is False:
                return None
            raise invalid(at, "MESSAGE_REFERENCE_UNKNOWN_MESSAGE", "Unknown message")
        if found.type not in (DEFAULT, REPLY, 20, 23):
            raise invalid(at, "REPLIES_CANNOT_REPLY_TO_SYSTEM_MESSAGE",
                          "Cannot reply to a system message")  # fmt: skip
        return found

    def read(self, call: Call) -> list[Json]:
        channel = find_channel(self.world, call.parts["channel_id"])
        raw = call.query.get("limit", "50")
        if not raw.isdigit() or not 1 <= int(raw) <= 100:
            raise invalid(("limit",), "NUMBER_TYPE_MAX", "int value should be 1 to 100.")
        if not may(self.world.bot, channel, "READ_MESSAGE_HISTORY"):
            return []
        limit = int(raw)
        chosen = sorted(
            (m for m in channel.messages.values() if m.private_to is None),
            key=lambda message: int(message.id),
        )
        if around := call.query.get("around"):
            near = next((i for i, m in enumerate(chosen) if int(m.id) >= int(around)), len(chosen))
            chosen = chosen[max(0, near - limit // 2) :][:limit]
        if before := call.query.get("before"):
            chosen = [m for m in chosen if int(m.id) < int(before)]
        if after := call.query.get("after"):
            chosen = [m for m in chosen if int(m.id) > int(after)][:limit]
        return [self.told(message) for message in reversed(chosen[-limit:])]

    def get(self, call: Call) -> Json:
        channel = find_channel(self.world, call.parts["channel_id"])
        needs(self.world, channel, "READ_MESSAGE_HISTORY")
        return self.told(find_message(channel, call.parts["message_id"]))

    def edit(self, call: Call) -> Json:
        message = self._message(call)
        refuse_archived(message.channel)
        body = call.fields
        if message.author is not self.world.bot:
            if set(body) - {"flags", "tts"}:
                raise refuse(50005)
            needs(self.world, message.channel, "MANAGE_MESSAGES")
        elif message.type not in (DEFAULT, REPLY, 20, 23):
            raise refuse(50021)
        if body.get("embeds"):
            needs(self.world, message.channel, "EMBED_LINKS")
        return self.told(self.change(message, body))

    def change(self, message: Message, body: Json) -> Message:
        """Check and make an edit by the bot; absent fields stay unchanged."""
        fields = checked_fields(body, before=message)
        if body.get("flags") is not None:
            settable = SUPPRESS_EMBEDS | COMPONENTS_V2
            fields["flags"] = message.flags & ~SUPPRESS_EMBEDS | body["flags"] & settable
        after = {name: fields.get(name, getattr(message, name)) for name in CHANGEABLE}
        if is_empty(after):
            raise refuse(50006)
        fields["flags"] = after["flags"] & ~LOADING
        acts.change(self.world, message, **fields)
        return message

    def delete(self, call: Call) -> None:
        message = self._message(call)
        if message.author is not self.world.bot:
            needs(self.world, message.channel, "MANAGE_MESSAGES")
        elif message.type == THREAD_STARTER:
            raise refuse(50021)
        acts.erase(self.world, message)

    def typing(self, call: Call) -> None:
        self._may_write(find_channel(self.world, call.parts["channel_id"]))

    def react(self, call: Call) -> None:
        message = self._message(call)
        emoji = _emoji(call)
        refuse_archived(message.channel)
        needs(self.world, message.channel, "READ_MESSAGE_HISTORY")
        if emoji not in message.reactions:
            needs(self.world, message.channel, "ADD_REACTIONS")
            if len(message.reactions) >= 20:
                raise refuse(30010)
        acts.add_reaction(self.world, message, self.world.bot, emoji)


def _emoji(call: Call) -> str:
    emoji = unquote(call.parts["emoji_name"])
    if emoji.isascii() and ":" not in emoji:
        raise refuse(10014)
    return emoji
