"""What a person sees of a message."""

from __future__ import annotations

import copy
from dataclasses import dataclass

from tests.fakes.slack_words import links, live_mentions, plain
from tests.fakes.slack_workspace import Json, Message, Workspace


@dataclass(frozen=True, slots=True)
class Shown:
    """A message as it stood when it was asked for."""

    channel: str
    ts: str
    thread_ts: str | None
    user: str
    bot: bool
    text: str
    blocks: tuple[Json, ...]
    metadata: Json | None
    edited: bool
    streaming: bool
    stream_state: str | None  # streaming, stopped, expired, stopped_by_user; None: never streamed
    display: str | None
    plan_title: str | None
    tasks: tuple[Json, ...]  # id, title, status, details, output, sources
    reactions: tuple[str, ...]
    files: tuple[str, ...]
    ephemeral_to: str | None

    @property
    def seen(self) -> str:
        """Everything visible, as plain text."""
        return plain(list(self.blocks)) if self.blocks else self.text

    @property
    def pings(self) -> list[str]:
        """Whatever in it could notify somebody."""
        return live_mentions(self.text, list(self.blocks))

    @property
    def links(self) -> list[str]:
        """Every address a reader could open."""
        return links(self.text, list(self.blocks))

    def elements(self) -> list[tuple[str, Json]]:
        """Every interactive element with its block's id."""
        return [found for block in self.blocks for found in _elements(block)]


def _elements(block: Json) -> list[tuple[str, Json]]:
    inside = [*block.get("elements", []), block.get("accessory"), *block.get("actions", [])]
    found = [one for one in inside if isinstance(one, dict) and "action_id" in one]
    return [(block["block_id"], element) for element in found]


def shown(ws: Workspace, message: Message) -> Shown:
    stream = message.stream
    return Shown(
        channel=message.channel,
        ts=message.ts,
        thread_ts=message.thread_ts,
        user=message.user,
        bot=message.bot_id == ws.bot_id,
        text=message.text,
        blocks=tuple(copy.deepcopy(message.blocks)),
        metadata=copy.deepcopy(message.metadata),
        edited=message.edited is not None,
        streaming=stream is not None and stream.state == "streaming",
        stream_state=stream.state if stream else None,
        display=stream.display if stream else None,
        plan_title=stream.plan_title if stream else None,
        tasks=tuple(copy.deepcopy(list(stream.tasks.values()))) if stream else (),
        reactions=tuple(message.reactions),
        files=tuple(file.name for file in message.files),
        ephemeral_to=message.ephemeral_to,
    )


def written_out(message: Shown) -> str:
    """A line saying whose and of what kind, then the visible text."""
    marks = [message.user]
    if message.ephemeral_to:
        marks.append(f"only for {message.ephemeral_to}")
    if message.streaming:
        marks.append("streaming")
    if message.edited:
        marks.append("edited")
    marks += [f"file {name}" for name in message.files]
    return f"{', '.join(marks)}:\n{message.seen}"
