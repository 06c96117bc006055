"""The roles that somebody has in the servers of the bot, for where Discord does not tell them.

With a message in a server Discord tells its author's roles; with a direct message it tells none.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from cachetools import TTLCache

from adapters.discord.wire import DiscordRefused, Wire

SERVERS_ASKED = 200  # one page of them; the roles of collections belong to few
SERVERS_SECONDS = 3_600.0  # for which it is remembered which server has which roles
MEMBERS_REMEMBERED = 10_000
MEMBERS_SECONDS = 60.0


class Roles:
    """Asks by REST, so that a process without a gateway can ask too."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._servers: TTLCache[str, dict[str, frozenset[str]]] = TTLCache(1, SERVERS_SECONDS)
        self._held: TTLCache[tuple[str, str], frozenset[str]] = TTLCache(
            MEMBERS_REMEMBERED, MEMBERS_SECONDS
        )

    async def held(self, person: str, among: Collection[str]) -> frozenset[str]:
        """The roles among ``among`` that a person has now. Raises ``PlatformUnavailable``."""
        wanted = frozenset(among)
        servers = self._servers.get("roles")
        if servers is None:
            servers = self._servers["roles"] = await self._roles_of_servers()
        found: set[str] = set()
        for server, roles in servers.items():
            if wanted & roles:
                found |= wanted & await self._roles_of(server, person)
        return frozenset(found)

    async def _roles_of_servers(self) -> dict[str, frozenset[str]]:
        servers = await self._wire.request(
            "GET", "/users/@me/guilds", query={"limit": SERVERS_ASKED}
        )
        found = {}
        for id in (str(server["id"]) for server in servers):
            roles = await self._asked("/guilds/{guild_id}/roles", guild_id=id)
            found[id] = frozenset(str(role["id"]) for role in roles or ())
        return found

    async def _roles_of(self, server: str, person: str) -> frozenset[str]:
        if (known := self._held.get((server, person))) is not None:
            return known
        member = await self._asked(
            "/guilds/{guild_id}/members/{user_id}", guild_id=server, user_id=person
        )
        roles = frozenset(map(str, (member or {}).get("roles", ())))
        self._held[server, person] = roles
        return roles

    async def _asked(self, path: str, guild_id: str, user_id: str = "") -> Any:
        """Discord's answer; None where it is not told: no member there, or no longer our server."""
        try:
            return await self._wire.request("GET", path, guild_id=guild_id, user_id=user_id)
        except DiscordRefused:
            return None
