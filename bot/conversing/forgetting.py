"""Forgetting and pruning while Footnote serves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import asdict
from datetime import UTC, date, datetime, timedelta

from bot.dispatch.pace import Rounds
from bot.logs import get_logger
from bot.rights.changes import RuleChanges
from bot.storage.database import Database
from bot.storage.forgetting import Forgetting, Request
from bot.storage.removal import NOTHING_REMOVED, Removed
from bot.storage.retention import Retention
from bot.storage.subjects import Subject

# Runs end within a second of being stopped; one that does not is fenced off and goes anyway.
STOP_SECONDS, LOOK_SECONDS = 10.0, 0.2

log = get_logger()


class Forgetter:
    """``request_stop`` asks the process at work on a run to stop it.

    Methods raise ``StorageUnavailable``; a wish that was kept is then fulfilled by ``catch_up``.
    """

    def __init__(self, database: Database, request_stop: Callable[[str], Awaitable[None]]) -> None:
        self._forgetting = Forgetting(database)
        self._request_stop = request_stop

    async def count(self, subject: Subject, spent_before: date) -> Removed:
        """Count what ``forget`` would delete now."""
        return await self._forgetting.count(subject, spent_before)

    async def forget(self, subject: Subject, spent_before: date) -> Removed:
        """Take away everything about a subject, sums of spending of the days (UTC) before one
        included; says what that was.

        The sum of today that a person's own wish leaves, or their daily budget would start over, is
        taken away by ``catch_up`` tomorrow.
        """
        request = await self._forgetting.ask(subject, datetime.now(UTC))
        return await self._fulfil(request, spent_before)

    async def forget_again(self, subject: Subject, asked_at: datetime) -> Removed:
        """Fulfil an earlier wish that a restored database does not know; what came after it stays.

        The sums of the days until then are deleted, that of today tomorrow (``catch_up``).
        """
        now = datetime.now(UTC)
        request = await self._forgetting.ask(subject, now, asked_at)
        spent_before = min(day_after(asked_at.astimezone(UTC).date()), now.date())
        return await self._fulfil(request, spent_before)

    async def catch_up(self) -> Removed:
        """Fulfil what is left of all wishes: those a crash cut short, and sums of days gone by."""
        today = datetime.now(UTC).date()
        removed = NOTHING_REMOVED
        for request in await self._forgetting.asked():
            person = request.subject.kind == "person"
            removed += await self._fulfil(request, today if person else day_after(today))
        return removed

    async def _fulfil(self, request: Request, spent_before: date) -> Removed:
        subject = request.subject
        await self._stop(subject)
        removed = await self._forgetting.remove(request)
        removed += await self._forgetting.remove_spending(subject, spent_before)
        if subject.kind == "thread" or spent_before > request.at.astimezone(UTC).date():
            await self._forgetting.fulfilled(request)
        if removed:
            log.info("forgotten", kind=subject.kind, platform=subject.platform)
        return removed

    async def _stop(self, subject: Subject) -> None:
        """Stop its runs, and wait until they have ended or patience ends."""
        for run_id in await self._forgetting.unfinished(subject):
            await self._request_stop(run_id)
        clock = asyncio.get_running_loop().time
        until = clock() + STOP_SECONDS
        while clock() < until:
            if not await self._forgetting.worked_on(subject, datetime.now(UTC)):
                return
            await asyncio.sleep(LOOK_SECONDS)


def day_after(day: date) -> date:
    return day + timedelta(days=1)


KEEP_SECONDS = 3_600.0  # between two rounds


class Maintenance:
    """Removes now and then what is too old and what was asked to be forgotten. Several processes
    may do so on one database: what one has removed, no other finds."""

    def __init__(
        self, retention: Retention, forgetter: Forgetter, changes: RuleChanges | None = None
    ) -> None:
        self._retention = retention
        self._forgetter = forgetter
        self._changes = changes

    async def once(self) -> Removed:
        """One round; says what it took away. Raises ``StorageUnavailable``."""
        if self._changes is not None:
            await self._changes.look()
        removed = await self._forgetter.catch_up()
        return removed + await self._retention.prune(datetime.now(UTC))

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        """A round now and then, from now on, beside the block."""
        async with aclosing(Rounds("pruning", KEEP_SECONDS, self._round, first=0.0)):
            yield

    async def _round(self) -> None:
        if removed := await self.once():
            log.info("pruning finished", **{kind: n for kind, n in asdict(removed).items() if n})
