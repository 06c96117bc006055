"""Discord's markup in what people write, as plain Markdown.

The forms are those of https://discord.com/developers/docs/reference#message-formatting; inside
code Discord shows them as they are, and so does this.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

# A block ends at the first fence after it; other code ends at as many backticks as it begins with,
# and without those its backticks are text (https://spec.commonmark.org/0.31.2/#code-spans).
_CODE = re.compile(
    r"(```\n*[^\n].*?```|(?<!`)``(?!`)[^\n]*?(?<!`)``(?!`)|(?<!`)`(?!`)[^\n]*?(?<!`)`(?!`))",
    re.DOTALL,
)
_FORM = re.compile(
    r"<@!?(?P<user>\d{1,20})>"
    r"|<@&(?P<role>\d{1,20})>"
    r"|<#(?P<channel>\d{1,20})>"
    r"|<a?:(?P<emoji>\w{1,32}):\d{1,20}>"
    r"|<t:(?P<time>-?\d{1,17})(?::[A-Za-z])?>"
    r"|</(?P<command>[^:<>\n]{1,100}):\d{1,20}>"
    r"|<(?P<url>https?://[^\s<>]+)>",
    re.ASCII,
)

Named = Callable[[int], str | None]


@dataclass(frozen=True, slots=True)
class Names:
    """Looks ids up; None where an id is not known."""

    user: Named
    role: Named
    channel: Named


def plain_markdown(content: str, names: Names, own: Iterable[str] = ()) -> str:
    """A message's content with names for ids, dates for timestamps, and bare links.

    ``own`` are the mentions that stand for Footnote itself (``<@1>``, ``<@!1>``, ``<@&2>``):
    they only say whom the message is for, so they are left out.
    """
    parts = _CODE.split(content)
    for index in range(0, len(parts), 2):
        parts[index] = _FORM.sub(lambda form: _written(form, names), _without(own, parts[index]))
    return "".join(parts).strip()


def mentions_in(content: str) -> frozenset[str]:
    """All mentions outside code, as written (``<@1>``)."""
    spoken = " ".join(_CODE.split(content)[::2])
    return frozenset(re.findall(r"<@[!&]?\d{1,20}>", spoken, re.ASCII))


def begins_with_mention(content: str) -> str:
    """The mention a message begins with, ``@everyone`` and ``@here`` too, or ""."""
    found = re.match(r"\s*(<@[!&]?\d{1,20}>|@everyone\b|@here\b)", content, re.ASCII)
    return found[1] if found else ""


def _without(mentions: Iterable[str], text: str) -> str:
    for mention in mentions:
        text = re.sub(rf"[ \t]*{re.escape(mention)}[ \t]*(?:[,，:：][ \t]*)?", " ", text)
    return text


def _written(form: re.Match[str], names: Names) -> str:
    kind, value = form.lastgroup, form[form.lastgroup or 0]
    if kind == "user":
        return f"@{names.user(int(value)) or 'unknown-user'}"
    if kind == "role":
        return f"@{names.role(int(value)) or 'unknown-role'}"
    if kind == "channel":
        return f"#{names.channel(int(value)) or 'unknown-channel'}"
    if kind == "emoji":
        return f":{value}:"
    if kind == "command":
        return f"/{value}"
    return _date(int(value), form[0]) if kind == "time" else value


def _date(seconds: int, written: str) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")
    except (OverflowError, ValueError, OSError):  # no date: Discord shows it as it is
        return written
