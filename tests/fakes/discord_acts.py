"""All acts on Discord: each changes the world and sends events through the gateway.

REST calls and people's actions both end here, so they leave the same state and events. Permissions
are not checked here. The caller holds the lock of the world.
"""

from __future__ import annotations

import re
from typing import Any

from tests.fakes.discord_permissions import may
from tests.fakes.discord_shapes import (
    channel_json,
    event_message_json,
    member_json,
    thread_json,
    thread_member_json,
    user_json,
)
from tests.fakes.discord_state import (
    EPHEMERAL,
    FORUM,
    HAS_THREAD,
    PRIVATE_THREAD,
    REPLY,
    THREAD_CREATED,
    THREAD_STARTER,
    Channel,
    Json,
    Message,
    User,
    World,
)

_USER = re.compile(r"<@!?(\d+)>")
_ROLE = re.compile(r"<@&(\d+)>")
_EVERYONE = re.compile(r"@(everyone|here)\b")
_CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)


def resolve_mentions(message: Message, world: World) -> None:
    """Set ``mentions``, ``mention_roles``, ``mention_everyone`` and ``pings`` of ``message``."""
    # Mentions in text displays notify as those in the content do.
    text = _CODE.sub("", message.text)
    allowed = message.allowed_mentions
    users = [world.users[id] for id in _allowed(_USER.findall(text), allowed, "users")
             if id in world.users]  # fmt: skip
    reply = message.type == REPLY and not message.webhook and message.replies_to is not None
    if reply and message.replies_to is not None and _pings_replied(allowed):
        users.append(message.replies_to.author)
    message.mentions = list(dict.fromkeys(users))
    guild = message.channel.guild
    everyone = may(message.author, message.channel, "MENTION_EVERYONE")
    known = {role.id for role in guild.roles} if guild else set()
    roles = [id for id in _allowed(_ROLE.findall(text), allowed, "roles") if id in known]
    message.mention_roles = list(dict.fromkeys(roles))
    wanted = _EVERYONE.search(text) is not None and (
        allowed is None or "everyone" in (allowed.get("parse") or [])
    )
    message.mention_everyone = wanted and everyone and guild is not None
    message.pings = {user.id for user in message.mentions if user is not message.author}
    message.pings |= set(message.mention_roles if everyone else [])
    if message.mention_everyone:
        message.pings.add("everyone")


def _allowed(ids: list[str], allowed: Json | None, kind: str) -> list[str]:
    if allowed is None or kind in (allowed.get("parse") or []):
        return ids
    listed = {str(id) for id in allowed.get(kind) or []}
    return [id for id in ids if id in listed]


def _pings_replied(allowed: Json | None) -> bool:
    """Return True if a reply notifies its addressee: without rules, or if the rules allow it."""
    return allowed is None or bool(allowed.get("replied_user"))


# Gateway intents: docs.discord.com/developers/events/gateway#gateway-intents
GUILDS, GUILD_MEMBERS, GUILD_MESSAGES = 1 << 0, 1 << 1, 1 << 9
GUILD_REACTIONS, DIRECT_MESSAGES, DIRECT_REACTIONS = 1 << 10, 1 << 12, 1 << 13


def bot_sees(channel: Channel, world: World) -> bool:
    """Return True if the bot receives events of ``channel``."""
    if channel.guild is None:
        return world.bot in channel.recipients
    return channel.guild.installed and may(world.bot, channel, "VIEW_CHANNEL")


def post(
    world: World,
    channel: Channel,
    author: User,
    content: str = "",
    *,
    id: str | None = None,
    allowed_mentions: Json | None = None,
    replies_to: Message | None = None,
    **fields: Any,
) -> Message:
    """Post a message in ``channel``; an archived thread becomes active again."""
    message = Message(
        id or world.new_id(), channel, author, content, world.clock.iso(),
        allowed_mentions=allowed_mentions, replies_to=replies_to, **fields,
    )  # fmt: skip
    if replies_to is not None:
        message.type = message.type or REPLY
        message.reference = _reference(replies_to)
    resolve_mentions(message, world)
    if channel.is_thread and message.private_to is None:
        if channel.archived:
            set_thread(world, channel, archived=False)
        if message.type != THREAD_STARTER:
            channel.sent += 1
            join_thread(world, channel, author)
    channel.messages[message.id] = message
    _tell_message(world, "MESSAGE_CREATE", message)
    return message


def _reference(message: Message) -> Json:
    guild = message.channel.guild
    told = {"type": 0, "channel_id": message.channel.id, "message_id": message.id}
    return told | ({"guild_id": guild.id} if guild else {})


def change(world: World, message: Message, **fields: Any) -> None:
    """Edit a message as its author: text, embeds, components, flags, attachments.

    Mentions are resolved again, by the edit's own ``allowed_mentions``.
    """
    if "content" in fields or "components" in fields:
        fields.setdefault("allowed_mentions", None)
    if fields.get("content", message.content) != message.content:
        message.history.append(message.content)
    for name, value in fields.items():
        setattr(message, name, value)
    message.edited = world.clock.iso()
    resolve_mentions(message, world)
    _tell_message(world, "MESSAGE_UPDATE", message)


def change_unseen(world: World, message: Message, **fields: Any) -> None:
    """Change a message without an edit, such as for a link preview or a new thread from it."""
    for name, value in fields.items():
        setattr(message, name, value)
    _tell_message(world, "MESSAGE_UPDATE", message)


def _tell_message(world: World, event: str, message: Message) -> None:
    if not bot_sees(message.channel, world):
        return
    if message.private_to is not None and message.author is not world.bot:
        return
    # Events of ephemeral messages are like direct ones: without a guild, and by that intent.
    guild = message.channel.guild if message.private_to is None else None
    echo = {"nonce": message.nonce} if event == "MESSAGE_CREATE" and message.nonce else {}
    world.emit(
        event,
        lambda sees: event_message_json(message, world, sees_content=sees) | echo,
        needs=GUILD_MESSAGES if guild else DIRECT_MESSAGES,
        guild=guild,
    )


def erase(world: World, message: Message) -> None:
    message.deleted = True
    channel = message.channel
    channel.messages.pop(message.id, None)
    if not bot_sees(channel, world) or message.flags & EPHEMERAL:
        return
    told = {"id": message.id, "channel_id": channel.id}
    guild = channel.guild
    if guild:
        told["guild_id"] = guild.id
    needs = GUILD_MESSAGES if guild else DIRECT_MESSAGES
    world.emit("MESSAGE_DELETE", lambda _: told, needs=needs, guild=guild)


def add_reaction(world: World, message: Message, user: User, emoji: str) -> None:
    by = message.reactions.setdefault(emoji, [])
    if user.id in by:
        return
    by.append(user.id)
    if not bot_sees(message.channel, world):
        return
    guild = message.channel.guild
    told: Json = {
        "user_id": user.id,
        "channel_id": message.channel.id,
        "message_id": message.id,
        "message_author_id": message.author.id,
        "emoji": {"id": None, "name": emoji},
        "burst": False,
        "type": 0,
    }
    if guild:
        told["guild_id"] = guild.id
    if guild and user.id in guild.members:
        told["member"] = member_json(guild.members[user.id]) | {"user": user_json(user)}
    needs = GUILD_REACTIONS if guild else DIRECT_REACTIONS
    world.emit("MESSAGE_REACTION_ADD", lambda _: told, needs=needs, guild=guild)


def start_thread(
    world: World,
    parent: Channel,
    owner: User,
    name: str,
    *,
    type: int,
    auto_archive: int = 4320,
    source: Message | None = None,
    tags: tuple[str, ...] = (),
) -> Channel:
    """Start a thread from ``source`` (whose id it gets), or on its own.

    A thread from a message begins with a message of type 21. For a thread on its own, the parent
    gets one of type 18, unless the thread is private. In a forum the caller makes the first post.
    """
    id = source.id if source is not None else world.new_id()
    now = world.clock.iso()
    thread = Channel(
        id, type, name, parent.guild, parent,
        owner_id=owner.id, auto_archive=auto_archive, archive_changed=now, tags=tags,
    )  # fmt: skip
    world.channels[id] = thread
    thread.thread_members[owner.id] = now
    tell_thread(world, "THREAD_CREATE", thread, newly_created=True)
    if source is not None:
        change_unseen(world, source, thread=thread, flags=source.flags | HAS_THREAD)
        post(world, thread, owner, type=THREAD_STARTER, replies_to=source)
        join_thread(world, thread, source.author)
    elif parent.type != FORUM and type != PRIVATE_THREAD:
        reference = {"type": 0, "channel_id": thread.id}
        assert parent.guild is not None
        reference["guild_id"] = parent.guild.id
        post(world, parent, owner, name, type=THREAD_CREATED, reference=reference)
    return thread


def tell_thread(world: World, event: str, thread: Channel, *, newly_created: bool = False) -> None:
    if bot_sees(thread, world):
        told = thread_json(thread, world) | ({"newly_created": True} if newly_created else {})
        world.emit(event, lambda _: told, needs=GUILDS, guild=thread.guild)


def set_thread(world: World, thread: Channel, **fields: Any) -> None:
    """Rename, archive, lock, … ``archived`` also sets the archive timestamp."""
    if "archived" in fields:
        thread.archive_changed = world.clock.iso()
    for name, value in fields.items():
        setattr(thread, name, value)
    tell_thread(world, "THREAD_UPDATE", thread)


def join_thread(world: World, thread: Channel, user: User) -> None:
    if user.id in thread.thread_members or thread.guild is None:
        return
    if user.id not in thread.guild.members:
        return
    joined = thread.thread_members[user.id] = world.clock.iso()
    if user is world.bot:
        tell_thread(world, "THREAD_CREATE", thread)
    member = thread_member_json(thread, user.id, joined)
    member["member"] = member_json(thread.guild.members[user.id]) | {"user": user_json(user)}
    if bot_sees(thread, world):
        told = {
            "id": thread.id,
            "guild_id": thread.guild.id,
            "member_count": min(len(thread.thread_members), 50),
            "added_members": [member],
        }
        # Without the members intent an app gets only events about itself.
        needs = GUILDS if user is world.bot else GUILD_MEMBERS
        world.emit("THREAD_MEMBERS_UPDATE", lambda _: told, needs=needs, guild=thread.guild)


def delete_channel(world: World, channel: Channel) -> None:
    seen = bot_sees(channel, world)
    world.channels.pop(channel.id, None)
    if not seen or channel.guild is None:
        return
    guild_id = channel.guild.id
    if channel.is_thread:
        assert channel.parent is not None
        parts = {"id": channel.id, "type": channel.type, "parent_id": channel.parent.id}
        told = parts | {"guild_id": guild_id}
        world.emit("THREAD_DELETE", lambda _: told, needs=GUILDS, guild=channel.guild)
    else:
        whole = channel_json(channel, world)
        world.emit("CHANNEL_DELETE", lambda _: whole, needs=GUILDS, guild=channel.guild)


def tell_channel(world: World, event: str, channel: Channel) -> None:
    """Send CHANNEL_CREATE or CHANNEL_UPDATE of a channel, if the app is in its guild."""
    if channel.guild is not None and channel.guild.installed:
        told = channel_json(channel, world)
        world.emit(event, lambda _: told, needs=GUILDS, guild=channel.guild)
