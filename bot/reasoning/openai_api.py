"""The OpenAI API, or a compatible server (vLLM, Ollama, LM Studio, Azure), through OpenAI's SDK.

https://platform.openai.com/docs/api-reference/chat/create; error codes:
https://platform.openai.com/docs/guides/error-codes. There are no native citations: pages are sent
as text, and the model is asked for marks.
"""

from __future__ import annotations

import json
import secrets
from base64 import b64encode
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx2
import openai
from openai import AsyncStream
from openai.types.chat import ChatCompletionChunk

from bot.core.errors import FootnoteError, InvalidSetting, ModelBroken
from bot.core.texts import said
from bot.pages.pictures import Picture
from bot.reasoning.calls import (
    Begins,
    Block,
    CachePoint,
    Ends,
    ModelReply,
    ModelTurn,
    MoreText,
    Part,
    Request,
    SearchResult,
    Text,
    Tokens,
    Tool,
    ToolCall,
    ToolResult,
    UserBlock,
    UserTurn,
    sendable_text,
    tool_input,
    with_schema_in_words,
)
from bot.reasoning.model_service import (
    READING_FAILURES,
    CutOff,
    Failure,
    Names,
    Service,
    Wire,
    on_one_line,
    refused_feature,
    retry_after,
    said_in,
)
from bot.text.terms import estimate

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletionChunk

NAMED = {
    "stream_options|include_usage": "stream_options",
    "reasoning_effort|reasoning effort": "reasoning_effort",
    "max_completion_tokens": "max_completion_tokens",
    "max_tokens": "max_tokens",
    "strict": "strict",
    "response_format|json_schema|structured output|guided|grammar": "response_format",
}
"""Patterns for error texts about a rejected feature that Footnote can do without."""


class OpenAIEndpoint(Service[ChatCompletionChunk]):
    """See the module docstring."""

    failures = (openai.APIError, *READING_FAILURES)
    names = Names(
        "OpenAI",
        "Chat Completions API",
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "with",
        "https://api.openai.com/v1",
    )
    _client: openai.AsyncOpenAI

    def new_client(self) -> openai.AsyncOpenAI:
        return openai.AsyncOpenAI(**self.client_options(openai.DefaultAsyncHttpxClient))

    def _keyed(self) -> openai.AsyncOpenAI:
        """Return the client with the current key."""
        self._client.api_key = self.secret
        return self._client

    def cites(self, model: str) -> bool:
        return False

    async def name_of(self, model: str) -> str:
        try:
            return (await self._keyed().models.retrieve(model)).id
        except openai.NotFoundError:
            # Some servers can only list models; Ollama adds a tag to a name without one.
            async for each in self._client.models.list():
                if model in (each.id, each.id.partition(":")[0]):
                    return each.id
            raise

    async def send(self, wire: Wire) -> AsyncStream[ChatCompletionChunk]:
        stream: AsyncStream[ChatCompletionChunk] = await self._keyed().chat.completions.create(
            **wire, stream=True
        )
        return stream

    def collector(self, request: Request) -> OpenAICollector:
        return OpenAICollector(request)

    def to_wire(self, request: Request) -> Wire:
        refused = self.refused.get(request.model, set())
        names = ["max_completion_tokens", "max_tokens"]
        if self.address != self.names.api:
            names.reverse()  # some servers silently ignore unknown parameters
        limit = next((name for name in names if name not in refused), names[0])
        return request_body(request, refused, limit)

    def refused_feature(self, failure: Failure, wire: Wire) -> str | None:
        feature = refused_feature(failure.words, features(wire), NAMED)
        effort = wire.get("reasoning_effort")
        if (
            feature == "reasoning_effort"
            and effort in NO_THOUGHT
            and f"'{effort}'" in failure.words
        ):
            return f"{feature} {effort}"  # another value may be accepted
        return feature

    def failure(self, error: Exception) -> Failure:
        if isinstance(error, openai.APIStatusError):
            return Failure(
                on_one_line(said_in(error.body) or error.message),
                error,
                status=error.status_code,
                kind=error.code if error.code == "insufficient_quota" else error.type or "",
                request_id=error.request_id or "",
                retry_after=retry_after(error.response.headers),
            )
        disconnected = openai.APIConnectionError | httpx2.TransportError | CutOff
        kind = ""
        if isinstance(error, openai.APIError) and not isinstance(error, openai.APIConnectionError):
            kind = error.type or error.code or "server_error"  # an error in a stream
        return Failure(
            on_one_line(str(error)),
            error,
            kind=kind,
            timed_out=isinstance(error, TimeoutError | openai.APITimeoutError),
            disconnected=isinstance(error, disconnected),
        )

    def explain(self, error: Exception, model: str) -> FootnoteError:
        failure = self.failure(error)
        if failure.is_bad_request and "support tools" in failure.words:
            return InvalidSetting(said("service-toolless", model=model), detail=failure.words)
        return super().explain(error, model)


NO_THOUGHT = ("none", "minimal")  # efforts to request if a reply needs no thinking


def request_body(request: Request, refused: Collection[str], limit: str) -> Wire:
    """Return the JSON body of a request, without features that its model is known to refuse.

    ``limit`` is the parameter for the reply's maximum length: ``max_completion_tokens``, or
    ``max_tokens`` for servers that know only the older name.
    """
    system = request.system_for_marks or request.system
    if request.schema is not None and "response_format" in refused:
        system = with_schema_in_words(system, request.schema)
    wire: Wire = {
        "model": request.model,
        limit: request.max_tokens,
        "messages": [{"role": "system", "content": system}, *_messages(request.turns)],
    }
    if request.pictures:
        first = wire["messages"][1]
        words = {"type": "text", "text": first["content"]}
        first["content"] = [*map(_picture, request.pictures), words]
    effort = _effort(request, refused)
    if effort is not None:
        wire["reasoning_effort"] = effort
    if "stream_options" not in refused:
        wire["stream_options"] = {"include_usage": True}
    if request.schema is not None and "response_format" not in refused:
        form = {"name": "reply", "schema": request.schema, **_strict(request.schema, refused)}
        wire["response_format"] = {"type": "json_schema", "json_schema": form}
    if request.tools:
        wire["tools"] = [_tool(tool, refused) for tool in request.tools]
    return wire


def features(wire: Wire) -> set[str]:
    """Return the features of a request that a server may refuse."""
    used = set(wire) & {
        *("stream_options", "response_format", "max_tokens", "max_completion_tokens", "tools"),
    }
    if "reasoning_effort" in wire:
        used.add("reasoning_effort")
    if '"strict"' in json.dumps([wire.get("tools"), wire.get("response_format")]):
        used.add("strict")
    return used


def _effort(request: Request, refused: Collection[str]) -> str | None:
    if "reasoning_effort" in refused:
        return None
    if request.thinks:
        return request.effort
    left = (each for each in NO_THOUGHT if f"reasoning_effort {each}" not in refused)
    return next(left, None)


def _messages(turns: Sequence[UserTurn | ModelTurn]) -> Iterator[dict[str, Any]]:
    for turn in turns:
        if isinstance(turn, ModelTurn):
            yield _said(turn)
            continue
        # Tool results are separate messages and must come first.
        for block in turn.blocks:
            if isinstance(block, ToolResult):
                words = _words(block.blocks)
                yield {"role": "tool", "tool_call_id": block.id, "content": words}
        words = _words(turn.blocks)
        if words:
            yield {"role": "user", "content": words}


def _picture(picture: Picture) -> dict[str, Any]:
    data = b64encode(picture.data).decode()
    return {
        "type": "image_url",
        "image_url": {"url": f"data:{picture.media_type};base64,{data}"},
    }


def _said(turn: ModelTurn) -> dict[str, Any]:
    words = "".join(block.text for block in turn.content if isinstance(block, Text))
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.input)},
        }
        for call in turn.content
        if isinstance(call, ToolCall)
    ]
    said: dict[str, Any] = {"role": "assistant", "content": words or None}
    return {**said, "tool_calls": calls} if calls else said


def _words(blocks: Sequence[UserBlock]) -> str:
    shown = (
        block.as_text() if isinstance(block, SearchResult) else block.text
        for block in blocks
        if not isinstance(block, CachePoint | ToolResult)
    )
    return "\n\n".join(shown)


def _tool(tool: Tool, refused: Collection[str]) -> dict[str, Any]:
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.schema,
        **_strict(tool.schema, refused),
    }
    return {"type": "function", "function": function}


def _strict(schema: Mapping[str, Any], refused: Collection[str]) -> dict[str, bool]:
    """Return ``strict`` if the schema allows it: it must have no optional properties."""
    optional = set(schema["properties"]) - set(schema["required"])
    return {} if optional or "strict" in refused else {"strict": True}


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
    """Collects the chunks of one reply. Implements ``model.service.Collector``.

    If the server counts no tokens, they are estimated, so that budgets hold.
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
        """Process one chunk. Raises ``ModelBroken`` if it lacks fields the API defines."""
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
        yield MoreText(words)

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
            # Some servers give no ids to calls, but results need them.
            call.id = call.id or f"call_{secrets.token_hex(12)}"
            content.append(ToolCall(call.id, call.name, given, unparsed))
        refusal = {"explanation": self._refusal} if self._refusal else {}
        return ModelReply.of(
            self._request.model,
            content,
            # Some servers end a turn with tool calls like any other.
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
        seen = sum(each.tokens for each in self._request.pictures)
        return Tokens(input=estimate(given) + seen, output=estimate(written))


def _counted(usage: Any) -> Tokens:
    details = usage.prompt_tokens_details
    cached = (details.cached_tokens if details is not None else 0) or 0
    return Tokens(
        input=max(0, (usage.prompt_tokens or 0) - cached),
        output=usage.completion_tokens or 0,
        cache_read=cached,
    )


class _WithoutThoughts:
    """Removes thoughts that a server writes in tags before the reply."""

    def __init__(self) -> None:
        self._held: str | None = ""  # None once the reply itself has begun

    def add(self, words: str) -> str:
        """Return the part of the words that belongs to the reply."""
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
        """Return the words still held at the end: a reply as short as the beginning of a tag."""
        held, self._held = (self._held or "").lstrip(), None
        return "" if held.startswith(THOUGHT) else held
