"""Work that events do not wait for, and rounds: each follows the one before it."""

from __future__ import annotations

import asyncio

import pytest
from structlog.testing import capture_logs

from bot.core.errors import PlatformUnavailable, StorageUnavailable
from bot.service.background import LAST_SECONDS, BackgroundTasks, Rounds
from tests.fakes.virtual_time import in_virtual_time, now


async def test_a_task_is_done_while_its_caller_goes_on() -> None:
    background, go_on, done = BackgroundTasks("slack"), asyncio.Event(), asyncio.Event()

    async def tell() -> None:
        await go_on.wait()
        done.set()

    background.later(tell())
    assert not done.is_set()
    go_on.set()
    await asyncio.wait_for(done.wait(), 5)
    await background.aclose()


@pytest.mark.parametrize(
    ("error", "level"), [(PlatformUnavailable("Away."), "warning"), (KeyError("x"), "error")]
)
async def test_what_goes_wrong_is_logged_and_harms_no_other(error: Exception, level: str) -> None:
    background, done = BackgroundTasks("slack"), asyncio.Event()

    async def fail() -> None:
        raise error

    async def tell() -> None:
        done.set()

    with capture_logs() as logs:
        background.later(fail())
        background.later(tell())
        await asyncio.wait_for(done.wait(), 5)
    assert [(entry["log_level"], entry["of"]) for entry in logs][:1] == [(level, "slack")]
    await background.aclose()


async def test_at_the_end_tasks_get_a_moment_when_there_is_one() -> None:
    background, said = BackgroundTasks("slack"), []

    async def tell() -> None:
        await asyncio.sleep(0)
        said.append("told")

    background.later(tell())
    await background.aclose(patience=5.0)
    assert said == ["told"]


async def test_what_is_not_done_at_the_end_is_dropped() -> None:
    background, dropped = BackgroundTasks("slack"), asyncio.Event()

    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            dropped.set()

    background.later(wait())
    await asyncio.sleep(0)
    await background.aclose()
    assert dropped.is_set()


@pytest.mark.parametrize(
    ("first", "expected"),
    [(None, [2.0, 4.0, 6.0]), (0.5, [0.5, 2.5, 4.5, 6.5]), (0.0, [0, 2, 4, 6])],
)
def test_a_round_begins_every_so_often(first: float | None, expected: list[float]) -> None:
    at: list[float] = []

    @in_virtual_time
    async def run() -> None:
        begin = now()

        async def do() -> None:
            at.append(now() - begin)

        rounds = Rounds("counting", 2.0, do, first)
        await asyncio.sleep(7.0)
        await rounds.aclose()
        await asyncio.sleep(7.0)

    run()
    assert at == expected


@pytest.mark.parametrize(
    ("error", "levels"),
    [(StorageUnavailable("The disk is full."), set()), (KeyError("a defect"), {"error"})],
)
def test_a_round_that_fails_is_followed_by_the_next(error: Exception, levels: set[str]) -> None:
    """A database that is away is told of once, by who watches it; a defect every time."""
    done: list[int] = []

    async def do() -> None:
        done.append(1)
        raise error

    @in_virtual_time
    async def run() -> None:
        rounds = Rounds("failing", 1.0, do)
        await asyncio.sleep(3.5)
        await rounds.aclose()

    with capture_logs() as lines:
        run()
    assert len(done) == 3
    assert {line["log_level"] for line in lines} - {"debug"} == levels


@pytest.mark.parametrize(("seconds", "ends"), [(LAST_SECONDS - 1, True), (LAST_SECONDS + 1, False)])
def test_a_round_that_has_begun_may_end_within_some_seconds(seconds: float, ends: bool) -> None:
    ended: list[int] = []

    async def do() -> None:
        await asyncio.sleep(seconds)
        ended.append(1)

    @in_virtual_time
    async def run() -> None:
        rounds = Rounds("slow", 1.0, do)
        await asyncio.sleep(1.0)
        await asyncio.sleep(0)
        begin = now()
        await rounds.aclose()
        assert now() - begin == pytest.approx(min(seconds, LAST_SECONDS))

    run()
    assert len(ended) == ends
