"""Outages of the database, logged once when it fails and once when it works again.

Hundreds of runs, listeners and loops notice an outage at the same time. Each of them logs its own
error at level ``debug`` (``info`` for runs); the line for the operator is logged here.
"""

from __future__ import annotations

from datetime import UTC, datetime
from time import monotonic
from typing import Literal

from cachetools import TTLCache

from bot.core.errors import StorageUnavailable
from bot.core.logs import get_logger

# Parts that fail independently: a full disk can still be read, and the queue has its own pool.
Part = Literal["reading", "writing", "queue"]
PARTS: tuple[Part, ...] = ("reading", "writing", "queue")

QUIET_SECONDS = 60.0  # between two lines with the same text: a full disk lets some writes through
SENTENCES = 100  # texts remembered for that
FRESH_SECONDS = 30.0  # for which a failed write counts, if none has succeeded since

log = get_logger()


class Outages:
    """Tracks successes and failures that the database's users report. ``count`` is the number of
    outages; ``since`` is when the current one began, None while the database works."""

    def __init__(self) -> None:
        self._failing: dict[Part, tuple[StorageUnavailable, float]] = {}  # and when it last failed
        self._began = 0.0
        self._was_logged = False
        self._past_seconds = 0.0  # seconds of past outages
        self._ended: float | None = None
        self.count = 0
        self.since: datetime | None = None
        self._logged: TTLCache[str, bool] = TTLCache(SENTENCES, QUIET_SECONDS)

    def record_failure(self, part: Part, trouble: StorageUnavailable) -> None:
        """Record a failure, unless the request itself caused it."""
        if trouble.kind in ("contended", "wrong"):
            return
        now = monotonic()
        if not self._failing:
            self._began = now
            self.count += 1
            self.since = datetime.now(UTC)
            self._was_logged = self._is_new(trouble)
            if self._was_logged:
                log.warning("database does not work, waiting", error=str(trouble))
        self._failing[part] = trouble, now

    def _is_new(self, trouble: StorageUnavailable) -> bool:
        """True if no similar error was logged lately. Lost connections have many wordings."""
        what = trouble.kind if trouble.kind == "broken" else trouble.sentence
        is_new = what not in self._logged
        if is_new:
            self._logged[what] = True
        return is_new

    def record_success(self, part: Part) -> None:
        """Record a success of a part; this also ends outages of parts that could not connect."""
        if not self._failing:
            return
        self._failing = {
            other: (trouble, at)
            for other, (trouble, at) in self._failing.items()
            if other != part and trouble.kind != "broken"
        }
        if self._failing:
            return
        self._ended = monotonic()
        lasted = self._ended - self._began
        self._past_seconds += lasted
        self.since = None
        if self._was_logged:
            log.warning("database works again", after_seconds=round(lasted, 1))

    def ended_within(self, seconds: float) -> bool:
        """True during an outage and for ``seconds`` after it: heartbeats and other writes of other
        processes may be missing."""
        if self._failing:
            return True
        return self._ended is not None and monotonic() - self._ended < seconds

    @property
    def seconds(self) -> float:
        """The total duration of all outages until now."""
        return self._past_seconds + (monotonic() - self._began if self._failing else 0.0)

    def recent_failure(self, part: Part) -> StorageUnavailable | None:
        """The recent problem of a part that has not worked since."""
        trouble, at = self._failing.get(part, (None, 0.0))
        return trouble if monotonic() - at < FRESH_SECONDS else None
