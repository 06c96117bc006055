"""Counts the work of all processes since the last reading, from the database.

The metrics of a single process do not suffice: one process accepts a question and another, perhaps
without an HTTP port, works on it. The database has the work of all of them: steps with their
durations, ended runs, spending. A meter reads each of them once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.storage.database import Database, Transactions
from bot.storage.overview import Queue, StoredSearch, duration, queue_of
from bot.storage.spending import COUNTS, SUMS, Amount, amount_of
from bot.storage.tables import OURS, UNFINISHED, keep_fact, runs, spending, steps, threads

WRITTEN_SECONDS = 25.0  # for which a successful write proves that the database is writable
ALIVE_SECONDS = 10.0  # since a worker's last heartbeat; workers send one every 2 s

_COUNT = sa.text(
    "SELECT count(*) FROM procrastinate_workers"
    " WHERE last_heartbeat > now() - make_interval(secs => :seconds)"
)


async def live_workers(database: Database) -> int | None:
    """The number of processes that take runs from the queue; None without a queue.

    Raises ``StorageUnavailable``.
    """
    if database.dialect != "postgresql":
        return None
    async with database.read() as db:
        return int(await db.scalar(_COUNT, {"seconds": ALIVE_SECONDS}) or 0)


# Rows dated before a reading may be stored after it: clocks differ, and transactions take time.
OVERLAP = timedelta(seconds=60)
QUICK_SECONDS = 0.05  # a query for sums faster than this runs at every reading
MOST = 20_000  # rows of a kind per reading; the rest follows with the next


@dataclass(frozen=True, slots=True)
class StepDone:
    """A finished step and its duration in seconds."""

    kind: str
    seconds: float


@dataclass(frozen=True, slots=True)
class RunEnded:
    """A run that ended; ``seconds`` is from acceptance to posting."""

    platform: str
    state: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Look:
    """One reading. ``steps``, ``searches`` and ``ended`` are new since the last reading; the others
    are current totals: all spending by platform, stored runs by state, the queue, and the number
    of processes that take runs from it (None without a queue)."""

    steps: tuple[StepDone, ...]
    searches: tuple[StoredSearch, ...]
    ended: tuple[RunEnded, ...]
    spent: Mapping[str, Amount]
    states: Mapping[str, int]
    queue: Queue
    workers: int | None = None


class Meter(Transactions):
    """Counts from the moment ``since``. Must not be used by several tasks at a time.

    Failures are raised as ``StorageUnavailable``; the next reading includes what a failed one
    missed.
    """

    def __init__(self, database: Database, since: datetime) -> None:
        super().__init__(database)
        self._steps = _Window(since)
        self._ended = _Window(since)
        self._sums = _Seldom()
        self._tried = 0.0  # when the last successful test write was made

    async def try_to_write(self) -> None:
        """Write a row to test whether the database is writable, unless that succeeded lately.
        Raises ``StorageUnavailable``. Needed because a full disk and a replica answer every query.
        """
        failing = self.database.outages.recent_failure("writing") is not None
        if self._tried and monotonic() - self._tried < WRITTEN_SECONDS and not failing:
            return
        self._tried = 0.0
        async with self.database.write_at_once() as db:
            await keep_fact(db, OURS, "", "written", 1)
        self._tried = monotonic()

    async def look(self) -> Look:
        """Take a reading."""
        done = (
            sa.select(steps.c.id, steps.c.at, steps.c.kind, steps.c.seconds, _RESULT)
            .where(steps.c.at >= self._steps.first, steps.c.title != "")
            .order_by(steps.c.at, steps.c.id)
            .limit(MOST)
        )
        ended = (
            sa.select(
                runs.c.id,
                runs.c.ended_at.label("at"),
                threads.c.platform,
                runs.c.state,
                duration().label("seconds"),
            )
            .join(threads)
            .where(runs.c.ended_at >= self._ended.first)
            .order_by(runs.c.ended_at, runs.c.id)
            .limit(MOST)
        )
        async with self.database.read() as db:
            step_rows = (await db.execute(done)).all()
            run_rows = (await db.execute(ended)).all()
            queue = await queue_of(db)
            sums = await self._sums.take(db)
        workers = await live_workers(self.database)
        new_steps = self._steps.new(step_rows)
        return Look(
            tuple(StepDone(row.kind, row.seconds) for row in new_steps),
            tuple(StoredSearch(row.result, row.at) for row in new_steps if row.kind == "search"),
            tuple(
                RunEnded(row.platform, row.state, row.seconds) for row in self._ended.new(run_rows)
            ),
            sums.spent,
            {**sums.ended, "accepted": queue.waiting, "running": queue.running},
            queue,
            workers,
        )


@dataclass(frozen=True, slots=True)
class _Sums:
    """Sums over all stored rows."""

    spent: Mapping[str, Amount]
    ended: Mapping[str, int]


class _Seldom:
    """Sums over all rows, which may take long: queried rarely enough to use 1% of the time."""

    def __init__(self) -> None:
        self._known: _Sums | None = None
        self._next = 0.0
        self._stored: dict[str, Amount] = {}
        self._pruned: dict[str, Amount] = {}

    async def take(self, db: AsyncConnection) -> _Sums:
        began = monotonic()
        if self._known is None or began >= self._next:
            spent = (await db.execute(_SPENT)).all()
            ended = (await db.execute(_ENDED)).all()
            self._known = _Sums(
                self._never_less({row.platform: amount_of(row) for row in spent}),
                {row.state: row.counted for row in ended},
            )
            took = monotonic() - began
            self._next = began + (100 * took if took > QUICK_SECONDS else 0.0)
        return self._known

    def _never_less(self, spent: Mapping[str, Amount]) -> dict[str, Amount]:
        """The amounts spent, including pruned ones: Prometheus would take a decreasing counter for
        one that restarted at 0, and count everything again."""
        for platform, before in self._stored.items():
            lost = before - spent.get(platform, Amount())
            if any(getattr(lost, name) > 0 for name in COUNTS):
                self._pruned[platform] = self._pruned.get(platform, Amount()) + lost
        self._stored = dict(spent)
        return {
            platform: spent.get(platform, Amount()) + self._pruned.get(platform, Amount())
            for platform in {**self._pruned, **spent}
        }


_SPENT = (
    sa.select(spending.c.platform, *SUMS)
    .where(spending.c.scope == "workspace")
    .group_by(spending.c.platform)
)
_ENDED = (
    sa.select(runs.c.state, sa.func.count().label("counted"))
    .where(runs.c.state.not_in(UNFINISHED))
    .group_by(runs.c.state)
)

# Results are read for searches only.
_RESULT = sa.case((steps.c.kind == "search", steps.c.result), else_="").label("result")


class _Window:
    """Remembers which rows were seen, as far back as new ones may still appear."""

    def __init__(self, since: datetime) -> None:
        self._begin = since
        self._last = since
        self._seen: set[tuple[Any, datetime]] = set()  # with time: an edited question ends again

    @property
    def first(self) -> datetime:
        """The earliest time that new rows may have."""
        return max(self._begin, self._last - OVERLAP)

    def new(self, rows: Sequence[Any]) -> list[Any]:
        """The rows not seen before; each has an ``id`` and an ``at``."""
        found = [row for row in rows if (row.id, row.at) not in self._seen]
        self._seen |= {(row.id, row.at) for row in found}
        self._last = max([self._last, *(row.at for row in found)])
        self._seen = {(id, at) for id, at in self._seen if at >= self.first}
        return found
