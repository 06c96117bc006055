"""Schedules of standing questions: every day, every week, or a cron expression in UTC."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from bot.core.texts import invalid

DAILY, WEEKLY = "daily", "weekly"
EVERY = {DAILY: timedelta(days=1), WEEKLY: timedelta(days=7)}
SHORTEST = timedelta(hours=1)  # between two checks
LOOKED_AHEAD = 50  # times of a cron expression compared with ``SHORTEST``


def schedule_named(words: str) -> str:
    """Return the schedule for a person's input. Raises ``Invalid``, which names the possibilities.

    A cron expression has five fields and at least an hour between two checks.
    """
    schedule = " ".join(words.lower().split()) or DAILY
    if schedule in EVERY:
        return schedule
    times = list(_times(schedule, datetime(2024, 1, 1, tzinfo=UTC), LOOKED_AHEAD))
    if not times:
        raise invalid("watch-schedule-unknown", schedule=schedule)
    if any(later - earlier < SHORTEST for earlier, later in pairwise(times)):
        raise invalid("watch-schedule-too-often", schedule=schedule)
    return schedule


def due_after(schedule: str, last: datetime, now: datetime) -> datetime:
    """Return the first time of a schedule after ``now``; missed checks are skipped.

    ``last`` is the previous due time: a daily question keeps its time of day.
    """
    every = EVERY.get(schedule)
    if every is not None:
        return last + every * max((now - last) // every + 1, 1)
    return next(_times(schedule, now.astimezone(UTC), 1))


def _times(schedule: str, after: datetime, count: int) -> Iterator[datetime]:
    """Yield the next times of a cron expression; none if it is invalid or never matches."""
    # Imported here, since it would slow every other command by some hundredths of a second.
    from croniter import CroniterError, croniter  # type: ignore[import-untyped]

    if len(schedule.split()) != 5:
        return
    try:
        turns = croniter(schedule, after)
        for _ in range(count):
            yield turns.get_next(datetime)
    except CroniterError:
        return
