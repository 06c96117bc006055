"""Doing a transaction again, where that is safe and helps.

A method that is one transaction is marked ``repeated`` or ``awaited`` when doing it twice leaves
the same as doing it once, since a connection that breaks in a commit does not tell whether it was
one. What makes it so: every run has an id that its asker made up, every message the platform's, and
every step and page a key that is a hash; what is stored under one of these already is left as it
is. What changes a run is written under the number of its attempt, so that a process that lost
it in the meantime changes nothing, however late it comes.

Transactions that add up or take away (spending without a step, batches of removal) are not marked:
who asked for them does so again, or the next round does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import stamina

from bot.errors import StorageUnavailable
from bot.storage.database import Database, Transactions

P = ParamSpec("P")
T = TypeVar("T")

SERVING_PATIENCE = 300.0  # seconds that a run of a server waits; who asks in a terminal is told
START_PATIENCE = 60.0  # that a server waits for its database when both are started together
TRIES = 4  # at a transaction that was in the way of others, or lost its connection
ENDING_SECONDS = 5.0  # for a transaction whose caller no longer waits
FIRST_SECONDS, LONGEST_SECONDS = 0.05, 1.0  # between two of them


S = TypeVar("S", bound=Transactions)
Method = Callable[Concatenate[S, P], Coroutine[Any, Any, T]]


def repeated(method: Method[S, P, T]) -> Method[S, P, T]:
    """Retry a few times at once, when that may help: the caller is waiting."""

    @wraps(method)
    async def again(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await at_once(lambda: method(self, *args, **kwargs))

    return again


def awaited(method: Method[S, P, T]) -> Method[S, P, T]:
    """Done again until the database works, for as long as its patience lasts: a run waits in
    place, with all that it has paid for in hand."""

    @wraps(method)
    async def again(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await patiently(self.database, lambda: method(self, *args, **kwargs))

    return again


async def at_once(transaction: Callable[[], Awaitable[T]]) -> T:
    """See ``repeated``. Raises what the last try raised."""
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
    """See ``awaited``. Raises what the last try raised."""
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
    """Do a transaction, also to its end when its caller is cancelled.

    Cancelled in the middle of a statement its connection would be thrown away; a second cancel
    while that is closed leaves it open, on SQLite with the write lock.
    """
    doing = asyncio.ensure_future(transaction())
    try:
        return await asyncio.shield(doing)
    except asyncio.CancelledError:
        await asyncio.wait({doing}, timeout=ENDING_SECONDS)
        doing.cancel()  # does nothing to one that has ended
        if doing.done() and not doing.cancelled():
            doing.exception()  # seen: the cancellation goes before it
        raise


def _may_pass_at_once(error: Exception) -> bool:
    return isinstance(error, StorageUnavailable) and error.kind in ("contended", "broken")


def _may_pass(error: Exception) -> bool:
    return isinstance(error, StorageUnavailable) and error.kind != "wrong"
