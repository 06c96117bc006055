"""The Claude API, or a compatible endpoint, through Anthropic's SDK.

Events are taken as JSON: making the SDK's objects of them, of which few fields are needed, takes
half of the processor time of a reply.

The Messages API: https://platform.claude.com/docs/en/api/messages; status codes and error types:
https://platform.claude.com/docs/en/api/errors.
"""

from __future__ import annotations

import secrets
from base64 import b64encode
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, cast

import anthropic
import httpx2
from anthropic import AsyncStream

from bot.core.errors import ModelBroken
from bot.pages.pictures import Picture
from bot.reasoning.calls import (
    Begins,
    Block,
    CachePoint,
    Citation,
    Ends,
    ModelReply,
    ModelTurn,
    MoreText,
    Part,
    Request,
    SearchResult,
    Text,
    Tokens,
    ToolCall,
    ToolResult,
    UserBlock,
    UserTurn,
    Words,
    sendable,
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

Event = Mapping[str, Any]  # as in the API's reference

_FORMAT = (
    r"output_config|output_format|json.schema|structured output"
    # A schema within all limits may still be too complex for the grammar compiled from it.
    r"|schema is too complex|grammar"
)
NAMED = {
    "cache_control": "cache_control",
    r"search_result|citation": "search_result",
    "strict": "strict",
    "between_tools": "disabled",
    r"signature|thinking\W{0,2} block": "thinking_blocks",
    "thinking": "thinking",
    r"\beffort": "effort",
    _FORMAT: "format",
    "output_config": "effort",
}
"""Patterns for error texts about a rejected feature that Footnote can do without. ``disabled`` is
the old way of turning thinking off (newer models need ``between_tools``); ``thinking_blocks`` means
sending back the thoughts of earlier turns.
"""


class ClaudeEndpoint(Service[Event]):
    """See the module docstring."""

    failures = (anthropic.APIError, *READING_FAILURES)
    names = Names(
        "Claude",
        "Messages API",
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
        "without",
        "https://api.anthropic.com",
    )
    _client: anthropic.AsyncAnthropic

    def new_client(self) -> anthropic.AsyncAnthropic:
        options = self.client_options(anthropic.DefaultAsyncHttpxClient)
        return anthropic.AsyncAnthropic(default_headers=self._headers(), **options)

    def _headers(self) -> dict[str, str]:
        # Endpoints written for earlier versions of the API expect the key only here.
        return {} if self.address == self.names.api else {"X-Api-Key": self.secret}

    def _keyed(self) -> anthropic.AsyncAnthropic:
        """Return the client with the current key."""
        if self._client.api_key != self.secret:
            self._client = self._client.with_options(
                api_key=self.secret, default_headers=self._headers()
            )
        return self._client

    def cites(self, model: str) -> bool:
        return "search_result" not in self.refused.get(model, set())

    async def name_of(self, model: str) -> str:
        return (await self._keyed().models.retrieve(model)).display_name

    async def send(self, wire: Wire) -> AsyncStream[Event]:
        stream = await self._keyed().post(
            "/v1/messages",
            body={**wire, "stream": True},
            cast_to=object,
            stream=True,
            stream_cls=AsyncStream[object],
        )
        return cast("AsyncStream[Event]", stream)

    def collector(self, request: Request) -> ClaudeCollector:
        return ClaudeCollector()

    def to_wire(self, request: Request) -> Wire:
        return request_body(request, self.refused.get(request.model, set()))

    def refused_feature(self, failure: Failure, wire: Wire) -> str | None:
        words = failure.words
        if "maximum of" in words and "cache_control" in words:
            return None
        return refused_feature(words, features(wire), NAMED)

    def failure(self, error: Exception) -> Failure:
        if isinstance(error, anthropic.APIStatusError):
            return Failure(
                on_one_line(error.api_message or said_in(error.body) or str(error)),
                error,
                status=error.status_code,
                kind=error.type or "",
                request_id=error.request_id or "",
                retry_after=retry_after(error.response.headers),
            )
        return Failure(
            on_one_line(str(error)),
            error,
            timed_out=isinstance(error, TimeoutError | anthropic.APITimeoutError),
            disconnected=isinstance(
                error, anthropic.APIConnectionError | httpx2.TransportError | CutOff
            ),
        )


CACHED = {"type": "ephemeral"}
THOUGHTS = ("thinking", "redacted_thinking")


def request_body(request: Request, refused: Collection[str]) -> Wire:
    """Return the JSON body of a request, without features that its model is known to refuse."""
    cites, caches = "search_result" not in refused, "cache_control" not in refused
    system = request.system if cites else request.system_for_marks or request.system
    if request.schema is not None and "format" in refused:
        system = with_schema_in_words(system, request.schema)
    wire: Wire = {
        "model": request.model,
        "max_tokens": request.max_tokens,
        "system": [_cached(_text(system)) if caches else _text(system)],
        "messages": _messages(request.turns, refused),
    }
    if request.pictures:
        first = wire["messages"][0]
        first["content"] = [*map(_picture, request.pictures), _text(first["content"])]
    thinking = "adaptive" if request.thinks else "disabled"
    if thinking == "disabled" and "disabled" in refused:
        thinking = "between_tools"
    if "thinking" not in refused:
        wire["thinking"] = {"type": thinking}
    output: dict[str, Any] = {}
    if request.effort is not None and "effort" not in refused:
        output["effort"] = request.effort
    if request.schema is not None and "format" not in refused:
        output["format"] = {"type": "json_schema", "schema": request.schema}
    if output:
        wire["output_config"] = output
    if request.tools:
        strict = {} if "strict" in refused else {"strict": True}
        wire["tools"] = [
            {
                "name": tool.name,
                "description": tool.description,
                "input_schema": tool.schema,
                **strict,
            }
            for tool in request.tools
        ]
    return wire


def features(wire: Wire) -> set[str]:
    """Return the features of a request that an endpoint may refuse."""
    used: set[str] = set(wire.get("output_config") or {})
    thinking = wire.get("thinking")
    if thinking:
        used.add("thinking")
        if thinking["type"] == "disabled":
            used.add("disabled")
    if any("strict" in tool for tool in wire.get("tools", ())):
        used.add("strict")
    blocks = [block for message in wire["messages"] for block in _listed(message["content"])]
    if any(block["type"] in THOUGHTS for block in blocks):
        used.add("thinking_blocks")
    inner = [each for block in blocks for each in _listed(block.get("content"))]
    if any(block["type"] == "search_result" for block in (*blocks, *inner)):
        used.add("search_result")
    if any("cache_control" in block for block in (*blocks, *wire["system"])):
        used.add("cache_control")
    return used


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _messages(
    turns: Sequence[UserTurn | ModelTurn], refused: Collection[str]
) -> list[dict[str, Any]]:
    # A longer conversation has cache points. Messages must keep their form when a cache point
    # moves: a thought is invalid after a changed history.
    user = [turn for turn in turns if isinstance(turn, UserTurn)]
    goes_on = any(isinstance(block, CachePoint) for turn in user for block in turn.blocks)
    messages: list[dict[str, Any]] = []
    for turn in turns:
        if isinstance(turn, ModelTurn):
            content = turn.content
            if "thinking_blocks" in refused:
                content = sendable(tuple(b for b in content if isinstance(b, Text | ToolCall)))
            messages.append({"role": "assistant", "content": [_said(each) for each in content]})
        elif len(turn.blocks) == 1 and isinstance(turn.blocks[0], Words) and not goes_on:
            messages.append({"role": "user", "content": turn.blocks[0].text})
        else:
            messages.append({"role": "user", "content": _blocks(turn.blocks, refused)})
    return messages


def _said(block: Block) -> dict[str, Any]:
    """Convert a block of the model back to its original form."""
    match block:
        case Text():
            citations = [
                {"type": "search_result_location", **asdict(each)} for each in block.citations
            ]
            return _text(block.text) | ({"citations": citations} if citations else {})
        case ToolCall():
            return {"type": "tool_use", "id": block.id, "name": block.name, "input": block.input}
        case _:
            return dict(block)


def _blocks(blocks: Sequence[UserBlock], refused: Collection[str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for block in blocks:
        match block:
            case CachePoint() if "cache_control" not in refused:
                found[-1] = _cached(found[-1])
            case Words(text):
                found.append(_text(text))
            case SearchResult():
                found.append(_result(block, refused))
            case ToolResult():
                found.append(_tool_result(block, refused))
    return _joined(found) if "search_result" in refused else found


def _result(result: SearchResult, refused: Collection[str]) -> dict[str, Any]:
    if "search_result" in refused:
        return _text(result.as_text())
    return {
        "type": "search_result",
        "source": result.source,
        "title": result.title,
        "content": [_text(each) for each in result.passages],
        "citations": {"enabled": True},
    }


def _tool_result(result: ToolResult, refused: Collection[str]) -> dict[str, Any]:
    given = {"type": "tool_result", "tool_use_id": result.id}
    match result.blocks:
        case (Words(text),) if result.failed:
            return {**given, "is_error": True, "content": text}
    return {**given, "content": _blocks(result.blocks, refused)}


def _joined(blocks: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the blocks with consecutive texts joined."""
    joined: list[dict[str, Any]] = []
    for block in blocks:
        last = joined[-1] if joined else None
        if last and last["type"] == block["type"] == "text" and "cache_control" not in last:
            joined[-1] = {**block, "text": f"{last['text']}\n\n{block['text']}"}
        else:
            joined.append(dict(block))
    return joined


def _cached(block: Mapping[str, Any]) -> dict[str, Any]:
    return {**block, "cache_control": CACHED}


def _text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def _picture(picture: Picture) -> dict[str, Any]:
    data = b64encode(picture.data).decode()
    source = {"type": "base64", "media_type": picture.media_type, "data": data}
    return {"type": "image", "source": source}


class ClaudeCollector:
    """Collects the events of one reply. Implements ``model.service.Collector``."""

    def __init__(self) -> None:
        self.is_complete = False
        self._tokens = Tokens()
        self._model = ""
        self._geo = ""
        self._blocks: dict[int, dict[str, Any]] = {}
        self._citations: dict[int, list[Citation]] = {}
        self._written: dict[int, list[str]] = {}  # text of blocks that are still open
        self._stop_reason = ""
        self._stop_details: dict[str, Any] = {}

    def add(self, event: Event) -> Iterator[Part]:
        """Process one event. Unknown kinds of events and deltas are ignored.

        Raises ``ModelBroken`` for an event without the fields the API defines.
        """
        try:
            yield from self._add(event)
        except (AttributeError, KeyError, TypeError) as error:
            kind = event.get("type") if isinstance(event, dict) else type(event)
            raise ModelBroken(
                "The endpoint sent a reply that cannot be read: try again, or check "
                "ANTHROPIC_BASE_URL.",
                detail=f"{kind}: {type(error).__name__} {error}",
            ) from error

    def _add(self, event: Event) -> Iterator[Part]:
        match event["type"]:
            case "message_start":
                message = event["message"]
                usage = message["usage"]
                self._model = message["model"]
                self._geo = usage.get("inference_geo") or ""
                # Only this event separates cache writes by their lifetime.
                kept = usage.get("cache_creation") or {}
                hour = kept.get("ephemeral_1h_input_tokens") or 0
                self._tokens = replace(self._tokens, hour_write=hour)
                self._count(usage)
            case "content_block_start":
                block = {k: v for k, v in event["content_block"].items() if v is not None}
                if block["type"] == "tool_use":
                    # Some endpoints give no ids to calls, but results need them.
                    block.setdefault("id", f"toolu_{secrets.token_hex(12)}")
                    block.setdefault("name", "")
                    block.setdefault("input", {})
                self._blocks[event["index"]] = block
                self._written[event["index"]] = []
                yield Begins(is_call=block["type"] == "tool_use")
                if block["type"] == "text" and block.get("text"):
                    yield MoreText(str(block["text"]))
            case "content_block_delta":
                yield from self._add_delta(event["index"], event["delta"])
            case "content_block_stop":
                self._close(event["index"])
                yield Ends()
            case "message_delta":
                delta = event["delta"]
                self._stop_reason = delta.get("stop_reason") or ""
                self._stop_details = delta.get("stop_details") or self._stop_details
                self._count(event["usage"])
            case "message_stop":
                self.is_complete = True
            case _:
                pass

    def reply(self) -> ModelReply:
        """Return the reply; closes blocks that are still open."""
        for index in list(self._written):
            self._close(index)
        return ModelReply.of(
            self._model,
            [self._block(index) for index in sorted(self._blocks)],
            self._stop_reason,
            (self._tokens,),
            stop_details=self._stop_details,
            geo=self._geo,
        )

    def _add_delta(self, index: int, delta: Mapping[str, Any]) -> Iterator[Part]:
        block = self._blocks.get(index)
        if block is None:
            return
        match delta["type"]:
            case "text_delta":
                self._written[index].append(delta["text"])
                yield MoreText(delta["text"])
            case "thinking_delta":
                self._written[index].append(delta["thinking"])
            case "input_json_delta":
                self._written[index].append(delta["partial_json"])
            case "signature_delta":
                block["signature"] = delta["signature"]
            case "citations_delta":
                citation = _citation(delta["citation"])
                if citation is not None:
                    self._citations.setdefault(index, []).append(citation)
                    yield citation
            case _:
                pass

    def _close(self, index: int) -> None:
        written = "".join(self._written.pop(index, ()))
        block = self._blocks.get(index)
        if block is None or not written:
            return
        match block["type"]:
            case "text":
                block["text"] = sendable_text(block.get("text", "") + written)
            case "thinking":
                block["thinking"] = block.get("thinking", "") + written
            case "tool_use":
                block["input"], block["unparsed"] = tool_input(written)
            case _:
                pass

    def _block(self, index: int) -> Block:
        block = self._blocks[index]
        match block["type"]:
            case "text":
                return Text(block.get("text", ""), tuple(self._citations.get(index, ())))
            case "tool_use":
                unparsed = block.get("unparsed", "")
                return ToolCall(block["id"], block["name"], block["input"], unparsed)
            case _:
                return block

    def _count(self, usage: Mapping[str, Any]) -> None:
        """Update the counts. They are cumulative: a later count replaces an earlier one, unless it
        is absent."""
        counted = {
            "input": usage.get("input_tokens"),
            "output": usage.get("output_tokens"),
            "cache_read": usage.get("cache_read_input_tokens"),
            "cache_write": usage.get("cache_creation_input_tokens"),
        }
        self._tokens = replace(
            self._tokens, **{name: n for name, n in counted.items() if n is not None}
        )


def _citation(given: Any) -> Citation | None:
    """Convert a citation; None if it is of another kind or incomplete."""
    try:
        return Citation(
            int(given["search_result_index"]),
            int(given["start_block_index"]),
            int(given["end_block_index"]),
            given.get("source") or "",
            given.get("title"),
            given.get("cited_text") or "",
        )
    except (KeyError, TypeError, ValueError):
        return None
