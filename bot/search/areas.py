"""Areas of the index: searched apart, so that what a reader may not see costs no time.

Each path of a collection is an area, without those of other collections within it; all other files
are in area 0. The terms of an area's passages are stored with its number before them, and a search
asks for those of the areas that the reader may see: it looks at neither the postings nor the
frequencies of others. Without collections there is only area 0, whose terms are stored as they are.

An index knows the collections of the last indexing run. If they have changed since, an area may
hold files that a reader may see and others. The rights decide about each file found in any case.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.core.reader import Reach
from bot.search.index_file import address, is_below

MARK = "·"  # between an area's number and a term; no term contains it (``text.terms``)


@dataclass(frozen=True, slots=True)
class Area:
    """An area with files that a reader may see: all of them if ``is_whole``. ``passages`` is the
    number of its passages that are searched."""

    id: int
    passages: int
    is_whole: bool = True


def area_addresses(paths: Iterable[str | Path]) -> list[str]:
    """The addresses of the areas for paths of collections: as written, and with links resolved."""
    found: set[str] = set()
    for path in paths:
        written = os.path.abspath(Path(path).expanduser())
        found |= {address(Path(written)), address(Path(os.path.realpath(written)))}
    return sorted(found)


def innermost(url: str, areas: Iterable[str]) -> str:
    """The longest address at or below which a file is; "" for area 0."""
    return max((area for area in areas if area and is_below(url, area)), key=len, default="")


def in_area(area: int, terms: str) -> str:
    """Terms, separated by spaces, as they are stored for an area."""
    if not area or not terms:
        return terms
    return f"{area}{MARK}" + terms.replace(" ", f" {area}{MARK}")


def areas_in_reach(connection: sqlite3.Connection, reach: Reach) -> list[Area]:
    """The areas with files that may be within a reach."""
    rows = connection.execute("SELECT id, url, passages FROM areas ORDER BY id").fetchall()
    if reach.has_all_documents:
        return [Area(id, passages) for id, _, passages in rows]
    urls = [url for _, url, _ in rows]
    decided = {url: {_allows(reach, url)} for url in urls}
    for root, allowed in reach.rules:
        if root not in decided:  # a collection that is newer than the index
            decided[innermost(root, urls)].add(allowed)
    return [
        Area(id, passages, all(decided[url])) for id, url, passages in rows if any(decided[url])
    ]


def _allows(reach: Reach, url: str) -> bool:
    rule = next((allowed for root, allowed in reach.rules if url and is_below(url, root)), None)
    return reach.others if rule is None else rule


def found_in(
    connection: sqlite3.Connection, areas: Sequence[Area], terms: Iterable[str]
) -> dict[str, int]:
    """The number of passages of some areas with each term; terms without any are left out."""
    found: dict[str, int] = {}
    query = "SELECT doc FROM temp.vocabulary WHERE term = ?"
    for term in terms:
        rows = [connection.execute(query, (in_area(each.id, term),)).fetchone() for each in areas]
        if count := sum(row[0] for row in rows if row is not None):
            found[term] = count
    return found


def phrases(areas: Sequence[Area], terms: Iterable[str]) -> str:
    """The FTS5 query for passages of some areas with any of the terms."""
    return " OR ".join(f'"{in_area(each.id, term)}"' for term in terms for each in areas)
