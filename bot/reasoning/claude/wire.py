"""Requests as the Messages API takes them: https://platform.claude.com/docs/en/api/messages."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from bot.reasoning.calls import Block, Text, ToolCall
from bot.reasoning.model.requests import (
    CachePoint,
    ModelTurn,
    Request,
    SearchResult,
    ToolResult,
    UserBlock,
    UserTurn,
    Words,
    sendable,
    with_schema_in_words,
)
from bot.reasoning.model.service import Wire

CACHED = {"type": "ephemeral"}
THOUGHTS = ("thinking", "redacted_thinking")


def adapted(request: Request, refused: Collection[str]) -> Wire:
    """The JSON body of a request, without the features that its model is known to refuse."""
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
    """The features of a request that an endpoint may refuse."""
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
    # A conversation that goes on has cache points. Its messages must not change their form when
    # a cache point moves on: a thought may not come after a past that has changed.
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
    """A block of the model's as it came."""
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
    """The blocks, texts in a row as one."""
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
