"""A Claude that can be made to wait: how a test catches a run while it works."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

from tests.fakes.claude import FakeClaude, Recorded
from tests.scenario.places import KEYS, Place, Said

POLL_SECONDS = 0.005
PAUSE_SECONDS = 0.05  # most looks are requests, which are work for the program, too


def _verifies(request: Recorded) -> bool:
    return "<sentence number=" in str(request.body["messages"])


class Gate:
    """An ASGI app before a ``FakeClaude``.

    ``hold(n)`` lets n more model calls pass and holds those after them until ``release``. A call
    whose caller goes away while it is held never reaches the model.
    """

    def __init__(self, claude: FakeClaude | None = None) -> None:
        self.claude = claude or FakeClaude()
        self._free: int | None = None  # calls that may still pass; None: all
        self._held = 0
        self._changes = threading.Condition()

    def hold(self, after: int = 0) -> None:
        with self._changes:
            self._free = after

    def release(self) -> None:
        with self._changes:
            self._free = None

    @property
    def research(self) -> list[Recorded]:
        """The calls that led to answers: all but those that verify them."""
        return [each for each in self.claude.requests if not _verifies(each)]

    @property
    def held(self) -> int:
        return self._held

    def wait_held(self, calls: int = 1, seconds: float = 60.0) -> None:
        """Until so many calls wait."""
        with self._changes:
            if not self._changes.wait_for(lambda: self._held >= calls, seconds):
                raise TimeoutError(f"{self._held} model calls are held, not {calls}")

    def wait_empty(self, seconds: float = 60.0) -> None:
        """Until no call waits any more: passed on, or its caller has gone."""
        with self._changes:
            if not self._changes.wait_for(lambda: self._held == 0, seconds):
                raise TimeoutError(f"{self._held} model calls are held")

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http" or not scope["path"].endswith("/v1/messages"):
            await self.claude(scope, receive, send)
            return
        came = [await receive()]
        while came[-1]["type"] == "http.request" and came[-1].get("more_body"):
            came.append(await receive())
        gone = asyncio.ensure_future(receive())
        try:
            if not self._pass() and not await self._waited(gone):
                return

            async def again() -> Any:
                return came.pop(0) if came else await asyncio.shield(gone)

            await self.claude(scope, again, send)
        finally:
            gone.cancel()

    def _pass(self) -> bool:
        with self._changes:
            if self._free == 0:
                return False
            if self._free is not None:
                self._free -= 1
            return True

    async def _waited(self, gone: asyncio.Future[Any]) -> bool:
        """Wait until it may pass; False when nobody waits for the answer any more."""
        self._count(1)
        try:
            while not self._pass():
                await asyncio.wait({gone}, timeout=POLL_SECONDS)
                if gone.done():
                    return False
            return True
        finally:
            self._count(-1)

    def _count(self, more: int) -> None:
        with self._changes:
            self._held += more
            self._changes.notify_all()


def until(condition: Any, seconds: float = 60.0) -> None:
    """For what tells nobody that it changed; looked at once in each pause."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("it did not come true")
        time.sleep(PAUSE_SECONDS)


def ask_and_catch(place: Place, gate: Gate, text: str = KEYS, *, after: int = 2) -> Said:
    """Ask, and return while the run waits for its model call after so many others.

    Three of them make an answer: understanding, a turn over what was opened, writing.
    """
    gate.hold(after)
    said = place.ask(text)
    gate.wait_held()
    return said
