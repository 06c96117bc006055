"""A service that runs models: one client per process, and replies as they stream.

Every call is streamed, also where only the whole reply counts: a long one then never looks like a
dead connection, and a cut one is noticed at once.

What the service or a model refuses is left out when a request is translated and remembered for the
process, so that the request itself (the journal's key) does not depend on what was learned.
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

from bot.egress import Egress
from bot.errors import FootnoteError
from bot.observing import Observe, nothing_observed, timed
from bot.reasoning.calls import ModelReply
from bot.reasoning.model.failures import (
    CutOff,
    Failure,
    Names,
    explain,
    host_of,
    retry_after,
)
from bot.reasoning.model.requests import Again, Part, Request, after
from bot.secret_files import renewed
from bot.settings import Settings

RESTARTS = 2  # times a call whose stream broke off is sent again
CONNECT = 10.0  # seconds
CONNECTIONS, KEPT_OPEN = 1_000, 100  # as the SDKs have them
FIRST_PAUSE = 0.2  # seconds before the first such time; doubled for the second

READING_FAILURES = (
    httpx2.HTTPError,  # the SDKs hand errors of reading a stream on as they are
    TimeoutError,
    CutOff,
    ValueError,  # an event that is no JSON
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
    """Puts one streamed reply together again."""

    @property
    def is_complete(self) -> bool:
        """True if the reply has ended; what still comes are counts."""
        ...

    def add(self, event: E_contra) -> Iterator[Part]:
        """Take one event; raises ``ModelBroken`` for one that lacks what the API gives it."""
        ...

    def reply(self) -> ModelReply:
        """The reply as far as it has come."""
        ...


class Service(ABC, Generic[E]):
    """See the module docstring. Close it with ``aclose``.

    ``observe`` gives what is told of each call of a model. What an SDK does and how the service
    writes its requests is for subclasses.
    """

    failures: ClassVar[tuple[type[Exception], ...]]
    """Exceptions of the SDK, and ``READING_FAILURES``."""
    names: ClassVar[Names]
    api: ClassVar[str]
    """The address of the service itself."""
    _client: Any
    """The SDK's, which subclasses open."""

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
        """The key, as its file holds it now."""
        return renewed(self.names.key, self._secret)

    def client_options(self, http_client: Callable[..., Any]) -> dict[str, Any]:
        """The options of the SDK's client; ``http_client`` makes the SDK's own HTTP client. Raises
        ``InvalidSetting`` for a proxy or certificates that cannot be used."""
        seconds = self.settings.model_timeout

        async def give_up(response: httpx2.Response) -> None:
            # An SDK waits as long as Retry-After says, be it an hour.
            if (retry_after(response.headers) or 0.0) > seconds:
                response.headers["x-should-retry"] = "false"

        limits = httpx2.Limits(max_connections=CONNECTIONS, max_keepalive_connections=KEPT_OPEN)
        transport = Egress.of(self.settings).transport(httpx2, limits=limits)
        return {
            "api_key": self.secret,
            "base_url": self.address,
            "timeout": httpx2.Timeout(seconds, connect=min(CONNECT, seconds)),
            "max_retries": self.settings.model_retries,
            "http_client": http_client(transport=transport, event_hooks={"response": [give_up]}),
        }

    @abstractmethod
    def cites(self, model: str) -> bool:
        """True if the model cites by itself, as far as is known; else marks are asked for."""

    @abstractmethod
    async def name_of(self, model: str) -> str:
        """The model's name as the service shows it."""

    @abstractmethod
    def translated(self, request: Request) -> Wire:
        """The request as the service takes it, without what its model is known to refuse."""

    @abstractmethod
    def refused_feature(self, failure: Failure, wire: Wire) -> str | None:
        """The feature of a request that a failure complains about."""

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
        """The sentence a person is shown. A key never is part of it."""
        failure = self.failure(error)
        failure = replace(failure, words=failure.words.replace(self.secret, "…"))
        host = self.names.service if self.address == self.api else host_of(self.address)
        return explain(failure, self.names, self.settings, model, host)

    async def describe(self, model: str) -> str:
        """The model's name as the service shows it. Raises like a reply's ``parts``."""
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
        """The whole reply. Raises like a reply's ``parts``; ``lost`` is then told what had come by
        then. ``watch`` sees each part as it comes."""
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
        """Return True if a failure says that a feature of the request is refused.

        It is then remembered, and the request can be sent again without it.
        """
        if not failure.is_bad_request:
            return False
        feature = self.refused_feature(failure, dict(wire))
        if feature is None:
            return False
        self.refused.setdefault(request.model, set()).add(feature)
        return self.translated(request) != wire


class Replying(Generic[E]):
    """The reply to one request as it comes. ``before`` is what an earlier attempt has cost."""

    def __init__(
        self, service: Service[E], request: Request, before: ModelReply | None = None
    ) -> None:
        self._service = service
        self._request = request
        self._before = before
        self._collector = service.collector(request)

    def reply(self) -> ModelReply:
        """The reply as far as it has come, with the tokens of all attempts."""
        reply = after(self._before, self._collector.reply())
        return replace(reply, plain=not self._service.cites(self._request.model))

    async def parts(self) -> AsyncGenerator[Part]:
        """The parts of the reply, up to its end.

        A stream that breaks off is sent again at most twice (``Again`` comes between). Raises
        ``ModelUnavailable``, ``CredentialsRefused``, ``InvalidSetting``, ``ModelBroken`` and its
        kind ``TooLong``.
        """
        service, request = self._service, self._request
        clock = asyncio.get_running_loop().time
        deadline = clock() + 2 * service.settings.model_timeout
        restarts = 0
        with timed(service.observe(request.model)):
            while True:
                wire = service.translated(request)
                try:
                    # The SDK tries again by itself; an endpoint that only ever hangs is given up
                    # after twice the time of one call.
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
        """The parts of an open stream. A silence longer than the timeout raises TimeoutError.

        Pings do not break the silence: the SDKs do not hand them on.
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
        # Read to the very end, for its counts and so that the connection can be used again.
        with contextlib.suppress(*self._service.failures):
            async with asyncio.timeout(1):
                async for event in stream:
                    for part in collector.add(event):
                        yield part


def _pause(restarts: int) -> float:
    """Seconds; spread, so that many runs cut off together do not come back together."""
    return FIRST_PAUSE * (2.0**restarts) * random.uniform(0.5, 1.0)  # noqa: S311
