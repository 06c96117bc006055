"""Doing several things at once, and none of them any longer once one has failed."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

T = TypeVar("T")
U = TypeVar("U")


async def together(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """The results in the order given; the first failure cancels the others and is raised."""
    tasks: list[asyncio.Task[T]] = []
    try:
        async with asyncio.TaskGroup() as group:
            tasks += [group.create_task(part) for part in work]
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return [task.result() for task in tasks]


async def both(one: Coroutine[Any, Any, T], other: Coroutine[Any, Any, U]) -> tuple[T, U]:
    """``together`` for two results of different kinds."""
    first, second = await together([_boxed(one), _boxed(other)])
    return first[0], second[0]


async def _boxed(work: Coroutine[Any, Any, Any]) -> tuple[Any]:
    return (await work,)
