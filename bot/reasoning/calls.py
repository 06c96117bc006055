"""Model calls: what a finished one leaves, and how a reasoner makes them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from bot.reasoning.evidence import AnswerDelta


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens counted for one attempt at a call; ``hour_write`` is the part of ``cache_write``
    that is kept for an hour instead of five minutes."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    hour_write: int = 0


@dataclass(frozen=True, slots=True)
class ModelReply:
    """A finished model call as the journal keeps it.

    ``content`` are the reply's content blocks as JSON. Token counts are the API's own, summed over
    all attempts; ``hour_write_tokens`` is part of ``cache_write_tokens``. ``cut`` are the attempts
    that broke off before the one that gave the reply, each counted by itself: the price of a prompt
    may depend on its length. ``geo`` is where the API says it worked ("us", "global" or "").
    ``plain`` tells that search results went as text, with marks asked for instead of citations.
    """

    model: str
    content: list[dict[str, Any]]
    stop_reason: str
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    stop_details: dict[str, Any] = field(default_factory=dict)
    hour_write_tokens: int = 0
    cut: tuple[Tokens, ...] = ()
    geo: str = ""
    plain: bool = False


class ModelCalls(Protocol):
    """A reasoner's way to call models: each call is a budgeted, recorded step of the run.

    ``request`` is the whole request as JSON; its hash is the step's key, so it must come out the
    same on every attempt. A call that is already in the journal is not sent again.
    ``now`` is the moment the run was accepted, fixed for all attempts.
    """

    now: datetime

    async def call(
        self,
        request: Mapping[str, Any],
        send: Callable[[], Awaitable[ModelReply]],
        *,
        kind: str,
        title: str,
    ) -> ModelReply: ...

    def stream(
        self,
        request: Mapping[str, Any],
        open: Callable[[], AsyncIterator[AnswerDelta | ModelReply]],
        *,
        kind: str,
        title: str,
    ) -> AsyncIterator[AnswerDelta]:
        """Pass on the deltas of ``open()``, whose last item is the ModelReply, and record them.

        For the answer itself: it is written however much was spent.
        """
        ...

    def checked_stream(
        self,
        request: Mapping[str, Any],
        open: Callable[[], AsyncIterator[AnswerDelta | ModelReply]],
        *,
        kind: str,
        title: str,
    ) -> AsyncIterator[AnswerDelta]:
        """As ``stream``, for a call that comes more than once; raises ``BudgetSpent``."""
        ...

    def lost(self, reply: ModelReply) -> None:
        """Count the tokens of a call that failed or was stopped."""
        ...
