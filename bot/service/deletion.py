"""Deletes data on request ("forget me") and by age, while Footnote runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import asdict
from datetime import UTC, date, datetime, timedelta

from bot.core.logs import get_logger
from bot.rights.rights import RuleChanges
from bot.service.background import Rounds
from bot.storage.database import Database
from bot.storage.forgetting import Forgetting, Request, Subject
from bot.storage.removal import NOTHING_REMOVED, Removed, Retention

# Runs end within a second of being stopped. One that does not loses its row and cannot write.
STOP_SECONDS, LOOK_SECONDS = 10.0, 0.2

log = get_logger()


class Forgetter:
    """Deletes everything about a subject. ``request_stop`` asks the process working on a run to
    stop.

    Methods raise ``StorageUnavailable``; ``catch_up`` then completes the stored request.
    """

    def __init__(self, database: Database, request_stop: Callable[[str], Awaitable[None]]) -> None:
        self._forgetting = Forgetting(database)
        self._request_stop = request_stop

    async def count(self, subject: Subject, spent_before: date) -> Removed:
        """Count what ``forget`` would delete now."""
        return await self._forgetting.count(subject, spent_before)

    async def forget(self, subject: Subject, spent_before: date) -> Removed:
        """Delete everything about a subject, including its spending before the day (UTC)
        ``spent_before``; returns the counts.

        A person's own request leaves today's spending, or their daily budget would start again;
        ``catch_up`` deletes it tomorrow.
        """
        request = await self._forgetting.ask(subject, datetime.now(UTC))
        return await self._fulfil(request, spent_before)

    async def forget_again(self, subject: Subject, asked_at: datetime) -> Removed:
        """Fulfil an earlier request that a restored database does not know; later data stays.

        Spending up to that day is deleted; today's spending is deleted tomorrow (``catch_up``).
        """
        now = datetime.now(UTC)
        request = await self._forgetting.ask(subject, now, asked_at)
        spent_before = min(day_after(asked_at.astimezone(UTC).date()), now.date())
        return await self._fulfil(request, spent_before)

    async def catch_up(self) -> Removed:
        """Complete all open requests: those interrupted by a crash, and spending of past days."""
        today = datetime.now(UTC).date()
        removed = NOTHING_REMOVED
        for request in await self._forgetting.pending_requests():
            person = request.subject.kind == "person"
            removed += await self._fulfil(request, today if person else day_after(today))
        return removed

    async def _fulfil(self, request: Request, spent_before: date) -> Removed:
        subject = request.subject
        await self._stop(subject)
        removed = await self._forgetting.remove(request)
        removed += await self._forgetting.remove_spending(subject, spent_before)
        if subject.kind == "thread" or spent_before > request.at.astimezone(UTC).date():
            await self._forgetting.delete_request(request)
        if removed:
            log.info("forgotten", kind=subject.kind, platform=subject.platform)
        return removed

    async def _stop(self, subject: Subject) -> None:
        """Stop the subject's runs and wait up to ``STOP_SECONDS`` for them to end."""
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
    """Regularly deletes expired data and data that was asked to be forgotten. Several processes may
    do so on one database."""

    def __init__(
        self, retention: Retention, forgetter: Forgetter, changes: RuleChanges | None = None
    ) -> None:
        self._retention = retention
        self._forgetter = forgetter
        self._changes = changes

    async def once(self) -> Removed:
        """Run one round; returns the counts of deleted data. Raises ``StorageUnavailable``."""
        if self._changes is not None:
            await self._changes.look()
        removed = await self._forgetter.catch_up()
        return removed + await self._retention.prune(datetime.now(UTC))

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        """Run a round now and every ``KEEP_SECONDS`` while the block runs."""
        async with aclosing(Rounds("pruning", KEEP_SECONDS, self._round, first=0.0)):
            yield

    async def _round(self) -> None:
        if removed := await self.once():
            log.info("pruning finished", **{kind: n for kind, n in asdict(removed).items() if n})
