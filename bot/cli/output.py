"""The tables and JSON documents that commands print."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import typer
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from bot.rendering.documents import printed_json

WIDTH = 100  # characters of a line of a table, if there is no terminal


def print_json(document: Any) -> None:
    typer.echo(printed_json(document))


def print_all(parts: Iterable[RenderableType]) -> None:
    """Print text and tables to standard output: for a file or a pipe without trailing blanks, and
    no wider than ``WIDTH``."""
    out = Console(highlight=False)
    if out.is_terminal:
        out.print(*parts, sep="\n")
        return
    with out.capture() as captured:
        out.print(*parts, sep="\n", width=WIDTH)
    out.file.write("\n".join(line.rstrip() for line in captured.get().split("\n")))


def table(heads: Sequence[str], rows: Iterable[Sequence[str | Text]], numbers: int = 0) -> Table:
    """Return a table without lines; its last ``numbers`` columns hold numbers, which are never
    cut."""
    found = Table(
        box=None,
        pad_edge=False,
        padding=(0, 1 if numbers else 2, 0, 0),
        show_header=any(heads),
        header_style="bold",
    )
    first_number = len(heads) - numbers
    for place, head in enumerate(heads):
        if place < first_number:
            found.add_column(head, overflow="fold", header_style="bold")
        else:
            found.add_column(head, justify="right", no_wrap=True, header_style="none")
    for row in rows:
        found.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row))
    return found
