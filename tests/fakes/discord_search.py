"""The search of a server's messages, and the look-ups for narrowing it: channels, members.

The query is checked against Discord's OpenAPI document. Developers report two rules that are not in
it: a channel includes its threads, and a message must contain all words of ``content``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tests.fakes.discord_errors import invalid
from tests.fakes.discord_messages import guild_of
from tests.fakes.discord_permissions import may
from tests.fakes.discord_rest import Answer, Call, Route
from tests.fakes.discord_shapes import (
    channel_json,
    message_json,
    role_json,
    thread_json,
    whole_member_json,
)
from tests.fakes.discord_state import PRIVATE_THREAD, Guild, Json, Message, World

# Parameter → largest number of values. Parameters that are not listed have a single value.
MANY = {"author_id": 100, "author_type": 6, "channel_id": 500, "mentions": 100}
ONCE = {"content", "limit", "offset", "max_id", "min_id", "slop", "sort_by", "sort_order", "pinned"}
NOT_INDEXED = 110_000


class Searching:
    """Handlers; each is called with the lock of the world held.

    ``indexing`` is the number of searches that first get 202, with ``retry_after`` seconds.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self.indexing = 0.0
        self.retry_after = 1

    def routes(self) -> list[Route]:
        guild = "/guilds/{guild_id}"
        return [
            Route("GET", guild, self.guild),
            Route("GET", f"{guild}/channels", self.channels),
            Route("GET", f"{guild}/members/search", self.members),
            Route("GET", f"{guild}/messages/search", self.search),
        ]

    def guild(self, call: Call) -> Json:
        guild = guild_of(self.world, call)
        roles = [role_json(role) for role in guild.roles]
        return {"id": guild.id, "name": guild.name, "owner_id": guild.owner.id, "roles": roles}

    def channels(self, call: Call) -> list[Json]:
        return [
            channel_json(each, self.world)
            for each in self.world.channels_of(guild_of(self.world, call))
        ]

    def members(self, call: Call) -> list[Json]:
        begins = call.query.get("query", "").casefold()
        if not begins:
            raise invalid(("query",), "BASE_TYPE_REQUIRED", "This field is required")
        found = (
            member
            for member in guild_of(self.world, call).members.values()
            if member.user.name.casefold().startswith(begins)
        )
        return [whole_member_json(member) for member in found]

    def search(self, call: Call) -> Any:
        guild, query = guild_of(self.world, call), _checked(call.query)
        if self.indexing > 0:
            self.indexing -= 1
            return Answer(
                202,
                {
                    "message": "Index not yet available. Try again later",
                    "code": NOT_INDEXED,
                    "documents_indexed": 0,
                    "retry_after": self.retry_after,
                },
            )
        found = [message for message in self._said(guild) if _matches(message, query)]
        found = sorted(found, key=lambda message: -int(message.id))
        limit = int(query.get("limit", ["25"])[0])
        sees = self.world.app.content_intent
        shown = found[:limit]
        threads = {m.channel.id: m.channel for m in shown if m.channel.is_thread}
        return {
            "messages": [
                [message_json(message, self.world, sees_content=sees) | {"hit": True}]
                for message in shown
            ],
            "doing_deep_historical_index": False,
            "total_results": len(found),
            "threads": [thread_json(thread, self.world) for thread in threads.values()],
        }

    def _said(self, guild: Guild) -> Iterator[Message]:
        """Yield all messages that the bot may see."""
        for channel in self.world.channels.values():
            if channel.guild is not guild:
                continue
            if not may(self.world.bot, channel, "VIEW_CHANNEL", "READ_MESSAGE_HISTORY"):
                continue
            if channel.type == PRIVATE_THREAD and self.world.bot.id not in channel.thread_members:
                continue
            yield from (m for m in channel.messages.values() if m.private_to is None)


def _checked(query: Any) -> dict[str, list[str]]:
    found = {name: query.getall(name) for name in query}
    for name, values in found.items():
        most = MANY.get(name, 1 if name in ONCE else 0)
        if not most:
            raise invalid((name,), "UNKNOWN_PARAMETER", f"{name} is no parameter")
        if len(values) > most or len(set(values)) < len(values):
            raise invalid((name,), "BASE_TYPE_MAX_LENGTH", f"Must be {most} or fewer, and distinct")
    limit = found.get("limit", ["25"])[0]
    if not limit.isdigit() or not 1 <= int(limit) <= 25:
        raise invalid(("limit",), "NUMBER_TYPE_MAX", "int value should be 1 to 25.")
    if len(found.get("content", [""])[0]) > 1_024:
        raise invalid(("content",), "BASE_TYPE_MAX_LENGTH", "Must be 1024 or fewer in length.")
    if found.get("sort_by", ["relevance"])[0] not in ("relevance", "timestamp"):
        raise invalid(("sort_by",), "BASE_TYPE_CHOICES", "Must be relevance or timestamp")
    return found


def _matches(message: Message, query: dict[str, list[str]]) -> bool:
    channel = message.channel
    places = {channel.id, channel.parent.id if channel.parent is not None else ""}
    if "channel_id" in query and not places & set(query["channel_id"]):
        return False
    if "author_id" in query and message.author.id not in query["author_id"]:
        return False
    if "-bot" in query.get("author_type", ()) and message.author.bot:
        return False
    if not int(query.get("min_id", ["0"])[0]) <= int(message.id):
        return False
    if int(message.id) > int(query.get("max_id", [message.id])[0]):
        return False
    wanted = _stems(query.get("content", [""])[0])
    return bool(wanted) and wanted <= _stems(message.content)


def _stems(text: str) -> set[str]:
    return {word[:5] for word in re.findall(r"\w+", text.casefold())}
