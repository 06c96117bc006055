"""Tables of manual pages, as the preprocessor tbl(1) takes them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.pages.formats.blocks import one_line
from bot.pages.formats.roff import Roff

_SEPARATOR = re.compile(r"tab[ \t]*\((.)\)")
_RULE = re.compile(r"[_=\s]*|\\\^")


def rows_of(lines: Iterator[str], roff: Roff) -> list[list[str]]:
    """The rows up to the end of the table (``.TE``), which is taken from ``lines`` too."""
    separator = "\t"
    in_format = True
    rows: list[list[str]] = []
    for line in lines:
        if line.startswith((".TE", "'TE")):
            break
        if in_format:
            if found := _SEPARATOR.search(line):
                separator = found[1]
            in_format = not line.rstrip().endswith(".")
        elif line.startswith(".T&"):
            in_format = True
        elif not _RULE.fullmatch(line) and not line.startswith((".", "'")):
            cells = _cells(line, separator, lines)
            shown = [one_line(roff.text(cell)) for cell in cells]
            rows.append(["" if _RULE.fullmatch(cell) else cell for cell in shown])
    return rows


def _cells(line: str, separator: str, lines: Iterator[str]) -> list[str]:
    """The cells of a row; a text between ``T{`` and ``T}`` goes over several lines."""
    cells: list[str] = []
    rest: str | None = line
    while rest is not None:
        if rest.startswith("T{"):
            inside = [rest[2:]]
            rest = None
            for each in lines:
                if each.startswith("T}"):
                    rest = each[2:].removeprefix(separator) if len(each) > 2 else None
                    break
                inside.append(_words(each))
            cells.append(" ".join(inside))
        else:
            cell, found, rest_of = rest.partition(separator)
            cells.append(cell)
            rest = rest_of if found else None
    return cells


def _words(line: str) -> str:
    """A line inside of a cell, without the macros for fonts."""
    return re.sub(r"^[.'][ \t]*(?:[BIR]{1,2}|SM|SB|br|sp|nf|fi|PP|P)\b[ \t]*", "", line)
