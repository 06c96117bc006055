"""The progress of indexing documents, which a process shows while it serves."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Literal

State = Literal["none", "indexing", "ok", "not ok"]

BEGIN_SECONDS = 5.0  # longest wait for the number of files to index


class Indexing:
    """Progress of the indexing: ``done`` of ``total`` files are processed and can be searched.

    ``why`` is the error and ``since`` is when the state began. ``stop`` ends the indexing.
    """

    def __init__(self, has_documents: bool) -> None:
        self.state: State = "indexing" if has_documents else "none"
        self.done = 0
        self.total = 0
        self.why = ""
        self.since = datetime.now(UTC)
        self.stop: Callable[[], None] = lambda: None
        self._begun = asyncio.Event()
        if not has_documents:
            self._begun.set()

    @property
    def is_going_on(self) -> bool:
        """True if there are files that are not searchable yet."""
        return self.state == "indexing" and self.done < self.total

    async def wait_until_counted(self) -> None:
        """Wait until the number of files is known, for ``BEGIN_SECONDS`` at most."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(BEGIN_SECONDS):
                await self._begun.wait()

    def advance(self, done: int, total: int) -> None:
        self.done, self.total = done, total
        self._begun.set()

    def become(self, state: State, why: str = "") -> None:
        self.state, self.why, self.since = state, why, datetime.now(UTC)
        self._begun.set()

    def as_json(self) -> dict[str, Any]:
        """The state in the form that ``/readyz`` shows."""
        shown: dict[str, Any] = {"state": self.state}
        if self.state == "indexing":
            shown |= {"done": self.done, "total": self.total}
        elif self.state == "ok":
            shown["total"] = self.total
        elif self.why:
            since = self.since.isoformat(timespec="seconds").replace("+00:00", "Z")
            shown |= {"since": since, "why": self.why}
        return shown
