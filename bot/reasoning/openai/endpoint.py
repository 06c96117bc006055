"""The OpenAI API, or a compatible server (vLLM, Ollama, LM Studio, Azure), through OpenAI's SDK.

Error codes: https://platform.openai.com/docs/guides/error-codes.
"""

from __future__ import annotations

from collections.abc import Callable

import httpx2
import openai
from openai import AsyncStream
from openai.types.chat import ChatCompletionChunk

from bot.core.errors import FootnoteError, InvalidSetting
from bot.core.measurements import Observe, nothing_observed
from bot.reasoning.model.failures import (
    CutOff,
    Failure,
    on_one_line,
    refused_feature,
    retry_after,
    said_in,
)
from bot.reasoning.model.requests import Request
from bot.reasoning.model.service import READING_FAILURES, Service, Wire
from bot.reasoning.openai.settings import API, NAMES, OpenAISettings, address, key
from bot.reasoning.openai.wire import NO_THOUGHT, OpenAICollector, features, request_body

NAMED = {
    "stream_options|include_usage": "stream_options",
    "reasoning_effort|reasoning effort": "reasoning_effort",
    "max_completion_tokens": "max_completion_tokens",
    "max_tokens": "max_tokens",
    "strict": "strict",
    "response_format|json_schema|structured output|guided|grammar": "response_format",
}
"""Patterns for error texts about a rejected feature that Footnote can do without."""


class OpenAIEndpoint(Service[ChatCompletionChunk]):
    """See the module docstring. Raises ``InvalidSetting`` or ``CredentialsRefused`` if the settings
    cannot work."""

    failures = (openai.APIError, *READING_FAILURES)
    names = NAMES
    api = API
    _client: openai.AsyncOpenAI

    def __init__(
        self, settings: OpenAISettings, observe: Callable[[str], Observe] = nothing_observed
    ) -> None:
        super().__init__(settings, key(settings), address(settings), observe)
        options = self.client_options(openai.DefaultAsyncHttpxClient)
        self._client = openai.AsyncOpenAI(**options)

    def _keyed(self) -> openai.AsyncOpenAI:
        """Return the client with the current key."""
        self._client.api_key = self.secret
        return self._client

    def cites(self, model: str) -> bool:
        return False

    async def name_of(self, model: str) -> str:
        try:
            return (await self._keyed().models.retrieve(model)).id
        except openai.NotFoundError:
            # Some servers can only list models; Ollama adds a tag to a name without one.
            async for each in self._client.models.list():
                if model in (each.id, each.id.partition(":")[0]):
                    return each.id
            raise

    async def send(self, wire: Wire) -> AsyncStream[ChatCompletionChunk]:
        stream: AsyncStream[ChatCompletionChunk] = await self._keyed().chat.completions.create(
            **wire, stream=True
        )
        return stream

    def collector(self, request: Request) -> OpenAICollector:
        return OpenAICollector(request)

    def to_wire(self, request: Request) -> Wire:
        refused = self.refused.get(request.model, set())
        names = ["max_completion_tokens", "max_tokens"]
        if self.address != API:
            names.reverse()  # some servers silently ignore unknown parameters
        limit = next((name for name in names if name not in refused), names[0])
        return request_body(request, refused, limit)

    def refused_feature(self, failure: Failure, wire: Wire) -> str | None:
        feature = refused_feature(failure.words, features(wire), NAMED)
        effort = wire.get("reasoning_effort")
        if (
            feature == "reasoning_effort"
            and effort in NO_THOUGHT
            and f"'{effort}'" in failure.words
        ):
            return f"{feature} {effort}"  # another value may be accepted
        return feature

    def failure(self, error: Exception) -> Failure:
        if isinstance(error, openai.APIStatusError):
            return Failure(
                on_one_line(said_in(error.body) or error.message),
                error,
                status=error.status_code,
                kind=error.code if error.code == "insufficient_quota" else error.type or "",
                request_id=error.request_id or "",
                retry_after=retry_after(error.response.headers),
            )
        disconnected = openai.APIConnectionError | httpx2.TransportError | CutOff
        kind = ""
        if isinstance(error, openai.APIError) and not isinstance(error, openai.APIConnectionError):
            kind = error.type or error.code or "server_error"  # an error in a stream
        return Failure(
            on_one_line(str(error)),
            error,
            kind=kind,
            timed_out=isinstance(error, TimeoutError | openai.APITimeoutError),
            disconnected=isinstance(error, disconnected),
        )

    def explain(self, error: Exception, model: str) -> FootnoteError:
        failure = self.failure(error)
        if failure.is_bad_request and "support tools" in failure.words:
            return InvalidSetting(
                f"{model} cannot call tools, which research needs: set FOOTNOTE_MODEL to a model "
                "that can.",
                detail=failure.words,
            )
        return super().explain(error, model)
