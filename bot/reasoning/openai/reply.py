"""A streamed reply of the Chat Completions API, put together again."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bot.errors import ModelBroken
from bot.reasoning.calls import Block, ModelReply, Text, Tokens, ToolCall
from bot.reasoning.model.requests import (
    Begins,
    Ends,
    Part,
    Request,
    Said,
    sendable_text,
    tool_input,
)
from bot.text.tokens import estimate

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletionChunk

STOP_REASONS = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "content_filter": "refusal",
}
THOUGHT, THOUGHT_ENDS = "<think>", "</think>"


@dataclass(slots=True)
class _Call:
    id: str = ""
    name: str = ""
    written: list[str] = field(default_factory=list)


class OpenAICollector:
    """Takes the chunks of one reply. Implements ``model.service.Collector``.

    Tokens that the server does not count are estimated, so that budgets hold.
    """

    def __init__(self, request: Request) -> None:
        self.is_complete = False
        self._request = request
        self._text = ""
        self._unthought = _WithoutThoughts()
        self._calls: dict[int, _Call] = {}
        self._tokens: Tokens | None = None
        self._stop_reason = ""
        self._refusal = ""
        self._has_begun = False

    def add(self, event: ChatCompletionChunk) -> Iterator[Part]:
        """Take one chunk. Raises ``ModelBroken`` for one that lacks what the API gives it."""
        try:
            yield from self._add(event)
        except (AttributeError, KeyError, TypeError) as error:
            raise ModelBroken(
                "The server sent a reply that cannot be read: try again, or check OPENAI_BASE_URL.",
                detail=str(error),
            ) from error

    def _add(self, event: ChatCompletionChunk) -> Iterator[Part]:
        self._has_begun = True
        if event.usage is not None:
            self._tokens = _counted(event.usage)
        for choice in event.choices or ():
            delta = choice.delta
            if delta is not None and delta.content:
                yield from self._say(self._unthought.add(delta.content))
            if delta is not None and delta.refusal:
                self._refusal += delta.refusal
            for part in (delta.tool_calls if delta is not None else None) or ():
                yield from self._call(part)
            if choice.finish_reason:
                yield from self._say(self._unthought.rest())
                yield Ends()
                self._stop_reason = STOP_REASONS.get(choice.finish_reason, choice.finish_reason)
                self.is_complete = True

    def _say(self, words: str) -> Iterator[Part]:
        if not words:
            return
        if not self._text:
            yield Begins()
        self._text += words
        yield Said(words)

    def _call(self, part: Any) -> Iterator[Part]:
        if part.index not in self._calls:
            self._calls[part.index] = _Call()
            yield Begins(is_call=True)
        call = self._calls[part.index]
        call.id = part.id or call.id
        if part.function is not None:
            call.name = part.function.name or call.name
            call.written.append(part.function.arguments or "")

    def reply(self) -> ModelReply:
        content: list[Block] = []
        if self._text:
            content.append(Text(sendable_text(self._text)))
        for _, call in sorted(self._calls.items()):
            given, unparsed = tool_input("".join(call.written) or "{}")
            # Not every server names its calls; the answer has to.
            call.id = call.id or f"call_{secrets.token_hex(12)}"
            content.append(ToolCall(call.id, call.name, given, unparsed))
        refusal = {"explanation": self._refusal} if self._refusal else {}
        return ModelReply.of(
            self._request.model,
            content,
            # Some servers end a turn that calls tools as any other.
            "refusal" if refusal else "tool_use" if self._calls_end() else self._stop_reason,
            (self._tokens or self._estimated(),),
            stop_details=refusal,
        )

    def _calls_end(self) -> bool:
        return bool(self._calls) and self._stop_reason == "end_turn"

    def _estimated(self) -> Tokens:
        if not self._has_begun:
            return Tokens()
        given = str(self._request.as_json())
        written = self._text + "".join("".join(c.written) for c in self._calls.values())
        return Tokens(input=estimate(given), output=estimate(written))


def _counted(usage: Any) -> Tokens:
    details = usage.prompt_tokens_details
    cached = (details.cached_tokens if details is not None else 0) or 0
    return Tokens(
        input=max(0, (usage.prompt_tokens or 0) - cached),
        output=usage.completion_tokens or 0,
        cache_read=cached,
    )


class _WithoutThoughts:
    """Leaves out thoughts that a server writes in tags before the reply."""

    def __init__(self) -> None:
        self._held: str | None = ""  # None once the reply itself has begun

    def add(self, words: str) -> str:
        """The part of the words that belongs to the reply."""
        if self._held is None:
            return words
        self._held += words
        begun = self._held.lstrip()
        if THOUGHT.startswith(begun[: len(THOUGHT)]) and len(begun) < len(THOUGHT):
            return ""
        if begun.startswith(THOUGHT):
            if THOUGHT_ENDS not in begun:
                return ""
            begun = begun.partition(THOUGHT_ENDS)[2].lstrip()
            if not begun:
                return ""
        self._held = None
        return begun

    def rest(self) -> str:
        """The words still held at the end: a reply as short as the beginning of a tag."""
        held, self._held = (self._held or "").lstrip(), None
        return "" if held.startswith(THOUGHT) else held
