"""The files of the index that a search may show: those in folders within the reader's reach.

Of files with equal text, only one is shown: the one with the shortest address, or the first of
those in alphabetical order. It is chosen from the files that the reader may see, so a file that is
hidden neither replaces one that is not, nor is replaced by one.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.core.reader import EVERYTHING, Reach
from bot.search.areas import areas_in_reach
from bot.search.index_file import below

LAST_SHOWN_FIRST = "length(url) DESC, url DESC"
"""An order of files in which, of those with equal text, the one that is shown comes last."""

_BELOW = "url = ? OR (url > ? AND url < ?)"


@dataclass(frozen=True, slots=True)
class Condition:
    """An SQL condition on the table ``files``, with the values of its parameters."""

    sql: str
    values: Sequence[str]


class Visible:
    """The files in some folders (in all without any) that are in reach, and their ``areas``.

    ``condition`` is theirs. For one transaction.
    """

    def __init__(
        self, connection: sqlite3.Connection, folders: Iterable[Path], reach: Reach = EVERYTHING
    ) -> None:
        reach = reach.of_files
        self._connection = connection
        self._shown: dict[bytes, int] = {}
        self.areas = areas_in_reach(connection, reach)
        sql, values = below(folders)
        sql = f"area IN ({', '.join(str(area.id) for area in self.areas)}) AND ({sql})"
        if not reach.has_all_documents:
            in_reach, more = _in_reach(reach)
            sql, values = f"{sql} AND ({in_reach})", [*values, *more]
        self.condition = Condition(sql, values)

    def is_shown(self, file: int, text_digest: bytes) -> bool:
        """Return True if a visible file is the one that is shown of those with its text."""
        shown = self._shown.get(text_digest)
        if shown is None:
            (shown,) = self._connection.execute(
                "SELECT id FROM files WHERE text_digest = ? AND count > 0"  # noqa: S608 - our own column names
                f" AND {self.condition.sql} ORDER BY length(url), url LIMIT 1",
                (text_digest, *self.condition.values),
            ).fetchone()
            self._shown[text_digest] = shown
        return shown == file


def _in_reach(reach: Reach) -> tuple[str, list[str]]:
    """``Reach.allows`` as an SQL condition with its values: the first matching rule decides."""
    cases = "".join(f" WHEN {_BELOW} THEN {int(allowed)}" for _, allowed in reach.rules)
    values: list[str] = []
    for root, _ in reach.rules:
        values += [root, root + "/", root + "0"]  # "0" is the character after "/"
    otherwise = int(reach.others)
    return f"CASE{cases} ELSE {otherwise} END" if cases else str(otherwise), values
