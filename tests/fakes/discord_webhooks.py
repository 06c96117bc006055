"""Interactions: their one initial response within 3 s, and follow-ups for 15 minutes.

docs.discord.com/developers/interactions/receiving-and-responding.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.fakes import discord_acts as acts
from tests.fakes.discord_errors import FormErrors, invalid, refuse
from tests.fakes.discord_limits import check_choices, check_modal
from tests.fakes.discord_messages import checked_fields, is_empty, stored_uploads
from tests.fakes.discord_rest import Answer, Call, Route
from tests.fakes.discord_shapes import message_json
from tests.fakes.discord_state import (
    CHAT_INPUT,
    COMPONENTS_V2,
    CONTEXT_MENU,
    EPHEMERAL,
    LOADING,
    REPLY,
    SUPPRESS_EMBEDS,
    Channel,
    Json,
    Message,
    User,
    World,
)

FIRST_SECONDS = 3.0
TOKEN_SECONDS = 15 * 60.0
FOLLOWUPS_ELSEWHERE = 5  # follow-ups if only the user installed the app

COMMAND, COMPONENT, AUTOCOMPLETE, MODAL_SUBMIT = 2, 3, 4, 5
# The response types that the app uses.
MESSAGE, DEFERRED, DEFERRED_UPDATE, CHOICES, MODAL = 4, 5, 6, 8, 9


@dataclass(eq=False)
class Interaction:
    """An action of a person that the app must respond to, and the outcome.

    ``response`` is the callback type (4 message, 5 deferred, 6 deferred update, 8 choices, 9 form),
    or None so far; ``original`` is the message ``@original``; ``seconds`` is how long the response
    took. ``modal`` is the form it opened, ``choices`` what was suggested.
    """

    id: str
    token: str
    type: int
    user: User
    channel: Channel
    at: float
    payload: Json
    source: Message | None = None
    command_type: int = 1
    response: int | None = None
    seconds: float | None = None
    original: Message | None = None
    followups: list[Message] = field(default_factory=list)
    modal: Json | None = None
    choices: list[Json] | None = None
    _loading: bool = False

    @property
    def acknowledged(self) -> bool:
        return self.response is not None

    @property
    def replies(self) -> list[Message]:
        """Return its existing messages: the original response, then follow-ups."""
        first = [self.original] if self.original and self.original is not self.source else []
        return [m for m in first + self.followups if not m.deleted]


class Webhooks:
    """Handlers; each is called with the lock of the world held."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.interactions: dict[str, Interaction] = {}
        self._by_token: dict[str, Interaction] = {}
        self.first_seconds = FIRST_SECONDS

    def add(self, interaction: Interaction) -> None:
        self.interactions[interaction.id] = interaction
        self._by_token[interaction.token] = interaction

    def routes(self) -> list[Route]:
        hook = "/webhooks/{webhook_id}/{webhook_token}"
        callback = "/interactions/{interaction_id}/{interaction_token}/callback"
        routes = [
            Route("POST", callback, self.respond, False),
            Route("POST", hook, self.follow, False),
        ]
        for which in ("@original", "{message_id}"):
            one = f"{hook}/messages/{which}"
            routes += [
                Route("PATCH", one, self.edit, False),
                Route("DELETE", one, self.delete, False),
            ]
        return routes

    # The initial response

    def respond(self, call: Call) -> Answer | None:
        interaction = self.interactions.get(call.parts["interaction_id"])
        if interaction is None or interaction.token != call.parts["interaction_token"]:
            raise refuse(10062)
        if interaction.acknowledged:
            raise refuse(40060)
        waited = self.world.clock() - interaction.at
        if waited > self.first_seconds:
            raise refuse(10062)
        body = call.fields
        kind = body.get("type", 0)
        self._check_kind(interaction, kind)
        data = body.get("data") or {}
        if kind == MESSAGE:
            interaction.original = self._write(interaction, data)
        elif kind == DEFERRED:
            flags = LOADING | (data.get("flags") or 0) & EPHEMERAL
            interaction._loading = True
            interaction.original = self._post(interaction, flags=flags)
        elif kind == DEFERRED_UPDATE:
            interaction.original = interaction.source
        elif kind == MODAL:
            wrong = FormErrors()
            check_modal(data, wrong, ("data",))
            wrong.raise_if_any()
            interaction.modal = data
        elif kind == CHOICES:
            wrong = FormErrors()
            check_choices(data.get("choices") or [], wrong, ("data", "choices"))
            wrong.raise_if_any()
            interaction.choices = data.get("choices") or []
        interaction.response = kind
        interaction.seconds = waited
        if call.query.get("with_response", "").lower() in ("true", "1"):
            return Answer(200, self._callback_response(interaction))
        return None

    def _check_kind(self, interaction: Interaction, kind: int) -> None:
        allowed = {
            COMMAND: (MESSAGE, DEFERRED, MODAL),
            COMPONENT: (MESSAGE, DEFERRED, DEFERRED_UPDATE, MODAL),
            AUTOCOMPLETE: (CHOICES,),
            # A form cannot open another one; only one that a component opened has a message.
            MODAL_SUBMIT: (MESSAGE, DEFERRED, *([DEFERRED_UPDATE] if interaction.source else [])),
        }[interaction.type]
        if kind not in allowed:
            raise invalid(("type",), "BASE_TYPE_CHOICES", f"Value must be one of {allowed}.")

    def _callback_response(self, interaction: Interaction) -> Json:
        told: Json = {
            "id": interaction.id,
            "type": interaction.type,
            "response_message_loading": interaction.response == DEFERRED,
            "response_message_ephemeral": False,
        }
        whole: Json = {"interaction": told}
        original = interaction.original
        if original is not None:
            told["response_message_id"] = original.id
            told["response_message_ephemeral"] = bool(original.flags & EPHEMERAL)
            whole["resource"] = {"type": interaction.response, "message": self._told(original)}
        return whole

    # Follow-ups

    def _interaction(self, call: Call) -> Interaction:
        if call.parts["webhook_id"] != self.world.app.id:
            raise refuse(10015)
        interaction = self._by_token.get(call.parts["webhook_token"])
        if interaction is None:
            raise refuse(50027)
        if self.world.clock() - interaction.at > TOKEN_SECONDS:
            raise refuse(50027)
        if not interaction.acknowledged:
            raise refuse(10015)
        return interaction

    def follow(self, call: Call) -> Json:
        interaction = self._interaction(call)
        body = call.fields
        if interaction._loading and interaction.original is not None:
            # The first follow-up after a deferral replaces "thinking".
            interaction._loading = False
            self._change(interaction.original, body)
            return self._told(interaction.original)
        guild = interaction.channel.guild
        elsewhere = guild is not None and not guild.installed
        if elsewhere and len(interaction.followups) >= FOLLOWUPS_ELSEWHERE:
            raise refuse(40094)
        made = self._write(interaction, body)
        interaction.followups.append(made)
        return self._told(made)

    def _message(self, call: Call, interaction: Interaction) -> Message:
        id = call.parts.get("message_id")
        if id is None or id == "@original":
            message = interaction.original
        else:
            mine = [interaction.original, *interaction.followups]
            message = next((m for m in mine if m is not None and m.id == id), None)
        if message is None or message.deleted:
            raise refuse(10008)
        return message

    def edit(self, call: Call) -> Json:
        interaction = self._interaction(call)
        message = self._message(call, interaction)
        self._change(message, call.fields)
        if message is interaction.original:
            interaction._loading = False
        return self._told(message)

    def delete(self, call: Call) -> None:
        interaction = self._interaction(call)
        acts.erase(self.world, self._message(call, interaction))

    # Messages of interactions need no permission of the bot in the channel

    def _write(self, interaction: Interaction, body: Json) -> Message:
        fields = checked_fields(body)
        fields |= stored_uploads(self.world, interaction.channel, body)
        flags = (body.get("flags") or 0) & (EPHEMERAL | SUPPRESS_EMBEDS | COMPONENTS_V2)
        if is_empty(fields | {"flags": flags}):
            raise refuse(50006)
        return self._post(interaction, flags=flags, **fields)

    def _post(self, interaction: Interaction, *, flags: int, **fields: Any) -> Message:
        types = {COMMAND: CHAT_INPUT if interaction.command_type == 1 else CONTEXT_MENU}
        first = interaction.original is None
        kind = types.get(interaction.type, REPLY if interaction.source else 0) if first else REPLY
        replies_to = interaction.source if first else interaction.original
        content = str(fields.pop("content", ""))
        return acts.post(
            self.world,
            interaction.channel,
            self.world.bot,
            content,
            type=kind,
            flags=flags,
            webhook=True,
            replies_to=replies_to,
            private_to=interaction.user if flags & EPHEMERAL else None,
            interaction={
                "id": interaction.id,
                "type": interaction.type,
                "user": interaction.payload.get("user") or interaction.payload["member"]["user"],
                "authorizing_integration_owners": interaction.payload[
                    "authorizing_integration_owners"
                ],
            },
            **fields,
        )

    def _change(self, message: Message, body: Json) -> None:
        fields = checked_fields(body, before=message)
        fields |= stored_uploads(self.world, message.channel, body)
        flags = message.flags & ~LOADING
        if body.get("flags") is not None:
            flags |= body["flags"] & (SUPPRESS_EMBEDS | COMPONENTS_V2)
        names = ("content", "embeds", "attachments", "components")
        after = {name: fields.get(name, getattr(message, name)) for name in names}
        if is_empty(after | {"flags": flags}):
            raise refuse(50006)
        acts.change(self.world, message, flags=flags, **fields)

    def _told(self, message: Message) -> Json:
        return message_json(message, self.world, sees_content=True)
