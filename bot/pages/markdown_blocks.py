"""The blocks of a Markdown file that are code, apart from those that are not.

Follows CommonMark 0.31 for fences (4.5), indented code (4.4) and list items (5.2), and knows the
indented blocks of MkDocs, which are no code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

from bot.pages.literal import fenced

_FENCE = re.compile(r"[ \t]*(?:>[ \t]?)*(`{3,}(?=[^`]*$)|~{3,})")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])(?:([ \t]{1,4})(?=\S)|[ \t]*$|[ \t])")
_CONTAINER = re.compile(r"[ \t]*(?:(?:!!!|\?\?\?\+?|===) |\[\^[^\]\n]+\]:|:[ \t])")
_PRE = re.compile(r"[ \t]*<pre[ >]", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_CODE_INDENT = 4  # columns


def parts_of(text: str) -> list[tuple[str, bool]]:
    """The text in order, in parts that are code or are not.

    Code comes in a fence without indentation; what is no code comes as it is.
    """
    return list(_merged(_Scanner(text.splitlines(keepends=True)).parts()))


def _merged(parts: Iterator[tuple[str, bool]]) -> Iterator[tuple[str, bool]]:
    prose: list[str] = []
    for part, is_code in parts:
        if not is_code:
            prose.append(part)
            continue
        if prose:
            yield "".join(prose), False
            prose = []
        yield part, True
    if prose:
        yield "".join(prose), False


class _Scanner:
    """Goes through lines, each with its line end, and knows which list items are open."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._at = 0
        self._contents: list[int] = []  # columns at which the content of open items begins
        self._after_gap = True

    def parts(self) -> Iterator[tuple[str, bool]]:
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if not line.strip():
                self._after_gap = True
            else:
                indent = _indent(line)
                is_item = self._close_items(line, indent)
                base = self._contents[-1] if self._contents else 0
                fence = _FENCE.match(line.rstrip("\n"))
                if fence and indent - base < _CODE_INDENT:
                    yield self._fence(fence[1], indent), True
                    self._after_gap = False
                    continue
                if _PRE.match(line) and indent - base < _CODE_INDENT:
                    yield self._pre(), True
                    self._after_gap = False
                    continue
                if self._after_gap and indent >= base + _CODE_INDENT and not is_item:
                    yield self._indented(base + _CODE_INDENT), True
                    continue
                self._open_item(line, indent)
                self._after_gap = False
            yield line, False
            self._at += 1

    def _close_items(self, line: str, indent: int) -> bool:
        """Close the items that a line stands outside of; whether it begins one itself."""
        is_item = _ITEM.match(line) is not None or _CONTAINER.match(line) is not None
        if is_item or self._after_gap:
            while self._contents and indent < self._contents[-1]:
                self._contents.pop()
        base = self._contents[-1] if self._contents else 0
        return is_item and indent - base < _CODE_INDENT

    def _open_item(self, line: str, indent: int) -> None:
        if item := _ITEM.match(line):
            self._contents.append(_width(line[: item.end()]) if item[1] else indent + 2)
        elif _CONTAINER.match(line):
            self._contents.append(indent + _CODE_INDENT)

    def _fence(self, marker: str, indent: int) -> str:
        """A fence from its first line to its last, or to the end of the text."""
        start = self._at
        self._at += 1
        while self._at < len(self._lines):
            stripped = self._lines[self._at].strip()
            self._at += 1
            if stripped.startswith(marker) and not stripped.strip(marker[0]):
                break
        lines = self._lines[start : self._at]
        return "".join(_dedented(line, indent) for line in lines) if indent else "".join(lines)

    def _pre(self) -> str:
        """<pre> with what it holds; section 4.6 of CommonMark ends it where </pre> is met."""
        start = self._at
        while self._at < len(self._lines):
            line = self._lines[self._at]
            self._at += 1
            if "</pre>" in line.lower():
                break
        before, _, after = "".join(self._lines[start : self._at]).partition("</pre>")
        code = unescape(_TAG.sub("", before)).strip("\n").rstrip()
        return (f"{fenced(code)}\n" if code else "") + _TAG.sub("", after).lstrip("\n")

    def _indented(self, indent: int) -> str:
        start = end = self._at
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.strip():
                if _indent(line) < indent:
                    break
                end = self._at + 1
            self._at += 1
        self._at = end
        code = "".join(_dedented(line, indent) for line in self._lines[start:end])
        return f"{fenced(code.rstrip(chr(10)))}\n"


def _indent(line: str) -> int:
    """Columns of white space before a line's first character."""
    return _width(line[: len(line) - len(line.lstrip(" \t"))])


def _width(text: str) -> int:
    return len(text.expandtabs(_CODE_INDENT))


def _dedented(line: str, columns: int) -> str:
    """A line without so many columns of white space at its beginning, or as many as it has."""
    before = line[: len(line) - len(line.lstrip(" \t"))]
    return before.expandtabs(_CODE_INDENT)[columns:] + line[len(before) :]
