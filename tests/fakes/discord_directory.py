"""Routes of channels and threads, and those that look up the bot, guilds, roles and members."""

from __future__ import annotations

from tests.fakes import discord_acts as acts
from tests.fakes.discord_errors import FormErrors, refuse
from tests.fakes.discord_gateway import Gateway
from tests.fakes.discord_limits import check_thread
from tests.fakes.discord_messages import find_channel, find_message, guild_of, needs
from tests.fakes.discord_permissions import may
from tests.fakes.discord_rest import Answer, Call, Route
from tests.fakes.discord_shapes import (
    channel_json,
    own_user_json,
    role_json,
    thread_json,
    user_json,
    whole_member_json,
)
from tests.fakes.discord_state import (
    ANNOUNCEMENT,
    DIRECT_MESSAGE,
    PUBLIC_THREAD,
    TEXT,
    Channel,
    Json,
    World,
)


class Threads:
    """Handlers; each is called with the lock of the world held."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.active_limit = 1_000

    def routes(self) -> list[Route]:
        channel = "/channels/{channel_id}"
        return [
            Route("GET", channel, self.get),
            Route("PATCH", channel, self.edit),
            Route("DELETE", channel, self.delete),
            Route("POST", f"{channel}/messages/{{message_id}}/threads", self.from_message),
            Route("POST", "/users/@me/channels", self.direct),
        ]

    def get(self, call: Call) -> Json:
        return channel_json(find_channel(self.world, call.parts["channel_id"]), self.world)

    def edit(self, call: Call) -> Json:
        channel = find_channel(self.world, call.parts["channel_id"])
        body = call.fields
        if not channel.is_thread:
            raise refuse(50013 if channel.guild else 50003)
        manages = may(self.world.bot, channel, "MANAGE_THREADS")
        if body.get("archived") is False and set(body) == {"archived"}:
            # Whoever may write in a thread that is not locked may unarchive it.
            if channel.locked and not manages:
                raise refuse(160005)
            needs(self.world, channel, "SEND_MESSAGES_IN_THREADS")
        else:
            if channel.archived and body.get("archived") is not False:
                raise refuse(50083)
            if not manages and (channel.owner_id != self.world.bot.id or "locked" in body):
                raise refuse(50013)
        names = {"auto_archive_duration": "auto_archive"}
        if "name" in body:
            wrong = FormErrors()
            check_thread(body, wrong)
            wrong.raise_if_any()
        known = ("name", "archived", "locked", "auto_archive_duration")
        fields = {names.get(k, k): v for k, v in body.items() if k in known and v is not None}
        acts.set_thread(self.world, channel, **fields)
        return thread_json(channel, self.world)

    def delete(self, call: Call) -> Json:
        channel = find_channel(self.world, call.parts["channel_id"])
        told = channel_json(channel, self.world)
        if channel.guild is None:
            return told
        needs(self.world, channel, "MANAGE_THREADS" if channel.is_thread else "MANAGE_CHANNELS")
        acts.delete_channel(self.world, channel)
        return told

    def _check_new(self, parent: Channel, body: Json) -> None:
        wrong = FormErrors()
        check_thread(body, wrong)
        wrong.raise_if_any()
        assert parent.guild is not None
        active = [t for t in self.world.threads_of(parent.guild) if not t.archived]
        if len(active) >= self.active_limit:
            raise refuse(160006)

    def from_message(self, call: Call) -> Answer:
        parent = find_channel(self.world, call.parts["channel_id"])
        if parent.type not in (TEXT, ANNOUNCEMENT):
            raise refuse(50024)
        message = find_message(parent, call.parts["message_id"])
        needs(self.world, parent, "CREATE_PUBLIC_THREADS", "READ_MESSAGE_HISTORY")
        body = call.fields
        self._check_new(parent, body)
        if message.thread is not None:
            raise refuse(160004)
        if message.type not in (0, 19, 20, 23):
            raise refuse(50068)
        thread = acts.start_thread(
            self.world, parent, self.world.bot, body["name"].strip(), type=PUBLIC_THREAD,
            auto_archive=body.get("auto_archive_duration") or 4320, source=message,
        )  # fmt: skip
        return Answer(201, thread_json(thread, self.world))

    def direct(self, call: Call) -> Json:
        user = self.world.users.get(str(call.fields.get("recipient_id")))
        if user is None or user.bot:
            raise refuse(50033)
        channel = self.world.direct(self.world.bot, user)
        assert channel.type == DIRECT_MESSAGE
        return channel_json(channel, self.world)


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

    def roles(self, call: Call) -> list[Json]:
        return [role_json(role) for role in guild_of(self.world, call).roles]

    def member(self, call: Call) -> Json:
        member = guild_of(self.world, call).members.get(call.parts["user_id"])
        if member is None:
            known = call.parts["user_id"] in self.world.users
            raise refuse(10007 if known else 10013)
        return whole_member_json(member)
