"""A sample of documents from all over an index."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime

from bot.pages.page import Page
from bot.search.index_file import unpack_text
from bot.search.meaning import Condition


def sample(connection: sqlite3.Connection, visible: Condition, most: int, shift: int) -> list[Page]:
    """Up to ``most`` visible documents, evenly spread; a different ``shift`` selects others."""
    rows = connection.execute(
        f"SELECT id FROM files WHERE count > 0 AND ({visible.sql}) ORDER BY id",  # noqa: S608 - our own column names
        visible.values,
    ).fetchall()
    step = max(1, len(rows) // max(1, most))
    chosen = [rows[(shift + place * step) % len(rows)][0] for place in range(min(most, len(rows)))]
    return [_page(connection, file) for file in dict.fromkeys(chosen)]


def _page(connection: sqlite3.Connection, file: int) -> Page:
    url, title, text, at = connection.execute(
        "SELECT files.url, title, text, indexed_at FROM files JOIN pages ON pages.file = id"
        " WHERE id = ?",
        (file,),
    ).fetchone()
    return Page(url, title, unpack_text(text), datetime.fromtimestamp(at, UTC))
