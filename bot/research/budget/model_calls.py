"""The model calls of a run: each is a step that is held to the budget, kept, and paid for once."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from bot.reasoning.calls import ModelReply
from bot.reasoning.evidence import AnswerDelta, CitationDelta, Cut, Fold, TextDelta
from bot.research.budget.account import Account
from bot.research.notes import Notes
from bot.research.outcomes import StreamOutcome, keep
from bot.research.steps import Steps
from bot.storage.journal import Journal, step_key
from bot.storage.spending import Amount


@cache  # made for the first call: it takes 10 ms, and a run without a model makes none
def _reply() -> TypeAdapter[ModelReply]:
    return TypeAdapter(ModelReply)


@cache
def _stream() -> TypeAdapter[StreamOutcome]:
    return TypeAdapter(StreamOutcome)


class PaidCalls:
    """See the module docstring. Implements ``reasoning.calls.ModelCalls``."""

    def __init__(
        self, journal: Journal, steps: Steps, account: Account, notes: Notes, now: datetime
    ) -> None:
        self.now = now
        self._journal = journal
        self._steps = steps
        self._account = account
        self._notes = notes

    async def call(
        self,
        request: Mapping[str, Any],
        send: Callable[[], Awaitable[ModelReply]],
        *,
        kind: str,
        title: str,
    ) -> ModelReply:
        async def ask() -> ModelReply:
            await held.enter_async_context(self._account.cover(request))
            return await send()

        def paid(reply: ModelReply) -> Amount:
            if self._account.first_time(kind, request):
                self._pay(reply)
            return self._account.amount(reply)

        async with AsyncExitStack() as held:  # until it is paid for
            reply = await self._steps.do(kind, request, ask, _reply(), title=title, cost=paid)
        paid(reply)  # where it was found in the journal
        return reply

    def stream(
        self,
        request: Mapping[str, Any],
        open: Callable[[], AsyncIterator[AnswerDelta | ModelReply]],
        *,
        kind: str,
        title: str,
    ) -> AsyncIterator[AnswerDelta]:
        @asynccontextmanager
        async def charged() -> AsyncIterator[None]:
            with self._account.charge(request):
                yield

        return self._streamed(request, open, charged(), kind, title)

    def checked_stream(
        self,
        request: Mapping[str, Any],
        open: Callable[[], AsyncIterator[AnswerDelta | ModelReply]],
        *,
        kind: str,
        title: str,
    ) -> AsyncIterator[AnswerDelta]:
        return self._streamed(request, open, self._account.cover(request), kind, title)

    async def _streamed(
        self,
        request: Mapping[str, Any],
        open: Callable[[], AsyncIterator[AnswerDelta | ModelReply]],
        held: AbstractAsyncContextManager[None],
        kind: str,
        title: str,
    ) -> AsyncGenerator[AnswerDelta]:
        """Within ``held``, what the call may take is put aside until it is paid for."""
        key = step_key(kind, request)
        recorded = self._steps.finished(key)
        if recorded is not None:
            outcome = _stream().validate_json(recorded.result)
            self._pay(outcome.reply)
            for delta in outcome.deltas:
                yield delta
            return
        kept: list[TextDelta | CitationDelta | Cut | Fold] = []
        reply: ModelReply | None = None
        async with held:
            with self._steps.under_way(key, kind, title) as finish:
                async for part in open():
                    if isinstance(part, ModelReply):
                        reply = part
                        continue
                    keep(kept, part)
                    yield part
                if reply is None:
                    raise RuntimeError("a model stream ended without its reply")
                result = _stream().dump_json(StreamOutcome(tuple(kept), reply)).decode()
                self._pay(reply)
                await finish(result, self._account.amount(reply))

    def lost(self, reply: ModelReply) -> None:
        amount = replace(self._account.amount(reply), model_calls=0)
        if amount.tokens:  # else nothing was begun
            self._journal.owe(replace(amount, model_calls=1))
            self._count(reply, amount)

    def _pay(self, reply: ModelReply) -> None:
        self._count(reply, self._account.amount(reply))

    def _count(self, reply: ModelReply, amount: Amount) -> None:
        if amount.unpriced_calls:
            self._notes.price_unknown(reply.model)
        self._account.pay(amount)
