"""Routes of channels and threads: read, create, archive, members, direct messages."""

from __future__ import annotations

from tests.fakes import discord_acts as acts
from tests.fakes.discord_errors import FormErrors, refuse
from tests.fakes.discord_limits import check_message, check_thread
from tests.fakes.discord_messages import (
    Messages,
    find_channel,
    find_message,
    needs,
    refuse_archived,
)
from tests.fakes.discord_permissions import may
from tests.fakes.discord_rest import Answer, Call, Route
from tests.fakes.discord_shapes import channel_json, thread_json, thread_member_json
from tests.fakes.discord_state import (
    ANNOUNCEMENT,
    DIRECT_MESSAGE,
    FORUM,
    PRIVATE_THREAD,
    PUBLIC_THREAD,
    TEXT,
    Channel,
    Json,
    World,
)

MAX_MEMBERS = 1_000


class Threads:
    """Handlers; each is called with the lock of the world held."""

    def __init__(self, world: World, messages: Messages) -> None:
        self.world = world
        self.messages = messages
        self.active_limit = 1_000

    def routes(self) -> list[Route]:
        channel = "/channels/{channel_id}"
        return [
            Route("GET", channel, self.get),
            Route("PATCH", channel, self.edit),
            Route("DELETE", channel, self.delete),
            Route("POST", f"{channel}/messages/{{message_id}}/threads", self.from_message),
            Route("POST", f"{channel}/threads", self.alone),
            Route("GET", f"{channel}/threads/archived/public", self.archived),
            Route("GET", f"{channel}/thread-members", self.members),
            Route("PUT", f"{channel}/thread-members/@me", self.join),
            Route("DELETE", f"{channel}/thread-members/@me", self.leave),
            Route("GET", f"{channel}/thread-members/{{user_id}}", self.member),
            Route("PUT", f"{channel}/thread-members/{{user_id}}", self.add),
            Route("DELETE", f"{channel}/thread-members/{{user_id}}", self.remove),
            Route("POST", "/users/@me/channels", self.direct),
        ]

    def _thread(self, call: Call) -> Channel:
        thread = find_channel(self.world, call.parts["channel_id"])
        if not thread.is_thread:
            raise refuse(50024)
        return thread

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
        known = ("name", "archived", "locked", "auto_archive_duration", "applied_tags")
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

    def alone(self, call: Call) -> Answer:
        parent = find_channel(self.world, call.parts["channel_id"])
        body = call.fields
        if parent.type == FORUM:
            return self._forum_post(parent, call)
        if parent.type not in (TEXT, ANNOUNCEMENT):
            raise refuse(50024)
        kind = body.get("type") or PRIVATE_THREAD
        private = kind == PRIVATE_THREAD
        needs(self.world, parent, "CREATE_PRIVATE_THREADS" if private else "CREATE_PUBLIC_THREADS")
        self._check_new(parent, body)
        thread = acts.start_thread(
            self.world, parent, self.world.bot, body["name"].strip(), type=kind,
            auto_archive=body.get("auto_archive_duration") or 4320,
        )  # fmt: skip
        return Answer(201, thread_json(thread, self.world))

    def _forum_post(self, parent: Channel, call: Call) -> Answer:
        body = call.fields
        needs(self.world, parent, "SEND_MESSAGES")
        self._check_new(parent, body)
        wrong = FormErrors()
        if not isinstance(body.get("message"), dict):
            wrong.required(("message",))
            wrong.raise_if_any()
        check_message(body["message"], wrong, ("message",))
        wrong.raise_if_any()
        tags = [str(tag) for tag in body.get("applied_tags") or []]
        if parent.tag_required and not tags:
            raise refuse(40067)
        thread = acts.start_thread(
            self.world, parent, self.world.bot, body["name"].strip(), type=PUBLIC_THREAD,
            auto_archive=body.get("auto_archive_duration") or 4320,
        )  # fmt: skip
        thread.applied_tags = tags
        first = self.messages.post(
            thread, body["message"], call.files, id=thread.id, opens_thread=True
        )
        told = thread_json(thread, self.world) | {"message": self.messages.told(first)}
        return Answer(201, told)

    def archived(self, call: Call) -> Json:
        parent = find_channel(self.world, call.parts["channel_id"])
        needs(self.world, parent, "READ_MESSAGE_HISTORY")
        found = [c for c in self.world.channels.values() if c.parent is parent and c.archived]
        found.sort(key=lambda thread: thread.archive_changed, reverse=True)
        limit = int(call.query.get("limit", "50"))
        threads = [thread_json(thread, self.world) for thread in found[:limit]]
        return {"threads": threads, "members": [], "has_more": len(found) > limit}

    def members(self, call: Call) -> list[Json]:
        thread = self._thread(call)
        return [thread_member_json(thread, *item) for item in thread.thread_members.items()]

    def member(self, call: Call) -> Json:
        thread, id = self._thread(call), call.parts["user_id"]
        if id not in thread.thread_members:
            raise refuse(10007)
        return thread_member_json(thread, id, thread.thread_members[id])

    def join(self, call: Call) -> None:
        thread = self._thread(call)
        refuse_archived(thread)
        acts.join_thread(self.world, thread, self.world.bot)

    def leave(self, call: Call) -> None:
        thread = self._thread(call)
        refuse_archived(thread)
        acts.leave_thread(self.world, thread, self.world.bot)

    def add(self, call: Call) -> None:
        thread = self._thread(call)
        refuse_archived(thread)
        needs(self.world, thread, "SEND_MESSAGES_IN_THREADS")
        assert thread.guild is not None
        user = self.world.users.get(call.parts["user_id"])
        if user is None or user.id not in thread.guild.members:
            raise refuse(10007)
        if len(thread.thread_members) >= MAX_MEMBERS:
            raise refuse(30033)
        acts.join_thread(self.world, thread, user)

    def remove(self, call: Call) -> None:
        thread = self._thread(call)
        refuse_archived(thread)
        if thread.owner_id != self.world.bot.id or thread.type != PRIVATE_THREAD:
            needs(self.world, thread, "MANAGE_THREADS")
        user = self.world.users.get(call.parts["user_id"])
        if user is None:
            raise refuse(10007)
        acts.leave_thread(self.world, thread, user)

    def direct(self, call: Call) -> Json:
        user = self.world.users.get(str(call.fields.get("recipient_id")))
        if user is None or user.bot:
            raise refuse(50033)
        channel = self.world.direct(self.world.bot, user)
        assert channel.type == DIRECT_MESSAGE
        return channel_json(channel, self.world)
