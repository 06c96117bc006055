"""Counts the work of all processes since the last reading, from what they store.

The metrics of one process do not suffice: a question is accepted in one process and worked on in
another, which may have no HTTP port. The database has the work of all: steps with their times, runs
that ended, what was spent. A meter reads each of them once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.storage.database import Database
from bot.storage.moments import took
from bot.storage.overview import Queue, Searched, queue_of
from bot.storage.records import UNFINISHED
from bot.storage.rows import keep_fact
from bot.storage.spending import COUNTS, SUMS, Amount, amount_of
from bot.storage.tables import runs, spending, steps, threads

OURS = "footnote"  # no platform's name
WRITTEN_SECONDS = 25.0  # that a row which was written proves that others can be
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


# Rows dated before a reading may be stored after it: clocks differ, and transactions take time.
OVERLAP = timedelta(seconds=60)
QUICK_SECONDS = 0.05  # what a sum may take at each look
MOST = 20_000  # rows of a kind at one look; the rest comes with the next


@dataclass(frozen=True, slots=True)
class StepDone:
    """A step that was finished; seconds."""

    kind: str
    seconds: float


@dataclass(frozen=True, slots=True)
class RunEnded:
    """A run that ended; ``seconds`` from accepted to posted."""

    platform: str
    state: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Look:
    """``steps``, ``ended`` and ``searches`` are new since the look before; the others are how it
    is: what was ever spent, by platform, how many runs are kept in which state, the queue, and
    how many processes take from it (None without one)."""

    steps: tuple[StepDone, ...]
    searches: tuple[Searched, ...]
    ended: tuple[RunEnded, ...]
    spent: Mapping[str, Amount]
    states: Mapping[str, int]
    queue: Queue
    workers: int | None = None


class Meter:
    """``since`` is the moment from which it counts. Not for several tasks at a time.

    Failures leave as ``StorageUnavailable``; what was not seen then is seen by the next look.
    """

    def __init__(self, database: Database, since: datetime) -> None:
        self._database = database
        self._steps = _Window(since)
        self._ended = _Window(since)
        self._sums = _Seldom()
        self._tried = 0.0  # when a row was last written

    async def try_to_write(self) -> None:
        """Store the moment, in a row of this program's own, unless that went well lately. Raises
        ``StorageUnavailable`` where nothing can be written: a full disk and a replica answer every
        question all the same."""
        failing = self._database.outages.lately("writing") is not None
        if self._tried and monotonic() - self._tried < WRITTEN_SECONDS and not failing:
            return
        self._tried = 0.0
        async with self._database.write_at_once() as db:
            await keep_fact(db, OURS, "", "written", 1)
        self._tried = monotonic()

    async def look(self) -> Look:
        """See ``Look``."""
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
                took().label("seconds"),
            )
            .join(threads)
            .where(runs.c.ended_at >= self._ended.first)
            .order_by(runs.c.ended_at, runs.c.id)
            .limit(MOST)
        )
        async with self._database.read() as db:
            step_rows = (await db.execute(done)).all()
            run_rows = (await db.execute(ended)).all()
            queue = await queue_of(db)
            sums = await self._sums.take(db)
        workers = await live_workers(self._database)
        new_steps = self._steps.new(step_rows)
        return Look(
            tuple(StepDone(row.kind, row.seconds) for row in new_steps),
            tuple(Searched(row.result, row.at) for row in new_steps if row.kind == "search"),
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
    """Sums over millions of rows take a while: so seldom that it is a hundredth of the time."""

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
        """The amounts spent, pruned ones included: Prometheus takes a counter that decreases for
        one that began again at 0, and would count all of it once more."""
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

# Only searches are looked into.
_RESULT = sa.case((steps.c.kind == "search", steps.c.result), else_="").label("result")


class _Window:
    """The rows already seen, as far back as another one may still appear."""

    def __init__(self, since: datetime) -> None:
        self._begin = since
        self._last = since
        self._seen: set[tuple[Any, datetime]] = set()  # by date too: an edited question ends again

    @property
    def first(self) -> datetime:
        """From when on rows may be new."""
        return max(self._begin, self._last - OVERLAP)

    def new(self, rows: Sequence[Any]) -> list[Any]:
        """The rows not seen before; each has an ``id`` and ``at``."""
        found = [row for row in rows if (row.id, row.at) not in self._seen]
        self._seen |= {(row.id, row.at) for row in found}
        self._last = max([self._last, *(row.at for row in found)])
        self._seen = {(id, at) for id, at in self._seen if at >= self.first}
        return found
