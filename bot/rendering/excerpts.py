"""Quoted words as they stand beside an answer: running text on one line, code and tables with
theirs.

What an answer quotes already is not printed a second time: ``Said`` tells.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from bot.answers import Answer
from bot.rendering.lines import shortened
from bot.research.marks import without_marks
from bot.research.verbatim import as_markdown, as_words
from bot.text.control import without_controls
from bot.text.sentences import Block, blocks, sentences

Kind = Literal["text", "code", "table"]

_PART = 4  # words of a sentence that is not in an answer by chance
_LEAST = 20  # characters of room that are worth another piece
_HEAD_AND_ROW = 3  # lines of a table
_WORD = re.compile(r"\w+")
_ITEM_MARK = re.compile(r"^[ \t]*(?:[-*+•‣◦]|\d{1,3}[.)])[ \t]+", re.MULTILINE)
_BORDER = re.compile(r"(?<!\\)\||\n")
_FENCE_LINE = re.compile(r"^ {0,3}(?:`{3,}|~{3,})[^\n]*\n?", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A piece of a quote: ``text`` on one line, ``code`` as it stands, a ``table`` as Markdown
    with a head (empty where the page shows none)."""

    kind: Kind
    text: str


class Said:
    """The words of an answer, to be asked which quotes stand in it."""

    def __init__(self, answer: Answer) -> None:
        self._words = _words(as_words(without_marks(answer.whole)))

    def has(self, quote: str) -> bool:
        """Whether all of a quote stands in the answer, word for word and in one piece."""
        words = _words(quote)
        return bool(words.strip()) and words in self._words

    def has_part(self, quote: str) -> bool:
        """Whether the answer contains a sentence, list item, table row or code line of a quote."""
        parts: list[str] = []
        for part in sentences(quote):
            words = quote[part.start : part.end]
            parts += words.split("\n") if part.kind == "code" else [words]
        return any(self.has(part) for part in parts if len(_WORD.findall(part)) >= _PART)


def excerpts(quote: str, longest: int, columns: Sequence[str] = ()) -> tuple[Excerpt, ...]:
    """A quote in pieces of at most ``longest`` characters in all; what is cut ends in "…".

    ``columns`` are the names above its table rows, if their table began before the quote.
    """
    found: list[Excerpt] = []
    room = longest
    for kind, text in _pieces(without_controls(quote)):
        if found and room < _LEAST:
            break
        rows = as_markdown(text, columns=columns).split("\n") if kind == "table" else []
        if kind == "table" and sum(map(len, rows[:_HEAD_AND_ROW])) <= room:
            shown = _fitting(rows, room)
        elif kind == "code" and len(text.partition("\n")[0]) <= room:
            shown = _fitting(text.split("\n"), room)
        else:
            shown, kind = shortened(_in_line(text) if kind == "table" else text, room), "text"
        if shown:
            found.append(Excerpt(kind, shown))
        room -= len(shown)
    return tuple(found)


def _pieces(quote: str) -> Iterator[tuple[Kind, str]]:
    for kind, group in groupby(blocks(quote), key=_kind):
        found = list(group)
        text = quote[found[0].start : found[-1].end]
        if kind == "code":
            yield from (("code", _bare(quote[block.start : block.end])) for block in found)
        else:
            yield kind, text


def _kind(block: Block) -> Kind:
    return "table" if block.kind == "row" else "code" if block.kind == "code" else "text"


def _bare(fence: str) -> str:
    """The code in a fence."""
    lines = fence.split("\n")
    is_closed = len(lines) > 1 and _FENCE_LINE.fullmatch(lines[-1]) is not None
    return "\n".join(lines[1 : -1 if is_closed else None]).strip("\n")


def _fitting(lines: Sequence[str], room: int) -> str:
    """As many of the lines as there is room for."""
    kept: list[str] = []
    for line in lines:
        room -= len(line) + 1
        if kept and room < 0:
            kept.append("…")
            break
        kept.append(line)
    return "\n".join(kept)


def _in_line(rows: str) -> str:
    """Table rows that are too long for a table here."""
    cells = [cell.strip().replace("\\|", "|") for cell in _BORDER.split(rows)]
    return " · ".join(cell for cell in cells if cell.strip(" :-"))


def _words(text: str) -> str:
    return f" {' '.join(_WORD.findall(_ITEM_MARK.sub('', text)))} "
