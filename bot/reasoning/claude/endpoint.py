"""The Claude API, or a compatible endpoint, through Anthropic's SDK.

``messages.create(stream=True)`` is used instead of ``messages.stream``: it takes 18 µs of processor
time per event instead of 45, and the latter's snapshots are not needed here.

Status codes and error types: https://platform.claude.com/docs/en/api/errors.
"""

from __future__ import annotations

from collections.abc import Callable

import anthropic
import httpx2
from anthropic import AsyncStream
from anthropic.types import RawMessageStreamEvent

from bot.core.measurements import Observe, nothing_observed
from bot.reasoning.claude.settings import API, NAMES, ClaudeSettings, address, key
from bot.reasoning.claude.wire import ClaudeCollector, features, request_body
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

_FORMAT = (
    r"output_config|output_format|json.schema|structured output"
    # A schema within all limits may still be too complex for the grammar compiled from it.
    r"|schema is too complex|grammar"
)
NAMED = {
    "cache_control": "cache_control",
    r"search_result|citation": "search_result",
    "strict": "strict",
    "between_tools": "disabled",
    r"signature|thinking\W{0,2} block": "thinking_blocks",
    "thinking": "thinking",
    r"\beffort": "effort",
    _FORMAT: "format",
    "output_config": "effort",
}
"""Patterns for error texts about a rejected feature that Footnote can do without. ``disabled`` is
the old way of turning thinking off (newer models need ``between_tools``); ``thinking_blocks`` means
sending back the thoughts of earlier turns.
"""


class ClaudeEndpoint(Service[RawMessageStreamEvent]):
    """See the module docstring. Raises ``InvalidSetting`` or ``CredentialsRefused`` if the settings
    cannot work."""

    failures = (anthropic.APIError, *READING_FAILURES)
    names = NAMES
    api = API
    _client: anthropic.AsyncAnthropic

    def __init__(
        self, settings: ClaudeSettings, observe: Callable[[str], Observe] = nothing_observed
    ) -> None:
        super().__init__(settings, key(settings), address(settings), observe)
        options = self.client_options(anthropic.DefaultAsyncHttpxClient)
        self._client = anthropic.AsyncAnthropic(default_headers=self._headers(), **options)

    def _headers(self) -> dict[str, str]:
        # Endpoints written for earlier versions of the API expect the key only here.
        return {} if self.address == API else {"X-Api-Key": self.secret}

    def _keyed(self) -> anthropic.AsyncAnthropic:
        """Return the client with the current key."""
        if self._client.api_key != self.secret:
            self._client = self._client.with_options(
                api_key=self.secret, default_headers=self._headers()
            )
        return self._client

    def cites(self, model: str) -> bool:
        return "search_result" not in self.refused.get(model, set())

    async def name_of(self, model: str) -> str:
        return (await self._keyed().models.retrieve(model)).display_name

    async def send(self, wire: Wire) -> AsyncStream[RawMessageStreamEvent]:
        return await self._keyed().messages.create(**wire, stream=True)

    def collector(self, request: Request) -> ClaudeCollector:
        return ClaudeCollector()

    def to_wire(self, request: Request) -> Wire:
        return request_body(request, self.refused.get(request.model, set()))

    def refused_feature(self, failure: Failure, wire: Wire) -> str | None:
        words = failure.words
        if "maximum of" in words and "cache_control" in words:
            return None
        return refused_feature(words, features(wire), NAMED)

    def failure(self, error: Exception) -> Failure:
        if isinstance(error, anthropic.APIStatusError):
            return Failure(
                on_one_line(error.api_message or said_in(error.body) or str(error)),
                error,
                status=error.status_code,
                kind=error.type or "",
                request_id=error.request_id or "",
                retry_after=retry_after(error.response.headers),
            )
        return Failure(
            on_one_line(str(error)),
            error,
            timed_out=isinstance(error, TimeoutError | anthropic.APITimeoutError),
            disconnected=isinstance(
                error, anthropic.APIConnectionError | httpx2.TransportError | CutOff
            ),
        )
