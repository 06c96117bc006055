"""A Claude that lives on loopback: ``/v1/messages`` as the real API speaks it, and stricter.

In a test::

    fake = FakeClaude()                        # the researcher brain answers anything
    fake = FakeClaude([says("Hello."), Fail(529), some_function])
    with serve(fake) as url:
        ...                                    # ANTHROPIC_BASE_URL=url, any key
    fake.requests                              # everything that was asked, in order

As a program, for tests that start other processes::

    python -m tests.fakes.claude --port 8123 --first-token 1.5 --rate 60
    curl 127.0.0.1:8123/_log                   # {"count": 3, "requests": [...]}

A brain is a callable from the request's JSON to a ``Reply`` or ``Fail``, or a list of replies,
errors and callables that are used up one by one (None stands for the default brain; a list that
is used up answers 400). Every request is checked (``claude_rules``) and its prompt caching is
simulated (``claude_cache``) before the brain sees it.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import socket
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

from tests.fakes.claude_brain import researcher
from tests.fakes.claude_cache import Counted, PromptCache
from tests.fakes.claude_models import Bindings, Wrong, check_model
from tests.fakes.claude_replies import (
    ERROR_TYPES,
    Block,
    Fail,
    Fault,
    Reply,
    body,
    citation,
    cited,
    events,
    says,
    text,
    thinking,
    tool,
)
from tests.fakes.claude_rules import check, prepare
from tests.fakes.claude_search import FakeClaudeSearch, search_tool
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

__all__ = [
    "Block",
    "Brain",
    "Fail",
    "FakeClaude",
    "Fault",
    "Recorded",
    "Reply",
    "citation",
    "cited",
    "researcher",
    "says",
    "text",
    "thinking",
    "tool",
]

Brain = Callable[[Mapping[str, Any]], Reply | Fail]
Script = Sequence[Reply | Fail | Brain | None]
MAX_BODY = 32 * 1024 * 1024  # bytes, api/overview "Request size limits"


@dataclass(slots=True)
class Recorded:
    """One request and how it ended.

    ``status`` is 0 until it is known; ``finished`` turns true when the last byte of a good reply
    has been sent. ``key`` is a hash of the body: the same request has the same key. ``at`` is when
    it came, of ``time.time``.
    """

    body: dict[str, Any]
    headers: dict[str, str]
    key: str
    status: int = 0
    finished: bool = False
    problem: str = ""
    usage: dict[str, Any] = field(default_factory=dict)
    client: tuple[str, int] = ("", 0)  # the address it came from: one per connection
    at: float = field(default_factory=time.time)
    ended: float = 0.0  # when its last byte was sent, or it was cut off; of the same clock

    def summary(self) -> dict[str, Any]:
        return {
            "key": self.key,
            "at": self.at,
            "ended": self.ended,
            "model": self.body.get("model"),
            "stream": bool(self.body.get("stream")),
            "status": self.status,
            "finished": self.finished,
            "problem": self.problem,
            "usage": self.usage,
        }


class FakeClaude:
    """An ASGI app. ``first_token`` in seconds, ``rate`` in tokens per second (0: no waiting).

    ``key`` is the only API key accepted (None: any but the empty one), ``key_header`` the only
    header it is looked for in (None: ``authorization``, which SDK 2.x sends, or ``x-api-key``).
    ``refuses`` maps a feature (see ``_FEATURES``) to the words of the 400 that a request with it
    gets, as gateways and older models do.
    ``models`` are the ones that exist (None: those the SDK names). ``minimum_cache`` in tokens
    (None: the model's own). ``web`` is what its web search finds.
    ``trusting`` checks no request, for benches that measure time.
    """

    def __init__(
        self,
        brain: Brain | Script = researcher,
        *,
        key: str | None = None,
        key_header: str | None = None,
        models: Sequence[str] | None = None,
        refuses: Mapping[str, str] | None = None,
        first_token: float = 0.0,
        rate: float = 0.0,
        tokens_per_event: int = 4,
        citations_first: bool = False,
        minimum_cache: int | None = None,
        trusting: bool = False,
        context_window: int = 200_000,
        web: FakeClaudeSearch | None = None,
    ) -> None:
        self.requests: list[Recorded] = []
        self.cache = PromptCache(minimum_cache)
        self.bindings = Bindings()
        self.key = key
        self.key_header = key_header
        self.models = models
        self.refuses = dict(refuses or {})
        self.first_token = first_token
        self.rate = rate
        self.tokens_per_event = tokens_per_event
        self.citations_first = citations_first
        self.trusting = trusting
        self.context_window = context_window
        self.web = web
        self.use(brain)

    def use(self, brain: Brain | Script) -> None:
        """Change the brain from here on."""
        if callable(brain):
            self._brain: Brain | None = brain
            self._script: list[Reply | Fail | Brain | None] = []
        else:
            self._brain = None
            self._script = list(brain)

    @property
    def calls(self) -> list[dict[str, Any]]:
        """The bodies of all requests, in order."""
        return [request.body for request in self.requests]

    # ------------------------------------------------------------ the app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        headers = {k.decode("latin-1"): v.decode("latin-1") for k, v in scope["headers"]}
        payload = await read_body(receive)
        path, method = scope["path"], scope["method"]
        if path == "/_log":
            if method == "DELETE":
                self.requests.clear()
            await send_json(send, 200, self.log())
        elif path.endswith("/v1/messages") and method == "POST":
            work = self._messages(headers, payload, scope["client"], send)
            await while_connected(work, receive)
        elif "/v1/models/" in path and method == "GET":
            await self._model(headers, path.rsplit("/", 1)[1], send)
        else:
            await self._fail(send, Fail(404, "Not found"))

    def log(self) -> dict[str, Any]:
        """The content of ``/_log``: how many requests, and each one's key, status and usage."""
        return {"count": len(self.requests), "requests": [r.summary() for r in self.requests]}

    async def _messages(
        self, headers: dict[str, str], payload: bytes, client: Any, send: Any
    ) -> None:
        digest = hashlib.sha256(payload).hexdigest()[:16]
        record = Recorded({}, headers, digest, client=tuple(client or ("", 0)))
        self.requests.append(record)
        try:
            record.body = asked = self._accept(headers, payload)
        except _Denied as denied:
            record.body, record.problem = denied.body, denied.fail.message
            record.status = denied.fail.status
            await self._fail(send, denied.fail)
            return
        reply = self._think(asked)
        counted = self.cache.count(asked)
        if counted.total + asked["max_tokens"] > self.context_window:
            words = f"prompt is too long: {counted.total} tokens > {self.context_window} maximum"
            reply = Fail(400, words)
        if isinstance(reply, Reply):
            self.bindings.remember(asked, reply.content)
        else:
            record.status, record.problem = reply.status, reply.message
            await self._fail(send, reply)
            return
        record.status = 200
        record.usage = {**counted.usage(), "output_tokens": reply.tokens}
        try:
            record.finished = await self._reply(asked, reply, counted, f"msg_{digest}", send)
        finally:
            record.ended = time.time()

    def _accept(self, headers: Mapping[str, str], payload: bytes) -> dict[str, Any]:
        """The request's JSON, or ``_Denied``."""
        self._check_headers(headers)
        if len(payload) > MAX_BODY:
            raise _Denied(Fail(413, "Request exceeds the maximum size"))
        try:
            asked = json.loads(payload)
        except ValueError as error:
            raise _Denied(Fail(400, f"The request body is not valid JSON: {error}")) from None
        for feature, words in self.refuses.items():
            if _FEATURES[feature](asked):
                raise _Denied(Fail(400, words), asked)
        try:
            if not self.trusting:
                check(asked)
            check_model(asked)
            self.bindings.check(asked)
        except Wrong as wrong:
            raise _Denied(Fail(400, str(wrong)), asked) from None
        if not self._knows(asked["model"]):
            raise _Denied(Fail(404, f"model: {asked['model']}"), asked)
        return dict(asked)

    def _check_headers(self, headers: Mapping[str, str]) -> None:
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        keys = {"authorization": bearer, "x-api-key": headers.get("x-api-key", "")}
        if self.key_header is not None:
            keys = {self.key_header: keys[self.key_header]}
        given = {key for key in keys.values() if key}
        if not given:
            raise _Denied(Fail(401, f"{' or '.join(keys)} header is required"))
        if self.key is not None and given != {self.key}:
            raise _Denied(Fail(401, "invalid API key"))
        if "anthropic-version" not in headers:
            raise _Denied(Fail(400, "anthropic-version: header is required"))

    def _knows(self, model: str) -> bool:
        if self.models is not None:
            return model in self.models
        if self.trusting:
            return True  # to ask the SDK takes its import, more than a second
        from anthropic.types import ModelParam

        return model in get_args(get_args(ModelParam)[0])

    def _think(self, asked: dict[str, Any]) -> Reply | Fail:
        if self.web is not None and search_tool(asked):
            return self.web.reply(asked)
        brain = self._brain or self._next()
        if not callable(brain):
            return brain
        try:
            return brain(asked)
        except Exception as error:  # noqa: BLE001 - a 500 would be tried again and again
            return Fail(400, f"the brain of the fake raised {error!r}")

    def _next(self) -> Reply | Fail | Brain:
        if not self._script:
            return Fail(400, "the script of the fake has no more replies")
        return self._script.pop(0) or researcher

    # ------------------------------------------------------------ answering

    async def _reply(
        self, asked: dict[str, Any], reply: Reply, counted: Counted, id: str, send: Any
    ) -> bool:
        """Send a reply with its latency and fault; returns if it went out whole."""
        if reply.raw is not None:
            kind = "text/event-stream" if asked.get("stream") else "application/json"
            await send_all(send, 200, {"content-type": kind}, reply.raw)
            return True
        started = asyncio.get_running_loop().time()
        if asked.get("stream"):
            return await self._stream(asked, reply, counted, id, send, started)
        await self._wait(started, reply.tokens)
        fault = reply.fault
        if fault is not None and fault.kind == "stall":
            await asyncio.sleep(fault.seconds)
        elif fault is not None:
            await start(send, 200, {"content-type": "application/json"})
            await part(send, b'{"id":"msg')
            await break_off(send, fault)
            return False
        message = body(reply, id, asked["model"], counted.usage())
        await send_json(send, 200, message, {"request-id": f"req_{len(self.requests)}"})
        return True

    async def _stream(
        self,
        asked: dict[str, Any],
        reply: Reply,
        counted: Counted,
        id: str,
        send: Any,
        started: float,
    ) -> bool:
        head = {"content-type": "text/event-stream", "request-id": f"req_{len(self.requests)}"}
        await start(send, 200, head)
        stream = events(
            reply,
            id,
            asked["model"],
            counted.usage(),
            characters=4 * self.tokens_per_event,
            citations_first=self.citations_first,
        )
        fault, said = reply.fault, 0
        for number, event in enumerate(stream):
            if fault is not None and number == fault.after:
                if fault.kind == "stall":
                    await asyncio.sleep(fault.seconds)
                else:
                    await break_off(send, fault)
                    return False
            said += event.tokens
            if event.tokens:
                await self._wait(started, said)
            await part(send, event.data)
            if number % 8 == 7:
                await asyncio.sleep(0)  # other streams too, and a client that has gone is noticed
        await end(send)
        return True

    async def _wait(self, started: float, tokens: int) -> None:
        """Wait until the model would have said this many tokens."""
        due = started + self.first_token + (tokens / self.rate if self.rate else 0.0)
        delay = due - asyncio.get_running_loop().time()
        if delay > 0:
            await asyncio.sleep(delay)

    async def _model(self, headers: Mapping[str, str], name: str, send: Any) -> None:
        try:
            self._check_headers(headers)
        except _Denied as denied:
            await self._fail(send, denied.fail)
            return
        if not self._knows(name):
            await self._fail(send, Fail(404, f"model: {name}"))
            return
        known = {
            "type": "model",
            "id": name,
            "display_name": name,
            "created_at": "2026-01-01T00:00:00Z",
        }
        await send_json(send, 200, known)

    async def _fail(self, send: Any, fail: Fail) -> None:
        headers = {"request-id": f"req_{len(self.requests)}", **fail.headers}
        if fail.retry_after is not None:
            if fail.retry_after == int(fail.retry_after):
                headers["retry-after"] = str(int(fail.retry_after))
            else:
                headers["retry-after-ms"] = str(round(fail.retry_after * 1000))
        if fail.raw is not None:
            await send_all(send, fail.status, {"content-type": "text/html", **headers}, fail.raw)
            return
        error = {
            "type": fail.type or ERROR_TYPES.get(fail.status, "api_error"),
            "message": fail.message or ERROR_TYPES.get(fail.status, "error"),
        }
        shape = {"type": "error", "error": error, "request_id": headers["request-id"]}
        await send_json(send, fail.status, shape, headers)


class _Denied(Exception):
    """A refusal on its way to the response."""

    def __init__(self, fail: Fail, body: dict[str, Any] | None = None) -> None:
        super().__init__(fail.message)
        self.fail = fail
        self.body = body or {}


def _has_block(asked: Mapping[str, Any], kind: str) -> bool:
    return f'"type": "{kind}"' in json.dumps(asked.get("messages"))


_FEATURES: Mapping[str, Callable[[Mapping[str, Any]], bool]] = {
    "search_result": lambda asked: _has_block(asked, "search_result"),
    "citations": lambda asked: '"citations": {"enabled": true}' in json.dumps(asked["messages"]),
    "image": lambda asked: _has_block(asked, "image"),
    "format": lambda asked: "format" in (asked.get("output_config") or {}),
    "effort": lambda asked: "effort" in (asked.get("output_config") or {}),
    "output_config": lambda asked: "output_config" in asked,
    "thinking": lambda asked: "thinking" in asked,
    "strict": lambda asked: any("strict" in tool for tool in asked.get("tools") or ()),
    "tools": lambda asked: bool(asked.get("tools")),
    "web_search": lambda asked: search_tool(asked) is not None,
    "cache_control": lambda asked: '"cache_control"' in json.dumps(asked),
}


# ---------------------------------------------------------------- as a program


def main(arguments: list[str]) -> None:
    """Serve until killed; prints the base URL on the first line of stdout."""
    import uvicorn

    parser = argparse.ArgumentParser(prog="python -m tests.fakes.claude", description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--first-token", type=float, default=0.0, help="seconds")
    parser.add_argument("--rate", type=float, default=0.0, help="tokens per second")
    parser.add_argument("--tokens-per-event", type=int, default=4)
    parser.add_argument("--minimum-cache", type=int, help="tokens")
    parser.add_argument("--trusting", action="store_true", help="check no request (for benches)")
    given = parser.parse_args(arguments)
    fake = FakeClaude(
        first_token=given.first_token,
        rate=given.rate,
        tokens_per_event=given.tokens_per_event,
        minimum_cache=given.minimum_cache,
        trusting=given.trusting,
    )
    if not given.trusting:
        prepare()
    # With the protocol named, asyncio switches Nagle's algorithm off for what it accepts.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", given.port))
    listener.listen(1024)
    sys.stdout.write(f"http://127.0.0.1:{listener.getsockname()[1]}{os.linesep}")
    sys.stdout.flush()
    config = uvicorn.Config(fake, log_level="error", lifespan="off", access_log=False)
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main(sys.argv[1:])
