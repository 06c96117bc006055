"""The steps of a run, including model calls: carried out once, stored in the journal, and shown."""

from __future__ import annotations

import asyncio
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Iterable,
    Iterator,
    Mapping,
)
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
)
from contextvars import ContextVar
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from time import monotonic
from typing import Any, TypeVar

from pydantic import TypeAdapter

from bot.core.errors import BudgetSpent, FootnoteError
from bot.core.logs import get_logger
from bot.core.messages import StepState, StepView
from bot.pages.page import Page
from bot.reasoning.calls import ANSWERING, ModelReply
from bot.reasoning.evidence import AnswerDelta, CitationDelta, Cut, Suggested, TextDelta
from bot.research.budget.account import Account
from bot.research.notes import Notes
from bot.research.outcomes import StreamOutcome, keep
from bot.storage.journal import Journal, RecordedStep, step_key
from bot.storage.spending import NOTHING, Amount

T = TypeVar("T")

log = get_logger()

LAST_SECONDS = 5.0  # for storing a finished step when its run is cancelled

# Each task has its own context, so concurrent branches do not mix.
_branch: ContextVar[str] = ContextVar("branch", default="")


class Steps:
    """See the module docstring. ``changed`` is called whenever a line of the plan changes."""

    def __init__(self, journal: Journal, changed: Callable[[], None]) -> None:
        self._journal = journal
        self._changed = changed
        self._views: dict[str, StepView] = {}
        self._reasons: dict[tuple[str, str, str], str] = {}  # failure → the line that shows it
        self._under_way: dict[str, asyncio.Future[Any]] = {}

    @property
    def views(self) -> tuple[StepView, ...]:
        """The lines of the plan, in the order they first appeared."""
        return tuple(self._views.values())

    @contextmanager
    def branch(self, id: str) -> Iterator[None]:
        """Put every line that first appears in the block under the line ``id``."""
        token = _branch.set(id)
        try:
            yield
        finally:
            _branch.reset(token)

    def show(self, view: StepView) -> None:
        """Set a line of the plan by its id; its parent stays the one it first had."""
        if not view.title:
            return
        earlier = self._views.get(view.id)
        parent = earlier.parent if earlier is not None else view.parent or _branch.get()
        view = replace(view, parent=parent)
        if view.kind in ("search", "read") and view.state == "failed" and view.detail:
            # If nothing is reachable, sibling lines all fail for the same reason: show it once.
            told_by = self._reasons.setdefault((view.kind, parent, view.detail), view.id)
            view = view if told_by == view.id else replace(view, detail="")
        self._views[view.id] = view
        self._changed()

    async def do(
        self,
        kind: str,
        inputs: Mapping[str, Any],
        work: Callable[[], Awaitable[T]],
        shape: TypeAdapter[T],
        *,
        title: str,
        page: Callable[[], Page | None] = lambda: None,
        sources: tuple[str, ...] = (),
        cost: Callable[[T], Amount] = lambda result: NOTHING,
        is_shown: bool = True,
    ) -> T:
        """Return a step's result: from the journal, from the same step in progress, or by running
        it.

        ``page`` returns the page that the step has read, ``cost`` the cost of its result; both are
        stored with it. A step without a title, or not ``is_shown``, has no line in the plan. Raises
        what ``work`` raises, and ``RunLost``.
        """
        key = step_key(kind, inputs)
        while (recorded := self._journal.finished(key)) is None and key in self._under_way:
            other = self._under_way[key]
            try:
                return await asyncio.shield(other)
            except asyncio.CancelledError:
                if not other.cancelled() or _is_cancelled():
                    raise  # only the task that ran the step was cancelled: run it here
        if recorded is not None:
            result = shape.validate_json(recorded.result)
            if is_shown:
                self._show_finished(recorded, sources, _problem(result))
            return result
        twin: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._under_way[key] = twin
        line = StepView(key[:12], kind, title if is_shown else "", "running", sources=sources)
        started = monotonic()
        self.show(line)
        try:
            result = await work()
            seconds = monotonic() - started
            kept = shape.dump_json(result).decode()
            step = RecordedStep(key, kind, title, kept, seconds, datetime.now(UTC))
            await self._record(step, page(), cost(result))
        except BaseException as error:
            reason = error.sentence if isinstance(error, BudgetSpent) else ""
            seconds = monotonic() - started
            self.show(replace(line, state="failed", seconds=seconds, detail=reason))
            _log_end(kind, "failed", seconds)
            if isinstance(error, FootnoteError):
                twin.set_exception(error)
                twin.exception()  # retrieved here to avoid a warning if no one waits for it
            else:
                twin.cancel()
            raise
        finally:
            del self._under_way[key]
        twin.set_result(result)
        problem = _problem(result)
        state: StepState = "failed" if problem else "done"
        self.show(replace(line, state=state, seconds=seconds, detail=problem))
        _log_end(kind, state, seconds)
        return result

    def finished(self, key: str) -> RecordedStep | None:
        """Return the step if this or an earlier attempt has finished it, and show its line."""
        recorded = self._journal.finished(key)
        if recorded is not None:
            self._show_finished(recorded)
        return recorded

    def _show_finished(
        self, step: RecordedStep, sources: tuple[str, ...] = (), problem: str = ""
    ) -> None:
        state: StepState = "failed" if problem else "done"
        self.show(
            StepView(
                step.key[:12],
                step.kind,
                step.title,
                state,
                step.seconds,
                detail=problem,
                sources=sources,
            )
        )

    async def _record(
        self, step: RecordedStep, page: Page | None = None, cost: Amount = NOTHING
    ) -> None:
        """Store a step even if the caller is cancelled, since it has been paid for."""
        recording = asyncio.create_task(self._journal.record(step, page, cost))
        # A caller cancelled twice no longer waits; the outcome is then ignored.
        recording.add_done_callback(lambda kept: kept.cancelled() or kept.exception())
        try:
            await asyncio.shield(recording)
        except asyncio.CancelledError:
            await asyncio.wait({recording}, timeout=LAST_SECONDS)
            recording.cancel()
            await asyncio.gather(recording, return_exceptions=True)  # the cancellation wins
            raise

    @contextmanager
    def under_way(
        self, key: str, kind: str, title: str
    ) -> Iterator[Callable[[str, Amount], Awaitable[None]]]:
        """Show a streaming step; call the yielded function with its result and cost.

        Leaving the block without doing so marks the step as failed. That call raises ``RunLost``.
        """
        line = StepView(key[:12], kind, title, "running")
        started = monotonic()
        self.show(line)
        state: StepState = "failed"

        async def finish(result: str, cost: Amount) -> None:
            nonlocal state
            seconds = monotonic() - started
            step = RecordedStep(key, kind, title, result, seconds, datetime.now(UTC))
            await self._record(step, cost=cost)
            state = "done"

        try:
            yield finish
        finally:
            seconds = monotonic() - started
            self.show(replace(line, state=state, seconds=seconds))
            _log_end(kind, state, seconds)


def _log_end(kind: str, state: StepState, seconds: float) -> None:
    """Log a step by its kind only: titles contain words of the question."""
    log.info("step ended", kind=kind, state=state, seconds=round(seconds, 3))


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and bool(task.cancelling())


def _problem(result: object) -> str:
    """Return why a step has not succeeded, for the asker; "" if it has."""
    return str(getattr(result, "said", "") or getattr(result, "problem", ""))


U = TypeVar("U")


async def together(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Run concurrently and return results in order; the first failure cancels the others and is
    raised.

    A cancellation that arrives meanwhile takes precedence over the failure: it may be a stop, which
    must not be lost. (``asyncio.TaskGroup`` would raise the failure.)
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


@cache  # created on first use: it takes 10 ms, and runs without a model need none
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
            await held.enter_async_context(self._reserved(self._hold(kind, request)))
            return await send()

        def paid(reply: ModelReply) -> Amount:
            if self._account.first_time(kind, request):
                self._pay(reply)
            return self._account.amount(reply)

        async with AsyncExitStack() as held:  # until it is paid for
            reply = await self._steps.do(kind, request, ask, _reply(), title=title, cost=paid)
        paid(reply)  # counts it if it was found in the journal
        return reply

    async def stream(
        self,
        request: Mapping[str, Any],
        open: Callable[[], AsyncIterator[AnswerDelta | ModelReply]],
        *,
        kind: str,
        title: str,
    ) -> AsyncGenerator[AnswerDelta]:
        key = step_key(kind, request)
        recorded = self._steps.finished(key)
        if recorded is not None:
            outcome = _stream().validate_json(recorded.result)
            self._pay(outcome.reply)
            for delta in outcome.deltas:
                yield delta
            return
        kept: list[TextDelta | CitationDelta | Cut | Suggested] = []
        reply: ModelReply | None = None
        async with self._reserved(self._hold(kind, request)):  # until it is paid for
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

    def _hold(self, kind: str, request: Mapping[str, Any]) -> AbstractAsyncContextManager[None]:
        hold = self._account.charge if kind in ANSWERING else self._account.cover
        return hold(request)

    @asynccontextmanager
    async def _reserved(self, held: AbstractAsyncContextManager[None]) -> AsyncIterator[None]:
        """Hold a call's reservation. If a daily budget does not cover it, show that in the plan, so
        that the asker knows before the answer begins."""
        async with AsyncExitStack() as stack:
            try:
                await stack.enter_async_context(held)
            except BudgetSpent as spent:
                if spent.is_of_day:
                    title = self._notes.described(spent)
                    self._steps.show(StepView(spent.text_id, "budget", title, "failed"))
                raise
            yield

    def count_lost(self, reply: ModelReply) -> None:
        amount = replace(self._account.amount(reply), model_calls=0)
        if amount.tokens:  # otherwise nothing was started
            self._journal.owe(replace(amount, model_calls=1))
            self._count(reply, amount)

    def _pay(self, reply: ModelReply) -> None:
        self._count(reply, self._account.amount(reply))

    def _count(self, reply: ModelReply, amount: Amount) -> None:
        if amount.unpriced_calls:
            self._notes.price_unknown(reply.model)
        self._account.pay(amount)
