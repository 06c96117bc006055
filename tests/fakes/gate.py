"""An executor of runs that a test holds up and lets go."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from bot.core.posting import still_ours
from bot.storage.store import RunRecord, Store
from tests.unit.samples import NOW


@dataclass
class Gate:
    """An executor whose runs wait for the test: it sees who works and lets them end."""

    store: Store
    started: list[str] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)
    working: int = 0
    most: int = 0
    open: bool = False
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    passes: set[str] = field(default_factory=set)
    tried: list[str] = field(default_factory=list)

    async def answer(self, run: RunRecord, stop: asyncio.Event) -> None:
        text = run.message.text
        await self._tell(lambda: self._begin(text))
        try:
            stopping = asyncio.create_task(stop.wait())
            passing = asyncio.create_task(self.until(lambda: self.open or text in self.passes))
            _, late = await asyncio.wait({stopping, passing}, return_when=asyncio.FIRST_COMPLETED)
            for task in late:
                task.cancel()
            if stop.is_set():
                self.stopped.append(text)
        finally:
            await self._tell(self._leave)
        await still_ours()
        state = "stopped" if stop.is_set() else "answered"
        await self.store.end(run.id, run.attempt, state, NOW)
        await self._tell(lambda: self.ended.append(text))

    def _begin(self, text: str) -> None:
        self.started.append(text)
        self.working += 1
        self.most = max(self.most, self.working)

    def _leave(self) -> None:
        self.working -= 1

    async def let(self, *texts: str) -> None:
        await self._tell(lambda: self.passes.update(texts))

    async def let_all(self) -> None:
        self.open = True
        await self._tell(lambda: None)

    async def until(self, happened: Callable[[], bool]) -> None:
        async with asyncio.timeout(60), self.changed:
            await self.changed.wait_for(happened)

    async def _tell(self, change: Callable[[], None]) -> None:
        async with self.changed:
            change()
            self.changed.notify_all()
