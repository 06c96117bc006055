"""Maps passages of the index to rows in the file of vectors, and finds those without one.

These tables are part of the index, so that triggers keep them consistent with ``pages``: a file
that is written or split again loses its rows and is added to ``vector_queue``. ``vector_rows`` maps
a passage, by file and position, to its row in the file of vectors; equal texts in two files share a
row. ``meta`` has the id of the file of vectors to which the rows refer.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from bot.pages.passages import split
from bot.search.index_file import transaction, unpack_text
from bot.search.vector_file import key_of

META = "vectors"  # the key in ``meta`` for the id of the file to which the rows refer

_TABLES = """
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS vector_rows (
    row INTEGER NOT NULL,
    file INTEGER NOT NULL,
    place INTEGER NOT NULL,          -- of the passage in its file
    PRIMARY KEY (file, place)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS vector_rows_by_row ON vector_rows (row);
CREATE TABLE IF NOT EXISTS vector_queue (file INTEGER PRIMARY KEY);
CREATE TRIGGER IF NOT EXISTS vectors_of_new_page AFTER INSERT ON pages BEGIN
    DELETE FROM vector_rows WHERE file = NEW.file;
    INSERT OR IGNORE INTO vector_queue VALUES (NEW.file);
END;
CREATE TRIGGER IF NOT EXISTS vectors_of_changed_page AFTER UPDATE ON pages BEGIN
    DELETE FROM vector_rows WHERE file = NEW.file;
    INSERT OR IGNORE INTO vector_queue VALUES (NEW.file);
END;
CREATE TRIGGER IF NOT EXISTS vectors_of_gone_page AFTER DELETE ON pages BEGIN
    DELETE FROM vector_rows WHERE file = OLD.file;
    DELETE FROM vector_queue WHERE file = OLD.file;
END;
INSERT INTO meta SELECT 'vectors', '' WHERE NOT EXISTS (SELECT 1 FROM meta WHERE key = 'vectors');
COMMIT;
"""


@dataclass(frozen=True, slots=True)
class Page:
    """A file of the index whose passages need vectors: ``keys`` and ``texts`` are those of its
    passages, in order. ``stamp`` changes when the file changes."""

    file: int
    stamp: str
    keys: tuple[bytes, ...]
    texts: tuple[str, ...]


def is_there(connection: sqlite3.Connection) -> bool:
    """Return True if an index has these tables."""
    query = "SELECT 1 FROM sqlite_master WHERE name = 'vector_queue'"
    return connection.execute(query).fetchone() is not None


def file_id(connection: sqlite3.Connection) -> str:
    """The id of the file of vectors to which the rows refer; "" if there is none."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (META,)).fetchone()
    return "" if row is None else str(row[0])


def set_up(connection: sqlite3.Connection, id: str) -> None:
    """Create the tables if necessary, and queue all pages if the rows refer to a different file of
    vectors."""
    if not is_there(connection):
        connection.executescript(_TABLES)
    if file_id(connection) != id:
        with transaction(connection):
            connection.execute("DELETE FROM vector_rows")
            connection.execute("INSERT OR IGNORE INTO vector_queue SELECT file FROM pages")
            connection.execute("UPDATE meta SET value = ? WHERE key = ?", (id, META))


def counts(
    connection: sqlite3.Connection, condition: str, values: Sequence[str]
) -> tuple[int, int]:
    """The number of passages, and of those in pages that wait for vectors.

    ``condition`` (with its values) is on ``files``, as made by ``index_file.below``.
    """
    total = f"SELECT total(count) FROM files WHERE ({condition})"  # noqa: S608 - our own column names
    (passages,) = connection.execute(total, values).fetchone()
    if not is_there(connection):
        return int(passages), int(passages)
    those = " AND id IN (SELECT file FROM vector_queue)"
    (missing,) = connection.execute(total + those, values).fetchone()
    return int(passages), int(missing)


def waiting(
    connection: sqlite3.Connection, model: str, condition: str, values: Sequence[str], most: int
) -> list[Page]:
    """The first pages in the queue, with about ``most`` passages in total but at least one page.

    A page that is not searched, because its file has a twin that is, waits until it is searched.
    """
    found: list[Page] = []
    passages = 0
    rows = connection.execute(
        "SELECT id, hex(digest) || first, count FROM files"  # noqa: S608 - our own column names
        f" WHERE id IN (SELECT file FROM vector_queue) AND count > 0 AND ({condition})"
        " ORDER BY id LIMIT ?",
        (*values, most),
    ).fetchall()
    for file, stamp, count in rows:
        if found and passages + count > most:
            break
        passages += count
        found.append(_page(connection, model, file, stamp))
    return found


def _page(connection: sqlite3.Connection, model: str, file: int, stamp: str) -> Page:
    title, packed = connection.execute(
        "SELECT title, text FROM pages WHERE file = ?", (file,)
    ).fetchone()
    passages = split(unpack_text(packed))
    return Page(
        file,
        stamp,
        tuple(key_of(model, title, each.heading, each.text) for each in passages),
        tuple(embedder_text(title, each.heading, each.text) for each in passages),
    )


def embedder_text(title: str, heading: str, text: str) -> str:
    """The text of a passage for an embedder: its headings, then its own text."""
    above = heading if heading.startswith(title) else "\n".join(filter(None, (title, heading)))
    return f"{above}\n{text}" if above else text


def record(connection: sqlite3.Connection, pages: Iterable[tuple[Page, Sequence[int]]]) -> None:
    """Store the rows of pages that have not changed since they were read, and dequeue the pages."""
    with transaction(connection):
        for page, rows in pages:
            now = connection.execute(
                "SELECT hex(digest) || first FROM files WHERE id = ?", (page.file,)
            ).fetchone()
            if now is None or now[0] != page.stamp:
                continue
            connection.executemany(
                "INSERT OR REPLACE INTO vector_rows (row, file, place) VALUES (?, ?, ?)",
                ((row, page.file, place) for place, row in enumerate(rows)),
            )
            connection.execute("DELETE FROM vector_queue WHERE file = ?", (page.file,))


def some_wait(connection: sqlite3.Connection) -> bool:
    """Return True if a page that is searched is in the queue."""
    query = "SELECT 1 FROM vector_queue JOIN files ON id = file WHERE count > 0 LIMIT 1"
    return connection.execute(query).fetchone() is not None


def used_rows(connection: sqlite3.Connection) -> list[int]:
    """The rows that passages use, each once, in order."""
    return [
        row for (row,) in connection.execute("SELECT DISTINCT row FROM vector_rows ORDER BY row")
    ]


def renumber(connection: sqlite3.Connection, id: str, rows: Sequence[int]) -> None:
    """Update the rows for the new file with this id, which contains them in the given order."""
    with transaction(connection):
        connection.execute("CREATE TEMP TABLE moved (old INTEGER PRIMARY KEY, new INTEGER)")
        connection.executemany(
            "INSERT INTO temp.moved VALUES (?, ?)", ((old, new) for new, old in enumerate(rows))
        )
        connection.execute(
            "UPDATE vector_rows SET row = (SELECT new FROM temp.moved WHERE old = vector_rows.row)"
        )
        connection.execute("UPDATE meta SET value = ? WHERE key = ?", (id, META))
    connection.execute("DROP TABLE temp.moved")


# ---------------------------------------------------------------- for searches


def rows_of(connection: sqlite3.Connection, file: int) -> dict[int, int]:
    """The rows of a file's passages, by position."""
    query = "SELECT place, row FROM vector_rows WHERE file = ?"
    return dict(connection.execute(query, (file,)))


def row_of(connection: sqlite3.Connection, file: int, place: int) -> int | None:
    """The row of one passage."""
    query = "SELECT row FROM vector_rows WHERE file = ? AND place = ?"
    found = connection.execute(query, (file, place)).fetchone()
    return None if found is None else int(found[0])


def passages_of(
    connection: sqlite3.Connection, rows: Sequence[int], condition: str, values: Sequence[str]
) -> Iterator[tuple[int, int, str, int]]:
    """Row, file, address and position of the passages that have these rows and meet a condition on
    ``files``; unordered."""
    marks = ",".join("?" * len(rows))
    return iter(
        connection.execute(
            "SELECT row, file, url, place FROM vector_rows JOIN files ON files.id = file"  # noqa: S608 - our own column names
            f" WHERE row IN ({marks}) AND count > 0 AND ({condition})",
            (*rows, *values),
        )
    )
