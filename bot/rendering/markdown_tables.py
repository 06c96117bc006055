"""Markdown tables for platforms without tables: aligned text in a code fence, or records."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.token import Token

_parser = MarkdownIt("commonmark").enable("table")
_PREFIX = re.compile(r"[ \t>]*")
_BETWEEN = " | "


@dataclass(frozen=True, slots=True)
class Table:
    """A table's cells as inline Markdown; each row has as many as ``header``.

    ``right`` and ``center`` are the numbers of the columns with that alignment.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: frozenset[int] = frozenset()
    center: frozenset[int] = frozenset()


def with_plain_tables(text: str, width: int) -> str:
    """Convert the tables of Markdown to monospaced blocks of at most ``width`` columns.

    A table that would be wider becomes records, with a line "**Header**: cell" for each cell.
    Tables in code are left alone.
    """
    if "|" not in text:
        return text
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    out: list[str] = []
    done = 0
    for table, start, end in tables_in("\n".join(lines)):
        prefix = _PREFIX.match(lines[start])
        margin = prefix.group() if prefix else ""
        if re.match(r"(?:[-+*]|\d{1,9}[.)])\s", lines[start][len(margin) :]):
            continue  # the first line of a list item; left alone
        out += lines[done:start]
        out += [f"{margin}{line}".rstrip() for line in plain(table, width).split("\n")]
        done = end
    return "\n".join(out + lines[done:])


def plain(table: Table, width: int) -> str:
    """A table as aligned text in a code fence, or as records if that is wider than ``width``."""
    lines = aligned(table, width)
    if not lines:
        return records(table)
    # Each row is one line of cells joined by bars, so no cell closes the fence.
    fence = "````" if any("```" in line for line in lines) else "```"
    return "\n".join([fence, *lines, fence])


def aligned(table: Table, width: int) -> list[str]:
    """The lines of a table as text of at most ``width`` columns; empty if it would be wider.

    A table with an empty head is returned without one.
    """
    cells = [[plain_text(cell) for cell in row] for row in (table.header, *table.rows)]
    widths = [max(map(_width, column)) for column in zip(*cells, strict=True)]
    if sum(widths) + len(_BETWEEN) * (len(widths) - 1) > width:
        return []
    header, *rows = [
        _BETWEEN.join(_padded(cell, widths[n], n, table) for n, cell in enumerate(row)).rstrip()
        for row in cells
    ]
    rule = "-+-".join("-" * wide for wide in widths)
    return [header, rule, *rows] if any(cells[0]) else rows


def table_text(markdown: str, width: int) -> str:
    """A Markdown table as text without Markdown: aligned, or with a line for each cell."""
    found = [table for table, _, _ in tables_in(markdown)]
    if not found:
        return markdown
    lines = aligned(found[0], width)
    return "\n".join(lines) if lines else plain_records(found[0])


def records(table: Table) -> str:
    """A table as one paragraph per row, with a line for each non-empty cell."""
    names = [plain_text(cell) for cell in table.header]
    rows = table.rows or (("",) * len(names),)
    empty = " · ".join(f"**{name}**" for name in names if name)
    return "\n\n".join(_record("**{}**: {}", names, row) or empty for row in rows)


def plain_records(table: Table) -> str:
    """Like ``records``, without Markdown."""
    names = [plain_text(cell) for cell in table.header]
    rows = [[plain_text(cell) for cell in row] for row in table.rows]
    return "\n\n".join(_record("{}: {}", names, row) for row in rows)


def plain_text(cell: str) -> str:
    """The words of inline Markdown, on one line."""
    return _words(_parser.parseInline(cell)[0])


def runs(cell: str) -> Iterator[tuple[str, frozenset[str], str]]:
    """The words of inline Markdown, each run with its styles (strong, em, code) and its link."""
    styles: set[str] = set()
    url = ""
    for token in _parser.parseInline(cell)[0].children or []:
        kind = token.type.removesuffix("_open").removesuffix("_close")
        if kind == "link":
            url = str(token.attrs.get("href", ""))  # "" where it closes
        elif token.nesting:
            (styles.add if token.nesting > 0 else styles.discard)(kind)
        elif words := " " if kind in ("softbreak", "hardbreak") else token.content:
            yield words, frozenset(styles | {"code"} if kind == "code_inline" else styles), url


def plain_lines(text: str) -> list[str]:
    """The words of Markdown without its markup: a line for each paragraph, heading, item and table
    cell, and the lines of code unchanged.
    """
    lines: list[str] = []
    for token in _parser.parse(text):
        if token.type == "inline":
            lines.append(_words(token))
        elif token.type in ("fence", "code_block"):
            lines += token.content.splitlines()
    return [line for line in lines if line.strip()]


def _words(inline: Token) -> str:
    words = [
        " " if token.type in ("softbreak", "hardbreak") else token.content
        for token in (inline.children or [])
    ]
    return " ".join("".join(words).split())


def _record(line: str, names: Sequence[str], row: Sequence[str]) -> str:
    """The non-empty cells of a row, each formatted by ``line`` with its column's name."""
    cells = zip(names, row, strict=True)
    return "\n".join(line.format(name, cell) if name else cell for name, cell in cells if cell)


def _padded(cell: str, width: int, column: int, table: Table) -> str:
    space = width - _width(cell)
    left = space if column in table.right else space // 2 if column in table.center else 0
    return " " * left + cell + " " * (space - left)


def tables_in(text: str) -> list[tuple[Table, int, int]]:
    """The tables of Markdown, each with the numbers of its first line and of the line after it."""
    tokens = _parser.parse(text)
    found: list[tuple[Table, int, int]] = []
    rows: list[list[str]] = []
    aligned: dict[str, set[int]] = {"right": set(), "center": set()}
    start = end = 0
    for i, token in enumerate(tokens):
        if token.type == "table_open" and token.map:
            start, end = token.map
            rows, aligned = [], {"right": set(), "center": set()}
        elif token.type == "tr_open":
            rows.append([])
        elif token.type in ("th_open", "td_open"):
            style = str(token.attrs.get("style", "")).removeprefix("text-align:")
            if style in aligned:
                aligned[style].add(len(rows[-1]))
            rows[-1].append(tokens[i + 1].content)
        elif token.type == "table_close":
            header, *body = map(tuple, rows)
            right, center = frozenset(aligned["right"]), frozenset(aligned["center"])
            found.append((Table(header, tuple(body), right, center), start, end))
    return found


def _width(text: str) -> int:
    from rich.cells import cell_len  # few answers have a table

    return cell_len(text)
