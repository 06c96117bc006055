"""A process's connections to its database: how many, and through which pooler."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import sqlalchemy as sa

from bot.settings import Settings

# PostgreSQL allows 100 by default and reserves 3: enough for ten processes and some people.
CONNECTIONS = 9
LISTENING = 1  # connection on which a process receives notifications
QUEUE = 2  # connections of the process's queue


@dataclass(frozen=True, slots=True)
class Connecting:
    """``connections`` limits the connections of a process, ``pooler`` is the mode of the pooler in
    front of PostgreSQL, if any, and ``listen_url`` is the address for notifications if it differs.
    SQLite ignores all of them."""

    connections: int = CONNECTIONS
    pooler: Literal["none", "transaction"] = "none"
    listen_url: str = ""

    @classmethod
    def of(cls, settings: Settings) -> Connecting:
        """Read them from the settings."""
        return cls(
            settings.database_connections, settings.database_pooler, settings.database_listen_url
        )

    @property
    def is_pooled(self) -> bool:
        return self.pooler == "transaction"

    @property
    def of_engine(self) -> int:
        """The connections left for the engine."""
        return self.connections - LISTENING - QUEUE

    def listen_at(self, url: sa.URL) -> sa.URL | None:
        """The address at which to listen for notifications. None behind a pooler, which would pass
        the connection on to others."""
        if self.listen_url:
            return sa.make_url(self.listen_url)
        return None if self.is_pooled else url
