"""The actions of people on Discord: they talk, run commands, press buttons.

Each action updates the state and sends the bot the same events as a client's would. An action that
no client offers (an unregistered command, a missing button) raises LookupError or ValueError.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.fakes import discord_acts as acts
from tests.fakes.discord_commands import Commands, check_offered, chosen_options
from tests.fakes.discord_gateway import Gateway
from tests.fakes.discord_limits import BUTTON, RADIO, STRING_SELECT, TEXT_INPUT, UPLOAD
from tests.fakes.discord_messages import store_file
from tests.fakes.discord_permissions import BITS, DIRECT, ELSEWHERE, permissions
from tests.fakes.discord_shapes import (
    channel_json,
    message_json,
    signed,
    snapshot_json,
    user_json,
    whole_member_json,
)
from tests.fakes.discord_state import (
    DIRECT_MESSAGE,
    FORUM,
    PUBLIC_THREAD,
    Channel,
    Json,
    Message,
    User,
    World,
    nested,
)
from tests.fakes.discord_webhooks import (
    AUTOCOMPLETE,
    COMMAND,
    COMPONENT,
    MODAL_SUBMIT,
    Interaction,
    Webhooks,
)

IN_GUILD, IN_BOT_DM, IN_PRIVATE = 0, 1, 2


@dataclass(frozen=True, slots=True)
class File:
    """A file that a person attaches."""

    name: str
    data: bytes
    media_type: str = "text/plain; charset=utf-8"


class People:
    """Acts for people, from any thread."""

    def __init__(
        self, world: World, gateway: Gateway, commands: Commands, webhooks: Webhooks
    ) -> None:
        self.world = world
        self.gateway = gateway
        self.commands = commands
        self.webhooks = webhooks

    # Talking

    def say(
        self,
        user: User,
        channel: Channel,
        text: str = "",
        *,
        mentions_bot: bool = False,
        reply_to: Message | None = None,
        attachments: Sequence[File] = (),
    ) -> Message:
        """Post a message as ``user``; ``mentions_bot`` puts the bot's mention before the text."""
        world = self.world
        with world.lock:
            if channel.type == FORUM:
                raise ValueError("a forum holds posts: use forum_post")
            if mentions_bot:
                text = f"{world.bot.mention} {text}".strip()
            files = [store_file(world, channel, f.name, f.media_type, f.data) for f in attachments]
            return acts.post(world, channel, user, text, replies_to=reply_to, attachments=files)

    def forward(self, user: User, message: Message, channel: Channel, comment: str = "") -> Message:
        """Forward a message. As Discord's clients do, a comment is a message of its own after it;
        return the last one."""
        world = self.world
        with world.lock:
            guild = {"guild_id": message.channel.guild.id} if message.channel.guild else {}
            origin = {"channel_id": message.channel.id, "message_id": message.id, **guild}
            said = acts.post(
                world, channel, user, reference={"type": 1, **origin}, flags=1 << 14,
                snapshots=[{"message": snapshot_json(message)}],
            )  # fmt: skip
            return acts.post(world, channel, user, comment) if comment else said

    def begin_poll(self, user: User, channel: Channel, question: str, *answers: str) -> Message:
        told = [
            {"answer_id": number, "poll_media": {"text": text}}
            for number, text in enumerate(answers, 1)
        ]
        with self.world.lock:
            poll: Json = {
                "question": {"text": question},
                "answers": told,
                "expiry": self.world.clock.iso(),
                "allow_multiselect": False,
                "layout_type": 1,
            }
            return acts.post(self.world, channel, user, poll=poll)

    def say_as_app(self, app: User, channel: Channel, text: str = "", **fields: Any) -> Message:
        """Post a message as another app, with its ``embeds`` or ``components``."""
        with self.world.lock:
            embeds = [{"type": "rich", **embed} for embed in fields.pop("embeds", ())]
            return acts.post(self.world, channel, app, text, embeds=embeds, **fields)

    def proxy(self, app: User, hook: User, message: Message, text: str) -> Message:
        """Post a person's message again under another name and delete it, as PluralKit does: the
        webhook ``hook`` belongs to ``app``."""
        with self.world.lock:
            said = acts.post(self.world, message.channel, hook, text, webhook_of=app.id)
            acts.erase(self.world, message)
            return said

    def edit(self, message: Message, text: str) -> None:
        with self.world.lock:
            acts.change(self.world, message, content=text)

    def delete(self, message: Message) -> None:
        with self.world.lock:
            acts.erase(self.world, message)

    def resolve_embed(self, message: Message, url: str, title: str = "A page") -> None:
        """Add a link preview as Discord does: MESSAGE_UPDATE with unchanged text."""
        with self.world.lock:
            preview = {"type": "link", "url": url, "title": title}
            acts.change_unseen(self.world, message, embeds=[*message.embeds, preview])

    def react(self, user: User, message: Message, emoji: str) -> None:
        with self.world.lock:
            acts.add_reaction(self.world, message, user, emoji)

    # Threads

    def start_thread(
        self, user: User, parent: Channel, name: str, *, source: Message | None = None
    ) -> Channel:
        """Start a public thread, from a message or on its own."""
        with self.world.lock:
            return acts.start_thread(
                self.world, parent, user, name, type=PUBLIC_THREAD, source=source
            )

    def forum_post(
        self,
        user: User,
        forum: Channel,
        name: str,
        text: str,
        *,
        mentions_bot: bool = False,
        tags: tuple[str, ...] = (),
    ) -> tuple[Channel, Message]:
        with self.world.lock:
            thread = acts.start_thread(self.world, forum, user, name, type=PUBLIC_THREAD, tags=tags)
            if mentions_bot:
                text = f"{self.world.bot.mention} {text}"
            return thread, acts.post(self.world, thread, user, text, id=thread.id)

    def archive(self, thread: Channel, *, locked: bool = False) -> None:
        with self.world.lock:
            acts.set_thread(self.world, thread, archived=True, locked=locked)

    def delete_channel(self, channel: Channel) -> None:
        with self.world.lock:
            acts.delete_channel(self.world, channel)

    # Interactions

    def slash(
        self,
        user: User,
        channel: Channel,
        name: str,
        options: Json | None = None,
        *,
        locale: str = "en-US",
    ) -> Interaction:
        """Run ``/name`` (``/name sub`` of a group) with option values by name."""
        with self.world.lock:
            name, _, sub = name.partition(" ")
            command = self._offered(user, name, 1, channel)
            data = self._command_data(command, channel)
            given = dict(options or {})
            data |= self._upload(channel, given)
            data["options"] = chosen_options(command, given, sub)
            return self._interact(COMMAND, user, channel, data, locale)

    def type_in(self, user: User, channel: Channel, name: str, options: Json) -> Interaction:
        """Type into the last of ``options`` of ``/name``, which suggests values."""
        with self.world.lock:
            command = self._offered(user, name, 1, channel)
            data = self._command_data(command, channel)
            *_, focused = options
            known = {option["name"]: option for option in command["options"]}
            if not known[focused].get("autocomplete"):
                raise LookupError(f"{focused!r} of /{name} suggests nothing")
            data["options"] = [
                {"name": key, "type": known[key]["type"], "value": value}
                | ({"focused": True} if key == focused else {})
                for key, value in options.items()
            ]
            return self._interact(AUTOCOMPLETE, user, channel, data, "en-US")

    def submit(self, opened: Interaction, values: Json) -> Interaction:
        """Send the form that an interaction opened, with values by custom id.

        Raises ``ValueError`` if a client would not send it.
        """
        with self.world.lock:
            if opened.modal is None:
                raise LookupError("no form was opened")
            given = dict(values)
            data: Json = {"custom_id": opened.modal["custom_id"], "components": []}
            data |= self._upload(opened.channel, given)
            for number, part in enumerate(opened.modal["components"], 1):
                told: Json = {"type": part["type"], "id": 2 * number}
                if "component" in part:
                    told["component"] = filled(part["component"], given, 2 * number + 1)
                data["components"].append(told)
            if given:
                raise ValueError(f"the form has no field {sorted(given)}")
            locale = opened.payload["locale"]
            return self._interact(
                MODAL_SUBMIT, opened.user, opened.channel, data, locale, source=opened.source
            )

    def _upload(self, channel: Channel, values: Json) -> Json:
        """Upload the files among ``values``, put their ids in their place, and return what a client
        adds to its data."""
        known: Json = {}
        for name, value in values.items():
            files = value if isinstance(value, list) else [value]
            if files and all(isinstance(file, File) for file in files):
                stored = [
                    store_file(self.world, channel, f.name, f.media_type, f.data) for f in files
                ]
                known |= {one["id"]: one for one in signed(stored, self.world)}
                ids = [one["id"] for one in stored]
                values[name] = ids if isinstance(value, list) else ids[0]
        return {"resolved": {"attachments": known}} if known else {}

    def message_command(
        self, user: User, name: str, message: Message, *, locale: str = "en-US"
    ) -> Interaction:
        """Run a command of a message's Apps menu. The bot gets the whole message."""
        with self.world.lock:
            command = self._offered(user, name, 3, message.channel)
            data = self._command_data(command, message.channel)
            shown = message_json(message, self.world, sees_content=True)
            data |= {"target_id": message.id, "resolved": {"messages": {message.id: shown}}}
            return self._interact(COMMAND, user, message.channel, data, locale, command_type=3)

    def press(
        self, user: User, message: Message, custom_id: str, *, locale: str = "en-US"
    ) -> Interaction:
        """Press the button of ``message`` with this ``custom_id`` or label, or choose the first
        option of that menu."""
        with self.world.lock:
            if message.deleted or message.private_to not in (None, user):
                raise LookupError("that message is not shown to this user")
            button = find_button(message, custom_id)
            if button.get("disabled") or "custom_id" not in button:
                raise LookupError(f"{custom_id!r} cannot be pressed")
            kind = button["type"]
            data = {"component_type": kind, "custom_id": button["custom_id"], "id": button["id"]}
            if kind == STRING_SELECT:
                data["values"] = [button["options"][0]["value"]]
            return self._interact(COMPONENT, user, message.channel, data, locale, source=message)

    def _context(self, channel: Channel) -> int:
        if channel.guild is not None:
            return IN_GUILD
        mine = channel.type == DIRECT_MESSAGE and self.world.bot in channel.recipients
        return IN_BOT_DM if mine else IN_PRIVATE

    def _offered(self, user: User, name: str, type: int, channel: Channel) -> Json:
        guild = channel.guild
        context = self._context(channel)
        installed = guild.installed if guild else context == IN_BOT_DM
        command = self.commands.find(name, type, guild.id if guild else None)
        command = check_offered(command, name, context, installed)
        needed = command["default_member_permissions"]
        if guild and needed is not None:
            allowed = permissions(user, channel)
            # "0" is for administrators only.
            wanted = int(needed) or BITS["ADMINISTRATOR"]
            if allowed & wanted != wanted:
                raise LookupError(f"{name!r} is not offered to {user.name}")
        return command

    @staticmethod
    def _command_data(command: Json, channel: Channel) -> Json:
        data: Json = {"id": command["id"], "name": command["name"], "type": command["type"]}
        if "guild_id" in command and channel.guild:
            data["guild_id"] = channel.guild.id
        return data

    def _interact(
        self,
        type: int,
        user: User,
        channel: Channel,
        data: Json,
        locale: str,
        *,
        source: Message | None = None,
        command_type: int = 1,
    ) -> Interaction:
        world, guild = self.world, channel.guild
        id = world.new_id()
        context = self._context(channel)
        installed = guild.installed if guild else context == IN_BOT_DM
        owners = {"0": guild.id if guild else "0"} if installed else {"1": user.id}
        token = f"aW50ZXJhY3Rpb246{id}{'x' * 60}"
        payload: Json = {
            "id": id,
            "application_id": world.app.id,
            "type": type,
            "data": data,
            "token": token,
            "version": 1,
            "channel_id": channel.id,
            "channel": self._place(user, channel),
            "locale": locale,
            "app_permissions": str(self._app_permissions(channel)),
            "entitlements": [],
            "authorizing_integration_owners": owners,
            "context": context,
            "attachment_size_limit": 10 * 1024 * 1024,
        }
        if guild is None:
            payload["user"] = user_json(user)
        else:
            member = whole_member_json(guild.members[user.id])
            member["permissions"] = str(permissions(user, channel))
            payload |= {"member": member, "guild_id": guild.id, "guild_locale": guild.locale}
            payload["guild"] = {"id": guild.id, "locale": guild.locale, "features": []}
        if source is not None:
            payload["message"] = message_json(source, world, sees_content=True)
        made = Interaction(id, token, type, user, channel, world.clock(), payload,
                           source=source, command_type=command_type)  # fmt: skip
        self.webhooks.add(made)
        self.gateway.emit_to_app("INTERACTION_CREATE", payload, guild)
        return made

    def _place(self, user: User, channel: Channel) -> Json:
        told = channel_json(channel, self.world)
        told.pop("permission_overwrites", None)
        if channel.guild is not None:
            told["permissions"] = str(permissions(user, channel))
        return told

    def _app_permissions(self, channel: Channel) -> int:
        if channel.guild is not None and channel.guild.installed:
            return permissions(self.world.bot, channel)
        return DIRECT if self._context(channel) == IN_BOT_DM else ELSEWHERE


def filled(field: Json, given: Json, id: int) -> Json:
    """Return a field of a form as a client sends it, with its value taken out of ``given``."""
    name, kind = field["custom_id"], field["type"]
    value = given.pop(name, None)
    told = {"type": kind, "id": id, "custom_id": name}
    if not value and field.get("required", True):
        raise ValueError(f"{name} is required")
    if kind == TEXT_INPUT:
        text = value or ""
        if value and not (field.get("min_length") or 0) <= len(text) <= field["max_length"]:
            raise ValueError(f"{name} cannot have {len(text)} characters")
        return told | {"value": text}
    if kind == RADIO:
        if value is not None and value not in [option["value"] for option in field["options"]]:
            raise ValueError(f"{name} has no option {value!r}")
        return told | {"value": value}
    assert kind == UPLOAD
    if len(value or []) > (field.get("max_values") or 1):
        raise ValueError(f"{name} takes fewer files")
    return told | {"values": value or []}


def find_button(message: Message, wanted: str) -> Json:
    """Return the button with this custom id or label. The LookupError names those that exist."""
    kinds = (BUTTON, STRING_SELECT)
    buttons = [one for one in nested(message.components) if one["type"] in kinds]
    for button in buttons:
        if wanted in (button.get("custom_id"), button.get("label")):
            return button
    there = [(b.get("label"), b.get("custom_id")) for b in buttons]
    raise LookupError(f"no button {wanted!r}; there are {there}")
