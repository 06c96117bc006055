"""The JSON shapes of users, members, guilds, channels and messages, as Discord sends them."""

from __future__ import annotations

from tests.fakes.discord_permissions import permissions
from tests.fakes.discord_state import (
    DIRECT_MESSAGE,
    FORUM,
    GROUP,
    STAGE,
    VOICE,
    Channel,
    Guild,
    Json,
    Member,
    Message,
    Role,
    User,
    World,
)


def user_json(user: User) -> Json:
    return {
        "id": user.id,
        "username": user.name.lower(),
        "discriminator": "0" if not user.bot else "0001",
        "global_name": None if user.bot else user.name,
        "avatar": None,
        "avatar_decoration_data": None,
        "collectibles": None,
        "primary_guild": None,
        "public_flags": 0,
        "bot": user.bot,
    }


def own_user_json(user: User) -> Json:
    """Return the bot's own user."""
    private = {"verified": True, "mfa_enabled": True, "email": None, "flags": 0, "locale": "en-US"}
    return user_json(user) | private


def member_json(member: Member) -> Json:
    """Return a member without its user, which events add."""
    return {
        "roles": [role.id for role in member.roles],
        "joined_at": member.joined_at,
        "nick": None,
        "avatar": None,
        "banner": None,
        "premium_since": None,
        "communication_disabled_until": None,
        "deaf": False,
        "mute": False,
        "pending": False,
        "flags": 0,
    }


def whole_member_json(member: Member) -> Json:
    return member_json(member) | {"user": user_json(member.user)}


def role_json(role: Role) -> Json:
    told: Json = {
        "id": role.id,
        "name": role.name,
        "permissions": str(role.permissions),
        "color": 0,
        "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
        "hoist": False,
        "icon": None,
        "unicode_emoji": None,
        "position": 0 if role.name == "@everyone" else 1,
        "managed": role.managed_by is not None,
        "mentionable": False,
        "flags": 0,
    }
    if role.managed_by is not None:
        told["tags"] = {"bot_id": role.managed_by}
    return told


def channel_json(channel: Channel, world: World) -> Json:
    if channel.guild is None:
        return _private_channel_json(channel, world)
    if channel.is_thread:
        return thread_json(channel, world)
    told: Json = {
        "id": channel.id,
        "type": channel.type,
        "name": channel.name,
        "guild_id": channel.guild.id,
        "parent_id": None,
        "position": 0,
        "topic": channel.topic,
        "nsfw": False,
        "rate_limit_per_user": 0,
        "last_message_id": _last_message_id(channel),
        "flags": 0,
        "permission_overwrites": [
            {"id": id, "type": o.type, "allow": str(o.allow), "deny": str(o.deny)}
            for id, o in channel.overwrites.items()
        ],
    }
    if channel.type in (VOICE, STAGE):
        told |= {"bitrate": 64_000, "user_limit": 0, "rtc_region": None}
    if channel.type == FORUM:
        told |= {
            "available_tags": [
                {"id": tag_id(channel, tag), "name": tag} | _PLAIN_TAG for tag in channel.tags
            ],
            "default_reaction_emoji": None,
            "default_sort_order": None,
            "default_forum_layout": 0,
            "default_auto_archive_duration": 4320,
            "default_thread_rate_limit_per_user": 0,
        }
    return told


def _private_channel_json(channel: Channel, world: World) -> Json:
    others = [user for user in channel.recipients if user is not world.bot]
    told: Json = {
        "id": channel.id,
        "type": channel.type,
        "last_message_id": _last_message_id(channel),
        "flags": 0,
        "recipients": [user_json(user) for user in others],
    }
    if channel.type == GROUP:
        told |= {"name": channel.name, "icon": None, "owner_id": others[0].id}
    elif channel.type != DIRECT_MESSAGE:
        raise ValueError(f"channel type {channel.type} belongs to a guild")
    return told


def thread_json(thread: Channel, world: World) -> Json:
    assert thread.guild is not None
    assert thread.parent is not None
    told: Json = {
        "id": thread.id,
        "type": thread.type,
        "name": thread.name,
        "guild_id": thread.guild.id,
        "parent_id": thread.parent.id,
        "owner_id": thread.owner_id,
        "last_message_id": _last_message_id(thread),
        "message_count": thread.sent,
        "total_message_sent": thread.sent,
        "member_count": min(len(thread.thread_members), 50),
        "rate_limit_per_user": 0,
        "flags": 0,
        "thread_metadata": {
            "archived": thread.archived,
            "locked": thread.locked,
            "auto_archive_duration": thread.auto_archive,
            "archive_timestamp": thread.archive_changed,
            "create_timestamp": thread.archive_changed,
            **({"invitable": True} if thread.type == 12 else {}),
        },
    }
    if thread.parent.type == FORUM:
        told["applied_tags"] = [tag_id(thread.parent, tag) for tag in thread.tags]
    if joined := thread.thread_members.get(world.bot.id):
        told["member"] = thread_member_json(thread, world.bot.id, joined)
    return told


_PLAIN_TAG: Json = {"moderated": False, "emoji_id": None, "emoji_name": None}


def tag_id(forum: Channel, tag: str) -> str:
    return str(int(forum.id) + 1 + forum.tags.index(tag))


def thread_member_json(thread: Channel, user_id: str, joined: str) -> Json:
    return {"id": thread.id, "user_id": user_id, "join_timestamp": joined, "flags": 0}


def _last_message_id(channel: Channel) -> str | None:
    return max(channel.messages, key=int, default=None)


_UNSET = (
    *("icon", "splash", "banner", "description", "discovery_splash", "vanity_url_code"),
    *("afk_channel_id", "application_id", "public_updates_channel_id", "rules_channel_id"),
    *("safety_alerts_channel_id", "system_channel_id", "incidents_data"),
)
_EMPTY = (
    *("emojis", "stickers", "features", "presences", "voice_states", "stage_instances"),
    *("guild_scheduled_events", "soundboard_sounds"),
)
_ZERO = (
    *("default_message_notifications", "explicit_content_filter", "verification_level"),
    *("mfa_level", "nsfw_level", "premium_tier", "premium_subscription_count"),
    "system_channel_flags",
)


def guild_create_json(guild: Guild, world: World, *, all_members: bool) -> Json:
    """Return the data of GUILD_CREATE; without the members intent it lists only the bot."""
    members = [m for m in guild.members.values() if all_members or m.user is world.bot]
    active = [t for t in world.threads_of(guild) if not t.archived]
    return {
        "id": guild.id,
        "name": guild.name,
        "owner_id": guild.owner.id,
        "preferred_locale": guild.locale,
        "roles": [role_json(role) for role in guild.roles],
        "afk_timeout": 300,
        "max_members": 500_000,
        "region": "deprecated",
        "widget_enabled": False,
        **{name: [] for name in _EMPTY},
        **dict.fromkeys(_UNSET),
        **dict.fromkeys(_ZERO, 0),
        "joined_at": guild.joined_at,
        "large": False,
        "unavailable": False,
        "member_count": len(guild.members),
        "members": [whole_member_json(member) for member in members],
        "channels": [channel_json(channel, world) for channel in world.channels_of(guild)],
        "threads": [thread_json(t, world) for t in active if permissions(world.bot, t)],
    }


def message_json(message: Message, world: World, *, sees_content: bool) -> Json:
    """Return a message for REST; ``sees_content`` is false for apps without the content intent.

    It does not contain the nonce, which is only returned when a message is created.
    """
    shown = sees_content or content_is_free(message, world)
    told: Json = {
        "id": message.id,
        "channel_id": message.channel.id,
        "author": user_json(message.author),
        "content": message.content if shown else "",
        "timestamp": message.timestamp,
        "edited_timestamp": message.edited,
        "tts": False,
        "mention_everyone": message.mention_everyone,
        "mentions": [user_json(user) for user in message.mentions],
        "mention_roles": message.mention_roles,
        "attachments": signed(message.attachments, world) if shown else [],
        "embeds": message.embeds if shown else [],
        "components": message.components if shown else [],
        "pinned": False,
        "type": message.type,
        "flags": message.flags,
    }
    if message.reactions:
        told["reactions"] = [_reaction_json(e, by, world) for e, by in message.reactions.items()]
    if message.reference is not None:
        told["message_reference"] = message.reference
        if message.reference.get("type") == 0:
            told["referenced_message"] = None
        if message.replies_to is not None and not message.replies_to.deleted:
            referenced = message_json(message.replies_to, world, sees_content=sees_content)
            referenced.pop("referenced_message", None)
            told["referenced_message"] = referenced
    if message.thread is not None:
        told["thread"] = thread_json(message.thread, world)
    if message.snapshots:
        snapshots = [each["message"] for each in message.snapshots]
        told["message_snapshots"] = [
            {"message": each | {"attachments": signed(each["attachments"], world)}}
            for each in snapshots
            if shown
        ]
    if message.poll is not None:
        told["poll"] = message.poll
    if message.webhook_of:
        name = {"username": message.author.name, "discriminator": "0000", "global_name": None}
        told["author"] |= name
        told |= {"webhook_id": message.author.id, "application_id": message.webhook_of}
    elif message.webhook:
        told |= {"webhook_id": world.app.id, "application_id": world.app.id}
    elif message.author is world.bot:
        told["application_id"] = world.app.id
    if message.interaction is not None:
        told["interaction_metadata"] = message.interaction
    return told


def new_message_json(message: Message, world: World, *, sees_content: bool) -> Json:
    """Return a message for the response to its creation, with the nonce."""
    told = message_json(message, world, sees_content=sees_content)
    return told if message.nonce is None else told | {"nonce": message.nonce}


def event_message_json(message: Message, world: World, *, sees_content: bool) -> Json:
    """Return a message for MESSAGE_CREATE and MESSAGE_UPDATE, with guild and author's roles."""
    told = message_json(message, world, sees_content=sees_content)
    guild = message.channel.guild
    told["channel_type"] = message.channel.type
    if guild is None or message.private_to is not None:
        return told
    told["guild_id"] = guild.id
    author = guild.members.get(message.author.id)
    if author is not None and not message.webhook:
        told["member"] = member_json(author)
    for mentioned in told["mentions"]:
        if found := guild.members.get(mentioned["id"]):
            mentioned["member"] = member_json(found)
    return told


def signed(files: list[Json], world: World) -> list[Json]:
    """Return files with addresses that work for a day, signed anew each time they are told."""
    told = [file | {"url": world.sign(file["url"])} for file in files]
    return [file | {"proxy_url": file["url"]} for file in told]


def snapshot_json(message: Message) -> Json:
    """Return what a forward keeps of a message: neither its author nor its reference."""
    return {
        "type": message.type,
        "content": message.content,
        "embeds": message.embeds,
        "attachments": message.attachments,
        "timestamp": message.timestamp,
        "edited_timestamp": message.edited,
        "flags": message.flags,
        "mentions": [user_json(user) for user in message.mentions],
        "mention_roles": message.mention_roles,
        "components": message.components,
    }


def content_is_free(message: Message, world: World) -> bool:
    """Return True if an app may read a message without the content intent: its own messages, direct
    messages, and messages that mention it."""
    own = message.author is world.bot
    direct = message.channel.guild is None
    return own or direct or world.bot in message.mentions


def _reaction_json(emoji: str, by: list[str], world: World) -> Json:
    return {
        "emoji": {"id": None, "name": emoji},
        "count": len(by),
        "count_details": {"normal": len(by), "burst": 0},
        "me": world.bot.id in by,
        "me_burst": False,
        "burst_colors": [],
    }
