"""Checks, without writing, that no document has changed; in a separate process if that is faster.

Checking 50,000 files takes 0.4 s of processor time, as does importing the code that answers a
question, so the two run in parallel; a small index is checked in the searching process. A search
starts only after the check has found the index up to date, or an indexing run has updated it, so
that no answer is based on an old version of a file.

``CheckProcess`` is used before anything else is imported, so imports that only the process needs
are inside functions.
"""

from __future__ import annotations

import gc
import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Self

from bot.core.errors import FootnoteError
from bot.pages.processes import environment

if TYPE_CHECKING:
    from bot.search.index_report import IndexReport

WORTHWHILE = 5_000_000  # bytes of an index; with a smaller one, no process is started
COMMAND = (sys.executable, "-P", "-c", "from bot.search.unchanged import main; main()")


class CheckProcess:
    """``unchanged`` in a separate process, started immediately if the index is large. A context
    manager that ends the process."""

    def __init__(
        self, index: Path, paths: Iterable[str | Path], areas: Iterable[str | Path] = ()
    ) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._index = index
        self._roots = roots = [str(path) for path in paths]
        self._areas = [str(path) for path in areas]
        try:
            if roots and index.stat().st_size >= WORTHWHILE:
                self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and code
                    (*COMMAND, str(index), json.dumps(self._areas), *roots),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    env=environment(),
                )
        except OSError:
            self._process = None  # no index yet, or no memory: ``report`` checks by itself

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.kill()
            with self._process:
                pass

    def report(self) -> IndexReport | None:
        """The report of an indexing run without changes, or None; waits for the process."""
        if self._process is None:
            return unchanged(self._index, self._roots, self._areas)
        output, _ = self._process.communicate()
        try:
            value = json.loads(output)
        except ValueError:  # the process was killed
            return None
        from bot.search.index_report import IndexReport

        return None if value is None else IndexReport.from_json(value)


def unchanged(
    index: Path, paths: Iterable[str | Path], areas: Iterable[str | Path] = ()
) -> IndexReport | None:
    """The report of an indexing run without changes; None if there is something to index.

    ``areas`` are as for ``Indexer``.
    """
    from bot.search.folders import root_of
    from bot.search.index_file import Damaged, area_addresses, damage_mark, open_reader

    started = time.monotonic()
    try:
        roots = tuple(dict.fromkeys(map(root_of, paths)))
        if damage_mark(index).exists():
            return None
        with closing(open_reader(index)) as connection:
            return _unchanged(connection, roots, area_addresses(areas), started)
    except (OSError, FootnoteError, Damaged, sqlite3.Error):
        return None  # the indexing run reports the problem, and repairs it if possible


def _unchanged(
    connection: sqlite3.Connection, roots: tuple[Path, ...], areas: list[str], started: float
) -> IndexReport | None:
    from bot.search.folders import list_documents
    from bot.search.index_file import address, below, fingerprint
    from bot.search.index_report import IndexReport, unreadable

    waiting = [url for (url,) in connection.execute("SELECT url FROM roots WHERE waiting > 0")]
    known_areas = {url for (url,) in connection.execute("SELECT url FROM areas")}
    made_by = connection.execute("SELECT value FROM meta WHERE key = 'fingerprint'").fetchone()
    if made_by != (fingerprint(),) or not known_areas.issuperset(areas):
        return None
    if any(address(root) in waiting for root in roots):  # the run for it did not end
        return None
    condition, values = below(roots)
    query = f"SELECT url, size, modified FROM files WHERE {condition}"  # noqa: S608 - our own columns
    listing = list_documents(roots)
    known = {
        url: (size, modified)
        for url, size, modified in connection.execute(query, values)
        if url in listing.documents or listing.is_gone(url)
    }
    if known != {url: (each.size, each.modified) for url, each in listing.documents.items()}:
        return None
    problems = list(unreadable(connection, condition, values))
    query = f"SELECT total(count) FROM files WHERE {condition}"  # noqa: S608
    (passages,) = connection.execute(query, values).fetchone()
    return IndexReport(
        added=0,
        changed=0,
        removed=0,
        unchanged=len(known) - len(problems),
        skipped=(*listing.skipped, *problems),
        passages=int(passages),
        seconds=time.monotonic() - started,
        again=len(listing.unseen),
    )


def main() -> None:
    """Print the report of ``unchanged`` as JSON; the arguments are the index, the areas as JSON,
    and the paths."""
    gc.disable()  # none of the hundreds of thousands of objects is garbage
    index, areas, *paths = sys.argv[1:]
    report = unchanged(Path(index), paths, json.loads(areas))
    json.dump(None if report is None else report.as_json(), sys.stdout)
