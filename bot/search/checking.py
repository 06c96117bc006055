"""Seeing that nothing has changed since documents were indexed, without writing anything."""

from __future__ import annotations

import gc
import json
import sqlite3
import sys
import time
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from bot.errors import FootnoteError
from bot.search.folders import list_documents, root_of
from bot.search.index_file import (
    Damaged,
    address,
    below,
    damage_mark,
    fingerprint,
    open_reader,
)
from bot.search.index_report import IndexReport, path_of


def unchanged(index: Path, paths: Iterable[str | Path]) -> IndexReport | None:
    """The report of an indexing run that has nothing to do; None where there is something."""
    started = time.monotonic()
    try:
        roots = tuple(dict.fromkeys(map(root_of, paths)))
        if damage_mark(index).exists():
            return None
        with closing(open_reader(index)) as connection:
            return _unchanged(connection, roots, started)
    except (OSError, FootnoteError, Damaged, sqlite3.Error):
        return None  # the indexing run says what is wrong, and mends it if that can be


def _unchanged(
    connection: sqlite3.Connection, roots: tuple[Path, ...], started: float
) -> IndexReport | None:
    known_roots = {url for (url,) in connection.execute("SELECT url FROM roots")}
    made_by = connection.execute("SELECT value FROM meta WHERE key = 'fingerprint'").fetchone()
    if made_by != (fingerprint(),) or not known_roots.issuperset(map(address, roots)):
        return None
    condition, values = below(roots)
    query = f"SELECT url, size, modified FROM files WHERE {condition}"  # noqa: S608 - our own columns
    known = {url: (size, modified) for url, size, modified in connection.execute(query, values)}
    listing = list_documents(roots)
    if known != {url: (each.size, each.modified) for url, each in listing.documents.items()}:
        return None
    query = f"SELECT url, problem FROM files WHERE problem != '' AND ({condition})"  # noqa: S608
    problems = [(path_of(url), why) for url, why in connection.execute(query, values)]
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
    )


def main() -> None:
    """Print the report of ``unchanged`` as JSON, for the index and the paths that are given."""
    gc.disable()  # of hundreds of thousands of objects none is garbage
    index, *paths = sys.argv[1:]
    report = unchanged(Path(index), paths)
    json.dump(None if report is None else report.as_json(), sys.stdout)
