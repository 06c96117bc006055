"""Work that events do not wait for."""

from __future__ import annotations

import asyncio

import pytest
from structlog.testing import capture_logs

from bot.core.errors import PlatformUnavailable
from bot.service.background import BackgroundTasks


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
