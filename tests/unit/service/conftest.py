"""A reception on a real store, service and dispatcher; only the reasoner and the poster act."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bot.core.messages import Answer, Author, Message, Thread
from bot.operation.configuration import load_settings
from bot.reasoning.evidence import (
    Action,
    Claim,
    Read,
    Search,
    SubQuestion,
    Turn,
    Verdict,
    Workspace,
)
from bot.reasoning.reasoner import OnAnswer
from bot.service.dispatch.dispatcher import LocalDispatcher
from bot.service.reception import AcceptedQuestion, Reception
from bot.service.research_service import ResearchService
from bot.storage.removal import PAGE_TTL
from bot.storage.store import RunRecord, Store, open_store
from tests.fakes import sqlite
from tests.fakes.library import Shelf, a_library, a_shelf
from tests.fakes.poster import RememberingPoster
from tests.fakes.reasoner import Scripted

TURNS: list[list[Action]] = [[Search(("tower",))], [Read((1,))]]


class Gated(Scripted):
    """A reasoner that thinks until it is let on, and verifies until it may end that."""

    def __init__(self) -> None:
        super().__init__(TURNS)
        self.let_on = asyncio.Event()
        self.let_on.set()
        self.thinking = asyncio.Event()
        self.verifying = asyncio.Event()
        self.may_verify = asyncio.Event()
        self.may_verify.set()

    async def verify(
        self, question: str, text: str, claims: Sequence[Claim], others: Sequence[Claim] = ()
    ) -> tuple[Verdict | None, ...]:
        self.verifying.set()
        await self.may_verify.wait()
        return await super().verify(question, text, claims, others)

    async def next_turn(
        self, question: SubQuestion, workspace: Workspace, on_answer: OnAnswer | None = None
    ) -> Turn:
        self.thinking.set()
        await self.let_on.wait()
        return await super().next_turn(question, workspace, on_answer)


@dataclass
class House:
    """The view of a listener and of its platform."""

    store: Store
    reception: Reception
    dispatcher: LocalDispatcher
    poster: RememberingPoster
    reasoner: Gated
    service: ResearchService
    shelf: Shelf
    said: int = field(default=0)

    def message(self, text: str, thread: str = "t1", **parts: Any) -> Message:
        self.said += 1
        fields: dict[str, Any] = {
            "event_id": f"m{self.said}",
            "thread": Thread("slack", "T1", "C1", thread),
            "author": Author("U1", "Ada"),
            "text": text,
            "at": datetime(2026, 1, 15, 12, 0, self.said, tzinfo=UTC),
        }
        return Message(**{**fields, **parts})

    async def ask(self, text: str, thread: str = "t1", **parts: Any) -> AcceptedQuestion:
        outcome = await self.reception.receive(self.message(text, thread, **parts), "footnote")
        assert isinstance(outcome, AcceptedQuestion)
        return outcome

    async def answered(self, text: str = "How tall is the tower?", thread: str = "t1") -> Answer:
        """Ask and wait for the answer."""
        asked = await self.ask(text, thread)
        await self.dispatcher.wait(asked.run_id)
        return self.poster.replies[-1].finished[-1]

    async def run(self, run_id: str) -> RunRecord:
        run = await self.store.run(run_id)
        assert run is not None
        return run


OpenHouse = Callable[..., Awaitable[House]]


@pytest.fixture
async def open_house(tmp_path: Path) -> AsyncIterator[OpenHouse]:
    async with AsyncExitStack() as stack:

        async def open_house(page_ttl: float = PAGE_TTL, **overrides: Any) -> House:
            store = await open_store(sqlite.migrated(tmp_path))
            stack.push_async_callback(store.close)
            settings, poster, reasoner = load_settings(**overrides), RememberingPoster(), Gated()
            posters = {"slack": poster}
            shelf = a_shelf("Tower is 330 m tall.", "Bridge is long.")
            service = ResearchService(
                settings,
                store,
                a_library(shelf, page_ttl),
                reasoner=lambda calls: reasoner,
                fallback=lambda calls: Scripted(name="fallback"),
                price=lambda reply: 0.0,
                posters=posters,
            )
            dispatcher = LocalDispatcher(store, service, 8)
            await stack.enter_async_context(dispatcher)
            reception = Reception(settings, store, service, dispatcher, posters)
            stack.push_async_callback(reception.aclose)
            return House(store, reception, dispatcher, poster, reasoner, service, shelf)

        yield open_house


@pytest.fixture
async def house(open_house: OpenHouse) -> House:
    return await open_house()
