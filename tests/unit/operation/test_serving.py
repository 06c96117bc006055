"""Signals that end `footnote serve` and `footnote worker`."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from bot.operation.serving import termination_signals


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_is_heard_however_often_threads_wake_the_loop(
    number: signal.Signals,
) -> None:
    loop = asyncio.get_running_loop()
    with termination_signals() as ending:
        for _ in range(2_000):  # more than the pipe takes, before the loop can look at it
            loop.call_soon_threadsafe(int)
        os.kill(os.getpid(), number)
        async with asyncio.timeout(60):
            await ending.wait()


def test_afterwards_a_signal_means_what_it_did_before() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]

    async def serve() -> None:
        with termination_signals():
            pass

    asyncio.run(serve())
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)] == before
