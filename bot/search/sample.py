"""A sample of documents from all over an index."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime

from bot.pages.page import Page
from bot.search.index_file import unpack_text
from bot.search.visible import LAST_SHOWN_FIRST, Visible


def sample(connection: sqlite3.Connection, visible: Visible, most: int, shift: int) -> list[Page]:
    """Up to ``most`` visible documents, evenly spread; a different ``shift`` selects others."""
    rows = connection.execute(
        "SELECT text_digest, id FROM files"  # noqa: S608 - our own column names
        f" WHERE count > 0 AND {visible.condition.sql} ORDER BY {LAST_SHOWN_FIRST}",
        visible.condition.values,
    )
    files = sorted(dict(rows).values())
    step = max(1, len(files) // max(1, most))
    count = min(most, len(files))
    chosen = [files[(shift + place * step) % len(files)] for place in range(count)]
    return [_page(connection, file) for file in dict.fromkeys(chosen)]


def _page(connection: sqlite3.Connection, file: int) -> Page:
    url, title, text, at = connection.execute(
        "SELECT files.url, title, text, indexed_at FROM files JOIN pages ON pages.file = id"
        " WHERE id = ?",
        (file,),
    ).fetchone()
    return Page(url, title, unpack_text(text), datetime.fromtimestamp(at, UTC))
