"""Reads Slack's text: mrkdwn, blocks, attachments and quoted messages, and turns it into Markdown.

Slack's format is mrkdwn: https://docs.slack.dev/messaging/formatting-message-text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from adapters.slack.format import Json, escaped
from bot.core.lines import label
from bot.core.messages import quotation
from bot.search.conversation_search import day_of


def is_ts(text: str) -> bool:
    """Return True if a text is a Slack timestamp, the id of a message."""
    whole, _, rest = text.partition(".")
    return whole.isdigit() and rest.isdigit()


# ---------------------------------------------------------------- Slack's text as Markdown

_CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
_MARKUP = re.compile(r"<([^<>\n]+)>")
_MENTION = re.compile(r"<@([UW][A-Z0-9]+)(?:\|[^<>]*)?>")
_GROUP = re.compile(r"<!(?:here|channel|everyone|subteam\^)")
_ENTITY = re.compile(r"&(amp|lt|gt);")
_PLAIN = {"amp": "&", "lt": "<", "gt": ">"}
# An opening mark follows no word character and precedes no space; a closing mark is the reverse.
_BOLD = re.compile(r"(?<![\w*])\*(?=[^\s*])([^*\n]*[^\s*])\*(?![\w*])")
_STRUCK = re.compile(r"(?<![\w~])~(?=[^\s~])([^~\n]*[^\s~])~(?![\w~])")
_BULLET = re.compile(r"^([ \t]*)[•◦▪][ \t]+", re.MULTILINE)
_EMOJI = re.compile(r":[a-z0-9_+'-]+(?:::skin-tone-[2-6])?:")
_KEPT = re.compile("\x00(\\d+)\x00")
_PIPE = re.compile(r"<[^<>\n]+>|\|")  # a bar, outside of links


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


def calls_group(text: str) -> bool:
    """Return True if Slack's text mentions a user group, or everybody in the channel."""
    return _GROUP.search(text) is not None


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


@dataclass(frozen=True, slots=True)
class Quote:
    """A message that another one forwards or links to: its words in Slack's text, the id and the
    name of its author, the name of its place and its timestamp, each "" if unknown."""

    words: str
    user: str = ""
    author: str = ""
    place: str = ""
    ts: str = ""

    def people(self) -> list[str]:
        return [*([self.user] if self.user and not self.author else []), *mentions_in(self.words)]

    def markdown(self, names: Mapping[str, str]) -> str:
        author = label(self.author or names.get(self.user) or self.user)
        day = day_of(datetime.fromtimestamp(float(self.ts), UTC)) if is_ts(self.ts) else ""
        words = unescape(self.words, names)
        return quotation(words, author=author, place=label(self.place), at=day)


# ---------------------------------------------------------------- the words of a message
#
# https://docs.slack.dev/reference/block-kit/blocks,
# https://docs.slack.dev/legacy/legacy-messaging/legacy-secondary-message-attachments

DEEPEST = 12  # levels of nested blocks; deeper ones are left out
QUOTED_DEEP = 3  # levels of forwards of forwards

_TEXTS = ("title", "subtitle", "text", "body", "description", "details", "output")  # of a block
# Blocks that are controls or have no words.
_CONTROLS = frozenset({"divider", "context_actions", "input"})
_STYLES = (("code", "`"), ("strike", "~~"), ("italic", "_"), ("bold", "**"))
QUOTED_LINE = re.compile(r"^&gt;.*", re.MULTILINE)  # of a person's own block quote


def shown_in(message: Json) -> tuple[str, tuple[Quote, ...], list[Json]]:
    """Return the words of a message, the messages that it quotes, and the files of all.

    The words are what Slack shows: the blocks or, if there are none, the text, which is otherwise
    only for notifications; then the attachments, but no previews of links. A pasted table is an
    attachment, whose fallback says that there is no preview.
    """
    words = [_blocks(message.get("blocks")) or string_of(message.get("text"))]
    quotes: list[Quote] = []
    files = dicts(message.get("files"))
    for part in dicts(message.get("attachments")):
        if _is_quote(part):
            for each in _quoted(part, QUOTED_DEEP):
                quotes.append(_quote(each))
                files = [*files, *dicts(each.get("files"))]
        elif not part.get("from_url"):
            words.append(_attachment(part))
    shown = tuple(quote for quote in quotes if quote.words)
    return "\n".join(dict.fromkeys(filter(None, words))).strip("\n"), shown, files


# ---------------------------------------------------------------- attachments


def _is_quote(part: Json) -> bool:
    """Return True for a message that was forwarded, or linked to and so shown by Slack."""
    return bool(part.get("is_share") or part.get("is_msg_unfurl"))


def _quoted(part: Json, levels: int) -> Iterator[Json]:
    """Yield a quoted message and those that it quotes in turn."""
    yield part
    for inner in filter(_is_quote, dicts(part.get("attachments")) if levels > 1 else ()):
        yield from _quoted(inner, levels - 1)


def _quote(part: Json) -> Quote:
    inside = [dict_of(each.get("message")) for each in dicts(part.get("message_blocks"))]
    blocks = [_blocks(each.get("blocks")) for each in inside]
    words = "\n".join(filter(None, blocks)) or string_of(part.get("text"))
    own = [each for each in dicts(part.get("attachments")) if not _is_quote(each)]
    tables = [_blocks(part.get("blocks")), *map(_attachment, own)]
    place = string_of(part.get("channel_name"))
    in_channel = string_of(part.get("channel_id"))[:1] == "C" and place
    return Quote(
        words="\n".join(dict.fromkeys(filter(None, (words, *tables)))).strip("\n"),
        user=string_of(part.get("author_id")),
        author=string_of(part.get("author_name")) or string_of(part.get("author_subname")),
        place=f"#{place.removeprefix('#')}" if in_channel else place,
        ts=str(part.get("ts") or ""),
    )


def _attachment(part: Json) -> str:
    blocks = _blocks(part.get("blocks"))
    said = [string_of(part.get("pretext")), string_of(part.get("title"))]
    said.append(blocks or string_of(part.get("text")))
    for field in dicts(part.get("fields")):
        said += [string_of(field.get("title")), string_of(field.get("value"))]
    url = string_of(part.get("title_link"))
    words = "\n".join(dict.fromkeys(filter(None, said))) or string_of(part.get("fallback"))
    return "\n".join(filter(None, (words, f"<{url}>" if url else "")))


# ---------------------------------------------------------------- blocks


def _blocks(blocks: object, depth: int = 0) -> str:
    return "\n".join(filter(None, (_block(block, depth) for block in dicts(blocks))))


def _block(block: Json, depth: int) -> str:
    if not block or depth > DEEPEST or str(block.get("type")) in _CONTROLS:
        return ""
    match block.get("type"):
        case "rich_text":
            return _rich(block.get("elements"), depth + 1)
        case "markdown":
            return escaped(string_of(block.get("text")))
        case "image":
            return _text(block.get("title")) or escaped(string_of(block.get("alt_text")))
        case "table" | "data_table":
            caption = escaped(string_of(block.get("caption")))
            return "\n".join(filter(None, (caption, _table(block.get("rows")))))
        case "actions":
            return "\n".join(filter(None, map(_ticks, dicts(block.get("elements")))))
    # All other blocks, including unknown ones: their texts in reading order.
    parts = [block[name] for name in _TEXTS if block.get(name)]
    for inside in ("fields", "elements", "blocks", "child_blocks", "tasks"):
        parts += dicts(block.get(inside))
    said = [
        escaped(part) if isinstance(part, str) else _text(part) or _block(dict_of(part), depth + 1)
        for part in parts
    ]
    said.append(_ticks(dict_of(block.get("accessory"))))
    return "\n".join(filter(None, said))


def _table(rows: object) -> str:
    """Return a table in Markdown after a blank line; its first row is the heading."""
    cells = [list(map(_cell, dicts(row))) for row in rows] if isinstance(rows, list) else []
    width = max(map(len, cells), default=0)
    if not width:
        return ""
    lines = [f"| {' | '.join([*row, *[''] * (width - len(row))])} |" for row in cells]
    return "\n".join(["", lines[0], f"|{' --- |' * width}", *lines[1:]])


def _cell(cell: Json) -> str:
    """Return the text of a cell, which is rich text or raw, on one line."""
    is_rich = cell.get("type") == "rich_text"
    text = _rich(cell.get("elements"), 1) if is_rich else escaped(string_of(cell.get("text")))
    return _PIPE.sub(lambda found: "\\|" if found[0] == "|" else found[0], " ".join(text.split()))


def _ticks(element: Json) -> str:
    """Return the options of tick boxes as a list that shows which are ticked; "" for others."""
    if element.get("type") != "checkboxes":
        return ""
    ticked = [one.get("value") for one in dicts(element.get("initial_options"))]
    return "\n".join(
        f"• [{'x' if one.get('value') in ticked else ' '}] {_text(one.get('text'))}"
        for one in dicts(element.get("options"))
    )


def _text(text: object) -> str:
    """Return the text of a text object, escaped unless it is "mrkdwn"."""
    found = dict_of(text)
    if found.get("type") == "mrkdwn":
        return string_of(found.get("text"))
    return escaped(string_of(found.get("text"))) if found.get("type") == "plain_text" else ""


# ---------------------------------------------------------------- rich text


def _rich(elements: object, depth: int) -> str:
    return "\n".join(filter(None, (_paragraph(one, depth) for one in dicts(elements))))


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
        for number, one in enumerate(dicts(element.get("elements")), start)
    )


def _inline(elements: object, *, plain: bool = False) -> str:
    return "".join(_word(one, plain=plain) for one in dicts(elements))


def _word(element: Json, *, plain: bool) -> str:
    shown = _element(element)
    return shown if plain else _styled(shown, dict_of(element.get("style")))


def _element(element: Json) -> str:
    text = escaped(string_of(element.get("text")))
    match element.get("type"):
        case "link":
            url = escaped(string_of(element.get("url")).replace("|", "%7C"))
            return f"<{url}|{text}>" if text else f"<{url}>"
        case "user":
            return f"<@{string_of(element.get('user_id'))}>"
        case "channel":
            return f"<#{string_of(element.get('channel_id'))}>"
        case "usergroup":
            return f"<!subteam^{string_of(element.get('usergroup_id'))}>"
        case "broadcast":
            return f"<!{string_of(element.get('range'))}>"
        case "emoji":
            return f":{string_of(element.get('name'))}:"
    # Dates have a fallback, colours a value; elements of a new kind may have either.
    other = string_of(element.get("fallback")) or string_of(element.get("value"))
    return text or escaped(other)


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


def dicts(found: object) -> list[Json]:
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def dict_of(found: object) -> Json:
    return found if isinstance(found, dict) else {}


def string_of(found: object) -> str:
    return found if isinstance(found, str) else ""
