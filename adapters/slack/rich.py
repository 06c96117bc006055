"""Converts Markdown to Slack's rich text, which has no markup and shows each character as it is.

It is used in views, which do not allow the Markdown block. Pure.
https://docs.slack.dev/reference/block-kit/blocks/rich-text-block
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from markdown_it.token import Token

from adapters.slack.limits import RICH_TEXT_CHARACTERS, TABLE_WIDTH, URL_CHARACTERS
from bot.rendering.footnotes import link_target
from bot.rendering.markdown_tables import table_text
from bot.rendering.safety import addresses, stored
from bot.rendering.verbatim import answer_parser, with_marks

Json = dict[str, Any]

_STYLES = {"strong": "bold", "em": "italic", "s": "strike"}
_BULLET = "•"
_GAP = "\n"  # between blocks, which rich text shows without a gap


def rich_text(markdown: str, urls: Mapping[int, str]) -> list[Json]:
    """Convert Markdown to elements of ``rich_text`` blocks, none longer than such a block may be.

    ``urls`` are the only targets that its footnotes and links may have.
    """
    tokens = answer_parser().parse(markdown)
    reader = _Reader(markdown.split("\n"), urls)
    return [piece for element in reader.blocks(tokens) for piece in _cut(element)]


def packed(entries: Iterable[list[Json]]) -> list[Json]:
    """Pack elements into as few ``rich_text`` blocks as their lengths allow; an entry's elements
    stay together."""
    blocks: list[list[Json]] = []
    used = RICH_TEXT_CHARACTERS
    for entry in entries:
        size = sum(map(_size, entry))
        if used + size > RICH_TEXT_CHARACTERS:
            blocks.append([])
            used = 0
        blocks[-1] += entry
        used += size
    return [{"type": "rich_text", "elements": elements} for elements in blocks]


def text_element(words: str, *styles: str) -> Json:
    """Return an element that shows the words unchanged."""
    element: Json = {"type": "text", "text": words}
    return {**element, "style": dict.fromkeys(styles, True)} if styles else element


def link_element(url: str, words: str) -> Json:
    """Return a link, or only its words if Slack would not accept the URL."""
    target = link_target(url)
    if not 0 < len(target) <= URL_CHARACTERS:
        return text_element(words)
    return {"type": "link", "url": target, "text": words}


def section(elements: list[Json]) -> Json:
    return {"type": "rich_text_section", "elements": elements}


def preformatted(code: str) -> Json:
    return {"type": "rich_text_preformatted", "elements": [text_element(code or " ")]}


def quote(elements: list[Json]) -> Json:
    return {"type": "rich_text_quote", "elements": elements}


class _Reader:
    """Converts the tokens of a Markdown text."""

    def __init__(self, lines: Sequence[str], urls: Mapping[int, str]) -> None:
        self._lines = lines
        self._urls = urls
        self._allowed = addresses(urls.values())

    def blocks(self, tokens: Sequence[Token]) -> Iterator[Json]:
        depth = quoted = 0
        marker = ""  # of a list item that has no content yet
        is_heading = in_table = False
        for token in tokens:
            match token.type:
                case "bullet_list_open" | "ordered_list_open":
                    depth += 1
                case "bullet_list_close" | "ordered_list_close":
                    depth -= 1
                case "list_item_open":
                    marker = f"{token.info}{token.markup}" if token.info else _BULLET
                case "blockquote_open" | "blockquote_close":
                    quoted += token.nesting
                case "heading_open" | "heading_close":
                    is_heading = token.nesting > 0
                case "table_open" | "table_close":
                    in_table = token.nesting > 0
                    if in_table and token.map:
                        rows = "\n".join(self._lines[slice(*token.map)])
                        yield preformatted(table_text(rows, TABLE_WIDTH))
                case "fence" | "code_block":
                    yield preformatted(token.content.rstrip("\n"))
                case "hr":
                    yield section([text_element("———")])
                case "inline" if not in_table:
                    words = self._inline(token.children or (), ["bold"] if is_heading else [])
                    if not words:
                        continue
                    if depth:
                        yield _item(words, marker, depth - 1)
                        marker = ""
                    else:
                        yield quote(words) if quoted else section([*words, text_element(_GAP)])

    def _inline(self, children: Sequence[Token], styles: list[str]) -> list[Json]:
        """Convert the words of a paragraph, with styles and links."""
        out: list[Json] = []
        styles, target = list(styles), ""
        for child in with_marks(children, self._urls):
            if isinstance(child, int):
                out.append(link_element(self._urls[child], f"[{child}]"))
                continue
            kind, _, end = child.type.rpartition("_")
            if kind in _STYLES:
                styles = [*styles, _STYLES[kind]] if end == "open" else styles[:-1]
            elif kind == "link":
                target = self._target(str(child.attrs.get("href", ""))) if end == "open" else ""
            else:
                words = "\n" if child.type in ("softbreak", "hardbreak") else child.content
                code = ["code"] if child.type == "code_inline" else []
                if target and words:
                    out.append(link_element(target, words))
                elif words:
                    out.append(text_element(words, *styles, *code))
        return _joined(out)

    def _target(self, href: str) -> str:
        target = link_target(href)
        return stored(target, self._allowed) or "" if target else ""


def _item(words: list[Json], marker: str, indent: int) -> Json:
    """Return a list item. A numbered one is a line of text, because Slack would renumber it."""
    if marker != _BULLET:
        return section([text_element(f"{'    ' * indent}{marker} ".rstrip(" ") + " "), *words])
    found: Json = {"type": "rich_text_list", "style": "bullet", "indent": min(indent, 6)}
    return {**found, "elements": [section(words)]}


def _joined(elements: Sequence[Json]) -> list[Json]:
    """Merge adjacent elements of the same style."""
    out: list[Json] = []
    for element in elements:
        last = out[-1] if out else None
        is_text = last is not None and last["type"] == element["type"] == "text"
        if last is not None and is_text and last.get("style") == element.get("style"):
            out[-1] = {**last, "text": last["text"] + element["text"]}
        else:
            out.append(element)
    return out


def _size(element: Json) -> int:
    own = len(element.get("text", "")) + len(element.get("url", ""))
    return own + sum(map(_size, element.get("elements", ())))


def _cut(element: Json) -> Iterator[Json]:
    """Split an element into pieces that fit into a block; code is split between lines."""
    if _size(element) <= RICH_TEXT_CHARACTERS:
        yield element
    elif element["type"] == "rich_text_list":
        yield from ({**element, "elements": [piece]} for piece in _cut(element["elements"][0]))
    else:
        kept: list[Json] = []
        for each in element["elements"]:
            for piece in _short(each):
                if kept and sum(map(_size, kept)) + _size(piece) > RICH_TEXT_CHARACTERS:
                    yield {**element, "elements": kept}
                    kept = []
                kept.append(piece)
        yield {**element, "elements": kept}


def _short(element: Json) -> Iterator[Json]:
    text = element.get("text", "")
    while _size(element) > RICH_TEXT_CHARACTERS:
        room = RICH_TEXT_CHARACTERS - len(element.get("url", ""))
        at = max(text.rfind("\n", 0, room), text.rfind(" ", 0, room)) + 1 or room
        yield {**element, "text": text[:at]}
        text = text[at:]
        element = {**element, "text": text}
    yield element
