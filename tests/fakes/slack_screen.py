"""A message as a person sees it, and Slack's text format: escapes, links, mentions."""

from __future__ import annotations

import copy
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.fakes.slack_workspace import Json, Message, Workspace

# The markup that Slack's clients recognise; everything else in angle brackets is text.
_MARKUP = re.compile(
    r"<(?:@[UW]\w+|#C\w+(?:\|[^>]*)?|!(?:here|channel|everyone)|!subteam\^\w+(?:\|[^>]*)?"
    r"|(?:https?://|mailto:)[^>|\s]+(?:\|[^>]*)?)>"
)
_URL = re.compile(r"https?://[^\s<>|]+[^\s<>|.,;:!?)\]'\"]")
_LABELLED = re.compile(r"\[([^\[\]\n]+)\]\((https?://[^\s)]+)\)")


def escape(text: str) -> str:
    """The three characters Slack escapes, https://docs.slack.dev/messaging/formatting-message-text."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def unescape(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def as_sent(typed: str) -> str:
    """Convert text that a person typed to the form in which Slack sends it.

    ``<@U1>`` is a mention picked from the list, ``[label](https://...)`` a link made in the
    composer, a bare URL becomes ``<url>``; other ``&``, ``<`` and ``>`` are escaped.
    """
    sent: list[str] = []
    at = 0
    for found in re.finditer(f"{_LABELLED.pattern}|{_MARKUP.pattern}|{_URL.pattern}", typed):
        sent.append(escape(typed[at : found.start()]))
        if found.group(1) is not None:
            sent.append(f"<{escape(found.group(2))}|{escape(found.group(1))}>")
        elif found.group(0).startswith("<"):
            sent.append(found.group(0))
        else:
            sent.append(f"<{escape(found.group(0))}>")
        at = found.end()
    sent.append(escape(typed[at:]))
    return "".join(sent)


def rich_text(sent: str, block_id: str) -> dict[str, Any]:
    """Return the ``rich_text`` block that Slack's composer makes with a message's text."""
    elements: list[dict[str, Any]] = []
    for number, part in enumerate(_FENCED.split(sent)):
        if number % 2:
            inside = [{"type": "text", "text": unescape(part)}]
            elements.append({"type": "rich_text_preformatted", "elements": inside, "border": 0})
        else:
            elements += _paragraphs(part)
    return {"type": "rich_text", "block_id": block_id, "elements": elements}


_FENCED = re.compile(r"```\n?(.*?)\n?```", re.DOTALL)
_MARKED = re.compile(
    r"`(?P<code>[^`\n]+)`|<(?P<markup>[^<>]+)>"
    r"|(?<![\w*])\*(?P<bold>[^\s*]|[^\s*][^*\n]*[^\s*])\*(?![\w*])"
    r"|(?<![\w~])~(?P<strike>[^\s~]|[^\s~][^~\n]*[^\s~])~(?![\w~])"
    r"|(?<![\w_])_(?P<italic>[^\s_]|[^\s_][^_\n]*[^\s_])_(?![\w_])"
)


def _paragraphs(sent: str) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for kind, lines in itertools.groupby(sent.split("\n"), lambda line: line[:5] == "&gt; "):
        text = "\n".join(line.removeprefix("&gt; ") if kind else line for line in lines)
        if text:
            name = "rich_text_quote" if kind else "rich_text_section"
            made.append({"type": name, "elements": _inline(text, {})})
    return made


def _inline(sent: str, style: dict[str, bool]) -> list[dict[str, Any]]:
    elements: list[dict[str, Any]] = []
    at = 0
    for found in _MARKED.finditer(sent):
        elements += _words(sent[at : found.start()], style)
        kind = str(found.lastgroup)
        inside = found[kind]
        if kind == "markup":
            elements.append(_element(inside) | ({"style": style} if style else {}))
        elif kind == "code":
            elements += _words(inside, {**style, "code": True})
        else:
            elements += _inline(inside, {**style, kind: True})
        at = found.end()
    return elements + _words(sent[at:], style)


def _words(sent: str, style: dict[str, bool]) -> list[dict[str, Any]]:
    shown = {"type": "text", "text": unescape(sent)}
    return [{**shown, "style": style} if style else shown] if sent else []


def _element(inside: str) -> dict[str, Any]:
    target, _, label = inside.partition("|")
    if target.startswith("@"):
        return {"type": "user", "user_id": target[1:]}
    if target.startswith("#"):
        return {"type": "channel", "channel_id": target[1:]}
    if target.startswith("!subteam^"):
        return {"type": "usergroup", "usergroup_id": target.removeprefix("!subteam^")}
    if target.startswith("!"):
        return {"type": "broadcast", "range": target[1:]}
    link: dict[str, Any] = {"type": "link", "url": unescape(target)}
    if label:
        link["text"] = unescape(label)
    return link


_INSIDE = ("fields", "tasks", "elements")  # fields with nested blocks


def plain(node: Any) -> str:
    """Return the visible text of blocks, elements or text objects as plain lines."""
    if isinstance(node, list):
        return "\n".join(line for line in map(plain, node) if line)
    if not isinstance(node, dict):
        return ""
    match node.get("type"):
        case "rich_text_section" | "rich_text_quote" | "rich_text_preformatted":
            return "".join(plain(one) for one in node.get("elements", []))
        case "user":
            return f"<@{node['user_id']}>"
        case "link" | "url":
            return node.get("text") or str(node["url"])
        case "broadcast":
            return f"<!{node['range']}>"
        case "usergroup":
            return f"<!subteam^{node['usergroup_id']}>"
        case "emoji":
            return f":{node['name']}:"
        case "task_card":
            return _task(node)
        case "button" | "icon_button":
            return f"[{plain(node['text'])}]"
        case "feedback_buttons":
            chosen = (node["positive_button"], node["negative_button"])
            return " ".join(f"[{plain(one['text'])}]" for one in chosen)
        case "static_select":
            return " ".join(f"[{plain(one)}]" for one in (node["placeholder"], *node["options"]))
    own = node.get("text")
    parts = [own] if isinstance(own, str) else [plain(own)]
    parts += [node["title"]] if isinstance(node.get("title"), str) else [plain(node.get("title"))]
    parts += [plain(node.get(key)) for key in (*_INSIDE, "rows", "accessory")]
    return "\n".join(part for part in parts if part)


_LIVE = re.compile(r"<(?:![a-z]+(?:\^\w+)?|@[UW]\w+)(?:\|[^>]*)?>")
_TARGET = re.compile(
    r"<((?:https?://|mailto:)[^>|\s]+)|\]\(\s*<?([^)\s>]+)|(https?://[^\s<>()|\]]+)"
)


def _markup(node: Any) -> Iterator[str]:
    """Yield every text in which Slack parses markup: mrkdwn, Markdown, a message's own text."""
    if isinstance(node, list):
        for inner in node:
            yield from _markup(inner)
    elif isinstance(node, dict):
        if node.get("type") in ("mrkdwn", "markdown") and isinstance(node.get("text"), str):
            yield node["text"]
        for inner in node.values():
            yield from _markup(inner)


def live_mentions(text: str, blocks: list[Any]) -> list[str]:
    """Return marks that could ping someone: ``<!here>``, ``<@U1>``, ``<!subteam^S1>``, rich text.

    Marks in code count, because Slack's mrkdwn parses them there too.
    """
    found = [mark for part in (text, *_markup(blocks)) for mark in _LIVE.findall(part)]
    kinds = ("user", "broadcast", "usergroup")
    return found + [plain(one) for one in _typed(blocks, kinds)]


def links(text: str, blocks: list[Any]) -> list[str]:
    """Return every URL a reader could open: in markup, rich text, sources, buttons."""
    found = [
        unescape(next(filter(None, one)))
        for part in (text, *_markup(blocks))
        for one in _TARGET.findall(part)
    ]
    return found + [
        str(one["url"]) for one in _typed(blocks, ("link", "url", "button")) if "url" in one
    ]


def _typed(node: Any, kinds: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    if isinstance(node, list):
        for inner in node:
            yield from _typed(inner, kinds)
    elif isinstance(node, dict):
        if node.get("type") in kinds:
            yield node
        for inner in node.values():
            yield from _typed(inner, kinds)


def _task(card: dict[str, Any]) -> str:
    lines = [f"[{card['status']}] {card['title']}"]
    lines += [plain(card[key]) for key in ("details", "output", "sources") if card.get(key)]
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Shown:
    """A snapshot of a message."""

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
    plan_title: str | None
    tasks: tuple[Json, ...]  # id, title, status, details, output, sources
    reactions: tuple[str, ...]
    files: tuple[str, ...]
    ephemeral_to: str | None

    @property
    def seen(self) -> str:
        """Return everything visible as plain text."""
        return plain(list(self.blocks)) if self.blocks else self.text

    @property
    def pings(self) -> list[str]:
        """Return all marks in it that could notify someone."""
        return live_mentions(self.text, list(self.blocks))

    @property
    def links(self) -> list[str]:
        """Return every URL a reader could open."""
        return links(self.text, list(self.blocks))

    def elements(self) -> list[tuple[str, Json]]:
        """Return every interactive element with its block's id."""
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
        plan_title=stream.plan_title if stream else None,
        tasks=tuple(copy.deepcopy(list(stream.tasks.values()))) if stream else (),
        reactions=tuple(message.reactions),
        files=tuple(file.name for file in message.files),
        ephemeral_to=message.ephemeral_to,
    )


def written_out(message: Shown) -> str:
    """Format a line with author and kind of a message, followed by its visible text."""
    marks = [message.user]
    if message.ephemeral_to:
        marks.append(f"only for {message.ephemeral_to}")
    if message.streaming:
        marks.append("streaming")
    if message.edited:
        marks.append("edited")
    marks += [f"file {name}" for name in message.files]
    return f"{', '.join(marks)}:\n{message.seen}"
