"""Printing tables, and medians."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

BEGAN = time.monotonic()


def print_table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Columns as wide as they need to be; the first one left, the others right."""
    cells = [[str(cell) for cell in row] for row in (header, *rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    for row in cells:
        first, *others = row
        right = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
        print("  ".join((first.ljust(widths[0]), *right)), flush=True)


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which this share of the values lies (nearest rank)."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))]


def tell(stage: str) -> None:
    """A line of progress, on stderr, with the seconds since the bench began."""
    print(f"[{time.monotonic() - BEGAN:5.0f} s] {stage}", file=sys.stderr, flush=True)


def ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"
