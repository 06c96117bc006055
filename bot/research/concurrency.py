"""Doing several things at once, and none of them any longer once one has failed."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

T = TypeVar("T")
U = TypeVar("U")


async def together(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """The results in the order given; the first failure cancels the others and is raised.

    A cancellation that comes while the others unwind goes before that failure: it may be a stop,
    which must not be lost. (``asyncio.TaskGroup`` raises the failure.)
    """
    tasks = [asyncio.create_task(part) for part in work]
    if not tasks:
        return []
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    failed = (task for task in tasks if task in done and _failed(task))
    for task in failed:
        task.result()
    return [task.result() for task in tasks]


def _failed(task: asyncio.Task[Any]) -> bool:
    return task.cancelled() or task.exception() is not None


async def both(one: Coroutine[Any, Any, T], other: Coroutine[Any, Any, U]) -> tuple[T, U]:
    """``together`` for two results of different kinds."""
    first, second = await together([_boxed(one), _boxed(other)])
    return first[0], second[0]


async def _boxed(work: Coroutine[Any, Any, Any]) -> tuple[Any]:
    return (await work,)
