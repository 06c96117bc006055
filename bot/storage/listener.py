"""The one connection of a process on which it hears PostgreSQL's notifications, for all that want
to: https://www.postgresql.org/docs/current/sql-notify.html.

It is made with the first who listens, made again whenever it is lost, and closed with the last.
What was sent while it was not there is not heard: who listens looks for itself when listening has
begun.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bot.logs import get_logger

RETRY_SECONDS = 1.0  # until a connection that was lost is tried again

Heard = Callable[[str, str], Awaitable[None]]  # told the channel and the payload

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
    """``arguments`` gives those of the driver for a connection; None where nothing can be heard,
    as behind a pooler that hands connections on between transactions."""

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
        """Listen until cancelled. ``begun`` is called whenever listening has begun, ``lost``
        whenever it has ended."""
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
        """Return once the connection is closed, if no hearer is left."""
        if self._task is not None and not self._hearers:
            await asyncio.wait({self._task})

    def _start(self) -> None:
        """Begin again, for those who listen now. What is lost in between they look for."""
        if self._arguments is None:
            return
        before = self._task if self._task is not None and not self._task.done() else None
        if before is not None:
            before.cancel()
        if before is not None or self._hearers:
            self._task = asyncio.create_task(self._keep_listening(before))

    async def _keep_listening(self, before: asyncio.Task[None] | None) -> None:
        import psycopg  # only where there is PostgreSQL

        if before is not None:
            await asyncio.gather(before, return_exceptions=True)
        while self._hearers:
            hearers = frozenset(self._hearers)
            try:
                await self._listen(hearers)
            except (psycopg.Error, OSError, ValueError) as error:
                told = str(error).partition("\n")[0]
                log.info("not told of changes, looking for them", error=told)
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
