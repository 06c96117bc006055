"""Reports: the changes of an indexing run, and the contents of the index below some folders."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args
from urllib.parse import unquote_to_bytes

from bot.core.texts import Sentence, decoded, said, whole_day
from bot.pages.media import name_of
from bot.pages.page import LOST_NOTE, LOST_WORD, counted
from bot.search.folders import FOLDER, HIDDEN, in_english, readable, root_of
from bot.search.index_file import LAST_SHOWN_FIRST, TEXT_OF, TOO_LARGE, below, opened
from bot.search.provider import Unread

T = TypeVar("T", bound=Hashable)

SHOWN = 10  # files that lost words or keep an earlier text, in a report
KEPT_ENOUGH = 0.9  # documents with a smaller share of their words are named in reports


@dataclass(frozen=True, slots=True)
class IndexReport:
    """The changes that an indexing run made.

    ``added``, ``changed``, ``removed`` and ``unchanged`` count files. ``skipped`` has pairs of a
    path and a reason (see ``reason_of``), but no files of kinds that are not read. ``passages`` is
    how many passages below the given paths can now be searched. ``again`` counts files and folders
    that could not be opened, or may not have been whole, and will be tried again. ``warning`` is a
    sentence for the user, or "".
    """

    added: int
    changed: int
    removed: int
    unchanged: int
    skipped: tuple[tuple[str, str], ...]
    passages: int
    seconds: float
    again: int = 0
    warning: str = ""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(value: dict[str, Any]) -> IndexReport:
        """Restore a report from the parsed JSON of ``as_json``."""
        skipped = tuple((path, reason) for path, reason in value["skipped"])
        return IndexReport(**value | {"skipped": skipped})


# What became of a file that was found: it is searched, with its earlier text if it cannot be read
# now, or not searched, since another has its text, it is empty, too large or cannot be read, it is
# of a kind that is not read or hidden, or it could not be looked at (a link, no permission).
# A "folder" is hidden or filled by tools; its files are not looked at.
# fmt: off
FileState = Literal[
    "document", "stale", "copy", "empty", "large", "unreadable", "kind", "hidden", "other", "folder"
]
# fmt: on
FILE_STATES: tuple[FileState, ...] = get_args(FileState)

# Every file below some folders, with its state, the reason for it, and when its text was read;
# files that are not read are counted by folder. ``CONDITION`` is that of the folders.
_FOUND = f"""
    WITH several AS MATERIALIZED (
        SELECT text_digest FROM files WHERE count > 0 AND (CONDITION)
        GROUP BY text_digest HAVING count(*) > 1
    ), same AS MATERIALIZED (
        SELECT id, first_value(url) OVER (PARTITION BY text_digest ORDER BY length(url), url)
            AS shown
        FROM files WHERE count > 0 AND text_digest IN several AND (CONDITION)
    )
    SELECT url, CASE
        WHEN shown != url THEN 'copy'
        WHEN count > 0 AND problem = '' THEN 'document'
        WHEN count > 0 THEN 'stale'
        WHEN size = 0 THEN 'empty'
        WHEN problem LIKE '{TOO_LARGE}' THEN 'large'
        ELSE 'unreadable' END AS state,
        CASE WHEN shown != url THEN shown ELSE problem END AS note, 1 AS number,
        {TEXT_OF} AS read_at
    FROM files LEFT JOIN same USING (id) WHERE CONDITION
    UNION ALL SELECT url, CASE
        WHEN ending IN ('{HIDDEN}', '{FOLDER}') THEN ending
        WHEN ending = '' OR ending LIKE '.%' THEN 'kind'
        ELSE 'other' END, ending, count, 0
    FROM unread WHERE CONDITION"""  # noqa: S608 - constants


@dataclass(slots=True)
class Tally:
    """Some of the files found: how many are in each state, and of each format that is searched.
    ``read_at`` is when one of them was read last, in seconds since 1970, or 0."""

    states: Counter[FileState] = field(default_factory=Counter)
    kinds: Counter[Sentence] = field(default_factory=Counter)
    read_at: float = field(default=0.0, compare=False)

    @property
    def documents(self) -> int:
        """Files that are searched, each text once."""
        return self.states["document"] + self.states["stale"]

    @property
    def found(self) -> int:
        """All files in the folders that were looked at."""
        return self.states.total() - self.states["folder"]

    def __add__(self, other: Tally) -> Tally:
        read_at = max(self.read_at, other.read_at)
        return Tally(self.states + other.states, self.kinds + other.kinds, read_at)


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file, or ``number`` files of a folder, and why it is in its state: a sentence, an ending or
    the path of the one that is shown with the same text."""

    url: str
    note: Sentence
    number: int


def tallies(index: Path, paths: Iterable[str | Path], group: Callable[[str], T]) -> dict[T, Tally]:
    """Count all files below some paths, by group; ``group`` gets a file's or a folder's address.

    Raises ``InvalidSetting`` and ``StorageUnavailable``.
    """
    condition, values = below([root_of(path) for path in paths])
    found: defaultdict[T, Tally] = defaultdict(Tally)
    with opened(index) as connection:
        rows = connection.execute(_FOUND.replace("CONDITION", condition), values * 4)
        for url, state, _, number, read_at in rows:
            tally = found[group(url)]
            tally.states[state] += number
            tally.read_at = max(tally.read_at, read_at)
            if state in ("document", "stale"):
                tally.kinds[_kind(url)] += 1
    return found


def files_in(
    index: Path,
    paths: Iterable[str | Path],
    state: FileState,
    inside: str | Path,
    most: int,
    skip: int = 0,
) -> list[FoundFile]:
    """List the files below some paths that are in a state and in the folder ``inside``, in order of
    their addresses; raises like ``tallies``."""
    every, values = below([root_of(path) for path in paths])
    within, folder = below([root_of(inside)])
    query = (
        f"SELECT url, note, number, read_at FROM ({_FOUND.replace('CONDITION', every)})"  # noqa: S608 - our own columns
        f" WHERE state = ? AND ({within}) ORDER BY url, note LIMIT ? OFFSET ?"
    )
    with opened(index) as connection:
        rows = connection.execute(query, (*values * 4, state, *folder, most, skip)).fetchall()
    return [
        FoundFile(url, _note(state, note, read_at), number) for url, note, number, read_at in rows
    ]


def _note(state: FileState, note: str, read_at: float) -> Sentence:
    if state == "copy":
        return path_of(note)
    return reason_of(note, read_at if state == "stale" else 0.0)


@dataclass(frozen=True, slots=True)
class Holdings:
    """The contents of the index below some folders.

    ``files`` counts all that were found. ``copies`` has pairs of a file that is not shown and the
    one with the same text that is. ``incomplete`` has files with the share of their words that was
    kept, lowest first, and with what is missing. ``omitted`` has pairs of another file and what its
    text leaves out, by kind. ``unread`` counts the files of kinds that are not read. ``stale`` has
    pairs of a file that keeps its earlier text and the reason (see ``reason_of``).
    """

    files: Tally
    copies: tuple[tuple[str, str], ...]
    incomplete: tuple[tuple[str, float, dict[str, int]], ...]
    omitted: tuple[tuple[str, dict[str, int]], ...]
    unread: Unread
    stale: tuple[tuple[str, str], ...]

    def losses(self) -> list[str]:
        """What is said of the files that lost most words: a sentence, then a line for each."""
        lines = [
            f"{kept:4.0%}  {path}" + (f" ({counted(missing)})" if missing else "")
            for path, kept, missing in self.incomplete
        ]
        more = len(lines) - SHOWN
        few = f"less than {KEPT_ENOUGH:.0%} of the words was kept of {len(lines):,} file(s):"
        shown = [*lines[:SHOWN], *([f"… and {more:,} more"] * (more > 0))]
        return [few, *(f"  {line}" for line in shown)] if lines else []


def holdings(index: Path, paths: Iterable[str | Path]) -> Holdings:
    """Read ``Holdings`` from the index. Raises ``InvalidSetting`` and ``StorageUnavailable``."""
    condition, values = below([root_of(path) for path in paths])
    with opened(index) as connection:
        rows = connection.execute(
            "SELECT text_digest, url, kept, omitted FROM files"  # noqa: S608 - our own columns
            f" WHERE count > 0 AND ({condition}) ORDER BY {LAST_SHOWN_FIRST}",
            values,
        ).fetchall()
        unread = unread_files(connection, condition, values)
        stale = tuple(unreadable(connection, f"count > 0 AND ({condition})", values))
    shown = {digest: (url, kept, omitted) for digest, url, kept, omitted in rows}
    copies = [(url, shown[digest][0]) for digest, url, *_ in rows if shown[digest][0] != url]
    files = sorted(
        ((kept, path_of(url), json.loads(found)) for url, kept, found in shown.values()),
        key=lambda file: file[:2],
    )
    others = {path: _on_purpose(found) for kept, path, found in files if kept >= KEPT_ENOUGH}
    return Holdings(
        tallies(index, paths, lambda url: "").get("", Tally()),
        tuple(sorted((path_of(url), path_of(other)) for url, other in copies)),
        tuple((path, kept, found) for kept, path, found in files if kept < KEPT_ENOUGH),
        tuple((path, others[path]) for path in sorted(others) if others[path]),
        unread,
        stale,
    )


def unreadable(
    connection: sqlite3.Connection, condition: str, values: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """The files that cannot be read, of those that meet a condition: pairs of path and reason."""
    for url, *why in connection.execute(
        f"SELECT url, problem, {TEXT_OF} FROM files"  # noqa: S608 - our own column names
        f" WHERE problem != '' AND ({condition}) ORDER BY url",
        values,
    ):
        yield path_of(url), in_english(reason_of(*why))


def reason_of(problem: str, text_of: float) -> Sentence:
    """Why a file was skipped, and of which day its text in the index is; see ``IndexEntry``."""
    why = decoded(problem)
    if not text_of:
        return why
    day = datetime.fromtimestamp(text_of, UTC)
    kept = said("unread-kept", date=whole_day(day))
    return said("sentences", first=why, next=kept)


def unread_files(connection: sqlite3.Connection, condition: str, values: Sequence[str]) -> Unread:
    """The files of kinds that are not read, in folders that meet a condition on their address."""
    endings = connection.execute(
        "SELECT ending, sum(count) FROM unread"  # noqa: S608 - our own column names
        f" WHERE ({condition}) AND (ending = '' OR ending LIKE '.%') GROUP BY ending"
        " ORDER BY 2 DESC, 1",
        values,
    ).fetchall()
    (read,) = connection.execute(
        f"SELECT count(*) FROM files WHERE {condition}",  # noqa: S608 - our own column names
        values,
    ).fetchone()
    return Unread(read + sum(count for _, count in endings), tuple(endings))


def _on_purpose(omitted: dict[str, int]) -> dict[str, int]:
    """Without the few words that another reading has because it divides words in another way."""
    return {kind: count for kind, count in omitted.items() if kind not in (LOST_WORD, LOST_NOTE)}


def documents_digest(index: Path, paths: Iterable[str | Path]) -> str:
    """A hexadecimal digest of all files in the index below some folders.

    Raises ``InvalidSetting`` and ``StorageUnavailable``.
    """
    condition, values = below([root_of(path) for path in paths])
    digest = hashlib.sha256()
    with opened(index) as connection:
        for url, of_bytes in connection.execute(
            f"SELECT url, digest FROM files WHERE {condition} ORDER BY url",  # noqa: S608 - our own columns
            values,
        ):
            digest.update(f"{url}\0".encode() + of_bytes)
    return digest.hexdigest()


def _kind(url: str) -> Sentence:
    ending = url.rpartition(".")[2]
    return _kind_of(url if ending == "gz" or "/" in ending else f"x.{ending}")


_kind_of = lru_cache(maxsize=1_000)(name_of)


def path_of(url: str) -> str:
    """The path of a ``file://`` address, in printable form."""
    return readable(os.fsdecode(unquote_to_bytes(url.removeprefix("file://"))))
