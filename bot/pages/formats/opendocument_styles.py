"""Styles of an OpenDocument file that define the role of a paragraph, a list or a sheet (OASIS
OpenDocument 1.3, part 3, sections 16 and 17.6).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from bot.pages.formats.numbering import formatted, whole
from bot.pages.formats.packages import attribute, local

_CODE = re.compile(
    r"Preformatted_20_Text|Source_(?:20_)?(?:Code|Text)|Code(?:_20_.*)?", re.IGNORECASE
)
_CONTENTS = re.compile(r"Contents_20_\d+")
_FORMS = {"a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}
_LONGEST_CHAIN = 20  # styles based on each other; a cycle would not end


@dataclass(frozen=True, slots=True)
class _Style:
    parent: str
    hidden: bool
    list: str


@dataclass(frozen=True, slots=True)
class _Level:
    """The marker of a list level; ``form`` is "bullet", or the format of its numbers."""

    form: str
    before: str = ""
    after: str = ""
    start: int = 1


class OpenStyles:
    """The styles read so far."""

    def __init__(self) -> None:
        self._styles: dict[str, _Style] = {}
        self._lists: dict[str, dict[int, _Level]] = {}

    def learn(self, element: Any) -> None:
        """Add a ``style:style`` or ``text:list-style``."""
        name = attribute(element, "name") or ""
        if local(element) == "list-style":
            self._lists[name] = dict(map(_level, element))
        else:
            self._styles[name] = _Style(
                attribute(element, "parent-style-name") or "",
                any(
                    attribute(each, "display") in ("none", "false")
                    for each in element
                    if local(each) in ("text-properties", "table-properties")
                ),
                attribute(element, "list-style-name") or "",
            )

    def hides(self, name: str | None) -> bool:
        return any(style.hidden for _, style in self._chain(name))

    def role(self, name: str | None) -> str:
        """The role of a paragraph style: "title", "code", "contents" (a line of a table of
        contents), or "".
        """
        for each in [name or "", *(style.parent for _, style in self._chain(name))]:
            if each == "Title":
                return "title"
            if _CONTENTS.fullmatch(each):
                return "contents"
            if _CODE.fullmatch(each):
                return "code"
        return ""

    def _chain(self, name: str | None) -> list[tuple[str, _Style]]:
        chain: list[tuple[str, _Style]] = []
        while name and name in self._styles and len(chain) < _LONGEST_CHAIN:
            chain.append((name, self._styles[name]))
            name = self._styles[name].parent
        return chain

    def start(self, list_style: str, depth: int) -> int:
        return self._lists.get(list_style, {}).get(depth, _Level("bullet")).start

    def label(self, list_style: str, depth: int, count: int) -> str:
        """The label before an item of a list; "" for a bullet."""
        level = self._lists.get(list_style, {}).get(depth)
        if level is None or level.form == "bullet":
            return ""
        return f"{level.before}{formatted(count, _FORMS.get(level.form, 'decimal'))}{level.after}"


def _level(element: Any) -> tuple[int, _Level]:
    depth = whole(attribute(element, "level"), 1) - 1
    form = attribute(element, "num-format") or ""
    if local(element) != "list-level-style-number" or not form:
        return depth, _Level("bullet")
    return depth, _Level(
        form,
        attribute(element, "num-prefix") or "",
        attribute(element, "num-suffix") or "",
        whole(attribute(element, "start-value"), 1),
    )
