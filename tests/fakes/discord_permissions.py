"""Discord's permission bits, and the permissions of a user in a channel.

Bits and algorithm: docs.discord.com/developers/topics/permissions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.fakes.discord_state import Channel, User

BITS: dict[str, int] = {
    "ADMINISTRATOR": 1 << 3,
    "MANAGE_CHANNELS": 1 << 4,
    "MANAGE_GUILD": 1 << 5,
    "ADD_REACTIONS": 1 << 6,
    "VIEW_CHANNEL": 1 << 10,
    "SEND_MESSAGES": 1 << 11,
    "MANAGE_MESSAGES": 1 << 13,
    "EMBED_LINKS": 1 << 14,
    "ATTACH_FILES": 1 << 15,
    "READ_MESSAGE_HISTORY": 1 << 16,
    "MENTION_EVERYONE": 1 << 17,
    "USE_EXTERNAL_EMOJIS": 1 << 18,
    "USE_APPLICATION_COMMANDS": 1 << 31,
    "MANAGE_THREADS": 1 << 34,
    "CREATE_PUBLIC_THREADS": 1 << 35,
    "CREATE_PRIVATE_THREADS": 1 << 36,
    "SEND_MESSAGES_IN_THREADS": 1 << 38,
    "USE_EXTERNAL_APPS": 1 << 50,
}
ALL = sum(BITS.values())


def bits(*names: str) -> int:
    """Return the named permissions as one number; an unknown name is an error."""
    return sum({BITS[name] for name in names})


_TALKING = bits(
    *("ADD_REACTIONS", "VIEW_CHANNEL", "SEND_MESSAGES", "EMBED_LINKS", "ATTACH_FILES"),
    "READ_MESSAGE_HISTORY",
)
# Common permissions of invited bots: only talking, threads and reading.
INVITED = _TALKING | bits("CREATE_PUBLIC_THREADS", "SEND_MESSAGES_IN_THREADS")
# The permissions of a person or bot in their own direct messages.
IN_DIRECT_MESSAGE = _TALKING | bits("USE_EXTERNAL_EMOJIS", "USE_APPLICATION_COMMANDS")
EVERYONE = INVITED | IN_DIRECT_MESSAGE | bits("CREATE_PRIVATE_THREADS", "USE_EXTERNAL_APPS")
# app_permissions in places that the app is not a member of; its direct messages have a few more.
ELSEWHERE = bits("ATTACH_FILES", "EMBED_LINKS", "MENTION_EVERYONE")
DIRECT = ELSEWHERE | bits("USE_EXTERNAL_EMOJIS")


def permissions(user: User, channel: Channel) -> int:
    """Return the permissions of ``user`` in ``channel``; a thread has those of its parent."""
    guild = channel.guild
    if guild is None:
        return IN_DIRECT_MESSAGE if user in channel.recipients else 0
    member = guild.members.get(user.id)
    if member is None:
        return 0
    if guild.owner is user:
        return ALL
    total = guild.everyone.permissions
    for role in member.roles:
        total |= role.permissions
    if total & BITS["ADMINISTRATOR"]:
        return ALL
    overwrites = (channel.parent if channel.is_thread and channel.parent else channel).overwrites
    if base := overwrites.get(guild.id):
        total = total & ~base.deny | base.allow
    deny = allow = 0
    for role in member.roles:
        if found := overwrites.get(role.id):
            deny |= found.deny
            allow |= found.allow
    total = total & ~deny | allow
    if own := overwrites.get(user.id):
        total = total & ~own.deny | own.allow
    if not total & BITS["VIEW_CHANNEL"]:
        return 0
    if channel.type == 12 and user.id not in channel.thread_members:
        return total if total & BITS["MANAGE_THREADS"] else 0
    return total


def may(user: User, channel: Channel, *names: str) -> bool:
    """Return True if ``user`` has all the named permissions in ``channel``."""
    wanted = bits(*names)
    return permissions(user, channel) & wanted == wanted
