"""A process's connections to its database: how many, and through which pooler."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from bot.core.settings import Settings

# PostgreSQL allows 100 by default and reserves 3: enough for ten processes and some people.
CONNECTIONS = 9
LISTENING = 1  # connection on which a process receives notifications
QUEUE = 2  # connections of the process's queue


@dataclass(frozen=True, slots=True)
class Connecting:
    """``connections`` limits the connections of a process. ``listen_url`` is PostgreSQL's own
    address, for notifications, if the database's is that of a pooler in transaction mode. SQLite
    ignores both."""

    connections: int = CONNECTIONS
    listen_url: str = ""

    @classmethod
    def of(cls, settings: Settings) -> Connecting:
        """Read them from the settings."""
        return cls(settings.database_connections, settings.database_listen_url)

    @property
    def is_pooled(self) -> bool:
        return bool(self.listen_url)

    @property
    def of_engine(self) -> int:
        """The connections left for the engine."""
        return self.connections - LISTENING - QUEUE

    def listen_at(self, url: sa.URL) -> sa.URL:
        """The address at which to listen for notifications; a pooler would pass the connection on
        to others."""
        return sa.make_url(self.listen_url) if self.listen_url else url
