"""Keeps track of which files in the index are twins of others, as files come and go.

Files have an order, more readable ones first (``twins.order_of``). A file is the twin of a better
file that is not a twin itself. So the state of a file depends only on better ones, and the result
does not depend on the order in which files arrive.
"""

from __future__ import annotations

import heapq
import sqlite3
from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from bot.search.index_file import unpack_text
from bot.search.twins import Side, is_twin, may_be_twins, nearness, order_of

UNDECIDED = -1  # ``files.twin`` of a file that was just written
NONE = 0  # ``files.twin`` of a file that is not a twin

MOST_SHARING = 64  # files stored under one key; text that more files share is boilerplate
MOST_COMPARED = 16  # candidates whose texts are compared with a file's

_Place = tuple[tuple[int, int, str], int]  # the order of a file and its id


@dataclass(frozen=True, slots=True)
class _Related:
    """A file that shares keys with the current one."""

    id: int
    url: str
    twin: int


class TwinFiles:
    """Works within the transaction that the caller has begun.

    ``unread`` collects files that must be decided but whose text is not stored.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._sides: dict[int, Side] = {}
        self.unread: list[int] = []

    def forget(self, file: int, keys: bytes) -> list[int]:
        """Delete the keys of a file that is being removed; returns the files that were its twins,
        which must be settled again."""
        self._connection.executemany(
            "DELETE FROM twin_keys WHERE key = ? AND file = ?",
            ((key, file) for key in _unpacked(keys)),
        )
        twins = self._twins(file)
        self._connection.execute("UPDATE files SET twin = ? WHERE twin = ?", (UNDECIDED, file))
        return twins

    def settle(self, files: Iterable[int]) -> set[int]:
        """Decide some files again, and all files that are affected by the results.

        Returns the files that were decided.
        """
        self._sides.clear()
        waiting: list[_Place] = []
        self._put(waiting, files)
        decided: set[int] = set()
        last = 0
        while waiting:
            _, file = heapq.heappop(waiting)
            if file != last:
                last = file
                decided.add(file)
                self._put(waiting, self._decide(file))
        return decided

    def _put(self, waiting: list[_Place], files: Iterable[int]) -> None:
        for file in files:
            row = self._connection.execute(
                "SELECT url, file FROM files LEFT JOIN pages ON file = id WHERE id = ?", (file,)
            ).fetchone()
            if row is not None and row[1] is None:
                self.unread.append(file)
            elif row is not None:  # otherwise it was removed as well
                heapq.heappush(waiting, (order_of(row[0]), file))

    def _decide(self, file: int) -> list[int]:
        """Decide one file; returns the files that must be decided as a result."""
        url, before, packed = self._connection.execute(
            "SELECT url, twin, keys FROM files WHERE id = ?", (file,)
        ).fetchone()
        sharing = self._sharing(_unpacked(packed))
        self._remember(file, sharing)
        related = self._related(file, url, sharing)
        twin = self._twin_of(file, url, related)
        if twin == before:
            return []
        self._connection.execute("UPDATE files SET twin = ? WHERE id = ?", (twin, file))
        if twin != NONE:
            return self._twins(file)
        place = order_of(url)
        return [each.id for each in related if order_of(each.url) > place]

    def _twins(self, file: int) -> list[int]:
        rows = self._connection.execute("SELECT id FROM files WHERE twin = ?", (file,))
        return [twin for (twin,) in rows.fetchall()]

    def _twin_of(self, file: int, url: str, related: list[_Related]) -> int:
        place = order_of(url)
        better = [each for each in related if each.twin == NONE and order_of(each.url) < place]
        better.sort(key=lambda each: nearness(url, each.url))
        for each in better[:MOST_COMPARED]:
            if is_twin(self._side(file), self._side(each.id)):
                return each.id
        return NONE

    def _remember(self, file: int, sharing: Mapping[int, Collection[int]]) -> None:
        """Store a file under those of its keys that are not boilerplate."""
        self._connection.executemany(
            "INSERT OR IGNORE INTO twin_keys (key, file) VALUES (?, ?)",
            ((key, file) for key, files in sharing.items() if len(files) < MOST_SHARING),
        )

    def _related(
        self, file: int, url: str, sharing: Mapping[int, Collection[int]]
    ) -> list[_Related]:
        """The files that share enough keys with a file to be compared with it, and the files whose
        twins those are."""
        shared: defaultdict[int, list[int]] = defaultdict(list)
        for key, files in sharing.items():
            for other in files:
                shared[other].append(key)
        shared.pop(file, None)
        found: dict[int, _Related] = {}
        for other, common in shared.items():
            each = self._file(other)
            if may_be_twins(url, each.url, common):
                found[other] = each
                if each.twin > NONE and each.twin not in found and each.twin != file:
                    found[each.twin] = self._file(each.twin)
        return list(found.values())

    def _file(self, file: int) -> _Related:
        url, twin = self._connection.execute(
            "SELECT url, twin FROM files WHERE id = ?", (file,)
        ).fetchone()
        return _Related(file, url, twin)

    def _sharing(self, keys: Collection[int]) -> dict[int, list[int]]:
        """For each key, the files that are stored under it."""
        sharing: dict[int, list[int]] = {key: [] for key in keys}
        marks = ", ".join("?" * len(keys))
        for key, file in self._connection.execute(
            f"SELECT key, file FROM twin_keys WHERE key IN ({marks})",  # noqa: S608 - only marks
            tuple(keys),
        ):
            sharing[key].append(file)
        return sharing

    def _side(self, file: int) -> Side:
        side = self._sides.get(file)
        if side is None:
            url, title, text = self._connection.execute(
                "SELECT url, title, text FROM files JOIN pages ON file = id WHERE id = ?", (file,)
            ).fetchone()
            side = Side(url, title, unpack_text(text))
            if len(self._sides) >= MOST_COMPARED:
                self._sides.clear()
            self._sides[file] = side
        return side


def pack_keys(keys: Iterable[int]) -> bytes:
    """Keys in their stored form."""
    return array("q", keys).tobytes()


def _unpacked(keys: bytes) -> array[int]:
    numbers = array("q")
    numbers.frombytes(keys)
    return numbers
