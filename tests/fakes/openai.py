"""A server on loopback that speaks the Chat Completions API, strictly.

It replies as the same brains do that play Claude (``claude_brain``): a request is read into
Claude's form for the brain, and the blocks of its reply are streamed as chunks.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tests.fakes.claude_brain import researcher
from tests.fakes.claude_models import Wrong
from tests.fakes.claude_replies import Block, Fail, Reply, estimate
from tests.fakes.claude_wire import (
    break_off,
    end,
    part,
    read_body,
    send_all,
    send_json,
    start,
    while_connected,
)
from tests.fakes.openai_rules import check
from tests.fakes.pictures import check_image, tokens_of

Brain = Callable[[Mapping[str, Any]], Reply | Fail]

FINISH_REASONS = {
    "end_turn": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "refusal": "content_filter",
}
FEATURES: Mapping[str, Callable[[Mapping[str, Any]], bool]] = {
    "response_format": lambda asked: "response_format" in asked,
    "reasoning_effort": lambda asked: "reasoning_effort" in asked,
    "effort none": lambda asked: asked.get("reasoning_effort") == "none",
    "stream_options": lambda asked: "stream_options" in asked,
    "strict": lambda asked: '"strict"' in json.dumps(asked),
    "max_tokens": lambda asked: "max_tokens" in asked,
    "max_completion_tokens": lambda asked: "max_completion_tokens" in asked,
    "tools": lambda asked: "tools" in asked,
    "image": lambda asked: '"image_url"' in json.dumps(asked),
}


class FakeOpenAI:
    """An ASGI app. ``refuses`` maps a feature to the words of the 400 that a request with it gets;
    ``key`` is the only one accepted (None: any); ``lists`` tells that models can only be listed."""

    def __init__(
        self,
        brain: Brain | Sequence[Reply | Fail] = researcher,
        *,
        key: str | None = None,
        models: Sequence[str] = ("gpt-a", "gpt-b"),
        refuses: Mapping[str, str] | None = None,
        lists: bool = False,
        size: int = 16,
    ) -> None:
        self.calls: list[dict[str, Any]] = []  # bodies, in order
        self.statuses: list[int] = []
        self.problems: list[str] = []
        self._brain = brain if callable(brain) else None
        self._script = [] if callable(brain) else list(brain)
        self._key = key
        self._models = models
        self._refuses = dict(refuses or {})
        self._lists = lists
        self._size = size

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        headers = {k.decode("latin-1"): v.decode("latin-1") for k, v in scope["headers"]}
        payload = await read_body(receive)
        path = scope["path"]
        if self._key is not None and headers.get("authorization") != f"Bearer {self._key}":
            await self._fail(send, Fail(401, "Incorrect API key provided"))
        elif path == "/v1/chat/completions" and scope["method"] == "POST":
            await while_connected(self._complete(payload, send), receive)
        elif path == "/v1/models":
            listed = [self._model(name) for name in self._models]
            await send_json(send, 200, {"object": "list", "data": listed})
        elif path.rpartition("/")[2] in self._models and not self._lists:
            await send_json(send, 200, self._model(path.rpartition("/")[2]))
        else:
            await self._fail(send, Fail(404, f"The model {path.rpartition('/')[2]} does not exist"))

    async def _complete(self, payload: bytes, send: Any) -> None:
        asked = json.loads(payload)
        self.calls.append(asked)
        refused = next((w for name, w in self._refuses.items() if FEATURES[name](asked)), None)
        if refused is not None:
            await self._fail(send, Fail(400, refused))
            return
        try:
            check(asked)
        except Wrong as wrong:
            self.problems.append(str(wrong))
            await self._fail(send, Fail(400, str(wrong)))
            return
        if asked["model"] not in self._models:
            await self._fail(send, Fail(404, f"The model {asked['model']} does not exist"))
            return
        reply = self._brain(as_claude(asked)) if self._brain else self._script.pop(0)
        if isinstance(reply, Fail):
            await self._fail(send, reply)
            return
        self.statuses.append(200)
        head = {"content-type": "text/event-stream"}
        if reply.raw is not None:
            await send_all(send, 200, head, reply.raw)
            return
        await start(send, 200, head)
        for number, chunk in enumerate(_chunks(asked, reply, self._size)):
            if reply.fault is not None and number == reply.fault.after:
                await break_off(send, reply.fault)
                return
            await part(send, f"data: {json.dumps(chunk)}\n\n".encode())
        await part(send, b"data: [DONE]\n\n")
        await end(send)

    async def _fail(self, send: Any, fail: Fail) -> None:
        self.statuses.append(fail.status)
        kind = fail.type or ("invalid_request_error" if fail.status < 500 else "server_error")
        error = {"message": fail.message, "type": kind, "param": None, "code": fail.type or None}
        headers = {"x-request-id": f"req_{len(self.statuses)}"}
        if fail.retry_after is not None:
            headers["retry-after-ms"] = str(round(fail.retry_after * 1000))
        await send_json(send, fail.status, {"error": error}, headers)

    @staticmethod
    def _model(name: str) -> dict[str, Any]:
        return {"id": name, "object": "model", "created": 1_790_000_000, "owned_by": "tests"}


def _chunks(asked: Mapping[str, Any], reply: Reply, size: int) -> Iterator[dict[str, Any]]:
    """The reply as chunks, thoughts left out as the API leaves them out."""
    common = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1_790_000_000,
        "model": asked["model"],
    }
    counts = bool(asked.get("stream_options", {}).get("include_usage"))

    def chunk(delta: Mapping[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return {**common, "choices": [choice]} | ({"usage": None} if counts else {})

    yield chunk({"role": "assistant", "content": ""})
    calls = 0
    for block in reply.content:
        if block["type"] == "text":
            for at in range(0, len(block["text"]), size):
                yield chunk({"content": block["text"][at : at + size]})
        elif block["type"] == "tool_use":
            given = block["input"]
            written = given if isinstance(given, str) else json.dumps(given)
            head = {"name": block["name"], "arguments": ""}
            opening = {"index": calls, "id": block["id"], "type": "function", "function": head}
            yield chunk({"tool_calls": [opening]})
            for at in range(0, len(written), size):
                more = {"index": calls, "function": {"arguments": written[at : at + size]}}
                yield chunk({"tool_calls": [more]})
            calls += 1
    yield chunk({}, FINISH_REASONS[reply.reason])
    if counts:
        images = [
            block["source"]
            for message in asked["messages"]
            for block in _blocks(message)
            if block["type"] == "image"
        ]
        given = estimate(json.dumps(asked["messages"])) + sum(
            tokens_of(*check_image("", each["media_type"], each["data"], 1))
            - estimate(each["data"])
            for each in images
        )
        written_tokens = reply.tokens
        usage = {
            "prompt_tokens": given,
            "completion_tokens": written_tokens,
            "total_tokens": given + written_tokens,
            "prompt_tokens_details": {"cached_tokens": given // 2},
        }
        yield {**common, "choices": [], "usage": usage}


# ---------------------------------------------------------------- for the brains


def as_claude(asked: Mapping[str, Any]) -> dict[str, Any]:
    """A request in the form that the brains read."""
    system, *rest = asked["messages"]
    words, _, written = system["content"].partition("It has to follow this JSON schema:\n")
    schema = asked.get("response_format", {}).get("json_schema", {}).get("schema")
    schema = schema or (json.loads(written) if written else None)
    messages: list[dict[str, Any]] = []
    for message in rest:
        role = "assistant" if message["role"] == "assistant" else "user"
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"] += _blocks(message)
        else:
            messages.append({"role": role, "content": _blocks(message)})
    request = {
        "model": asked["model"],
        "max_tokens": 1_000,
        "system": [{"type": "text", "text": words}],
        "messages": messages,
        "tools": [tool["function"] for tool in asked.get("tools", ())],
    }
    form = {"output_config": {"format": {"type": "json_schema", "schema": schema}}}
    return request | (form if schema else {})


def _image(given: Mapping[str, Any]) -> Block:
    head, _, data = given["image_url"]["url"].partition(";base64,")
    source = {"type": "base64", "media_type": head.removeprefix("data:"), "data": data}
    return {"type": "image", "source": source}


def _blocks(message: Mapping[str, Any]) -> list[Block]:
    content = message.get("content")
    blocks: list[Block] = [{"type": "text", "text": content}] if isinstance(content, str) else []
    for each in content if isinstance(content, list) else ():
        blocks.append(_image(each) if each["type"] == "image_url" else dict(each))
    if message["role"] == "tool":
        return [{"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": blocks}]
    for call in message.get("tool_calls", ()):
        function = call["function"]
        given = json.loads(function["arguments"])
        blocks.append(
            {"type": "tool_use", "id": call["id"], "name": function["name"], "input": given}
        )
    return blocks
