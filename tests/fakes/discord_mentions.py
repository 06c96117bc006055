"""Who a message would notify: mentions in its text, cut down by ``allowed_mentions``.

Rules: docs.discord.com/developers/resources/message#allowed-mentions-object.
"""

from __future__ import annotations

import re

from tests.fakes.discord_permissions import may
from tests.fakes.discord_state import REPLY, Json, Message, World

_USER = re.compile(r"<@!?(\d+)>")
_ROLE = re.compile(r"<@&(\d+)>")
_EVERYONE = re.compile(r"@(everyone|here)\b")
_CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)


def resolve_mentions(message: Message, world: World) -> None:
    """Set ``mentions``, ``mention_roles``, ``mention_everyone`` and ``pings`` of ``message``."""
    text = _CODE.sub("", message.content)
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
    """A reply notifies its addressee, unless there are rules and they do not say so."""
    return allowed is None or bool(allowed.get("replied_user"))
