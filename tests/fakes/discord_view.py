"""What people see: messages as values, a channel as plain text, and rendered Markdown."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tests.fakes.discord_limits import BUTTON
from tests.fakes.discord_state import (
    EPHEMERAL,
    LOADING,
    SUPPRESS_EMBEDS,
    Channel,
    Json,
    Message,
    User,
    World,
    nested,
)

_CODE_BLOCK = re.compile(r"```(?:(?P<info>[\w+.-]*)\n)?(?P<code>[^`]*(?:(?!```)[\s\S])*?)\n*```")
_RULES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("block", _CODE_BLOCK),
    ("escape", re.compile(r"\\(?P<words>[^0-9A-Za-z\s])")),
    ("code", re.compile(r"(?P<ticks>`+)(?P<code>[\s\S]*?[^`])(?P=ticks)(?!`)")),
    ("link", re.compile(r"\[(?P<words>(?:\[[^\]]*\]|[^\[\]])*)\]\(<?(?:[^\s()<>]+)>?\)")),
    ("markup", re.compile(r"\*\*(?P<words>(?:\\[\s\S]|[^\\])+?)\*\*(?!\*)")),
    ("markup", re.compile(r"__(?P<words>(?:\\[\s\S]|[^\\])+?)__(?!_)")),
    ("markup", re.compile(r"~~(?=\S)(?P<words>(?:\\[\s\S]|[^\\])*?\S)~~(?!_)")),
    ("markup", re.compile(r"\|\|(?P<words>[\s\S]+?)\|\|")),
    (
        "markup",
        re.compile(
            r"(?:\b_(?P<under>(?:__|\\[\s\S]|[^\\_])+?)_\b"
            r"|\*(?=\S)(?P<words>(?:\*\*|\\[\s\S]|\s+(?:\\[\s\S]|[^\s*\\]|\*\*)|[^\s*\\])+?)\*(?!\*))",
            re.ASCII,
        ),
    ),
)
_LINE = re.compile(r"(?:>>> |> |#{1,3} +|-# )")
_BULLET = re.compile(r" *(?P<mark>[-*])(?= )")


def shown(markdown: str) -> str:
    """Return the visible characters of a message's Markdown."""
    out: list[str] = []
    at = 0
    while at < len(markdown):
        begins_line = at == 0 or markdown[at - 1] == "\n"
        if begins_line and (line := _LINE.match(markdown, at)):
            at = line.end()
        elif begins_line and (bullet := _BULLET.match(markdown, at)):
            out.append("•")
            at = bullet.end()
        else:
            words, at = _next(markdown, at)
            out.append(words)
    return "".join(out)


def _next(text: str, at: int) -> tuple[str, int]:
    """Return the visible part of the next piece, and the end of the piece."""
    for kind, rule in _RULES:
        match = rule.match(text, at)
        if match is None:
            continue
        groups = match.groupdict()
        if kind in ("block", "code"):
            return groups["code"], match.end()
        words = groups["words"] or groups.get("under") or ""
        return words if kind == "escape" else shown(words), match.end()
    return text[at], at + 1


@dataclass(frozen=True, slots=True)
class Seen:
    """A snapshot of a message. ``content`` includes the texts of its components; ``pings`` are the
    ids it notified; ``buttons`` are labels with custom ids (or URLs), including those of a menu's
    options."""

    id: str
    author: str
    content: str
    embeds: tuple[Json, ...]
    components: tuple[Json, ...]
    attachments: tuple[Json, ...]
    reactions: tuple[str, ...]
    buttons: tuple[tuple[str, str], ...]
    flags: int
    type: int
    edited: bool
    by_bot: bool
    pings: frozenset[str]
    reply_to: str | None

    @property
    def loading(self) -> bool:
        return bool(self.flags & LOADING)

    @property
    def ephemeral(self) -> bool:
        return bool(self.flags & EPHEMERAL)

    @property
    def previews_suppressed(self) -> bool:
        return bool(self.flags & SUPPRESS_EMBEDS)


def seen(message: Message, world: World) -> Seen:
    return Seen(
        message.id,
        message.author.name,
        message.text,
        tuple(message.embeds),
        tuple(message.components),
        tuple(message.attachments),
        tuple(message.reactions),
        tuple(_buttons(message.components)),
        message.flags,
        message.type,
        message.edited is not None,
        message.author is world.bot,
        frozenset(message.pings),
        message.replies_to.id if message.replies_to else None,
    )


def visible(channel: Channel, world: World, reader: User | None) -> list[Seen]:
    """Return messages in order; ephemeral ones only to their ``reader``."""
    shown = [m for m in channel.messages.values() if m.private_to in (None, reader)]
    shown.sort(key=lambda message: int(message.id))
    return [seen(message, world) for message in shown]


def _buttons(components: list[Json]) -> list[tuple[str, str]]:
    found = []
    for component in nested(components):
        if component["type"] == BUTTON:
            label = component.get("label") or (component.get("emoji") or {}).get("name") or ""
            found.append((label, component.get("custom_id") or component.get("url") or ""))
        for option in component.get("options", ()):
            found.append((option["label"], component["custom_id"]))
    return found


def render(messages: list[Seen]) -> str:
    """Return everything visible as plain text: one block per message."""
    return "\n\n".join(_render(message) for message in messages)


def _render(message: Seen) -> str:
    marks = [name for name, there in (
        ("edited", message.edited), ("ephemeral", message.ephemeral),
        ("thinking", message.loading),
    ) if there]  # fmt: skip
    lines = [f"{message.author}{''.join(f' ({mark})' for mark in marks)}:"]
    if message.content:
        lines.append(message.content)
    for embed in message.embeds:
        lines += _render_embed(embed)
    lines += [f"[file] {file['filename']}" for file in message.attachments]
    if message.buttons:
        lines.append(" ".join(f"[{label}]" for label, _ in message.buttons))
    if message.reactions:
        lines.append(" ".join(message.reactions))
    return "\n".join(lines)


def _render_embed(embed: Json) -> list[str]:
    lines = [embed.get("author", {}).get("name"), embed.get("title"), embed.get("description")]
    for field in embed.get("fields") or []:
        lines += [field["name"], field["value"]]
    lines.append((embed.get("footer") or {}).get("text"))
    return [f"| {line}" for text in lines if text for line in text.split("\n")]
