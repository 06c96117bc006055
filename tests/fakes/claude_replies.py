"""The fake Claude's answers: whole replies, errors and faults, and the stream of a reply."""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Block = dict[str, Any]

ERROR_TYPES: Mapping[int, str] = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    409: "conflict_error",
    413: "request_too_large",
    422: "invalid_request_error",
    429: "rate_limit_error",
    500: "api_error",
    502: "api_error",
    503: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}
"""Status → error type, as the API's page on errors lists them."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of a reply after ``after`` events of its stream (or before a JSON body).

    ``cut`` closes the socket properly in the middle, ``reset`` aborts it, ``end`` ends the body as
    if it were complete, ``error`` sends an ``error`` event with ``status``'s type and ends,
    ``stall`` sends nothing for ``seconds`` and then goes on.
    """

    kind: Literal["cut", "reset", "end", "error", "stall"]
    after: int = 3
    seconds: float = 0.0
    status: int = 529
    message: str = "Overloaded"


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply as the model would give it: content blocks in the API's own shape.

    A ``tool_use`` whose ``input`` is a string is streamed as that string, however malformed; in a
    JSON body it cannot be shown and becomes ``{}``. ``raw`` replaces the whole body.
    """

    content: tuple[Block, ...] = ()
    stop_reason: str | None = None
    stop_details: Mapping[str, Any] | None = None
    output_tokens: int | None = None
    fault: Fault | None = None
    raw: bytes | None = None

    @property
    def reason(self) -> str:
        """The stop reason: as given, or what follows from the content."""
        if self.stop_reason is not None:
            return self.stop_reason
        return "tool_use" if any(b["type"] == "tool_use" for b in self.content) else "end_turn"

    @property
    def tokens(self) -> int:
        if self.output_tokens is not None:
            return self.output_tokens
        return max(1, sum(estimate(_written(block)) for block in self.content))


@dataclass(frozen=True, slots=True)
class Fail:
    """An error status. ``retry_after`` in seconds goes out as ``retry-after`` (whole seconds) or,
    when it is a fraction, as ``retry-after-ms``; ``headers`` are added as they are."""

    status: int
    message: str = ""
    retry_after: float | None = None
    type: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None


def estimate(text: str) -> int:
    """Tokens of a text, at four characters each, at least one unless it is empty."""
    return math.ceil(len(text) / 4)


# ---------------------------------------------------------------- blocks


def text(words: str) -> Block:
    return {"type": "text", "text": words}


def cited(words: str, *citations: Mapping[str, Any]) -> Block:
    """A text block that rests on citations (see ``citation``)."""
    return {"type": "text", "text": words, "citations": [dict(c) for c in citations]}


def citation(result: int, start: int, end: int, *, source: str = "", title: str = "") -> Block:
    """A ``search_result_location``: blocks ``start`` (included) to ``end`` (excluded)."""
    return {
        "type": "search_result_location",
        "cited_text": "",
        "search_result_index": result,
        "start_block_index": start,
        "end_block_index": end,
        "source": source,
        "title": title,
    }


def tool(name: str, arguments: Mapping[str, Any] | str, id: str = "") -> Block:
    """A ``tool_use``; without an id one is derived from name and input."""
    if not id:
        seed = json.dumps([name, arguments], sort_keys=True, default=str)
        id = "toolu_" + hashlib.sha256(seed.encode()).hexdigest()[:20]
    value = arguments if isinstance(arguments, str) else dict(arguments)
    return {"type": "tool_use", "id": id, "name": name, "input": value}


def thinking(words: str) -> Block:
    """A thinking block, signed so that the fake knows it again and sees if it was changed."""
    return {"type": "thinking", "thinking": words, "signature": sign(words)}


def sign(words: str) -> str:
    return base64.b64encode(hashlib.sha256(b"fake:" + words.encode()).digest()).decode()


def says(*blocks: Block | str, **more: Any) -> Reply:
    """A reply of these blocks; a string is a text block."""
    return Reply(tuple(text(b) if isinstance(b, str) else b for b in blocks), **more)


# ---------------------------------------------------------------- a reply on the wire


def body(reply: Reply, message_id: str, model: str, usage: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON body of a finished message."""
    content = [
        {**block, "input": {}} if isinstance(block.get("input"), str) else block
        for block in reply.content
    ]
    return {
        "id": message_id,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": reply.reason,
        "stop_sequence": None,
        "stop_details": dict(reply.stop_details) if reply.stop_details else None,
        "usage": {**usage, "output_tokens": reply.tokens, **_searches(reply)},
    }


def _searches(reply: Reply) -> dict[str, Any]:
    """The usage of server tools: searches that were billed, which those with an error are not."""
    results = [b["content"] for b in reply.content if b["type"] == "web_search_tool_result"]
    number = sum(isinstance(each, list) for each in results)
    return {"server_tool_use": {"web_search_requests": number}} if results else {}


@dataclass(frozen=True, slots=True)
class Event:
    """One server-sent event and the output tokens it carries."""

    data: bytes
    tokens: int = 0


def events(
    reply: Reply,
    message_id: str,
    model: str,
    usage: Mapping[str, Any],
    *,
    characters: int,
    citations_first: bool,
) -> Iterator[Event]:
    """The stream of a reply; a delta carries at most ``characters`` characters."""
    start = body(reply, message_id, model, usage)
    start |= {"content": [], "stop_reason": None, "stop_details": None}
    start["usage"] = {**usage, "output_tokens": 1}
    yield _event({"type": "message_start", "message": start})
    yield _event({"type": "ping"})
    for index, block in enumerate(reply.content):
        yield _event(
            {"type": "content_block_start", "index": index, "content_block": _opening(block)}
        )
        for delta, size in _deltas(block, characters, citations_first):
            event = {"type": "content_block_delta", "index": index, "delta": delta}
            yield _event(event, estimate("x" * size))
        yield _event({"type": "content_block_stop", "index": index})
    yield _event(
        {
            "type": "message_delta",
            "delta": {
                "stop_reason": reply.reason,
                "stop_sequence": None,
                "stop_details": dict(reply.stop_details) if reply.stop_details else None,
            },
            "usage": {"output_tokens": reply.tokens},
        }
    )
    yield _event({"type": "message_stop"})


def error_event(status: int, message: str) -> bytes:
    error = {"type": ERROR_TYPES.get(status, "api_error"), "message": message}
    return _event({"type": "error", "error": error}).data


def _event(data: dict[str, Any], tokens: int = 0) -> Event:
    payload = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return Event(f"event: {data['type']}\ndata: {payload}\n\n".encode(), tokens)


def _opening(block: Block) -> Block:
    match block["type"]:
        case "text":
            opening: Block = {"type": "text", "text": ""}
            return opening | {"citations": []} if "citations" in block else opening
        case "thinking":
            return {"type": "thinking", "thinking": "", "signature": ""}
        case "tool_use":
            return {**block, "input": {}}
        case _:
            return block


def _deltas(block: Block, size: int, citations_first: bool) -> Iterator[tuple[Block, int]]:
    """The deltas of one block, each with the number of characters the model wrote in it."""
    match block["type"]:
        case "text":
            citations = [
                ({"type": "citations_delta", "citation": c}, 0) for c in block.get("citations", ())
            ]
            words = [({"type": "text_delta", "text": p}, len(p)) for p in _cut(block["text"], size)]
            yield from (citations + words if citations_first else words + citations)
        case "thinking":
            for piece in _cut(block["thinking"], size):
                yield {"type": "thinking_delta", "thinking": piece}, len(piece)
            yield {"type": "signature_delta", "signature": block["signature"]}, 0
        case "tool_use":
            yield {"type": "input_json_delta", "partial_json": ""}, 0
            for piece in _cut(_written(block), size):
                yield {"type": "input_json_delta", "partial_json": piece}, len(piece)


def _cut(words: str, size: int) -> list[str]:
    return [words[at : at + size] for at in range(0, len(words), size)]


def _written(block: Block) -> str:
    """The text that the model wrote to make this block."""
    match block["type"]:
        case "text":
            return str(block["text"])
        case "thinking":
            return str(block["thinking"])
        case "tool_use":
            value = block["input"]
            return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        case _:
            return ""
