"""The files of the index that a search may find: those in folders within the reader's reach."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from bot.rights.reader import EVERYTHING, Reach
from bot.search.index_file import below
from bot.search.meaning import Condition

NOWHERE = Condition("FALSE", ())
_BELOW = "url = ? OR (url > ? AND url < ?)"


@dataclass(frozen=True, slots=True)
class Visible:
    """Conditions on the table ``files``: ``readable`` for the files at or below the folders that
    are in reach; ``found`` for those of them that are not replaced by a readable twin."""

    readable: Condition
    found: Condition

    @classmethod
    def of(cls, folders: Iterable[Path], reach: Reach = EVERYTHING) -> Visible:
        reach = reach.of_files
        if reach.is_nothing:
            return cls(NOWHERE, NOWHERE)
        sql, values = below(folders)
        if not reach.has_all_documents:
            in_reach = _in_reach(reach)
            sql, values = f"({sql}) AND ({in_reach.sql})", [*values, *in_reach.values]
        here, there = sql.replace("url", "files.url"), sql.replace("url", "other.url")
        twin = (
            "SELECT 1 FROM files AS other WHERE (other.id = files.twin"  # noqa: S608 - our own
            f" OR other.twin = files.twin AND other.id < files.id) AND ({there})"
        )
        found = f"({here}) AND (files.twin = 0 OR NOT EXISTS ({twin}))"
        return cls(Condition(sql, values), Condition(found, [*values, *values]))


def _in_reach(reach: Reach) -> Condition:
    """``Reach.allows`` as an SQL condition: the first matching rule decides."""
    cases = "".join(f" WHEN {_BELOW} THEN {int(allowed)}" for _, allowed in reach.rules)
    values: list[str] = []
    for root, _ in reach.rules:
        values += [root, root + "/", root + "0"]  # "0" is the character after "/"
    otherwise = int(reach.others)
    sql = f"CASE{cases} ELSE {otherwise} END" if cases else str(otherwise)
    return Condition(sql, values)
