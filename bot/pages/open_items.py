"""The list items that a place in page text is inside of, by their names.

An option, a function or a step may be described in several paragraphs, with code between them. In
page text these are indented under the first line of the item, code and tables excepted.
"""

from __future__ import annotations

import re
from itertools import islice

from bot.text.sentences import Block

LONGEST_NAME = 80  # characters; an item that opens with more has a first sentence and no name
LONGEST_LINE = 500  # characters of an item's first line in which its name is looked for
MOST_NAMES = 2  # of the items around a place, from the innermost outwards

_MARK = re.compile(r"^(?:[-*+•‣◦]|\d{1,3}[.)])[ \t]+")
_NAMED = re.compile(r"((?:(`+)(?!`)(?:(?!\2).)+\2(?!`)|[^`])*?)[:：](?=\s|$)")
_SIGNATURE = re.compile(r"`((?:class |async |static )?[\w.:$-]{1,70})[(\[]")
_SENTENCE_END = re.compile(r"[.!?。！？](?=\s|$)")
_CODE = re.compile(r"(`+)( ?)((?:(?!\1).)+?)\2\1(?!`)")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


def plain(markdown: str) -> str:
    """A heading or name on one line, as it is shown: without the marks of code."""
    if "`" in markdown:
        markdown = _CODE.sub(r"\3", markdown)
    if "\\" in markdown:
        markdown = _ESCAPE.sub(r"\1", markdown)
    return " ".join(markdown.split())


def is_named(text: str, block: Block) -> bool:
    """Return True if a block is a list item that opens with a name and a colon."""
    return block.kind == "item" and _name_before_colon(_first_line(text, block)) != ""


class OpenItems:
    """Meets the blocks of a section in order."""

    def __init__(self) -> None:
        self._open: list[tuple[int, Block]] = []  # with the item's indentation
        self._text = ""

    def meet(self, text: str, block: Block) -> None:
        if block.kind in ("code", "row"):
            return  # stands at the margin, whatever it belongs to
        indentation = block.start - (text.rfind("\n", 0, block.start) + 1)
        while self._open and self._open[-1][0] >= indentation:
            self._open.pop()
        if block.kind == "item":
            self._open.append((indentation, block))
            self._text = text

    def names(self, start: int) -> list[str]:
        """The names of the items that began before ``start`` and go on there."""
        around = (block for _, block in reversed(self._open) if block.start < start)
        names = filter(None, (_name(_first_line(self._text, block)) for block in around))
        return list(islice(names, MOST_NAMES))[::-1]


def _first_line(text: str, item: Block) -> str:
    """The first line of an item without its mark, or the beginning of it."""
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
    """A name that is no longer than names are; of a long signature, the function's."""
    name = plain(markdown)
    if len(name) <= LONGEST_NAME:
        return name
    signature = _SIGNATURE.match(markdown)
    return f"{signature[1]}(…)" if signature else ""
