"""Tracks which list items a position in page text is inside of, by their names.

An option, a function or a step may be described in several paragraphs, with code between them. In
page text these are indented below the first line of the item, except code and tables.
"""

from __future__ import annotations

import re
from itertools import islice

from bot.text.sentences import Block

LONGEST_NAME = 80  # characters; a longer opening is a sentence and not a name
LONGEST_LINE = 500  # characters of an item's first line that are searched for its name
MOST_NAMES = 2  # enclosing items whose names are returned, innermost first

_MARK = re.compile(r"^(?:[-*+•‣◦]|\d{1,3}[.)])[ \t]+")
_NAMED = re.compile(r"((?:(`+)(?!`)(?:(?!\2).)+\2(?!`)|[^`])*?)[:：](?=\s|$)")
_SIGNATURE = re.compile(r"`((?:class |async |static )?[\w.:$-]{1,70})[(\[]")
_SENTENCE_END = re.compile(r"[.!?。！？](?=\s|$)")
_CODE = re.compile(r"(?<!`)(`{1,20}+)(?!`)( ?)((?:(?!\1).)+?)\2\1(?!`)")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


def plain(markdown: str) -> str:
    """A heading or name on one line without code marks."""
    if "`" in markdown:
        markdown = _CODE.sub(r"\3", markdown)
    if "\\" in markdown:
        markdown = _ESCAPE.sub(r"\1", markdown)
    return " ".join(markdown.split())


def is_named(text: str, block: Block) -> bool:
    """True if a block is a list item that opens with a name and a colon."""
    return block.kind == "item" and _name_before_colon(_first_line(text, block)) != ""


class OpenItems:
    """Tracks the open list items of a section; ``meet`` its blocks in order."""

    def __init__(self) -> None:
        self._open: list[tuple[int, Block]] = []  # with the item's indentation
        self._text = ""

    def meet(self, text: str, block: Block) -> None:
        if block.kind in ("code", "row"):
            return  # not indented, even inside an item
        indentation = block.start - (text.rfind("\n", 0, block.start) + 1)
        while self._open and self._open[-1][0] >= indentation:
            self._open.pop()
        if block.kind == "item":
            self._open.append((indentation, block))
            self._text = text

    def names(self, start: int) -> list[str]:
        """The names of the items that began before ``start`` and continue, outermost first."""
        around = (block for _, block in reversed(self._open) if block.start < start)
        names = filter(None, (_name(_first_line(self._text, block)) for block in around))
        return list(islice(names, MOST_NAMES))[::-1]


def _first_line(text: str, item: Block) -> str:
    """The first line of an item without its mark, cut to ``LONGEST_LINE``."""
    line = text[item.start : min(item.end, item.start + LONGEST_LINE)].partition("\n")[0]
    return _MARK.sub("", line, count=1)


def _name_before_colon(line: str) -> str:
    named = _NAMED.match(line)
    return _fitting(named[1]) if named else ""


def _name(line: str) -> str:
    """The name of an item: its words up to a colon, or its first line if that is short."""
    name = _name_before_colon(line) or _fitting(line)
    return "" if _SENTENCE_END.search(name) else name


def _fitting(markdown: str) -> str:
    """A name if it is short enough; for a long signature, the function's name."""
    name = plain(markdown)
    if len(name) <= LONGEST_NAME:
        return name
    signature = _SIGNATURE.match(markdown)
    return f"{signature[1]}(…)" if signature else ""
