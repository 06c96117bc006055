"""Notifications from other processes about runs, by PostgreSQL's LISTEN and NOTIFY.

A trigger of the schema (``migrations/versions/0008_signals``) reports which run of which thread has
changed, but no content: https://www.postgresql.org/docs/current/sql-notify.html. Signals sent while
no process listens are lost, so a listener must check for changes itself at the beginning and after
each interruption. SQLite has no equivalent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from bot.storage.database import Database

CHANNEL = "footnote_runs"


class RunSignals:
    """Listens from construction until ``aclose``, on the connection of the database's ``listener``.

    ``changed`` is called with a run and the key of its thread; ``begun`` each time listening
    begins, because earlier changes were missed. ``listening`` is true while signals are received.
    """

    def __init__(
        self,
        database: Database,
        changed: Callable[[str, str], None],
        begun: Callable[[], None],
    ) -> None:
        self.listening = False
        self._changed = changed
        self._begun = begun
        self._task = asyncio.create_task(
            database.listener.hear((CHANNEL,), self._heard, begun=self._hears, lost=self._is_deaf)
        )

    async def aclose(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _heard(self, channel: str, payload: str) -> None:
        run, _, thread_key = payload.partition(" ")
        self._changed(run, thread_key)

    def _hears(self) -> None:
        self.listening = True
        self._begun()

    def _is_deaf(self) -> None:
        self.listening = False
