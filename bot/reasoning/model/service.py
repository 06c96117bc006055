"""A model service: one client per process, and streamed replies.

Every call is streamed, even if only the whole reply matters: a long call then never looks like a
dead connection, and an interrupted one is noticed at once.

Features that the service or a model refuses are remembered for the process and left out when a
request is translated, so that the request itself (the journal's key) does not depend on them.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import httpx2

from bot.core.egress import Egress
from bot.core.errors import FootnoteError
from bot.core.measurements import Observe, nothing_observed, timed
from bot.core.settings import Settings, renewed
from bot.reasoning.calls import ModelReply
from bot.reasoning.model import failures
from bot.reasoning.model.failures import (
    CutOff,
    Failure,
    Names,
    explain,
    host_of,
    retry_after,
)
from bot.reasoning.model.requests import Again, Part, Request, after

RESTARTS = 2  # times an interrupted call is sent again
CONNECT = 10.0  # seconds
CONNECTIONS, KEPT_OPEN = 1_000, 100  # the SDKs' defaults
FIRST_PAUSE = 0.2  # seconds before the first repetition; doubled for the second

READING_FAILURES = (
    httpx2.HTTPError,  # the SDKs pass on errors of reading a stream
    TimeoutError,
    CutOff,
    ValueError,  # an event that is not JSON
)

E = TypeVar("E")
E_co = TypeVar("E_co", covariant=True)
E_contra = TypeVar("E_contra", contravariant=True)
Watch = Callable[[Part], None]
Wire = dict[str, Any]
"""The JSON body of a request to a service."""


class Stream(Protocol[E_co]):
    """An open stream of an SDK."""

    def __aiter__(self) -> AsyncIterator[E_co]: ...

    async def __anext__(self) -> E_co: ...

    async def close(self) -> None: ...


class Collector(Protocol[E_contra]):
    """Assembles one streamed reply."""

    @property
    def is_complete(self) -> bool:
        """True if the reply has ended; only counts may follow."""
        ...

    def add(self, event: E_contra) -> Iterator[Part]:
        """Process one event; raises ``ModelBroken`` if it lacks fields the API defines."""
        ...

    def reply(self) -> ModelReply:
        """Return the reply so far."""
        ...


class Service(ABC, Generic[E]):
    """See the module docstring. Close it with ``aclose``.

    ``observe`` returns the observer for calls of a model. Subclasses implement the SDK's calls and
    the format of requests.
    """

    failures: ClassVar[tuple[type[Exception], ...]]
    """Exceptions of the SDK, and ``READING_FAILURES``."""
    names: ClassVar[Names]
    api: ClassVar[str]
    """The address of the service itself."""
    _client: Any
    """The SDK's client, created by subclasses."""

    def __init__(
        self,
        settings: Settings,
        secret: str,
        address: str,
        observe: Callable[[str], Observe] = nothing_observed,
    ) -> None:
        self.settings = settings
        self._secret, self.address = secret, address
        self.observe = observe
        self.refused: dict[str, set[str]] = {}  # model → features it has refused

    # ------------------------------------------------------------ for subclasses

    @property
    def secret(self) -> str:
        """The key, as currently in its file."""
        return renewed(self.names.key, self._secret)

    def client_options(self, http_client: Callable[..., Any]) -> dict[str, Any]:
        """Return the options of the SDK's client; ``http_client`` creates the SDK's own HTTP
        client. Raises ``InvalidSetting`` for an unusable proxy or certificates."""
        seconds = self.settings.model_timeout

        async def give_up(response: httpx2.Response) -> None:
            # An SDK waits as long as Retry-After says, even an hour.
            if (retry_after(response.headers) or 0.0) > seconds:
                response.headers["x-should-retry"] = "false"

        limits = httpx2.Limits(max_connections=CONNECTIONS, max_keepalive_connections=KEPT_OPEN)
        transport = Egress.of(self.settings).transport(httpx2, limits=limits)
        return {
            "api_key": self.secret,
            "base_url": self.address,
            "timeout": httpx2.Timeout(seconds, connect=min(CONNECT, seconds)),
            "max_retries": failures.RETRIES,
            "http_client": http_client(transport=transport, event_hooks={"response": [give_up]}),
        }

    @abstractmethod
    def cites(self, model: str) -> bool:
        """Return True if the model has native citations, as far as known; otherwise it is asked for
        marks."""

    @abstractmethod
    async def name_of(self, model: str) -> str:
        """Return the model's name as the service shows it."""

    @abstractmethod
    def to_wire(self, request: Request) -> Wire:
        """The request in the service's format, without features its model is known to refuse."""

    @abstractmethod
    def refused_feature(self, failure: Failure, wire: Wire) -> str | None:
        """Return the feature of a request that a failure complains about, or None."""

    @abstractmethod
    async def send(self, wire: Wire) -> Stream[E]: ...

    @abstractmethod
    def collector(self, request: Request) -> Collector[E]: ...

    @abstractmethod
    def failure(self, error: Exception) -> Failure: ...

    # ------------------------------------------------------------ for reasoners

    async def aclose(self) -> None:
        await self._client.close()

    def explain(self, error: Exception, model: str) -> FootnoteError:
        """Convert an SDK's exception to an error with a sentence for people, without the key."""
        failure = self.failure(error)
        failure = replace(failure, words=failure.words.replace(self.secret, "…"))
        host = self.names.service if self.address == self.api else host_of(self.address)
        return explain(failure, self.names, self.settings, model, host)

    async def describe(self, model: str) -> str:
        """Return the model's name as the service shows it. Raises like a reply's ``parts``."""
        try:
            return await self.name_of(model)
        except self.failures as error:
            raise self.explain(error, model) from error

    async def complete(
        self,
        request: Request,
        lost: Callable[[ModelReply], None] = lambda reply: None,
        watch: Watch | None = None,
    ) -> ModelReply:
        """Return the whole reply. Raises like a reply's ``parts``, after passing the reply so far
        to ``lost``. ``watch`` receives each part as it arrives."""
        replying = Replying(self, request)
        try:
            async with aclosing(replying.parts()) as parts:
                async for part in parts:
                    if watch is not None:
                        watch(part)
            return replying.reply()
        except BaseException:
            lost(replying.reply())
            raise

    def learns(self, failure: Failure, request: Request, wire: Mapping[str, Any]) -> bool:
        """Return True if a failure means that a feature of the request is refused.

        The feature is then remembered, and the request can be sent again without it.
        """
        if not failure.is_bad_request:
            return False
        feature = self.refused_feature(failure, dict(wire))
        if feature is None:
            return False
        self.refused.setdefault(request.model, set()).add(feature)
        return self.to_wire(request) != wire


class Replying(Generic[E]):
    """The streamed reply to one request. ``before`` is the reply of an earlier attempt, whose
    tokens count too."""

    def __init__(
        self, service: Service[E], request: Request, before: ModelReply | None = None
    ) -> None:
        self._service = service
        self._request = request
        self._before = before
        self._collector = service.collector(request)

    def reply(self) -> ModelReply:
        """Return the reply so far, with the tokens of all attempts."""
        reply = after(self._before, self._collector.reply())
        return replace(reply, plain=not self._service.cites(self._request.model))

    async def parts(self) -> AsyncGenerator[Part]:
        """Yield the parts of the reply, up to its end.

        An interrupted request is sent again at most twice (``Again`` marks it). Raises
        ``ModelUnavailable``, ``CredentialsRefused``, ``InvalidSetting``, ``ModelBroken`` and its
        subclass ``TooLong``.
        """
        service, request = self._service, self._request
        clock = asyncio.get_running_loop().time
        deadline = clock() + 2 * service.settings.model_timeout
        restarts = 0
        with timed(service.observe(request.model)):
            while True:
                wire = service.to_wire(request)
                try:
                    # The SDK retries by itself; give up an endpoint that keeps hanging after twice
                    # the time of one call.
                    async with asyncio.timeout(2 * service.settings.model_timeout):
                        stream = await service.send(wire)
                except service.failures as error:
                    if service.learns(service.failure(error), request, wire):
                        continue
                    raise service.explain(error, request.model) from error
                try:
                    async with aclosing(self._read(stream)) as parts:
                        async for part in parts:
                            yield part
                except service.failures as error:
                    failure = service.failure(error)
                    if not service.learns(failure, request, wire):
                        if not failure.is_passing or restarts == RESTARTS or clock() > deadline:
                            raise service.explain(error, request.model) from error
                        await asyncio.sleep(_pause(restarts))
                        restarts += 1
                else:
                    return
                finally:
                    await stream.close()
                self._before = self.reply()
                self._collector = service.collector(request)
                yield Again()

    async def _read(self, stream: Stream[E]) -> AsyncGenerator[Part]:
        """Yield the parts of an open stream. A silence longer than the timeout raises TimeoutError.

        Pings do not count, since the SDKs do not pass them on.
        """
        begun, collector = False, self._collector
        while not collector.is_complete:
            async with asyncio.timeout(self._service.settings.model_timeout):
                event = await anext(stream, None)
            if event is None:
                raise CutOff(begun)
            begun = True
            for part in collector.add(event):
                yield part
        # Read to the very end, for the counts and to make the connection reusable.
        with contextlib.suppress(*self._service.failures):
            async with asyncio.timeout(1):
                async for event in stream:
                    for part in collector.add(event):
                        yield part


def _pause(restarts: int) -> float:
    """Return seconds to wait, randomized so that runs interrupted together do not retry
    together."""
    return FIRST_PAUSE * (2.0**restarts) * random.uniform(0.5, 1.0)  # noqa: S311
