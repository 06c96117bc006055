"""Finds the channels of a server that a member, or every member, may read, and a person's roles. It
uses only REST, so it works in a process without a gateway.

Permissions are computed as in https://docs.discord.com/developers/topics/permissions.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import discord
from cachetools import TTLCache

from adapters.discord.wire import DiscordRefused, Wire

READING = discord.Permissions(view_channel=True, read_message_history=True).value
ADMINISTRATOR = discord.Permissions(administrator=True).value
WITH_MESSAGES = (0, 5, 15)  # types of channels: text, announcements, forums
SERVERS_REMEMBERED, MEMBERS_REMEMBERED = 200, 10_000
SEARCHES_AT_ONCE = 2  # concurrent searches of messages, for all questions
SERVERS_SECONDS = MEMBERS_SECONDS = 60.0
SERVERS_ASKED = 200  # servers asked for their roles: one page of the list
ROLES_SECONDS = 3_600.0  # how long the roles of a server are cached

Raw = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Server:
    """A server's channels with messages, by id, and its roles' permissions."""

    id: str
    owner: str
    channels: Mapping[str, Raw]
    roles: Mapping[str, int]

    def name_of(self, channel: str) -> str:
        return str(self.channels[channel].get("name") or "")

    def open_to_all(self) -> frozenset[str]:
        """Return the channels that every member may read: none denies a role or a member."""
        return frozenset(id for id, channel in self.channels.items() if self._is_open(channel))

    def _is_open(self, channel: Raw) -> bool:
        allowed, denied = _overwrite(channel, self.id)
        everyone = self.roles.get(self.id, 0) & ~denied | allowed
        others = (each for each in _overwrites(channel) if str(each["id"]) != self.id)
        kept_out = any(int(each.get("deny") or 0) & READING for each in others)
        return everyone & READING == READING and not kept_out

    def readable_by(self, person: str, roles: Sequence[str]) -> frozenset[str]:
        """Return the channels that a member with these roles may read."""
        return frozenset(
            id
            for id, channel in self.channels.items()
            if self._permissions(channel, person, roles) & READING == READING
        )

    def _permissions(self, channel: Raw, person: str, roles: Sequence[str]) -> int:
        total = self.roles.get(self.id, 0)
        for role in roles:
            total |= self.roles.get(role, 0)
        if person == self.owner or total & ADMINISTRATOR:
            return READING
        allowed, denied = _overwrite(channel, self.id)
        total = total & ~denied | allowed
        allow = deny = 0
        for role in roles:
            allowed, denied = _overwrite(channel, role)
            allow, deny = allow | allowed, deny | denied
        total = total & ~deny | allow
        allowed, denied = _overwrite(channel, person)
        return total & ~denied | allowed


def _overwrites(channel: Raw) -> Sequence[Raw]:
    return channel.get("permission_overwrites") or ()


def _overwrite(channel: Raw, id: str) -> tuple[int, int]:
    """Return the permissions that a channel allows and denies to a role or a member."""
    found = next((each for each in _overwrites(channel) if str(each["id"]) == id), {})
    return int(found.get("allow") or 0), int(found.get("deny") or 0)


class Servers:
    """Looks servers and members up, each at most once a minute.

    Every method raises ``PlatformUnavailable``. Each search of messages acquires ``searching``, so
    that many concurrent questions leave requests for posting answers.
    """

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self.searching = asyncio.Semaphore(SEARCHES_AT_ONCE)
        self._known: TTLCache[str, Server] = TTLCache(SERVERS_REMEMBERED, SERVERS_SECONDS)
        self._members: TTLCache[tuple[str, str], list[str] | None] = TTLCache(
            MEMBERS_REMEMBERED, MEMBERS_SECONDS
        )
        self._roles: TTLCache[str, dict[str, frozenset[str]]] = TTLCache(1, ROLES_SECONDS)

    async def server(self, id: str) -> Server | None:
        """Return a server; None if the bot is not in it."""
        if (known := self._known.get(id)) is None:
            try:
                about, channels = await asyncio.gather(
                    self._wire.request("GET", "/guilds/{guild_id}", guild_id=id),
                    self._wire.request("GET", "/guilds/{guild_id}/channels", guild_id=id),
                )
            except DiscordRefused:
                return None
            with_messages = [each for each in channels if each["type"] in WITH_MESSAGES]
            known = self._known[id] = Server(
                id,
                str(about.get("owner_id") or ""),
                {str(each["id"]): each for each in with_messages},
                {str(role["id"]): int(role["permissions"]) for role in about.get("roles") or ()},
            )
        return known

    async def readable_by(self, id: str, person: str) -> tuple[Server, frozenset[str]] | None:
        """Return a server with the channels that a person may read; None if they are not a
        member."""
        roles = await self._roles_of(id, person)
        server = None if roles is None else await self.server(id)
        if server is None or roles is None:
            return None
        return server, server.readable_by(person, roles)

    async def roles_held(self, person: str, among: Collection[str]) -> frozenset[str]:
        """Return the roles among ``among`` that a person has now in any server of the bot, because
        Discord sends no roles with direct messages."""
        wanted = frozenset(among)
        servers = self._roles.get("")
        if servers is None:
            servers = self._roles[""] = await self._roles_of_servers()
        found: set[str] = set()
        for server, roles in servers.items():
            if wanted & roles:
                found |= wanted.intersection(await self._roles_of(server, person) or ())
        return frozenset(found)

    async def _roles_of_servers(self) -> dict[str, frozenset[str]]:
        found = {}
        for id in await self.ids(SERVERS_ASKED):
            roles = await self._asked("/guilds/{guild_id}/roles", guild_id=id)
            found[id] = frozenset(str(role["id"]) for role in roles or ())
        return found

    async def _roles_of(self, id: str, person: str) -> list[str] | None:
        """Return the roles of a member; None if the person is not a member."""
        try:
            return self._members[id, person]
        except KeyError:
            member = await self._asked(
                "/guilds/{guild_id}/members/{user_id}", guild_id=id, user_id=person
            )
        roles = None if member is None else [str(role) for role in member.get("roles") or ()]
        self._members[id, person] = roles
        return roles

    async def _asked(self, path: str, guild_id: str, user_id: str = "") -> Any:
        """Return Discord's response; None if the person is not a member, or the bot is no longer in
        the server."""
        try:
            return await self._wire.request("GET", path, guild_id=guild_id, user_id=user_id)
        except DiscordRefused:
            return None

    async def ids(self, most: int) -> list[str]:
        """Return the ids of the servers that the bot is in, at most ``most``."""
        told = await self._wire.request("GET", "/users/@me/guilds", query={"limit": most})
        return [str(server["id"]) for server in told]
