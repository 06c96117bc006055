"""The frame of all benches: arguments, tables, medians, and the programs that they start."""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
SHARED = REPOSITORY.parent / "shared" / "data"
"""The public data sets beside the repository."""
BEGAN = time.monotonic()
OURS = ("FOOTNOTE_", "ANTHROPIC_", "OPENAI_", "SLACK_", "DISCORD_")
START_SECONDS, END_SECONDS = 60.0, 40.0
TICKS = os.sysconf("SC_CLK_TCK")


def options(name: str, description: str | None) -> argparse.ArgumentParser:
    """The arguments of a bench: ``--quick``, and what it adds."""
    parser = argparse.ArgumentParser(
        f"python -m tests.bench {name}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    quick = "run through it at its smallest size, which measures nothing"
    parser.add_argument("--quick", action="store_true", help=quick)
    return parser


# ---------------------------------------------------------------- telling


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


# ---------------------------------------------------------------- programs


def clean() -> dict[str, str]:
    """The environment without what configures Footnote, a model or a platform."""
    return {name: value for name, value in os.environ.items() if not name.startswith(OURS)}


def start(
    arguments: Sequence[str], environment: Mapping[str, str], folder: str | os.PathLike[str]
) -> subprocess.Popen[str]:
    """``footnote`` in a folder; what it prints is left out, what it logs can be read."""
    return subprocess.Popen(
        [sys.executable, "-m", "bot", *arguments],
        env={**environment, "PYTHONPATH": str(REPOSITORY)},
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


@dataclass
class Running:
    """A program of Footnote's at work. ``lines`` is what it told."""

    process: subprocess.Popen[str]
    lines: list[str] = field(default_factory=list)
    told: threading.Condition = field(default_factory=threading.Condition)

    @property
    def pid(self) -> int:
        return self.process.pid

    def read(self) -> None:
        """Keep what it tells, until it ends."""
        assert self.process.stderr is not None
        with self.process.stderr as lines:
            for line in lines:
                with self.told:
                    self.lines.append(line.rstrip())
                    self.told.notify_all()

    def until_told(self, words: str) -> None:
        with self.told:
            if not self.told.wait_for(lambda: words in "\n".join(self.lines), START_SECONDS):
                raise TimeoutError("\n".join([f"no {words!r}, but:", *self.lines]))

    @property
    def complaints(self) -> list[str]:
        """The warnings and errors among the lines of its log."""
        return [line for line in self.lines if re.search(r"\[\S*(warning|error)", line)]

    @property
    def address(self) -> str:
        """The address at which it listens for HTTP."""
        found = re.search(r"http://\S+[^.\s]", "\n".join(self.lines))
        assert found is not None, self.lines
        return found[0]


@contextmanager
def running(
    arguments: Sequence[str], settings: Mapping[str, str], folder: str | os.PathLike[str]
) -> Iterator[Running]:
    """A program with its data in a folder and no settings but these; ended by SIGTERM."""
    environment = {
        **clean(),
        "NO_PROXY": "*",
        "FOOTNOTE_DATA_DIR": str(folder),
        "FOOTNOTE_LOG_FORMAT": "console",  # its start in plain sentences
        **settings,
    }
    started = Running(start(arguments, environment, folder))
    reader = threading.Thread(target=started.read, daemon=True)
    reader.start()
    try:
        yield started
    finally:
        started.process.send_signal(signal.SIGTERM)
        try:
            started.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            started.process.kill()
            started.process.wait()
        reader.join(END_SECONDS)


def stat(pid: int) -> list[str]:
    """Of proc(5)'s stat, from the state on; empty for a process that is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def processor_seconds(pid: int, *, ended: bool = False) -> float:
    """User and system time of a process, or of its children that have ended."""
    fields = stat(pid)
    at = 13 if ended else 11
    return (int(fields[at]) + int(fields[at + 1])) / TICKS if fields else 0.0
