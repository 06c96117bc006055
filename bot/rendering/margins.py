"""Line prefixes inside quotes and list items, and how to move lines out of those."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

_DEEPEST = 8  # nested quotes whose marks are repeated

QUOTE_MARK = re.compile(r" {0,3}> ?")


class Container(NamedTuple):
    """A quote, or a list item whose content is indented by ``indent`` columns; ``token`` identifies
    it.
    """

    indent: int
    token: int

    @property
    def margin(self) -> str:
        """The prefix of each further line inside."""
        return " " * self.indent or "> "

    @property
    def is_quote(self) -> bool:
        return self.indent == 0


Path = tuple[Container, ...]  # the containers around a line, outermost first


@dataclass(frozen=True, slots=True)
class Place:
    """The position of a block: its ``path``, and ``entry``, the path of its first line (before a
    list's bullet).
    """

    path: Path
    entry: Path

    @property
    def quotes(self) -> str:
        """The quote marks needed to begin a part in the middle of a line of this block."""
        return "> " * min(sum(container.is_quote for container in self.path), _DEEPEST)

    @property
    def is_quoted(self) -> bool:
        return any(container.is_quote for container in self.path)

    @property
    def margin(self) -> str:
        """The prefix of further lines of the block."""
        return margin_of(self.path)


def margin_of(path: Path) -> str:
    """The prefix of further lines inside these containers."""
    return "".join(container.margin for container in path)


def rebased(text: str, path: Path, *, inside_line: bool) -> str:
    """Move lines out of list items to the left; quotes keep their marks."""
    if all(container.is_quote for container in path):
        return text
    lines = text.split("\n")
    first = 1 if inside_line else 0
    return "\n".join(lines[:first] + [_rebased_line(line, path) for line in lines[first:]])


def _rebased_line(line: str, path: Path) -> str:
    kept = ""
    for container in path:
        if container.is_quote:
            mark = QUOTE_MARK.match(line)
            if mark is None:
                break
            kept += "> "
            line = line[mark.end() :]
        else:
            bare = line.lstrip(" \t")
            columns = len(line[: len(line) - len(bare)].expandtabs(4))
            line = " " * max(columns - container.indent, 0) + bare
    return kept + line


def common(first: Path, other: Path) -> Path:
    """The containers that two atoms of one block share."""
    count = 0
    while count < min(len(first), len(other)) and first[count] == other[count]:
        count += 1
    return first[:count]
