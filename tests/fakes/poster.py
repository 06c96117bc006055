"""A platform that only remembers what was shown to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from bot.core.errors import FootnoteError, PageUnreadable
from bot.core.messages import Answer, Attachment, Message, PlanView
from bot.core.posting import PostState, RunRef, Unseen


@dataclass
class Remembered:
    """One reply as it was shown."""

    run: RunRef
    saved: PostState | None
    plans: list[PlanView] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    finished: list[Answer] = field(default_factory=list)
    failed: list[tuple[Answer, FootnoteError]] = field(default_factory=list)
    abandoned: int = 0

    def progress(self, plan: PlanView) -> None:
        self.plans.append(plan)

    def stream(self, text: str) -> None:
        self.texts.append(text)

    async def finish(self, answer: Answer) -> None:
        self.finished.append(answer)

    async def fail(self, answer: Answer, error: FootnoteError) -> None:
        self.failed.append((answer, error))

    async def abandon(self) -> None:
        self.abandoned += 1


@dataclass
class RememberingPoster:
    """Its replies, in the order they were opened."""

    amends = True

    replies: list[Remembered] = field(default_factory=list)
    said: list[Message] = field(default_factory=list)  # the history of any thread
    files: dict[str, bytes] = field(default_factory=dict)
    waiting: list[tuple[str, int]] = field(default_factory=list)
    removed: list[tuple[str, PostState | None]] = field(default_factory=list)

    async def open(self, run: RunRef, saved: PostState | None) -> Remembered:
        await run.save({"opened": len(self.replies) + 1})
        self.replies.append(Remembered(run, saved))
        return self.replies[-1]

    async def queued(self, run: RunRef, ahead: int) -> None:
        self.waiting.append((run.id, ahead))

    async def remove(self, run: RunRef, saved: PostState | None) -> None:
        self.removed.append((run.id, saved))

    async def history(self, run: RunRef) -> Sequence[Message]:
        return self.said

    async def download(self, run: RunRef, attachment: Attachment, limit: int) -> bytes:
        if attachment.url not in self.files:
            raise PageUnreadable(f"The file {attachment.name} is no longer there: attach it again.")
        return self.files[attachment.url]


class Streamed(Unseen):
    """A reply that hands on its text as it grows."""

    def __init__(self, on_text: Callable[[str], None]) -> None:
        self._on_text = on_text

    def stream(self, text: str) -> None:
        self._on_text(text)
