"""Keeps house while Footnote serves: prunes what is too old, fulfils wishes to be forgotten."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from datetime import UTC, datetime

from bot.conversing.forgetting import Forgetter
from bot.errors import FootnoteError
from bot.logs import get_logger
from bot.storage.removal import Removed
from bot.storage.retention import Retention

KEEP_SECONDS = 3_600.0  # between two rounds

log = get_logger()


class Maintenance:
    """Several processes may keep one house: what one has taken away, no other finds."""

    def __init__(self, retention: Retention, forgetter: Forgetter) -> None:
        self._retention = retention
        self._forgetter = forgetter

    async def once(self) -> Removed:
        """One round; says what it took away. Raises ``StorageUnavailable``."""
        removed = await self._forgetter.catch_up()
        return removed + await self._retention.prune(datetime.now(UTC))

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        """A round now and then, from now on, beside the block."""
        task = asyncio.create_task(self._rounds())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _rounds(self) -> None:
        while True:
            try:
                removed = await self.once()
            except FootnoteError as error:
                log.warning("house not kept", error=str(error))
            except Exception as error:
                log.error("keeping house broke", error=repr(error))
                log.debug("keeping house broke here", exc_info=True)
            else:
                if removed:
                    counts = {kind: n for kind, n in asdict(removed).items() if n}
                    log.info("house kept", **counts)
            await asyncio.sleep(KEEP_SECONDS)
