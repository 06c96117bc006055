"""The dispatcher of a process, and the runs that it looks for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection
from pathlib import Path

import pytest

from bot.core.errors import InvalidSetting
from bot.core.messages import RunOptions
from bot.operation.configuration import load_settings
from bot.service.dispatch.attempts import Timing
from bot.service.dispatch.dispatcher import (
    LocalDispatcher,
    Role,
    is_queued,
    need_queue,
    open_dispatcher,
)
from bot.storage.store import Standing, Store, open_store
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
    monkeypatch.setattr("bot.service.dispatch.dispatcher.SWEEP_SECONDS", 0.01)
    gate = Gate(store, open=True)
    await store.accept("run-a", a_message("a"), RunOptions(), NOW)
    settings = load_settings(database_url=url)
    async with open_dispatcher(settings, store, gate, ["terminal"], role) as dispatcher:
        assert isinstance(dispatcher, LocalDispatcher)
        if found:
            await gate.until(lambda: gate.ended == found)
    assert gate.started == found


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
        message = a_message("b", a_thread("t2"))
        await store.accept("run-b", message, RunOptions(), NOW, owner=dispatcher.owner)
        await dispatcher.submit("run-b", message.thread)
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
        message = a_message("a")
        await store.accept("run-a", message, RunOptions(), NOW, owner=dispatcher.owner)
        await dispatcher.submit("run-a", message.thread)
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
        message = a_message("a")
        await store.accept("run-a", message, RunOptions(), NOW)
        await dispatcher.submit("run-a", message.thread)
        if begun:
            await gate.until(lambda: gate.ended == begun)
        else:
            condition = await dispatcher.condition()
            assert (condition.working, condition.workers) == (0, 0)
            assert "No worker is alive" in condition.advice
    assert gate.started == begun
    await store.close()
