"""The dispatcher of a process, and the runs that it looks for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from bot.core.errors import InvalidSetting
from bot.core.messages import RunOptions, Thread
from bot.operation.configuration import load_settings
from bot.service.dispatch.attempts import Pace, Timing
from bot.service.dispatch.dispatcher import (
    Dispatcher,
    LocalDispatcher,
    Role,
    is_queued,
    need_queue,
    open_dispatcher,
)
from bot.storage.store import RunRecord, Standing, Store, open_store
from tests.fakes import sqlite
from tests.fakes.gate import Gate
from tests.fakes.postgres import Postgres
from tests.unit.samples import NOW, a_message, a_thread

SQLITE, POSTGRES = "sqlite+aiosqlite:///x.sqlite", "postgresql+psycopg://u:p@host/footnote"


@pytest.mark.parametrize(("url", "queued"), [(SQLITE, False), (POSTGRES, True)])
def test_runs_are_queued_on_postgres(url: str, queued: bool) -> None:
    assert is_queued(load_settings(database_url=url)) is queued


def test_a_worker_says_what_it_lacks() -> None:
    need_queue(load_settings(database_url=POSTGRES), "footnote worker")
    with pytest.raises(InvalidSetting, match=r"`footnote worker` .*needs PostgreSQL"):
        need_queue(load_settings(database_url=SQLITE), "footnote worker")


# ---------------------------------------------------------------- opened


@pytest.fixture
def url(tmp_path: Path) -> str:
    return sqlite.migrated(tmp_path)


@pytest.fixture
async def store(url: str) -> AsyncIterator[Store]:
    store = await open_store(url)
    yield store
    await store.close()


@pytest.mark.parametrize(("role", "found"), [("serve", ["a"]), ("alone", [])])
async def test_who_serves_finds_runs_that_were_left_and_who_is_alone_does_not(
    url: str, store: Store, monkeypatch: pytest.MonkeyPatch, role: Role, found: list[str]
) -> None:
    monkeypatch.setattr("bot.service.dispatch.dispatcher.SWEEP_SECONDS", 0.0)
    gate = Gate(store, open=True)
    await store.accept("run-a", a_message("a"), RunOptions(), NOW)
    settings = load_settings(database_url=url)
    async with open_dispatcher(settings, store, gate, ["terminal"], role) as dispatcher:
        assert isinstance(dispatcher, LocalDispatcher)
        for text in "bc":
            await submit(store, dispatcher, text, a_thread(text))
            await gate.until(lambda text=text: text in gate.ended)  # type: ignore[misc]
        if found:
            await gate.until(lambda: "a" in gate.ended)
    assert sorted(gate.started) == [*found, "b", "c"]


async def submit(store: Store, to: Dispatcher, text: str, thread: Thread) -> None:
    await store.accept(f"run-{text}", a_message(text, thread), RunOptions(), NOW, owner=to.owner)
    await to.submit(f"run-{text}", thread)


async def test_each_run_is_claimed_once_also_one_that_is_stopped_before_its_turn(
    store: Store,
) -> None:
    claimed = []

    class Watched(Store):
        async def claim(self, run_id: str, *how: Any) -> RunRecord | None:
            claimed.append(run_id)
            return await super().claim(run_id, *how)

    gate = Gate(store)
    async with LocalDispatcher(Watched(store.database), gate, 3) as dispatcher:
        for text in "abc":
            await submit(store, dispatcher, text, a_thread())
        await gate.until(lambda: gate.working == 1)
        await dispatcher.stop("run-b")
        await gate.let_all()
        await gate.until(lambda: gate.ended == ["b", "a", "c"])
    assert claimed == ["run-a", "run-b", "run-c"]


async def test_whoever_waits_for_a_run_goes_on_when_its_process_ends(store: Store) -> None:
    gate = Gate(store)
    async with LocalDispatcher(store, gate, 3) as dispatcher:
        for text in "ab":
            await submit(store, dispatcher, text, a_thread())
        waiting = [asyncio.create_task(dispatcher.wait(f"run-{text}")) for text in "ab"]
        await gate.until(lambda: gate.working == 1)
    async with asyncio.timeout(60):
        await asyncio.gather(*waiting)


@pytest.mark.parametrize(
    ("role", "concurrency", "paced"), [("serve", 7, False), ("work", 7, True), ("listen", 0, False)]
)
async def test_only_a_worker_of_a_queue_begins_runs_in_quicker_succession(
    store: Store, monkeypatch: pytest.MonkeyPatch, role: Role, concurrency: int, paced: bool
) -> None:
    opened = []

    def queue(*its: object, pace: Pace | None, **_: object) -> nullcontext[None]:
        opened.append((its[3], pace is not None))
        return nullcontext()

    where = "bot.service.dispatch.procrastinate_dispatcher.PostgresDispatcher"
    monkeypatch.setattr(where, queue)
    settings = load_settings(database_url=POSTGRES)
    async with open_dispatcher(settings, store, Gate(store), ["terminal"], role, 7):
        assert opened == [(concurrency, paced)]


@pytest.mark.parametrize(("sweep", "ended"), [(600.0, ["left", "b"]), (None, ["b"])])
async def test_who_looks_for_no_runs_ends_none_of_those_that_others_stopped(
    store: Store, sweep: float | None, ended: list[str]
) -> None:
    gate = Gate(store)
    await store.accept("run-left", a_message("left"), RunOptions(), NOW)
    await store.request_stop("run-left")
    looks = asyncio.Semaphore(0)

    class Watched(Store):
        async def standing(self, run_ids: Collection[str]) -> dict[str, Standing]:
            looks.release()
            return await super().standing(run_ids)

    async with LocalDispatcher(
        Watched(store.database), gate, 3, platforms=["terminal"], sweep_seconds=sweep,
        timing=Timing(look=0.001),
    ) as dispatcher:  # fmt: skip
        await submit(store, dispatcher, "b", a_thread("t2"))
        for _ in range(3):  # of the work on b: each goes on to what was stopped
            await looks.acquire()
        if sweep is not None:
            await gate.until(lambda: gate.ended == ["left"])
        await gate.let_all()
        await gate.until(lambda: gate.ended == ended)


@pytest.mark.parametrize(("role", "ended"), [("serve", ["a"]), ("alone", [])])
async def test_who_serves_lets_its_work_end_and_who_is_alone_does_not(
    url: str, store: Store, role: Role, ended: list[str]
) -> None:
    gate = Gate(store)
    settings = load_settings(database_url=url)
    async with open_dispatcher(settings, store, gate, ["terminal"], role) as dispatcher:
        await submit(store, dispatcher, "a", a_thread())
        await gate.until(lambda: gate.working == 1)
        letting = asyncio.create_task(gate.let("a"))
    await letting
    assert gate.ended == ended


@pytest.mark.parametrize(("role", "begun"), [("work", ["a"]), ("listen", [])])
async def test_on_postgres_who_only_listens_leaves_the_work_to_others(
    postgres: Postgres, role: Role, begun: list[str]
) -> None:
    url = postgres.migrated()
    store = await open_store(url)
    gate = Gate(store, open=True)
    settings = load_settings(database_url=url)
    async with open_dispatcher(settings, store, gate, ["terminal"], role) as dispatcher:
        await submit(store, dispatcher, "a", a_thread())
        if begun:
            await gate.until(lambda: gate.ended == begun)
        else:
            condition = await dispatcher.condition()
            assert (condition.working, condition.workers) == (0, 0)
            assert "No worker is alive" in condition.advice
    assert gate.started == begun
    await store.close()
