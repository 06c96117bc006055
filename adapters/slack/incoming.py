"""Converts Slack's text to plain Markdown, and Slack's messages to ``Message``.

Slack's format is mrkdwn: https://docs.slack.dev/messaging/formatting-message-text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Awaitable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, Self, TypeVar

from adapters.slack.format import escaped
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


DEEPEST = 12  # levels of nested blocks; deeper ones are left out

# Blocks that are controls or have no words.
_CONTROLS = frozenset({"actions", "divider", "context_actions", "input"})
_STYLES = (("code", "`"), ("strike", "~"), ("italic", "_"), ("bold", "*"))


def words_of(message: Json) -> str:
    """Return the text of a message.

    A person's text is what they wrote. An app's text is what Slack shows: its attachments, and its
    blocks or, if it has none, its text, which is otherwise only for notifications.
    """
    text = str(message.get("text") or "")
    if not message.get("bot_id"):
        return text or _lines([_blocks(message.get("blocks")), *_attachments(message)])
    return _lines([_blocks(message.get("blocks")) or text, *_attachments(message)])


def _lines(parts: list[str]) -> str:
    """Join the non-empty parts with newlines, each once."""
    return "\n".join(dict.fromkeys(filter(None, parts)))


# ---------------------------------------------------------------- attachments


def _attachments(message: Json) -> Iterator[str]:
    for part in _dicts(message.get("attachments")):
        blocks = _blocks(part.get("blocks")) or _lines(
            [
                _blocks(_dict(quoted.get("message")).get("blocks"))
                for quoted in _dicts(part.get("message_blocks"))
            ]
        )
        said = [_string(part.get("pretext")), _string(part.get("title"))]
        said.append(blocks or _string(part.get("text")))
        for field in _dicts(part.get("fields")):
            said += [_string(field.get("title")), _string(field.get("value"))]
        yield _lines(said) or _string(part.get("fallback"))
        url = _string(part.get("title_link")) or _string(part.get("from_url"))
        yield f"<{url}>" if url else ""


# ---------------------------------------------------------------- blocks


def _blocks(blocks: object, depth: int = 0) -> str:
    return "\n".join(filter(None, (_block(block, depth) for block in _dicts(blocks))))


def _block(block: Json, depth: int) -> str:
    if depth > DEEPEST or str(block.get("type")) in _CONTROLS:
        return ""
    match block.get("type"):
        case "rich_text":
            return _rich(block.get("elements"), depth + 1)
        case "markdown":
            return escaped(_string(block.get("text")))
        case "image":
            return _text(block.get("title")) or escaped(_string(block.get("alt_text")))
        case "table":
            rows = block.get("rows")
            return "\n".join(map(_row, rows)) if isinstance(rows, list) else ""
    # All other blocks, including unknown ones: their texts in reading order.
    said = [_text(block.get(name)) for name in ("title", "subtitle", "text", "body", "description")]
    said += [_text(field) for field in _dicts(block.get("fields"))]
    for inside in ("elements", "blocks", "child_blocks"):
        said += [_text(one) or _block(one, depth + 1) for one in _dicts(block.get(inside))]
    return "\n".join(filter(None, said))


def _row(cells: object) -> str:
    """Return the text of a table row, whose cells are rich text or raw."""
    return " | ".join(
        _rich(cell.get("elements"), 1)
        if cell.get("type") == "rich_text"
        else escaped(_string(cell.get("text")))
        for cell in _dicts(cells)
    )


def _text(text: object) -> str:
    """Return the text of a text object, escaped unless it is "mrkdwn"."""
    found = _dict(text)
    if found.get("type") == "mrkdwn":
        return _string(found.get("text"))
    return escaped(_string(found.get("text"))) if found.get("type") == "plain_text" else ""


# ---------------------------------------------------------------- rich text


def _rich(elements: object, depth: int) -> str:
    return "\n".join(filter(None, (_paragraph(one, depth) for one in _dicts(elements))))


def _paragraph(element: Json, depth: int) -> str:
    if depth > DEEPEST:
        return ""
    inside = element.get("elements")
    match element.get("type"):
        case "rich_text_list":
            return _list(element, depth)
        case "rich_text_preformatted":
            return f"```\n{_inline(inside, plain=True)}\n```"
        case "rich_text_quote":
            return "\n".join(f"&gt; {line}" for line in _inline(inside).split("\n"))
    return _inline(inside).strip("\n")


def _list(element: Json, depth: int) -> str:
    indent = element.get("indent")
    space = "  " * min(indent, 8) if isinstance(indent, int) else ""
    numbered, first = element.get("style") == "ordered", element.get("offset")
    start = first + 1 if isinstance(first, int) else 1
    return "\n".join(
        f"{space}{f'{number}.' if numbered else '•'} {_paragraph(one, depth + 1)}"
        for number, one in enumerate(_dicts(element.get("elements")), start)
    )


def _inline(elements: object, *, plain: bool = False) -> str:
    return "".join(_word(one, plain=plain) for one in _dicts(elements))


def _word(element: Json, *, plain: bool) -> str:
    text = escaped(_string(element.get("text")))
    match element.get("type"):
        case "link":
            url = escaped(_string(element.get("url")).replace("|", "%7C"))
            return f"<{url}|{text}>" if text else f"<{url}>"
        case "user":
            return f"<@{_string(element.get('user_id'))}>"
        case "channel":
            return f"<#{_string(element.get('channel_id'))}>"
        case "usergroup":
            return f"<!subteam^{_string(element.get('usergroup_id'))}>"
        case "broadcast":
            return f"<!{_string(element.get('range'))}>"
        case "emoji":
            return f":{_string(element.get('name'))}:"
        case "date":
            return escaped(_string(element.get("fallback")))
    return text if plain else _styled(text, _dict(element.get("style")))


def _styled(text: str, style: Json) -> str:
    bare = text.strip()
    if not bare:
        return text
    marked = bare
    for name, mark in _STYLES:
        if style.get(name):
            marked = f"{mark}{marked}{mark}"
    return text.replace(bare, marked, 1)


# ---------------------------------------------------------------- untyped JSON


def _dicts(found: object) -> list[Json]:
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _dict(found: object) -> Json:
    return found if isinstance(found, dict) else {}


def _string(found: object) -> str:
    return found if isinstance(found, str) else ""


# The mark of a channel shared with another company, in the envelope of an event.
SHARED = "is_ext_shared_channel"

Kind = Literal["public", "private", "mpim", "im"]
# The ``channel_type`` of events (https://docs.slack.dev/reference/events/message).
_KINDS: Mapping[str, Kind] = {"channel": "public", "group": "private", "mpim": "mpim", "im": "im"}


def is_direct(channel: str) -> bool:
    """Return True for the id of a conversation of two; if Footnote can post there, it is one of
    them."""
    return channel.startswith("D")


@dataclass(frozen=True, slots=True)
class Place:
    """A channel or conversation. ``shared`` tells that people of another company are in it, and is
    None if Slack did not tell. Sharing among the workspaces of one organisation does not count."""

    kind: Kind
    shared: bool | None

    @classmethod
    def of_event(cls, event: Json) -> Self:
        """Return the place of an event with the mark of its envelope. ``app_mention`` tells no
        kind."""
        shared = event.get(SHARED)
        kind = _KINDS.get(str(event.get("channel_type"))) or _kind_of(event.get("channel"))
        return cls(kind, shared if isinstance(shared, bool) else None)

    @classmethod
    def of_id(cls, channel: str) -> Self:
        """Return the place of a command, shortcut or press, which tell no more than the id."""
        return cls(_kind_of(channel), None)

    @classmethod
    def of_description(cls, about: Json) -> Self:
        """Return the place that ``conversations.info`` describes."""
        kind: Kind = "private"
        if about.get("is_im") or about.get("is_mpim"):
            kind = "im" if about.get("is_im") else "mpim"
        elif about.get("is_channel") and not about.get("is_private"):
            kind = "public"
        shared = about.get("is_ext_shared")
        return cls(kind, shared if isinstance(shared, bool) else None)

    @property
    def audience(self) -> Audience:
        if self.kind == "im":  # who may be a guest, as Slack tells of each person
            return "person"
        if self.shared:
            return "outsiders"
        if self.shared is None:
            return "unknown"
        return "workspace" if self.kind == "public" else "channel"


def _kind_of(channel: object) -> Kind:
    return "im" if is_direct(str(channel)) else "private"
