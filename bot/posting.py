"""The way out of the core: what an adapter implements to show a run and its answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Protocol

from bot.answers import Answer, PlanView
from bot.errors import FootnoteError
from bot.messages import Message

PostState = dict[str, Any]  # an adapter's own JSON: what it needs to find its posts again


@dataclass(frozen=True, slots=True)
class RunRef:
    """A run as an adapter knows it; ``save`` keeps the adapter's post state with the run."""

    id: str
    message: Message
    save: Callable[[PostState], Awaitable[None]]


class Reply(Protocol):
    """One answer being shown. ``finish`` or ``fail`` comes last, once; both may be repeated
    after a crash with the same content."""

    def progress(self, plan: PlanView) -> None:
        """The whole plan, each time it changes; must not block, the adapter coalesces."""
        ...

    def stream(self, text: str) -> None:
        """The whole text written so far, each time it grows; must not block.

        A text that does not begin with the one before replaces it.
        """
        ...

    async def finish(self, answer: Answer) -> None: ...

    async def fail(self, answer: Answer, error: FootnoteError) -> None:
        """``answer`` has the status ``failed`` and the error's sentence as its text."""
        ...


class Poster(Protocol):
    """An adapter's way out."""

    async def open(self, run: RunRef, saved: PostState | None) -> Reply:
        """Begin a reply, or find the one that an interrupted attempt left (``saved``)."""
        ...
