"""Converts Slack's text to plain Markdown, and Slack's messages to ``Message``.

Slack's format is mrkdwn: https://docs.slack.dev/messaging/formatting-message-text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Awaitable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

from bot.core.logs import get_logger
from bot.core.messages import Attachment, Audience, Author, Message, Thread
from bot.core.reader import attached
from bot.pages.urls import links_in

Json = Mapping[str, Any]

# Subtypes of messages that people write (https://docs.slack.dev/reference/events/message).
SPEECH = frozenset((None, "file_share", "thread_broadcast", "me_message"))
FILES_GONE = frozenset(("tombstone", "hidden_by_limit"))

_CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
_MARKUP = re.compile(r"<([^<>\n]+)>")
_MENTION = re.compile(r"<@([UW][A-Z0-9]+)(?:\|[^<>]*)?>")
_ENTITY = re.compile(r"&(amp|lt|gt);")
_PLAIN = {"amp": "&", "lt": "<", "gt": ">"}
# An opening mark follows no word character and precedes no space; a closing mark is the reverse.
_BOLD = re.compile(r"(?<![\w*])\*(?=[^\s*])([^*\n]*[^\s*])\*(?![\w*])")
_STRUCK = re.compile(r"(?<![\w~])~(?=[^\s~])([^~\n]*[^\s~])~(?![\w~])")
_BULLET = re.compile(r"^([ \t]*)[•◦▪][ \t]+", re.MULTILINE)
_EMOJI = re.compile(r":[a-z0-9_+'-]+(?:::skin-tone-[2-6])?:")
_KEPT = re.compile("\x00(\\d+)\x00")


# ---------------------------------------------------------------- text


def unescape(text: str, names: Mapping[str, str]) -> str:
    """Convert Slack's text to plain Markdown; ``names`` maps the ids of people to their names.

    A person who is not in ``names`` is shown by id. Marks inside code are left as they are.
    """
    kept: list[str] = []

    def keep(ready: str) -> str:
        kept.append(ready)
        return f"\x00{len(kept) - 1}\x00"

    def code(match: re.Match[str]) -> str:
        return keep(_plain(_MARKUP.sub(lambda one: _shown(one[1], names)[0], match[0])))

    def markup(match: re.Match[str]) -> str:
        label, target = _shown(match[1], names)
        return keep(_link(_plain(label), _plain(target)) if target else _plain(label))

    text = _CODE.sub(code, text.replace("\x00", ""))
    text = _MARKUP.sub(markup, text)
    text = _BOLD.sub(r"**\1**", text)
    text = _STRUCK.sub(r"~~\1~~", text)
    text = _BULLET.sub(r"\1- ", text)
    return _KEPT.sub(lambda match: kept[int(match[1])], _plain(text))


def is_wordless(text: str) -> bool:
    """Return True if plain text consists only of emoji, punctuation and spaces."""
    return not any(unicodedata.category(char)[0] in "LN" for char in _EMOJI.sub("", text))


def mentions_in(text: str) -> list[str]:
    """Return the ids of the people mentioned in Slack's text, each once, in order."""
    return list(dict.fromkeys(_MENTION.findall(text)))


def begins_with_mention(text: str) -> bool:
    """Return True if Slack's text begins with a mention."""
    return _MENTION.match(text.lstrip()) is not None


def without_mention(text: str, user: str) -> str:
    """Remove the mentions of one user from Slack's text, with the gaps they leave."""
    mention = re.compile(
        rf"(?:(?<![ \t])[ \t]++)?<@{re.escape(user)}(?:\|[^<>]*)?>"
        r"(?:[ \t]*+(?:[:,](?=\s|$)|[，：、]))?"
    )
    return mention.sub("", text).strip()


def _plain(text: str) -> str:
    return _ENTITY.sub(lambda match: _PLAIN[match[1]], text)


def _shown(inside: str, names: Mapping[str, str]) -> tuple[str, str]:
    """Split the content of angle brackets into a label and, for a link, its target."""
    target, _, label = inside.partition("|")
    if target.startswith("@"):
        return f"@{names.get(target[1:]) or label or target[1:]}", ""
    if target.startswith("#"):
        return f"#{label or target[1:]}", ""
    if target.startswith("!subteam^"):
        return f"@{(label or target.removeprefix('!subteam^')).removeprefix('@')}", ""
    if target.startswith("!date^"):
        return label, ""
    if target.startswith("!"):
        return f"@{target[1:]}", ""
    if ":" not in target:  # Slack would not have written this: left unchanged
        return f"<{inside}>", ""
    bare = target.removeprefix("mailto:").removeprefix("tel:")
    if not label or label in (target, bare) or target in (f"http://{label}", f"https://{label}"):
        return (bare if target.startswith(("mailto:", "tel:")) else target), ""
    return label, target


def _link(label: str, target: str) -> str:
    label = label.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    # A bracket in the target would end the link early.
    return f"[{label}]({target.replace('(', '%28').replace(')', '%29')})"


# ---------------------------------------------------------------- messages


def event_id(channel: str, ts: str) -> str:
    """Return the id of a message, the same for all events about it. Raises ``TypeError``."""
    if not isinstance(channel, str):
        raise TypeError(f"no channel: {channel!r}")
    return f"{channel}:{ts}"


def is_speech(message: Json) -> bool:
    """Return True if a person wrote the message, and it is no notice of a join or a new topic."""
    return (
        message.get("subtype") in SPEECH
        and bool(message.get("user"))
        and not message.get("bot_id")
        and not message.get("hidden")
    )


def is_of_app(message: Json) -> bool:
    """Return True if an app posted the message, such as a step of a workflow."""
    return (
        message.get("subtype") in SPEECH | {"bot_message"}
        and bool(message.get("bot_id"))
        and not message.get("hidden")
    )


def begins_thread(message: Json) -> bool:
    """Return True if a message is not a reply in a thread."""
    return message.get("thread_ts") in (None, message["ts"])


def thread_of(team: str, channel: str, message: Json) -> Thread:
    """Return the thread a message is in, or the one that a reply to it would begin.

    Raises ``KeyError`` and ``TypeError`` if the message does not say.
    """
    if not isinstance(channel, str):
        raise TypeError(f"no channel: {channel!r}")
    return Thread("slack", team, channel, str(message.get("thread_ts") or message["ts"]))


def attachments_of(message: Json) -> tuple[Attachment, ...]:
    """Return the files of a message that can be downloaded."""
    return tuple(
        Attachment(
            name=str(file.get("name") or file.get("title") or file.get("id", "")),
            media_type=str(file.get("mimetype") or "application/octet-stream"),
            url=attached(str(file.get("permalink") or file["url_private"])),
            download=str(file.get("url_private_download") or file["url_private"]),
        )
        for file in message.get("files") or ()
        if file.get("url_private")
        and file.get("mode") not in FILES_GONE
        and not file.get("is_external")
    )


def to_message(
    message: Json,
    *,
    thread: Thread,
    author: Author,
    text: str,
    locale: str,
    audience: Audience = "channel",
    conversations: bool = False,
) -> Message:
    """Build the core's message; ``text`` is its Markdown."""
    ts = str(message["ts"])
    return Message(
        event_id=event_id(thread.channel, ts),
        thread=thread,
        author=author,
        text=text,
        at=datetime.fromtimestamp(float(ts), UTC),
        links=tuple(links_in(text)),
        attachments=attachments_of(message),
        locale=locale,
        audience=audience,
        conversations=conversations,
    )


# Errors that parsing JSON of an unexpected shape raises. ``FootnoteError`` is not among them.
MALFORMED = (LookupError, TypeError, ValueError, AttributeError, OverflowError)

T = TypeVar("T")

log = get_logger()


class CoreBroke(Exception):
    """The core raised an error that would be mistaken for a malformed payload."""


async def by_core(work: Awaitable[T]) -> T:
    """Await the core's work on a parsed event. Raises ``CoreBroke`` in place of ``MALFORMED``."""
    try:
        return await work
    except MALFORMED as error:
        raise CoreBroke(repr(error)) from error


def note(error: Exception) -> None:
    """Log a payload that is acknowledged and dropped."""
    log.warning("Slack sent an unreadable payload, dropped", error=repr(error)[:300])
