"""Conversations that were held: runs with steps, pages, citations, verdicts, and what they cost."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from bot.core.messages import Answer, Attachment, Author, Citation, Message, RunOptions, Thread
from bot.pages.page import Page
from bot.storage.conversations import Conversations
from bot.storage.journal import Journal, RecordedStep, open_journal
from bot.storage.spending import Amount
from bot.storage.store import RunRecord, Store
from bot.storage.tables import metadata
from bot.storage.workspaces import Opinion, Workspaces
from tests.unit.samples import NOW, a_page

LEASE = timedelta(seconds=30)
COST = Amount(micro_usd=1_000, model_calls=1)
OWNER = "another-host/1/abcd"


def a_channel_thread(name: str = "t1", channel: str = "C1", workspace: str = "T1") -> Thread:
    return Thread("slack", workspace, channel, name)


@dataclass
class Past:
    """Everything happens ``at``, on a store."""

    store: Store
    at: datetime = NOW
    thread: Thread = field(default_factory=a_channel_thread)
    numbered: int = 0

    def message(self, text: str, author: str, **parts: Any) -> Message:
        self.numbered += 1
        fields: dict[str, Any] = {
            "event_id": f"e{self.numbered}",
            "thread": self.thread,
            "author": Author(author, author.title()),
            "text": text,
            "at": self.at,
        }
        return Message(**{**fields, **parts})

    async def hear(self, text: str, author: str = "ada") -> None:
        """Somebody says something that is no question."""
        await Conversations(self.store.database).hear([self.message(text, author)], self.at)

    async def begun(
        self, author: str = "ada", asked: str = "", **parts: Any
    ) -> tuple[RunRecord, Journal]:
        """Somebody asks, and a process on another host takes it on."""
        message = self.message(asked or f"Question {self.numbered + 1}?", author, **parts)
        run_id = f"r{self.numbered}"
        await self.store.accept(run_id, message, RunOptions(), self.at)
        run = await self.store.claim(run_id, OWNER, self.at, LEASE)
        assert run is not None
        return run, await open_journal(self.store.database, run.id, run.attempt)

    async def read(self, journal: Journal, *read: Page) -> None:
        for page in read:
            kept = json.dumps({"url": page.url, "hash": page.hash, "title": "", "problem": ""})
            step = RecordedStep(f"read {page.url}", "read", page.title, kept, 0.1, self.at)
            await journal.record(step, page)

    async def answered(
        self,
        author: str = "ada",
        *,
        cited: tuple[Page, ...] = (),
        numbered: tuple[Page, ...] = (),
        read: tuple[Page, ...] = (),
        steps: int = 1,
        **parts: Any,
    ) -> str:
        """A question with its posted answer; the id of its run. Cited pages were numbered, and
        numbered ones read."""
        run, journal = await self.begun(author, **parts)
        for number in range(steps):
            step = RecordedStep(f"model {number}", "model", "Thinking", '"hm"', 0.5, self.at)
            await journal.record(step, cost=COST)
        await self.read(journal, *cited, *numbered, *read)
        numbers = await journal.number([*cited, *numbered])
        citations = tuple(
            Citation(number, page.url, page.title, page.text, page.hash, 0, len(page.text))
            for number, page in zip(numbers, cited, strict=False)
        )
        answer = Answer("answered", "It is 330 m tall [1].", "How tall?", run.id, citations)
        await self.store.save_answer(run.id, run.attempt, answer)
        await self.store.end(run.id, run.attempt, "answered", self.at)
        return run.id

    async def judged(self, run_id: str, author: str) -> None:
        await Workspaces(self.store.database).keep_feedback(run_id, author, Opinion("good"))

    async def rows(self, *but: str) -> dict[str, int]:
        """The number of rows of each table that has any; without the audit log, which stays."""
        async with self.store.database.read() as db:
            found = {
                table.name: int(await db.scalar(sa.select(sa.func.count()).select_from(table)) or 0)
                for table in metadata.sorted_tables
                if table.name not in (*but, "audit", "audit_key")
            }
        return {name: number for name, number in found.items() if number}

    async def values(self, column: sa.Column[Any]) -> list[Any]:
        async with self.store.database.read() as db:
            return sorted((await db.scalars(sa.select(column))).all())


def pages(*names: str, at: datetime = NOW) -> tuple[Page, ...]:
    return tuple(
        replace(a_page(f"https://example.org/{name}", f"{name} is 330 m tall."), fetched_at=at)
        for name in names
    )


def a_file(name: str) -> Attachment:
    return Attachment(name, "text/plain", f"https://example.org/{name}")
