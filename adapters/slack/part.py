"""A whole message of a reply, and how it is shown where Slack refuses its blocks. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from adapters.slack.format import Json
from adapters.slack.limits import MESSAGE_BLOCKS, SECTION_CHARACTERS


@dataclass(frozen=True, slots=True)
class Part:
    """One message: its blocks, and what a notification shows of it."""

    blocks: tuple[Json, ...]
    text: str


def simpler(part: Part) -> Part | None:
    """The same words with fewer kinds of blocks: first without controls, then as plain text.

    None when it cannot be simpler. An answer that looks poor beats one that is lost.
    """
    without_controls = tuple(block for block in part.blocks if block["type"] != "actions")
    if without_controls != part.blocks:
        return Part(without_controls, part.text)
    if all(block["type"] == "section" for block in part.blocks):
        return None
    words = "\n\n".join(filter(None, map(_words, part.blocks)))
    sections = [
        {
            "type": "section",
            "text": {"type": "plain_text", "text": piece, "emoji": False},
        }
        for piece in _pieces(words)
    ]
    return Part(tuple(sections[:MESSAGE_BLOCKS]), part.text)


def _words(node: object) -> str:
    """All that is to be read in blocks; the address of a link comes behind its words."""
    if isinstance(node, list | tuple):
        return "".join(map(_words, node))
    if not isinstance(node, dict):
        return ""
    if node.get("type") == "link":
        return f"{node.get('text', '')} {node['url']}".strip()
    text = node.get("text")
    own = text if isinstance(text, str) else _words(text)
    inside = "\n" if node.get("type") in ("rich_text", "context") else ""
    return own + inside.join(filter(None, map(_words, node.get("elements") or ())))


def _pieces(text: str) -> list[str]:
    """The text cut at lines into what one section takes."""
    pieces: list[str] = []
    while text.strip():
        cut = text.rfind("\n", 1, SECTION_CHARACTERS) if len(text) > SECTION_CHARACTERS else -1
        cut = cut if cut > 0 else SECTION_CHARACTERS
        pieces.append(text[:cut].strip() or "…")
        text = text[cut:]
    return pieces
