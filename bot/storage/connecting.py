"""The connections of a process to its database: their number, and the pooler between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import sqlalchemy as sa

from bot.settings import Settings

# PostgreSQL allows 100 by default, of which it reserves 3: ten processes, and some for people.
CONNECTIONS = 9
LISTENING = 1  # connection of a process that hears notifications
QUEUE = 2  # connections of its queue


@dataclass(frozen=True, slots=True)
class Connecting:
    """``connections`` is how many a process may have in all, ``pooler`` the mode of what is between
    it and PostgreSQL, ``listen_url`` the address to listen at for notifications where that differs.
    For SQLite none of it matters."""

    connections: int = CONNECTIONS
    pooler: Literal["none", "transaction"] = "none"
    listen_url: str = ""

    @classmethod
    def of(cls, settings: Settings) -> Connecting:
        """As the settings say."""
        return cls(
            settings.database_connections, settings.database_pooler, settings.database_listen_url
        )

    @property
    def is_pooled(self) -> bool:
        return self.pooler == "transaction"

    @property
    def of_engine(self) -> int:
        """The connections that are left for the engine."""
        return self.connections - LISTENING - QUEUE

    def listen_at(self, url: sa.URL) -> sa.URL | None:
        """The address at which to listen for notifications of a database; None behind a pooler,
        which would hand the connection on."""
        if self.listen_url:
            return sa.make_url(self.listen_url)
        return None if self.is_pooled else url
