"""A process that sees whether documents have changed, while this one gets ready.

To look through 50,000 files takes 0.4 s of a processor, and so does loading what answers a
question. A search begins only when the process has said that the index is what the files are, or
when it has been made so: no answer rests on what a file said earlier.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Self

from bot.pages.processes import environment

if TYPE_CHECKING:
    from bot.search.index_report import IndexReport

WORTHWHILE = 5_000_000  # bytes of an index; files of a smaller one are looked through at once
COMMAND = (sys.executable, "-P", "-c", "from bot.search.checking import main; main()")


class CheckProcess:
    """See the module docstring; begins at once, where the index is large. Leave it to end it."""

    def __init__(self, index: Path, paths: Iterable[str | Path]) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        roots = [str(path) for path in paths]
        try:
            if roots and index.stat().st_size >= WORTHWHILE:
                self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and code
                    (*COMMAND, str(index), *roots),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    env=environment(),
                )
        except OSError:
            self._process = None  # no index yet, or no room: indexing itself will look

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.kill()
            with self._process:
                pass

    def report(self) -> IndexReport | None:
        """Wait for it. The report of an indexing run that had nothing to do, or None."""
        if self._process is None:
            return None
        told, _ = self._process.communicate()
        try:
            value = json.loads(told)
        except ValueError:  # it was ended
            return None
        from bot.search.index_report import IndexReport

        return None if value is None else IndexReport.from_json(value)
