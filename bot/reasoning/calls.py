"""Model calls: the record of a finished call, and the interface for making them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, Literal, Protocol

from pydantic import Field

from bot.reasoning.evidence import AnswerDelta


@dataclass(frozen=True, slots=True)
class Tokens:
    """The token counts of one attempt at a call; ``hour_write`` is the part of ``cache_write`` that
    is cached for an hour instead of five minutes."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    hour_write: int = 0


@dataclass(frozen=True, slots=True)
class Citation:
    """The passages of a search result that support a text: from ``start_block_index`` to
    ``end_block_index`` (exclusive) of the request's search result ``search_result_index``.
    ``source`` is its address; ``title`` and ``cited_text`` are as reported by the service."""

    search_result_index: int
    start_block_index: int
    end_block_index: int
    source: str = ""
    title: str | None = None
    cited_text: str = ""


@dataclass(frozen=True, slots=True)
class Text:
    """Text of a reply, with the citations that support all of it."""

    text: str
    citations: tuple[Citation, ...] = ()
    type: Literal["text"] = "text"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call; ``unparsed`` is the beginning of an input that was not a JSON object."""

    id: str
    name: str
    input: dict[str, Any]
    unparsed: str = ""
    type: Literal["tool_use"] = "tool_use"


Record = dict[str, Any]
"""A block that only its service understands, such as a thought; it is sent back unchanged."""

Block = Annotated[Text | ToolCall | Record, Field(union_mode="left_to_right")]


@dataclass(frozen=True, slots=True)
class ModelReply:
    """A finished model call, as stored in the journal.

    ``stop_reason`` is "end_turn", "tool_use", "max_tokens", "model_context_window_exceeded",
    "refusal" or the service's own value. Token counts are the API's, summed over all attempts;
    ``hour_write_tokens`` is part of ``cache_write_tokens``. ``cut`` are the interrupted attempts
    before the successful one, counted separately because the price of a prompt may depend on its
    length. ``geo`` is the region reported by the API ("us", "global" or ""). ``plain`` is True if
    search results were sent as text, with marks instead of citations.
    """

    model: str
    content: tuple[Block, ...]
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

    @property
    def attempts(self) -> tuple[Tokens, ...]:
        """The tokens of each attempt; the last attempt's are the totals minus the others."""
        cut = self.cut
        last = Tokens(
            self.input_tokens - sum(tokens.input for tokens in cut),
            self.output_tokens - sum(tokens.output for tokens in cut),
            self.cache_read_tokens - sum(tokens.cache_read for tokens in cut),
            self.cache_write_tokens - sum(tokens.cache_write for tokens in cut),
            self.hour_write_tokens - sum(tokens.hour_write for tokens in cut),
        )
        return (*cut, last)

    @classmethod
    def of(
        cls,
        model: str,
        content: Sequence[Block],
        stop_reason: str,
        attempts: Sequence[Tokens],
        **more: Any,
    ) -> ModelReply:
        """Build a reply with the tokens of all attempts, the last of which gave the reply."""
        return cls(
            model,
            tuple(content),
            stop_reason,
            sum(tokens.input for tokens in attempts),
            sum(tokens.output for tokens in attempts),
            sum(tokens.cache_read for tokens in attempts),
            sum(tokens.cache_write for tokens in attempts),
            hour_write_tokens=sum(tokens.hour_write for tokens in attempts),
            cut=tuple(attempts[:-1]),
            **more,
        )


WRITE, VERIFY, RESTATE = "write", "verify", "restate"
ANSWERING = frozenset((WRITE, VERIFY, RESTATE))
"""The kinds of calls that write the answer and verify it: they do not end with the run's budget,
however deep the research was. They come once an answer, or once a batch of its sentences."""


class ModelCalls(Protocol):
    """The interface by which a reasoner calls models: each call is a budgeted, recorded step of the
    run.

    ``request`` is the whole request as JSON; its hash is the step's key, so it must be the same on
    every attempt. A call already in the journal is not sent again. ``now`` is the time the run was
    accepted, fixed for all attempts.
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
        """Yield and record the deltas of ``open()``, whose last item is the ModelReply.

        The answer is written and verified (``ANSWERING``) even if the run's budget is spent; other
        kinds raise ``BudgetSpent``.
        """
        ...

    def count_lost(self, reply: ModelReply) -> None:
        """Count the tokens of a call that failed or was stopped."""
        ...
