"""Arguments, results and callers of Footnote's own Model Context Protocol server.

Separate from ``bot.mcp.server``, which needs the extra ``mcp``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field

from bot.core.lines import Kind
from bot.core.messages import MAX_QUESTION, Answer, Depth, PlanView
from bot.core.texts import Texts
from bot.research.library import Library
from bot.storage.archive import KeptPage

# ---------------------------------------------------------------- arguments and results


class Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")


class AskArguments(Arguments):
    question: str = Field(
        min_length=1, max_length=MAX_QUESTION, description="The question; links in it are read."
    )
    depth: Depth = Field(
        "auto",
        description="quick, standard, deep or exhaustive; auto lets the question decide.",
    )
    thread: str = Field(
        "",
        max_length=300,
        description="The thread of an earlier answer, for a follow-up question to it.",
    )


class SearchArguments(Arguments):
    query: str = Field(min_length=1, max_length=1_000, description="A few words.")
    limit: int = Field(10, ge=1, le=25)


class ReadArguments(Arguments):
    url: str = Field(
        min_length=1,
        max_length=4_000,
        description="An address that `search` gave or that an answer cites.",
    )
    start: int = Field(0, ge=0, description="The character to begin with.")


class Cited(BaseModel):
    number: int
    url: str
    kind: Kind
    title: str
    heading: str
    quote: str


class Answered(BaseModel):
    """``answer`` is Markdown with ``[n]`` marks, ``citations`` are the quotes behind them."""

    status: str
    answer: str
    citations: list[Cited]
    question: str
    notes: list[str]
    suggestions: list[str]
    missing: list[str]
    run: str
    thread: str
    resource: str


class FoundPage(BaseModel):
    kind: Kind
    title: str
    url: str
    snippet: str
    provider: str


class Found(BaseModel):
    """``notes`` say which sources did not answer."""

    results: list[FoundPage]
    notes: list[str]


class ReadPage(BaseModel):
    """A part of a page; ``next`` is the start of the next part, null at the end."""

    url: str
    kind: Kind
    title: str
    text: str
    fetched_at: datetime
    start: int
    characters: int
    next: int | None


# ---------------------------------------------------------------- callers


@dataclass(frozen=True, slots=True)
class AskResult:
    """An answer, and the thread for follow-up questions."""

    answer: Answer
    thread: str


@dataclass(frozen=True, slots=True)
class ResourceEntry:
    """An answer in the list of resources."""

    run: str
    question: str
    at: datetime


class Session(Protocol):
    """One caller's rights, and the operations on their behalf; methods raise ``FootnoteError``.
    ``caller`` identifies the person."""

    @property
    def caller(self) -> str: ...

    @property
    def texts(self) -> Texts: ...

    async def ask(self, given: AskArguments, show: Callable[[PlanView], None]) -> AskResult:
        """Research a question; cancelling stops it. ``show`` is called with each new plan."""
        ...

    async def library(self) -> tuple[Library, tuple[str, ...]]:
        """Return the library within the caller's rights, and the allowed providers (empty: all)."""
        ...

    async def answers(self, limit: int) -> Sequence[ResourceEntry]:
        """Return the caller's latest answers."""
        ...

    async def answer(self, run: str) -> Answer | None:
        """Return the answer of a run, if the caller may see it."""
        ...

    async def has_read(self, url: str) -> None:
        """Record that the caller received a page of the library."""
        ...

    async def page(self, run: str, number: int) -> KeptPage | None:
        """Return a page cited by an answer, as it was read."""
        ...
