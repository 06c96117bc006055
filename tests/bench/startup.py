"""How long ``footnote --help`` takes, Python's own start included."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

from tests.bench.table import ms, percentile, print_table

RUNS = 15


def seconds(*command: str) -> list[float]:
    taken = []
    for _ in range(RUNS):
        started = time.perf_counter()
        subprocess.run([sys.executable, *command], check=True, capture_output=True)
        taken.append(time.perf_counter() - started)
    return taken


def main(arguments: list[str]) -> None:
    rows = []
    for name, command in (
        ("python -c pass", ("-c", "pass")),
        ("footnote --help", ("-m", "bot", "--help")),
        ("footnote ask --help", ("-m", "bot", "ask", "--help")),
    ):
        taken = seconds(*command)
        rows.append((name, ms(statistics.median(taken)), ms(percentile(taken, 0.95))))
    print_table(("command", "median", "p95"), rows)
