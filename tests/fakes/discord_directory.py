"""Routes that look things up: the bot itself, its application, guilds, members, gateway."""

from __future__ import annotations

from tests.fakes.discord_errors import refuse
from tests.fakes.discord_gateway import Gateway
from tests.fakes.discord_rest import Call, Route
from tests.fakes.discord_shapes import (
    own_user_json,
    role_json,
    user_json,
    whole_member_json,
)
from tests.fakes.discord_state import Guild, Json, World


class Directory:
    """Handlers; each is called with the lock of the world held."""

    def __init__(self, world: World, gateway: Gateway) -> None:
        self.world = world
        self.gateway = gateway

    def routes(self) -> list[Route]:
        guild = "/guilds/{guild_id}"
        return [
            Route("GET", "/gateway", lambda _: {"url": self.gateway.url}, authorized=False),
            Route("GET", "/gateway/bot", self.gateway_bot),
            Route("GET", "/users/@me", lambda _: own_user_json(self.world.bot)),
            Route("GET", "/users/@me/guilds", self.own_guilds),
            Route("GET", "/oauth2/applications/@me", self.application),
            Route("GET", "/applications/@me", self.application),
            Route("GET", f"{guild}/roles", self.roles),
            Route("GET", f"{guild}/members/{{user_id}}", self.member),
        ]

    def gateway_bot(self, call: Call) -> Json:
        limit = {"total": 1000, "remaining": 999, "reset_after": 0, "max_concurrency": 1}
        return {"url": self.gateway.url, "shards": self.gateway.shards,
                "session_start_limit": limit}  # fmt: skip

    def own_guilds(self, call: Call) -> list[Json]:
        return [
            {"id": g.id, "name": g.name, "icon": None, "owner": False, "permissions": "0",
             "features": [], "banner": None}
            for g in self.world.guilds.values() if g.installed
        ]  # fmt: skip

    def application(self, call: Call) -> Json:
        world = self.world
        contexts: Json = {"0": {}, "1": {}} if world.app.user_installable else {"0": {}}
        return {
            "id": world.app.id,
            "name": world.bot.name,
            "icon": None,
            "description": "",
            "summary": "",
            "type": None,
            "bot": user_json(world.bot),
            "bot_public": True,
            "bot_require_code_grant": False,
            "flags": world.app.flags,
            "hook": True,
            "integration_types_config": contexts,
            "owner": user_json(
                next((u for u in world.users.values() if u is not world.bot), world.bot)
            ),
            "team": None,
            "redirect_uris": [],
            "interactions_endpoint_url": None,
            "role_connections_verification_url": None,
            "event_webhooks_url": None,
            "event_webhooks_status": 1,
            "verify_key": world.app.public_key,
            "approximate_guild_count": sum(g.installed for g in world.guilds.values()),
            "approximate_user_install_count": 0,
            "approximate_user_authorization_count": 0,
        }

    def _guild(self, call: Call) -> Guild:
        guild = self.world.guilds.get(call.parts["guild_id"])
        if guild is None or not guild.installed:
            raise refuse(10004)
        return guild

    def roles(self, call: Call) -> list[Json]:
        return [role_json(role) for role in self._guild(call).roles]

    def member(self, call: Call) -> Json:
        member = self._guild(call).members.get(call.parts["user_id"])
        if member is None:
            known = call.parts["user_id"] in self.world.users
            raise refuse(10007 if known else 10013)
        return whole_member_json(member)
