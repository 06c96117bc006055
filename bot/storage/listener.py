"""A process's single connection for PostgreSQL notifications, shared by all its listeners:
https://www.postgresql.org/docs/current/sql-notify.html.

It is opened for the first listener, reopened whenever it is lost, and closed after the last.
Notifications sent in between are lost, so listeners check for changes themselves whenever
listening begins.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bot.core.logs import get_logger

RETRY_SECONDS = 1.0  # before reconnecting

Heard = Callable[[str, str], Awaitable[None]]  # receives the channel and the payload

log = get_logger()


def _nothing() -> None:
    """The default reaction when listening begins or ends."""


@dataclass(frozen=True, slots=True, eq=False)
class _Hearer:
    channels: frozenset[str]
    heard: Heard
    begun: Callable[[], None]
    lost: Callable[[], None]


class Listener:
    """``arguments`` returns the driver's arguments for a connection; it is None for
    SQLite, which has no notifications."""

    def __init__(self, arguments: Callable[[], Mapping[str, Any]] | None) -> None:
        self._arguments = arguments
        self._hearers: set[_Hearer] = set()
        self._task: asyncio.Task[None] | None = None

    @property
    def can_hear(self) -> bool:
        return self._arguments is not None

    async def hear(
        self,
        channels: Iterable[str],
        heard: Heard,
        *,
        begun: Callable[[], None] = _nothing,
        lost: Callable[[], None] = _nothing,
    ) -> None:
        """Listen until cancelled. ``begun`` is called each time listening begins, ``lost`` each
        time it ends."""
        hearer = _Hearer(frozenset(channels), heard, begun, lost)
        self._hearers.add(hearer)
        self._start()
        try:
            await asyncio.Event().wait()
        finally:
            self._hearers.discard(hearer)
            hearer.lost()
            self._start()
            await self._ended()

    async def aclose(self) -> None:
        self._hearers.clear()
        self._start()
        await self._ended()

    async def _ended(self) -> None:
        """Wait until the connection is closed, if no listener is left."""
        if self._task is not None and not self._hearers:
            await asyncio.wait({self._task})

    def _start(self) -> None:
        """Restart the connection for the current listeners, who check what they missed."""
        if self._arguments is None:
            return
        before = self._task if self._task is not None and not self._task.done() else None
        if before is not None:
            before.cancel()
        if before is not None or self._hearers:
            self._task = asyncio.create_task(self._keep_listening(before))

    async def _keep_listening(self, before: asyncio.Task[None] | None) -> None:
        import psycopg  # only needed for PostgreSQL

        if before is not None:
            await asyncio.gather(before, return_exceptions=True)
        while self._hearers:
            hearers = frozenset(self._hearers)
            try:
                await self._listen(hearers)
            except (psycopg.Error, OSError, ValueError) as error:
                reason = str(error).partition("\n")[0]
                log.info("not notified of changes, polling for them", error=reason)
            finally:
                for hearer in hearers:
                    hearer.lost()
            await asyncio.sleep(RETRY_SECONDS)

    async def _listen(self, hearers: frozenset[_Hearer]) -> None:
        import psycopg
        from psycopg import sql

        assert self._arguments is not None  # noqa: S101
        how = self._arguments()
        async with await psycopg.AsyncConnection.connect(**how, autocommit=True) as connection:
            for channel in sorted({name for each in hearers for name in each.channels}):
                await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel)))
            for hearer in hearers:
                hearer.begun()
            async for signal in connection.notifies():
                for hearer in hearers:
                    if signal.channel in hearer.channels:
                        await hearer.heard(signal.channel, signal.payload)
