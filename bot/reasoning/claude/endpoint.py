"""The endpoint: one client per process, what it is known to refuse, and replies as they stream.

Every call is streamed, also those that nobody watches: a long reply then never looks like a dead
connection, and a cut one is noticed at once. ``messages.create(stream=True)`` is used rather than
``messages.stream``: it costs 18 µs of processor time an event instead of 45, and the snapshots that
the latter keeps are not needed here.

A request is written for an endpoint that knows everything. What the endpoint or a model refuses is
left out when it is sent and remembered for the process, so that the request itself (the journal's
key) does not depend on what was learned.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import anthropic
import httpx2
from anthropic import AsyncStream
from anthropic.types import RawMessageStreamEvent

from bot.errors import unusable_proxy
from bot.observing import Observe, nothing_observed, timed
from bot.reasoning.calls import ModelReply
from bot.reasoning.claude.calls import API, Again, Call, Request, Watch, credentials
from bot.reasoning.claude.errors import (
    CutOff,
    Feature,
    explain,
    is_bad_request,
    is_passing,
    refused_feature,
    words_of,
)
from bot.reasoning.claude.messages import said
from bot.reasoning.claude.reply import Collector
from bot.settings import Settings

RESTARTS = 2  # times a call whose stream broke off is sent again
CONNECT = 10.0  # seconds
THOUGHTS = ("thinking", "redacted_thinking")
FIRST_PAUSE = 0.2  # seconds before the first such time; doubled for the second

_FAILURES = (
    anthropic.APIError,
    httpx2.HTTPError,  # the SDK hands errors of reading a stream on as they are
    TimeoutError,
    CutOff,
    ValueError,  # an event that is no JSON
)


class Endpoint:
    """The Claude API, or what speaks like it. Close it with ``aclose``.

    ``observe`` gives what is told of each call of a model. Raises ``InvalidSetting`` or
    ``CredentialsRefused`` when the settings cannot work.
    """

    def __init__(
        self, settings: Settings, observe: Callable[[str], Observe] = nothing_observed
    ) -> None:
        self.settings = settings
        self._observe = observe
        self._client = _client(settings)
        self._refused: dict[str, set[Feature]] = {}  # model → what it has refused

    async def aclose(self) -> None:
        await self._client.close()

    def cites(self, model: str) -> bool:
        """Whether the model cites by itself, as far as is known; else marks are asked for."""
        return "search_result" not in self._refused.get(model, set())

    async def describe(self, model: str) -> str:
        """The model's name as the endpoint shows it. Raises like ``events``."""
        try:
            return (await self._client.models.retrieve(model)).display_name
        except _FAILURES as error:
            raise explain(error, self.settings, model) from error

    async def complete(
        self,
        call: Call,
        lost: Callable[[ModelReply], None] = lambda reply: None,
        watch: Watch | None = None,
    ) -> ModelReply:
        """The whole reply. Raises like ``events``; ``lost`` is then told what had come by then.
        ``watch`` sees each event as it comes."""
        collector = Collector()
        try:
            async with aclosing(self.events(call)) as events:
                async for event in events:
                    if watch is not None:
                        watch(event)
                    if isinstance(event, Again):
                        collector = Collector(collector)
                    else:
                        collector.add(event)
            return replace(collector.reply(), plain=not self.cites(str(call.request["model"])))
        except BaseException:
            lost(collector.reply())
            raise

    async def events(self, call: Call) -> AsyncGenerator[RawMessageStreamEvent | Again]:
        """The events of one reply up to its ``message_stop``.

        A stream that breaks off is sent again at most twice (``Again`` comes between). Raises
        ``ModelUnavailable``, ``CredentialsRefused``, ``InvalidSetting``, ``ModelBroken`` and its
        kind ``TooLong``.
        """
        model = str(call.request["model"])
        clock = asyncio.get_running_loop().time
        deadline = clock() + 2 * self.settings.model_timeout
        restarts = 0
        with timed(self._observe(model)):
            while True:
                request = self._adapted(call)
                try:
                    stream = await self._open(request)
                except _FAILURES as error:
                    if self._learns(error, call, request):
                        continue
                    raise explain(error, self.settings, model) from error
                try:
                    async with aclosing(self._read(stream)) as events:
                        async for event in events:
                            yield event
                except _FAILURES as error:
                    if not self._learns(error, call, request):
                        if not is_passing(error) or restarts == RESTARTS or clock() > deadline:
                            raise explain(error, self.settings, model) from error
                        await asyncio.sleep(_pause(restarts))
                        restarts += 1
                else:
                    return
                finally:
                    await stream.close()
                yield Again()

    async def _open(self, request: Request) -> AsyncStream[RawMessageStreamEvent]:
        # The SDK tries again by itself; an endpoint that only ever hangs is given up after twice
        # the time of one call.
        async with asyncio.timeout(2 * self.settings.model_timeout):
            return await self._client.messages.create(**request, stream=True)

    async def _read(
        self, stream: AsyncStream[RawMessageStreamEvent]
    ) -> AsyncGenerator[RawMessageStreamEvent]:
        """The events of an open stream. A silence longer than the timeout raises TimeoutError.

        Pings do not break the silence: the SDK does not hand them on.
        """
        begun = False
        while True:
            async with asyncio.timeout(self.settings.model_timeout):
                event = await anext(stream, None)
            if event is None:
                raise CutOff(begun)
            begun = True
            yield event
            if event.type == "message_stop":
                # Read to the very end, so that the connection can be used again.
                with contextlib.suppress(*_FAILURES):
                    async with asyncio.timeout(1):
                        await anext(stream, None)
                return

    # ------------------------------------------------------------ what is refused

    def _learns(self, error: Exception, call: Call, request: Request) -> bool:
        """Whether the error says that a feature of the request is refused.

        It is then remembered, and the call can be sent again without it.
        """
        if not is_bad_request(error):
            return False
        feature = refused_feature(words_of(error), _features(request))
        if feature is None:
            return False
        self._refused.setdefault(str(call.request["model"]), set()).add(feature)
        return self._adapted(call) != request

    def _adapted(self, call: Call) -> dict[str, Any]:
        """The request without what its model is known to refuse."""
        refused = self._refused.get(str(call.request["model"]), set())
        plain = call.plain if "search_result" in refused else None
        request = dict(plain or call.request)
        if "thinking" in refused:
            request.pop("thinking", None)
        elif "disabled" in refused and request.get("thinking") == {"type": "disabled"}:
            request["thinking"] = {"type": "between_tools"}
        output = {k: v for k, v in request.pop("output_config", {}).items() if k not in refused}
        if output:
            request["output_config"] = output
        if "thinking_blocks" in refused:
            request["messages"] = [_thoughtless(message) for message in request["messages"]]
        if "strict" in refused and "tools" in request:
            request["tools"] = [_without(tool, "strict") for tool in request["tools"]]
        if "cache_control" in refused:
            for name in ("tools", "system", "messages"):
                if name in request:
                    request[name] = _uncached(request[name])
        return request


def _features(request: Request) -> set[Feature]:
    """The features of a request that an endpoint may refuse."""
    used: set[Feature] = set()
    output = request.get("output_config") or {}
    if "effort" in output:
        used.add("effort")
    if "format" in output:
        used.add("format")
    thinking = request.get("thinking")
    if thinking:
        used.add("thinking")
        if thinking["type"] == "disabled":
            used.add("disabled")
    if any("strict" in tool for tool in request.get("tools", ())):
        used.add("strict")
    blocks = [
        b for m in request["messages"] if isinstance(m["content"], list) for b in m["content"]
    ]
    if any(block["type"] in THOUGHTS for block in blocks):
        used.add("thinking_blocks")
    inner = [each for block in blocks for each in _listed(block.get("content"))]
    if any(block["type"] == "search_result" for block in (*blocks, *inner)):
        used.add("search_result")
    if any("cache_control" in block for block in (*blocks, *_listed(request.get("system")))):
        used.add("cache_control")
    return used


def _listed(system: Any) -> list[Any]:
    return system if isinstance(system, list) else []


def _thoughtless(message: Mapping[str, Any]) -> dict[str, Any]:
    if message["role"] != "assistant":
        return dict(message)
    return {
        **message,
        "content": said([b for b in message["content"] if b["type"] not in THOUGHTS]),
    }


def _without(block: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in block.items() if key != name}


def _uncached(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {k: _uncached(v) for k, v in value.items() if k != "cache_control"}
    return [_uncached(part) for part in value] if isinstance(value, list) else value


def _pause(restarts: int) -> float:
    """Seconds; spread, so that many runs cut off together do not come back together."""
    return FIRST_PAUSE * (2.0**restarts) * random.uniform(0.5, 1.0)  # noqa: S311


# ---------------------------------------------------------------- the client


def _client(settings: Settings) -> anthropic.AsyncAnthropic:
    key, base = credentials(settings)

    async def do_not_wait_too_long(response: httpx2.Response) -> None:
        # The SDK waits as long as Retry-After says, be it an hour.
        if _asked_to_wait(response) > settings.model_timeout:
            response.headers["x-should-retry"] = "false"

    try:
        http = anthropic.DefaultAsyncHttpxClient(event_hooks={"response": [do_not_wait_too_long]})
    except (ValueError, OSError, ImportError, httpx2.InvalidURL) as error:
        raise unusable_proxy(error) from error
    return anthropic.AsyncAnthropic(
        api_key=key,
        base_url=base,
        # Endpoints written for earlier versions of the API look for the key only here.
        default_headers={} if base == API else {"X-Api-Key": key},
        timeout=anthropic.Timeout(
            settings.model_timeout, connect=min(CONNECT, settings.model_timeout)
        ),
        max_retries=settings.model_retries,
        http_client=http,
    )


def _asked_to_wait(response: httpx2.Response) -> float:
    """Seconds; 0 where nothing is said in a form the SDK would heed as a number."""
    for header, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        with contextlib.suppress(KeyError, ValueError):
            return unit * float(response.headers[header])
    return 0.0
