"""Outages of the database, logged once when it fails and once when it works again.

Hundreds of runs, listeners and rounds notice at the same time that a database is away. Each of them
says so in detail (``debug``, or ``info`` where a run is concerned); the line for the operator comes
from here.
"""

from __future__ import annotations

from datetime import UTC, datetime
from time import monotonic
from typing import Literal

from cachetools import TTLCache

from bot.errors import StorageUnavailable
from bot.logs import get_logger

# Parts that fail independently: a full disk still allows reading, a pool may be out of order.
Part = Literal["reading", "writing", "queue"]
PARTS: tuple[Part, ...] = ("reading", "writing", "queue")

QUIET_SECONDS = 60.0  # between two lines of the same words: a disk that is full lets some through
SENTENCES = 100  # remembered for that
FRESH_SECONDS = 30.0  # that a write which failed counts, while none has worked since

log = get_logger()


class Outages:
    """Told by the database's users how it went. ``count`` is how many outages there were,
    ``since`` when the one that lasts began, None while the database works."""

    def __init__(self) -> None:
        self._failing: dict[Part, tuple[StorageUnavailable, float]] = {}  # and when it last failed
        self._began = 0.0
        self._is_told = False
        self._passed = 0.0  # seconds of outages that are over
        self._ended: float | None = None
        self.count = 0
        self.since: datetime | None = None
        self._told: TTLCache[str, bool] = TTLCache(SENTENCES, QUIET_SECONDS)

    def failed(self, part: Part, trouble: StorageUnavailable) -> None:
        """It does not work, unless the trouble lies in what was asked of it."""
        if trouble.kind in ("contended", "wrong"):
            return
        now = monotonic()
        if not self._failing:
            self._began = now
            self.count += 1
            self.since = datetime.now(UTC)
            self._is_told = self._is_news(trouble)
            if self._is_told:
                log.warning("database does not work, waiting", error=str(trouble))
        self._failing[part] = trouble, now

    def _is_news(self, trouble: StorageUnavailable) -> bool:
        """True if the like of it was not told lately. A connection can be lost in many words."""
        what = trouble.kind if trouble.kind == "broken" else trouble.sentence
        news = what not in self._told
        if news:
            self._told[what] = True
        return news

    def worked(self, part: Part) -> None:
        """This part of it works; where it could not be reached at all, the others do as well."""
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
        self._passed += lasted
        self.since = None
        if self._is_told:
            log.warning("database works again", after_seconds=round(lasted, 1))

    def ended_within(self, seconds: float) -> bool:
        """True while an outage lasts, and for so long after it: what others were to write
        meanwhile, such as that they live, may be missing."""
        if self._failing:
            return True
        return self._ended is not None and monotonic() - self._ended < seconds

    @property
    def seconds(self) -> float:
        """The total duration of all outages until now."""
        return self._passed + (monotonic() - self._began if self._failing else 0.0)

    def lately(self, part: Part) -> StorageUnavailable | None:
        """The recent problem of a part that has not worked since."""
        trouble, at = self._failing.get(part, (None, 0.0))
        return trouble if monotonic() - at < FRESH_SECONDS else None
