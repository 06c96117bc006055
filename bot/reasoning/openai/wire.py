"""Requests as the Chat Completions API takes them.

https://platform.openai.com/docs/api-reference/chat/create. There are no citations: pages are text,
and marks are asked for.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from bot.reasoning.calls import Text, ToolCall
from bot.reasoning.model.requests import (
    CachePoint,
    ModelTurn,
    Request,
    SearchResult,
    Tool,
    ToolResult,
    UserBlock,
    UserTurn,
    with_schema_in_words,
)
from bot.reasoning.model.service import Wire

NO_THOUGHT = ("none", "minimal")  # efforts that are asked for where a reply needs no thinking


def adapted(request: Request, refused: Collection[str], limit: str) -> Wire:
    """The JSON body of a request, without the features that its model is known to refuse.

    ``limit`` is the parameter for the longest reply: ``max_completion_tokens``, or ``max_tokens``
    at servers that know only its older name.
    """
    system = request.system_for_marks or request.system
    if request.schema is not None and "response_format" in refused:
        system = with_schema_in_words(system, request.schema)
    wire: Wire = {
        "model": request.model,
        limit: request.max_tokens,
        "messages": [{"role": "system", "content": system}, *_messages(request.turns)],
    }
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
    """The features of a request that a server may refuse."""
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
        # Results of tools are messages of their own, and come before anything else.
        for block in turn.blocks:
            if isinstance(block, ToolResult):
                words = _words(block.blocks)
                yield {"role": "tool", "tool_call_id": block.id, "content": words}
        words = _words(turn.blocks)
        if words:
            yield {"role": "user", "content": words}


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
    """``strict`` where the schema is one that may be: it has no optional properties."""
    optional = set(schema["properties"]) - set(schema["required"])
    return {} if optional or "strict" in refused else {"strict": True}
