"""The numbers and marks that Word shows before list paragraphs and headings.

They are not stored in the text: numbering.xml defines how each level of a list counts, and a reader
of the file has to keep the counts (ECMA-376, part 1, section 17.9).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from bot.pages.formats.packages import attribute, is_on, value

LEVELS = 9  # per list, counted from 0

_PLACE = re.compile(r"%([1-9])")
_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l")),
    *((40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
_LARGEST_ROMAN = 3_999
_LETTERS = 26
_MOST_REPEATED = 20  # letters of a number such as "aaa", which grows by one every 26 numbers


@dataclass(frozen=True, slots=True)
class Level:
    """The numbering of one list level: ``form`` as in ``w:numFmt``, ``text`` with placeholders like
    "%1.%2", ``style`` the paragraph style that it numbers, or ""."""

    form: str
    text: str
    start: int
    style: str = ""
    decimal: bool = False  # write the numbers of outer levels in digits


@dataclass(slots=True)
class _List:
    """A list of paragraphs; lists with the same abstract definition share their counts."""

    abstract: str
    levels: dict[int, Level]
    starts: dict[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Label:
    """The label before a paragraph: "" for a bullet, else its number as shown, like "2.1"."""

    text: str
    depth: int


class Numbering:
    """Keeps the counts of all lists while a document's paragraphs are read in order."""

    def __init__(self, root: Any) -> None:
        """``root`` is the root element of numbering.xml, or None."""
        abstract = {} if root is None else _abstract(root)
        self._lists: dict[str, _List] = {} if root is None else _lists(root, abstract)
        self._counts: dict[str, list[int | None]] = {}
        self._started: set[tuple[str, int]] = set()

    def level_of_style(self, number: str, style: str) -> int:
        """The level of a list that a paragraph style is assigned to; 0 if there is none."""
        found = self._lists.get(number)
        levels = {} if found is None else found.levels
        return next((i for i, level in levels.items() if style and level.style == style), 0)

    def label(self, number: str, depth: int) -> Label | None:
        """The label of the next paragraph of a list; None if there is no such list or level."""
        found = self._lists.get(number)
        level = None if found is None else found.levels.get(depth)
        if found is None or level is None or (level.form == "none" and not level.text):
            return None
        self._count(number, found, depth)
        if level.form == "bullet":
            return Label("", depth)
        return Label(self._written(found, level).strip(), depth)

    def _count(self, number: str, counted: _List, depth: int) -> None:
        counts = self._counts.setdefault(counted.abstract, [None] * LEVELS)
        last = counts[depth]
        if depth in counted.starts and (number, depth) not in self._started:
            self._started.add((number, depth))
            counts[depth] = counted.starts[depth]
        else:
            counts[depth] = counted.levels[depth].start if last is None else last + 1
        counts[depth + 1 :] = [None] * (LEVELS - depth - 1)

    def _written(self, counted: _List, level: Level) -> str:
        counts = self._counts[counted.abstract]

        def place(match: re.Match[str]) -> str:
            depth = int(match[1]) - 1
            shown = counted.levels.get(depth)
            count = counts[depth]
            if count is None:
                count = shown.start if shown else 1
            return formatted(count, "decimal" if level.decimal or shown is None else shown.form)

        return _PLACE.sub(place, level.text)


def formatted(count: int, form: str) -> str:
    """Write a number in one of Word's forms; unknown forms are written in digits."""
    if form in ("lowerRoman", "upperRoman") and 0 < count <= _LARGEST_ROMAN:
        roman, rest = "", count
        for value, letters in _ROMAN:
            roman += letters * (rest // value)
            rest %= value
        return roman if form == "lowerRoman" else roman.upper()
    if form in ("lowerLetter", "upperLetter") and 0 < count <= _LETTERS * _MOST_REPEATED:
        times, letter = divmod(count - 1, _LETTERS)
        letters = chr(ord("a") + letter) * (times + 1)
        return letters if form == "lowerLetter" else letters.upper()
    if form == "decimalZero":
        return f"{count:02d}"
    return str(count)


# ---------------------------------------------------------------- numbering.xml


def _abstract(root: Any) -> dict[str, dict[int, Level]]:
    return {
        attribute(each, "abstractNumId") or "": dict(map(_level, each.iterchildren("{*}lvl")))
        for each in root.iterchildren("{*}abstractNum")
    }


def _lists(root: Any, abstract: dict[str, dict[int, Level]]) -> dict[str, _List]:
    found = {}
    for each in root.iterchildren("{*}num"):
        link = value(each, "abstractNumId")
        levels, starts = dict(abstract.get(link, {})), {}
        for override in each.iterchildren("{*}lvlOverride"):
            depth = whole(attribute(override, "ilvl"), 0)
            if start := value(override, "startOverride"):
                starts[depth] = whole(start, 1)
            levels.update(map(_level, override.iterchildren("{*}lvl")))
        found[attribute(each, "numId") or ""] = _List(link, levels, starts)
    return found


def _level(element: Any) -> tuple[int, Level]:
    return min(whole(attribute(element, "ilvl"), 0), LEVELS - 1), Level(
        form=value(element, "numFmt") or "decimal",
        text=value(element, "lvlText"),
        start=whole(value(element, "start"), 0),
        style=value(element, "pStyle"),
        decimal=is_on(element, "isLgl"),
    )


def whole(text: str | None, default: int) -> int:
    """The number from 0 to 999,999,999 in an attribute, or the default."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else default
