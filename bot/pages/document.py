"""A document as a server sent it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Document:
    """A server's response: ``url`` is the final canonical address, ``data`` is decompressed."""

    url: str
    content_type: str | None
    data: bytes
    fetched_at: datetime
