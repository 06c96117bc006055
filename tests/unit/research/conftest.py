from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from pathlib import Path

import pytest

from bot.core.messages import Message, PlanView, RunOptions, Transcript
from bot.reasoning.calls import ModelReply
from bot.research.budget import Account, Allowance, Budget
from bot.research.run import NOTHING_SAID, Resources, Run, RunQuestion
from bot.storage.journal import open_journal
from bot.storage.store import Store, open_store
from tests.fakes import sqlite
from tests.fakes.library import Shelf, a_library
from tests.unit.samples import NOW, a_message

BUDGET = Budget(model_calls=10, pages=6, input_tokens=10_000, seconds=60, usd=1.0)
NO_OPTIONS = RunOptions()
OpenRun = Callable[..., Awaitable[Run]]


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await open_store(sqlite.migrated(tmp_path))
    yield store
    await store.close()


@pytest.fixture
def open_run(store: Store) -> OpenRun:
    """Begin an attempt at the run ``r1``, the next one each time; later ones replay."""
    attempts = 0

    async def open_run(
        shelf: Shelf,
        budget: Budget = BUDGET,
        plans: list[PlanView] | None = None,
        prefetch_pages: int = 0,
        allowance: Allowance | None = None,
        transcript: Transcript = NOTHING_SAID,
        keeps_documents: bool = True,
        message: Message | None = None,
        options: RunOptions = NO_OPTIONS,
    ) -> Run:
        nonlocal attempts
        await store.accept("r1", a_message(event_id="e1"), RunOptions(), NOW)
        await store.claim("r1", "h/1/x", NOW + attempts * timedelta(1), timedelta(seconds=1))
        attempts += 1

        def price(reply: ModelReply) -> float | None:
            return 0.01 * reply.output_tokens if reply.model != "unpriced" else None

        def publish(plan: PlanView) -> None:
            if plans is not None:
                plans.append(plan)

        journal = await open_journal(store.database, "r1", attempts)
        return Run(
            RunQuestion("r1", message or a_message(), options, NOW, transcript),
            Resources(
                a_library(shelf), prefetch_pages=prefetch_pages, keeps_documents=keeps_documents
            ),
            journal,
            Account(budget, price, allowance, journal.seconds),
            publish,
        )

    return open_run
