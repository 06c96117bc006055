"""Notifications from other processes about runs, by PostgreSQL's LISTEN and NOTIFY.

A trigger of the schema (``migrations/versions/0008_signals``) says which run of which thread has
changed, and nothing of what is in it: https://www.postgresql.org/docs/current/sql-notify.html.
Signals sent while no process listens are lost, so a listener must look for itself at the
beginning and after each interruption. SQLite has nothing of the kind.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from bot.logs import get_logger
from bot.storage.database import Database

CHANNEL = "footnote_runs"
RETRY_SECONDS = 1.0  # until a connection that was lost is tried again

log = get_logger()


class RunSignals:
    """Listens from its making until ``aclose``, on a connection of its own that is made again
    whenever it is lost.

    ``changed`` is called with a run and the key of its thread, ``begun`` whenever listening has
    begun: what happened before was not heard. ``listening`` tells whether anything would be heard.
    """

    def __init__(
        self,
        database: Database,
        changed: Callable[[str, str], None],
        begun: Callable[[], None],
    ) -> None:
        self.listening = False
        self._database = database
        self._changed = changed
        self._begun = begun
        self._task = asyncio.create_task(self._keep_listening())

    async def aclose(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _keep_listening(self) -> None:
        import psycopg  # only where there is PostgreSQL

        while True:
            try:
                await self._listen()
            except (psycopg.Error, OSError) as error:
                told = str(error).partition("\n")[0]
                log.info("not told of changes, looking for them", error=told)
            finally:
                self.listening = False
            await asyncio.sleep(RETRY_SECONDS)

    async def _listen(self) -> None:
        import psycopg

        from bot.storage.postgres import connection_arguments

        how = connection_arguments(self._database.url)
        async with await psycopg.AsyncConnection.connect(**how, autocommit=True) as connection:
            await connection.execute(f"LISTEN {CHANNEL}".encode())
            self.listening = True
            self._begun()
            async for signal in connection.notifies():
                run, _, thread_key = signal.payload.partition(" ")
                self._changed(run, thread_key)
