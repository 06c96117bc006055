"""A journal in memory: for runs in virtual time, and for those that die where a test says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from bot.pages.page import Page
from bot.storage.journal import Journal, RecordedStep
from bot.storage.spending import NOTHING, Amount


class Died(BaseException):
    """The process is gone: nothing that the run does from here on can be kept."""


@dataclass
class Shelved:
    """The records that outlive an attempt."""

    steps: dict[str, RecordedStep] = field(default_factory=dict)
    pages: dict[tuple[str, str], Page] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)


@dataclass
class MemoryJournal:
    """Stands in for ``storage.journal.Journal``.

    ``dies_at`` is the number of the write, from 1, in which it dies: before the write is kept, or
    right after. 0: never.
    """

    shelved: Shelved = field(default_factory=Shelved)
    dies_at: int = 0
    after: bool = False
    writes: int = 0
    seconds: float = 0.0

    def finished(self, key: str) -> RecordedStep | None:
        return self.shelved.steps.get(key)

    def is_earlier(self, key: str) -> bool:
        return False

    async def record(
        self, step: RecordedStep, page: Page | None = None, cost: Amount = NOTHING
    ) -> None:
        self._write(after=False)
        assert step.key not in self.shelved.steps, f"kept twice: {step.kind} {step.title}"
        if page is not None:
            self.shelved.pages[page.url, page.hash] = page
        self.shelved.steps[step.key] = step
        self._write(after=True)

    def owe(self, amount: Amount) -> None: ...

    async def page(self, url: str, page_hash: str) -> Page:
        return self.shelved.pages[url, page_hash]

    async def stored(self, url: str, page_hash: str) -> Page | None:
        return self.shelved.pages.get((url, page_hash))

    async def number(self, read: Sequence[Page]) -> list[int]:
        new = [page.url for page in read if page.url not in self.shelved.numbers]
        if new:
            self._write(after=False)
            for url in dict.fromkeys(new):
                self.shelved.numbers[url] = len(self.shelved.numbers) + 1
            self._write(after=True)
        return [self.shelved.numbers[page.url] for page in read]

    def _write(self, *, after: bool) -> None:
        self.writes += not after
        if self.writes == self.dies_at and after == self.after:
            raise Died


class Killed(Exception):
    """The process is gone."""


class Mortal:
    """A journal whose process dies right after its n-th record (0: never)."""

    def __init__(self, journal: Journal, dies_after: int = 0) -> None:
        self._journal = journal
        self._left = dies_after
        self._is_dead = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._journal, name)

    async def record(self, step: RecordedStep, *more: Any, **named: Any) -> None:
        if self._is_dead:
            raise Killed
        await self._journal.record(step, *more, **named)
        self._left -= 1
        if self._left == 0:
            self._is_dead = True
            raise Killed
