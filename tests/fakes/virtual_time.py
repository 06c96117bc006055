"""An event loop whose clock jumps: waiting takes no time, yet all waiting happens in order."""

from __future__ import annotations

import asyncio
import functools
import selectors
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor
from typing import Any, TypeVar, TypeVarTuple

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock moves on to the next timer when there is nothing else to do.

    For code that only waits for timers, for other tasks and for threads, whose work takes no time
    here: the clock stands still until it is done.
    """

    def __init__(self) -> None:
        super().__init__(_Impatient(self))
        self._now = 1_000.0
        self.in_threads = 0

    def time(self) -> float:
        return self._now

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[*Ts], T], *args: *Ts
    ) -> asyncio.Future[T]:
        self.in_threads += 1
        future = super().run_in_executor(executor, func, *args)
        future.add_done_callback(self._thread_done)
        return future

    def _thread_done(self, future: asyncio.Future[Any]) -> None:
        self.in_threads -= 1

    def advance(self, seconds: float) -> None:
        self._now += seconds


class _Impatient(selectors.DefaultSelector):
    def __init__(self, loop: VirtualTimeLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None or (timeout > 0 and self._loop.in_threads):
            return super().select(None)
        events = super().select(0)
        if not events and timeout > 0:
            self._loop.advance(timeout)
        return events


def in_virtual_time(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """Make a plain test of an async one: it runs on a loop of its own with a jumping clock."""

    @functools.wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
            runner.run(_run(test, args, kwargs))

    return run


async def _run(
    test: Callable[..., Awaitable[None]], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    await test(*args, **kwargs)


def now() -> float:
    """The running loop's time in seconds: the clock to give to what is tested."""
    return asyncio.get_running_loop().time()
