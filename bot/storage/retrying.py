"""Retrying transactions, where that is safe and useful.

A method that is one transaction is marked ``repeated`` or ``awaited`` if running it twice has the
same effect as once, because a connection that breaks during a commit does not tell whether the
commit succeeded. This works because every run has an id chosen by the caller, every message the
platform's id, and every step and page a hash as key; what is already stored under one of these is
left alone. Changes to a run require its current attempt number, so that a process that has lost
the run changes nothing, however late it writes.

Transactions that add up or delete (spending without a step, batches of removal) are not marked:
their callers retry, or the next round does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import stamina

from bot.core.errors import StorageUnavailable
from bot.storage.database import Database, Transactions

P = ParamSpec("P")
T = TypeVar("T")

SERVING_PATIENCE = 300.0  # seconds that a server's run waits; terminal users get an error instead
START_PATIENCE = 60.0  # seconds that a server waits for a database started at the same time
TRIES = 4  # of a transaction that conflicted with others, or lost its connection
ENDING_SECONDS = 5.0  # for a transaction whose caller was cancelled
FIRST_SECONDS, LONGEST_SECONDS = 0.05, 1.0  # wait between tries


S = TypeVar("S", bound=Transactions)
Method = Callable[Concatenate[S, P], Coroutine[Any, Any, T]]


def repeated(method: Method[S, P, T]) -> Method[S, P, T]:
    """Retry a few times in quick succession, when that may help: the caller is waiting."""

    @wraps(method)
    async def again(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await at_once(lambda: method(self, *args, **kwargs))

    return again


def awaited(method: Method[S, P, T]) -> Method[S, P, T]:
    """Retry until the database works, for as long as its ``patience`` allows: a run waits here and
    keeps the results that it has paid for."""

    @wraps(method)
    async def again(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await patiently(self.database, lambda: method(self, *args, **kwargs))

    return again


async def at_once(transaction: Callable[[], Awaitable[T]]) -> T:
    """See ``repeated``. Raises the error of the last try."""
    async for attempt in stamina.retry_context(
        on=_may_pass_at_once,
        attempts=TRIES,
        timeout=None,
        wait_initial=FIRST_SECONDS,
        wait_jitter=FIRST_SECONDS,
    ):
        with attempt:
            return await _to_its_end(transaction)
    raise AssertionError("the last attempt returns or raises")


async def patiently(database: Database, transaction: Callable[[], Awaitable[T]]) -> T:
    """See ``awaited``. Raises the error of the last try."""
    if not database.patience:
        return await at_once(transaction)
    async for attempt in stamina.retry_context(
        on=_may_pass,
        attempts=None,
        timeout=database.patience,
        wait_initial=FIRST_SECONDS,
        wait_max=LONGEST_SECONDS,
        wait_jitter=FIRST_SECONDS,
    ):
        with attempt:
            return await _to_its_end(transaction)
    raise AssertionError("the last attempt returns or raises")


async def _to_its_end(transaction: Callable[[], Awaitable[T]]) -> T:
    """Run a transaction to its end, even when the caller is cancelled.

    Cancelling in the middle of a statement would discard the connection; a second cancellation
    while it is being closed would leave it open, on SQLite with the write lock.
    """
    doing = asyncio.ensure_future(transaction())
    try:
        return await asyncio.shield(doing)
    except asyncio.CancelledError:
        await asyncio.wait({doing}, timeout=ENDING_SECONDS)
        doing.cancel()  # does nothing if it has ended
        if doing.done() and not doing.cancelled():
            doing.exception()  # mark it as retrieved: the cancellation takes precedence
        raise


def _may_pass_at_once(error: Exception) -> bool:
    return isinstance(error, StorageUnavailable) and error.kind in ("contended", "broken")


def _may_pass(error: Exception) -> bool:
    return isinstance(error, StorageUnavailable) and error.kind != "wrong"
