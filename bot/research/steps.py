"""The steps of a run: each is carried out once, kept in the journal, and shown in the plan.

A step that an earlier attempt finished is found by its key and not carried out again. The same
step asked for twice at the same time is carried out once. A line of the plan may stand under
another one: everything done within ``branch(id)`` stands under the line ``id``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from datetime import UTC, datetime
from time import monotonic
from typing import Any, TypeVar

from pydantic import TypeAdapter

from bot.answers import StepState, StepView
from bot.errors import BudgetSpent, FootnoteError
from bot.pages.page import Page
from bot.storage.journal import Journal, RecordedStep, step_key
from bot.storage.spending import NOTHING, Amount

T = TypeVar("T")

LAST_SECONDS = 5.0  # that a finished step gets to be kept when its run is cancelled

# A context of its own for each task, so that branches worked at the same time do not mix.
_branch: ContextVar[str] = ContextVar("branch", default="")


class Steps:
    """See the module docstring. ``changed`` is called whenever a line of the plan has changed."""

    def __init__(self, journal: Journal, changed: Callable[[], None]) -> None:
        self._journal = journal
        self._changed = changed
        self._views: dict[str, StepView] = {}
        self._reasons: dict[tuple[str, str, str], str] = {}  # told why → the line that tells it
        self._under_way: dict[str, asyncio.Future[Any]] = {}

    @property
    def views(self) -> tuple[StepView, ...]:
        """The lines of the plan, in the order they first appeared."""
        return tuple(self._views.values())

    @contextmanager
    def branch(self, id: str) -> Iterator[None]:
        """Put every line that first appears within under the line ``id``."""
        token = _branch.set(id)
        try:
            yield
        finally:
            _branch.reset(token)

    def show(self, view: StepView) -> None:
        """Set a line of the plan, by its id; it stays under the line it first appeared under."""
        if not view.title:
            return
        earlier = self._views.get(view.id)
        parent = earlier.parent if earlier is not None else view.parent or _branch.get()
        view = replace(view, parent=parent)
        if view.kind in ("search", "read") and view.state == "failed" and view.detail:
            # Where nothing can be reached, every line beside it fails for the same reason.
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
        """The result of a step: from the journal, from its twin under way, or by doing it now.

        ``page`` gives the page the step has read, ``cost`` what its result has cost, to be kept
        with it. A step that has no title, or is not ``is_shown``, has no line in the plan. Raises
        what ``work`` raises, and ``RunLost``.
        """
        key = step_key(kind, inputs)
        while (recorded := self._journal.finished(key)) is None and key in self._under_way:
            other = self._under_way[key]
            try:
                return await asyncio.shield(other)
            except asyncio.CancelledError:
                if not other.cancelled() or _is_cancelled():
                    raise  # else only who did the step was cancelled: it is for this one to do
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
            if isinstance(error, FootnoteError):
                twin.set_exception(error)
                twin.exception()  # the caller sees it; without one there is no warning
            else:
                twin.cancel()
            raise
        finally:
            del self._under_way[key]
        twin.set_result(result)
        problem = _problem(result)
        state: StepState = "failed" if problem else "done"
        self.show(replace(line, state=state, seconds=seconds, detail=problem))
        return result

    def finished(self, key: str, sources: tuple[str, ...] = ()) -> RecordedStep | None:
        """The step if an earlier attempt, or this one, has finished it; its line is shown."""
        recorded = self._journal.finished(key)
        if recorded is not None:
            self._show_finished(recorded, sources)
        return recorded

    def _show_finished(
        self, step: RecordedStep, sources: tuple[str, ...], problem: str = ""
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
        """Keep a step to the end, also when the caller is cancelled: it has been paid for."""
        recording = asyncio.create_task(self._journal.record(step, page, cost))
        # A caller that is cancelled twice waits no more; the outcome is then ignored.
        recording.add_done_callback(lambda kept: kept.cancelled() or kept.exception())
        try:
            await asyncio.shield(recording)
        except asyncio.CancelledError:
            await asyncio.wait({recording}, timeout=LAST_SECONDS)
            recording.cancel()
            await asyncio.gather(recording, return_exceptions=True)  # the cancellation goes before
            raise

    @contextmanager
    def under_way(
        self, key: str, kind: str, title: str
    ) -> Iterator[Callable[[str, Amount], Awaitable[None]]]:
        """Show a step that gives its parts one by one; call what is yielded with its result and
        what that has cost.

        Whoever leaves without a result has failed. Raises ``RunLost`` from that call.
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
            self.show(replace(line, state=state, seconds=monotonic() - started))


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and bool(task.cancelling())


def _problem(result: object) -> str:
    """Why a step has not got what it was for, as it is told to the asker; "" when it has."""
    return str(getattr(result, "said", "") or getattr(result, "problem", ""))
