"""Failures that are kept like results, so that a resumed run fails where it failed before.

What was worked on beside a failure, and after it, rests on it: if it came out well on the next
attempt, model calls that were paid for would be asked for with other words.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, TypeVar

from pydantic import TypeAdapter

from bot.errors import (
    Broken,
    BudgetSpent,
    CredentialsRefused,
    FootnoteError,
    ModelBroken,
    ModelRefused,
    ModelUnavailable,
    Refused,
    StorageUnavailable,
    Unavailable,
)

T = TypeVar("T")

# Each before those that it is one of.
_KINDS: tuple[type[FootnoteError], ...] = (
    ModelUnavailable,
    CredentialsRefused,
    ModelRefused,
    ModelBroken,
    Unavailable,
    Refused,
    Broken,
)


@dataclass(frozen=True, slots=True)
class Failure:
    """An error as it is kept: what kind it was, and its words."""

    kind: str
    sentence: str
    text_id: str = ""
    limit: float = 0.0

    @classmethod
    def of(cls, error: FootnoteError) -> Failure:
        if isinstance(error, BudgetSpent):
            return cls("BudgetSpent", error.sentence, error.text_id, error.limit)
        kind = next((kind for kind in _KINDS if isinstance(error, kind)), Broken)
        return cls(kind.__name__, error.sentence)

    @property
    def error(self) -> FootnoteError:
        """The error that it was."""
        if self.kind == "BudgetSpent":
            return BudgetSpent(self.sentence, text_id=self.text_id, limit=self.limit)
        kind = next((kind for kind in _KINDS if kind.__name__ == self.kind), Broken)
        return kind(self.sentence)


_failure = TypeAdapter(Failure)


class Keeping(Protocol):
    """The part of a ``research.run.Run`` that keeps what came of something."""

    now: datetime

    async def keep(
        self,
        kind: str,
        inputs: Mapping[str, Any],
        work: Callable[[], Awaitable[T]],
        shape: TypeAdapter[T],
        *,
        title: str,
    ) -> T: ...

    def kept(self, kind: str, inputs: Mapping[str, Any], shape: TypeAdapter[T]) -> T | None: ...


async def attempted(
    run: Keeping, work: Callable[[], Awaitable[T]], *, inputs: Mapping[str, Any]
) -> T:
    """Do ``work``, unless it failed on an earlier attempt; ``inputs`` tell it from all other work.
    Raises what it raises."""
    inputs = {**inputs, "asked": run.now.isoformat()}  # an edited question begins again
    earlier = run.kept("failure", inputs, _failure)
    if earlier is not None:
        raise earlier.error
    try:
        return await work()
    except StorageUnavailable:
        raise  # it could not be kept either
    except (BudgetSpent, Unavailable, Refused, Broken) as error:
        failure = Failure.of(error)

        async def kept() -> Failure:
            return failure

        await run.keep("failure", inputs, kept, _failure, title="")
        raise
