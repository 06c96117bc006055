"""A platform that only remembers what was shown to it."""

from __future__ import annotations

from dataclasses import dataclass, field

from bot.answers import Answer, PlanView
from bot.errors import FootnoteError
from bot.posting import PostState, RunRef


@dataclass
class Remembered:
    """One reply as it was shown."""

    run: RunRef
    saved: PostState | None
    plans: list[PlanView] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    finished: list[Answer] = field(default_factory=list)
    failed: list[tuple[Answer, FootnoteError]] = field(default_factory=list)

    def progress(self, plan: PlanView) -> None:
        self.plans.append(plan)

    def stream(self, text: str) -> None:
        self.texts.append(text)

    async def finish(self, answer: Answer) -> None:
        self.finished.append(answer)

    async def fail(self, answer: Answer, error: FootnoteError) -> None:
        self.failed.append((answer, error))


@dataclass
class RememberingPoster:
    """Its replies, in the order they were opened."""

    replies: list[Remembered] = field(default_factory=list)

    async def open(self, run: RunRef, saved: PostState | None) -> Remembered:
        await run.save({"opened": len(self.replies) + 1})
        self.replies.append(Remembered(run, saved))
        return self.replies[-1]
