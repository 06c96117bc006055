"""Model calls kept in memory: a journal that lasts as long as the test."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from bot.core.errors import BudgetSpent
from bot.reasoning.calls import ModelReply
from bot.reasoning.evidence import AnswerDelta
from tests.unit.samples import NOW


@dataclass(frozen=True, slots=True)
class Made:
    """One call that was made: what kind, under which title, with which request."""

    kind: str
    title: str
    request: dict[str, Any]


@dataclass
class MemoryCalls:
    """Implements ``ModelCalls``.

    A request that was answered is not sent again. ``made`` are the calls asked for, ``replies``
    the answers by request; hand ``replies`` to another one to replay. ``limit`` is a budget.
    ``wasted`` is what came of calls that came to nothing.
    """

    now: datetime = NOW
    limit: int = 100
    made: list[Made] = field(default_factory=list)
    replies: dict[str, ModelReply] = field(default_factory=dict)
    streams: dict[str, list[AnswerDelta]] = field(default_factory=dict)
    wasted: list[ModelReply] = field(default_factory=list)

    async def call(
        self,
        request: Mapping[str, Any],
        send: Callable[[], Awaitable[ModelReply]],
        *,
        kind: str,
        title: str,
    ) -> ModelReply:
        key = self._ask(request, kind, title)
        if key not in self.replies:
            self.replies[key] = await send()
        return self.replies[key]

    async def stream(
        self,
        request: Mapping[str, Any],
        open: Callable[[], AsyncIterator[AnswerDelta | ModelReply]],
        *,
        kind: str,
        title: str,
    ) -> AsyncIterator[AnswerDelta]:
        key = self._ask(request, kind, title)
        if key in self.streams:
            for delta in self.streams[key]:
                yield delta
            return
        deltas: list[AnswerDelta] = []
        async for part in open():
            if isinstance(part, ModelReply):
                self.replies[key] = part
            else:
                deltas.append(part)
                yield part
        assert key in self.replies, "the stream ended without its reply"
        self.streams[key] = deltas

    def count_lost(self, reply: ModelReply) -> None:
        self.wasted.append(reply)

    @property
    def last(self) -> ModelReply:
        """The reply to the newest call."""
        return self.replies[_key(self.made[-1].request)]

    def _ask(self, request: Mapping[str, Any], kind: str, title: str) -> str:
        if len(self.made) >= self.limit:
            raise BudgetSpent(f"The budget of {self.limit} model calls was spent.")
        self.made.append(Made(kind, title, json.loads(json.dumps(request))))
        return _key(request)


def _key(request: Mapping[str, Any]) -> str:
    return json.dumps(request, sort_keys=True)
