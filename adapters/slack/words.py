"""Extracts a message's words as Slack's own text, including those in blocks and attachments. Pure.

https://docs.slack.dev/reference/block-kit/blocks,
https://docs.slack.dev/legacy/legacy-messaging/legacy-secondary-message-attachments
"""

from __future__ import annotations

from collections.abc import Iterator

from adapters.slack.format import escaped
from adapters.slack.incoming import Json

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
