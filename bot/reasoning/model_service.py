"""A model service: one client per process, streamed replies, and what people should do about
failures.

Every call is streamed, even if only the whole reply matters: a long call then never looks like a
dead connection, and an interrupted one is noticed at once. The SDK has already retried retryable
failures (408, 409, 429, 5xx, lost connections).

Features that the service or a model refuses are remembered for the process and left out when a
request is translated, so that the request itself (the journal's key) does not depend on them.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import re
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, Protocol, TypeVar
from urllib.parse import urlsplit

import httpx2

from bot.core.egress import Egress, proxy_failure
from bot.core.errors import (
    CredentialsRefused,
    FootnoteError,
    InvalidSetting,
    ModelBroken,
    ModelUnavailable,
)
from bot.core.measurements import Observe, nothing_observed, timed
from bot.core.settings import Settings, renewed
from bot.core.texts import Sentence, said
from bot.pages.pictures import PictureUnread
from bot.reasoning.calls import Again, ModelReply, Part, Request, after

PASSING_KINDS = frozenset(
    {
        *("overloaded_error", "api_error", "rate_limit_error", "timeout_error"),  # Claude
        *("server_error", "rate_limit_exceeded"),  # OpenAI
    }
)
RETRIES = 4  # of a failed request, by the SDK
SHOWN = 300  # characters of the service's message shown to a person


class TooLong(ModelBroken):
    """The material exceeds the limit of the endpoint or the model's context window."""


BLIND = (
    *("not support image", "support image input", "images are not supported", "not a multimodal"),
    *("image input is not supported", "image_url is only supported", "at most 0 image"),
    *("variant `image", "tag 'image' found", "tag 'image_url' found", "not support vision"),
)
"""Words of servers whose model does not see."""


class CutOff(Exception):
    """A stream ended before its reply was complete. ``begun`` is True if it had begun."""

    def __init__(self, begun: bool) -> None:
        super().__init__("the reply ended before it was complete")
        self.begun = begun


@dataclass(frozen=True, slots=True)
class Names:
    """The names of a service, its protocol and its settings, for messages."""

    service: str  # "Claude"
    protocol: str  # "Messages API"
    key: str  # "ANTHROPIC_API_KEY"
    url: str  # "ANTHROPIC_BASE_URL"
    url_form: str  # "without" or "with" /v1 at its end
    api: str  # the address of the service itself


@dataclass(frozen=True, slots=True)
class Failure:
    """An SDK's exception, independent of the SDK. ``status`` is 0 without an HTTP error response,
    ``kind`` the service's error type, ``retry_after`` in seconds."""

    words: str
    error: Exception
    status: int = 0
    kind: str = ""
    request_id: str = ""
    retry_after: float | None = None
    timed_out: bool = False
    disconnected: bool = False

    @property
    def is_bad_request(self) -> bool:
        """True if the request itself is wrong, by status or (in a stream) by type."""
        return self.status in (400, 422) or self.kind == "invalid_request_error"

    @property
    def is_too_long(self) -> bool:
        """True if the request exceeds the limit of the endpoint or the model's context window."""
        words = self.words.casefold()
        return self.status == 413 or (
            self.is_bad_request
            and re.search(r"too long|context (window|limit|length|size)|context_length", words)
            is not None
        )

    @property
    def is_passing(self) -> bool:
        """True if sending the same request again may help."""
        return (
            self.timed_out or self.disconnected or self.kind in PASSING_KINDS or self.status >= 500
        )


def on_one_line(words: str) -> str:
    """Return a service's error message on one line, without tags of an error page."""
    words = " ".join(re.sub(r"<[^<>]*>", " ", words).split())
    return words if len(words) <= SHOWN else words[: SHOWN - 1] + "…"


def said_in(body: object) -> str:
    """Return the message in the body of an error response."""
    if isinstance(body, Mapping):
        inner: Any = body.get("error", body)
        return inner if isinstance(inner, str) else str(inner.get("message") or "")
    return body if isinstance(body, str) else ""


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds the endpoint asks to wait, or None if absent or malformed."""
    try:
        if "retry-after-ms" in headers:
            return float(headers["retry-after-ms"]) / 1000
        return float(headers["retry-after"])
    except (KeyError, ValueError):
        return None


def explain(
    failure: Failure, names: Names, settings: Settings, model: str, host: Sentence
) -> FootnoteError:
    """Convert a failure to an error with a sentence for people. ``host`` is the service's host."""
    error = failure.error
    if failure.status or failure.kind:
        return _explain_status(failure, names, settings, model, host)
    if isinstance(error, CutOff) and not error.begun:
        own = said("api-of", name=names.service)
        return ModelUnavailable(said("service-other", host=host, service=own, url=names.url))
    if at_proxy := proxy_failure(error):
        return ModelUnavailable(at_proxy)
    if failure.timed_out:
        slow = said("service-slow", model=model, seconds=settings.model_timeout)
        return ModelUnavailable(slow, detail=failure.words)
    if failure.is_passing:
        detail = f"{failure.words}; {type(error.__cause__ or error).__name__}"
        return ModelUnavailable(said("service-away", host=host), detail=detail)
    told = said("service-garbled", host=host, url=names.url)
    return ModelBroken(told, detail=f"{type(error).__name__}: {failure.words}")


def _explain_status(
    failure: Failure, names: Names, settings: Settings, model: str, host: Sentence
) -> FootnoteError:
    status, kind, words = failure.status, failure.kind, failure.words
    request = f" request {failure.request_id}" if failure.request_id else ""
    detail = f"{status} {kind}{request} for {model}"
    if (
        status == 402
        or kind in ("billing_error", "insufficient_quota")
        or "credit balance" in words
    ):
        return CredentialsRefused(said("service-unpaid", key=names.key, words=words), detail=detail)
    if status in (401, 403) or kind in ("authentication_error", "permission_error"):
        told = said("service-key", key=names.key, host=host, words=words.rstrip("."))
        return CredentialsRefused(told, detail=detail)
    if (status == 404 or failure.is_bad_request) and _names_model(words, model):
        setting = _setting_of(model, settings)
        told = said("service-unknown", host=host, model=model, setting=setting)
        return InvalidSetting(told, detail=f"{detail}: {words}")
    if status == 404:
        form, protocol = names.url_form, names.protocol
        told = said("service-nothing", protocol=protocol, host=host, url=names.url, form=form)
        return InvalidSetting(told, detail=f"{detail}: {words}")
    if failure.is_too_long:
        return TooLong(
            f"The material is larger than the model takes: ask for less. {host} says: {words}",
            detail=detail,
        )
    if failure.is_passing or status in (408, 409, 429):
        busy = status in (429, 529) or kind in ("rate_limit_error", "overloaded_error")
        told = said("service-busy" if busy else "service-trouble", host=host, count=RETRIES + 1)
        return ModelUnavailable(told, detail=f"{detail}: {words}", retry_after=failure.retry_after)
    return ModelBroken(said("service-refused", host=host, model=model, words=words), detail=detail)


def _names_model(words: str, model: str) -> bool:
    folded = words.casefold()
    return "model" in folded and (
        model.casefold() in folded or "not found" in folded or "does not exist" in folded
    )


def _setting_of(model: str, settings: Settings) -> str:
    names = {"FOOTNOTE_MODEL": settings.model, "FOOTNOTE_SMALL_MODEL": settings.small_model}
    found = [name for name, value in names.items() if value.rpartition(":")[2] == model]
    return " and ".join(found) or "FOOTNOTE_MODEL"


def refused_feature(words: str, used: Collection[str], named: Mapping[str, str]) -> str | None:
    """Return the used feature that an error message complains about, or None.

    ``named`` maps patterns to features, the most specific first.
    """
    words = words.casefold()
    for pattern, feature in named.items():
        if feature in used and re.search(pattern, words):
            return feature
    return None


def host_of(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2]


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

    ``address`` is None for the service itself; ``observe`` returns the observer for calls of a
    model. Subclasses implement the SDK's calls and
    the format of requests.
    """

    failures: ClassVar[tuple[type[Exception], ...]]
    """Exceptions of the SDK, and ``READING_FAILURES``."""
    names: ClassVar[Names]
    _client: Any

    def __init__(
        self,
        settings: Settings,
        secret: str,
        address: str | None,
        observe: Callable[[str], Observe] = nothing_observed,
    ) -> None:
        self.settings = settings
        self._secret, self.address = secret, address or self.names.api
        self.observe = observe
        self.refused: dict[str, set[str]] = {}  # model → features it has refused
        self._client = self.new_client()

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
            "max_retries": RETRIES,
            "http_client": http_client(transport=transport, event_hooks={"response": [give_up]}),
        }

    @abstractmethod
    def new_client(self) -> Any:
        """Return a client of the SDK. Raises as ``client_options`` does."""

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
        own = said("api-of", name=self.names.service)
        host = own if self.address == self.names.api else host_of(self.address)
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

        The feature is then remembered, and the request can be sent again without it; one with
        pictures is then not sent at all.
        """
        words = failure.words.casefold()
        if request.pictures and any(each in words for each in BLIND):
            self.refused.setdefault(request.model, set()).add("sight")
            return True
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
        subclass ``TooLong``, and ``PictureUnread`` if the model does not see.
        """
        service, request = self._service, self._request
        clock = asyncio.get_running_loop().time
        deadline = clock() + 2 * service.settings.model_timeout
        restarts = 0
        with timed(service.observe(request.model)):
            while True:
                if request.pictures and "sight" in service.refused.get(request.model, ()):
                    raise PictureUnread(said("picture-no-sight", model=request.model))
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
