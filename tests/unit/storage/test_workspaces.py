"""Facts, rules, feedback and use: what is kept about places."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

from bot.core.messages import RunOptions, Thread
from bot.storage.conversations import Conversations
from bot.storage.journal import RecordedStep, open_journal
from bot.storage.spending import Amount
from bot.storage.store import Store
from bot.storage.workspaces import Opinion, Use, Workspaces
from tests.unit.samples import NOW, a_message, verdicts

THREAD = Thread("slack", "T1", "C1", "1.0")
LEASE = timedelta(seconds=30)


async def test_facts_are_kept_per_workspace_and_replaced(store: Store) -> None:
    places = Workspaces(store.database)
    await places.remember("slack", "T1", "streaming", {"allowed": True})
    await places.remember("slack", "T1", "streaming", {"allowed": False})
    await places.remember("slack", "T2", "streaming", {"allowed": True})
    assert await places.facts("slack", "T1") == {"streaming": {"allowed": False}}
    assert await places.facts("discord", "T1") == {}


async def test_processes_that_start_at_once_agree_on_a_fact(store: Store) -> None:
    workspaces = Workspaces(store.database)
    said = [workspaces.agreed("web", "console", "key", {"of": number}) for number in range(5)]
    first, *others = await asyncio.gather(*said)
    assert others == [first] * 4
    assert await workspaces.facts("web", "console") == {"key": first}
    await workspaces.remember("web", "console", "key", "another")
    assert await workspaces.agreed("web", "console", "key", "a third") == "another"


async def test_rules_are_kept_per_channel_until_they_are_reset(store: Store) -> None:
    places = Workspaces(store.database)
    await places.set_rules("slack", "T1", "C1", {"depth": "deep"}, "U1")
    await places.set_rules("slack", "T1", "C1", {"depth": "quick"}, "U2")
    assert await places.rules("slack", "T1", "C1") == {"depth": "quick"}
    assert await places.rules("slack", "T1", "C2") is None
    await places.set_rules("slack", "T1", "C1", None, "U1")
    assert await places.rules("slack", "T1", "C1") is None


async def test_feedback_needs_a_run(store: Store) -> None:
    places = Workspaces(store.database)
    assert not await places.keep_feedback("r1", "U1", Opinion("good"))
    await store.accept("r1", a_message(thread=THREAD), RunOptions(), NOW)
    assert await places.keep_feedback("r1", "U1", Opinion("good"))
    assert await verdicts(store.database, "r1") == {"U1": "good"}


async def test_use_sums_what_was_asked_since_a_moment(store: Store) -> None:
    for number, state in enumerate(["answered", "answered", "stopped"]):
        run_id = f"r{number}"
        await store.accept(run_id, a_message(thread=THREAD), RunOptions(), NOW)
        await store.claim(run_id, "h/1/x", NOW, LEASE)
        journal = await open_journal(store.database, run_id, 1)
        step = RecordedStep("k", "write", "t", "{}", 1.0, NOW)
        await journal.record(step, cost=Amount(micro_usd=250_000, model_calls=1))
        await store.end(run_id, 1, state, NOW)
    early = replace(THREAD, thread="0.5")
    await store.accept("r9", a_message(thread=early), RunOptions(), NOW - timedelta(days=40))
    places = Workspaces(store.database)
    assert await places.use("slack", "T1", NOW) == Use(questions=3, answered=2, usd=0.75)
    assert await places.use("slack", "T1", NOW + timedelta(1)) == Use(0, 0, 0.0)
    assert await places.use("slack", "T9", NOW) == Use(0, 0, 0.0)


async def test_a_run_moves_to_the_thread_that_was_made_for_it(store: Store) -> None:
    pending, made = replace(THREAD, thread="pending-1"), replace(THREAD, thread="2.0")
    message = a_message(thread=pending)
    await store.accept("r1", message, RunOptions(), NOW)
    await store.claim("r1", "h/1/x", NOW, LEASE)
    conversations = Conversations(store.database)
    await conversations.move("r1", 1, made, NOW)
    run = await store.run("r1")
    assert run is not None
    assert run.message == replace(message, thread=made)
    assert await conversations.takes_part(made)
    assert not await conversations.takes_part(pending)
    assert await conversations.history_is_read(made)
