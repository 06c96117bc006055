"""The processes that take runs from the queue, as far as Procrastinate knows them to be alive."""

from __future__ import annotations

import sqlalchemy as sa

from bot.storage.database import Database

ALIVE_SECONDS = 10.0  # since a worker's last heartbeat, of which there is one every two

_COUNT = sa.text(
    "SELECT count(*) FROM procrastinate_workers"
    " WHERE last_heartbeat > now() - make_interval(secs => :seconds)"
)


async def live_workers(database: Database) -> int | None:
    """The number of processes that take runs from the queue; None where there is no queue.

    Raises ``StorageUnavailable``.
    """
    if database.dialect != "postgresql":
        return None
    async with database.read() as db:
        return int(await db.scalar(_COUNT, {"seconds": ALIVE_SECONDS}) or 0)
