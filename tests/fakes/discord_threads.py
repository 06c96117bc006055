"""Routes of channels and threads: read, create, archive, members, direct messages."""

from __future__ import annotations

from tests.fakes import discord_acts as acts
from tests.fakes.discord_errors import FormErrors, refuse
from tests.fakes.discord_limits import check_thread
from tests.fakes.discord_messages import (
    find_channel,
    find_message,
    needs,
)
from tests.fakes.discord_permissions import may
from tests.fakes.discord_rest import Answer, Call, Route
from tests.fakes.discord_shapes import channel_json, thread_json
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
            # Whoever may write in a thread that is not locked may wake it.
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
