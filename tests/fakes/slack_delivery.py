"""Deliveries from Slack to the app, with their attempts and responses; and signed HTTP.

An event that is not acknowledged in time is sent again at once, after a minute and after five;
commands and interactions are sent once. https://docs.slack.dev/apis/events-api#retries,
https://docs.slack.dev/authentication/verifying-requests-from-slack
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import urlencode

import aiohttp

from tests.fakes.slack_workspace import Json

EVENT, COMMAND, INTERACTION = "events_api", "slash_commands", "interactive"


@dataclass(slots=True)
class Attempt:
    """One attempt. Times are of ``time.perf_counter``; ``failure`` is Slack's name for an error."""

    number: int
    sent: float
    name: str  # the envelope's id, or the URL
    acked: float | None = None
    failure: str | None = None
    status: int | None = None
    no_retry: bool = False

    @property
    def ack_seconds(self) -> float | None:
        return None if self.acked is None else self.acked - self.sent


@dataclass(eq=False)
class Delivery:
    """A payload for the app. It may be read from any thread."""

    kind: str
    payload: Json
    on_reply: Callable[[Json], None] | None = None
    attempts: list[Attempt] = field(default_factory=list)
    replies: list[Any] = field(default_factory=list)
    made: float = field(default_factory=time.perf_counter)
    given_up: bool = False
    refused: str | None = None  # why Slack rejected the response to a command
    _acked: threading.Event = field(default_factory=threading.Event)
    _over: threading.Event = field(default_factory=threading.Event)

    @property
    def event(self) -> Json:
        """The inner event of an event callback."""
        return dict(self.payload["event"])

    @property
    def event_id(self) -> str:
        return str(self.payload["event_id"])

    @property
    def acked(self) -> bool:
        return self._acked.is_set()

    @property
    def tried(self) -> bool:
        """Return True once its first attempt is over: acknowledged, failed or timed out."""
        return self.acked or any(attempt.failure for attempt in self.attempts)

    @property
    def ack_seconds(self) -> float | None:
        """Return the seconds from sending the first acknowledged attempt to its acknowledgement."""
        times = [a.ack_seconds for a in self.attempts if a.ack_seconds is not None]
        return times[0] if times else None

    def wait(self, timeout: float = 60.0) -> Delivery:
        """Block until acknowledged. Raises ``TimeoutError``. Not for use on an event loop."""
        if not self._acked.wait(timeout):
            raise TimeoutError(f"{self.kind} was not acknowledged: {self.attempts}")
        return self

    async def acknowledged(self, timeout: float = 60.0) -> Delivery:
        """The same for a coroutine."""
        return await asyncio.to_thread(self.wait, timeout)

    async def over(self, timeout: float = 60.0) -> Delivery:
        """Wait until it is acknowledged, or no attempt is left."""
        if not await asyncio.to_thread(self._over.wait, timeout):
            raise TimeoutError(f"{self.kind} is still being delivered: {self.attempts}")
        return self

    def note_ack(self, attempt: Attempt, reply: Any) -> None:
        attempt.acked = time.perf_counter()
        first = not self._acked.is_set()
        if reply not in (None, "", {}):
            self.replies.append(reply)
        if first and self.on_reply is not None and isinstance(reply, dict) and reply:
            self.on_reply(reply)
        self._acked.set()

    def note_end(self) -> None:
        self.given_up = not self.acked
        self._over.set()


class Carrier(Protocol):
    async def carry(self, delivery: Delivery, number: int, reason: str) -> Attempt:
        """Make one attempt, which ends when acknowledged, failed or timed out."""


class Courier:
    """Makes deliveries on the server's loop, each with its retries."""

    def __init__(self, carrier: Carrier, redelivery: tuple[float, ...]) -> None:
        self.carrier = carrier
        self.redelivery = redelivery
        self._tasks: set[asyncio.Task[None]] = set()

    def take(self, delivery: Delivery) -> None:
        """Start a delivery; call it on the server's loop."""
        task = asyncio.ensure_future(self._deliver(delivery))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _deliver(self, delivery: Delivery) -> None:
        waits = (None, *self.redelivery) if delivery.kind == EVENT else (None,)
        reason = ""
        for number, wait in enumerate(waits):
            if wait:
                await asyncio.sleep(wait)
            if delivery.acked:
                break
            attempt = await self.carrier.carry(delivery, number, reason)
            if attempt.acked is not None and attempt.failure is None:
                break
            reason = attempt.failure or "timeout"
            if attempt.no_retry:
                break
        delivery.note_end()

    def stop(self) -> None:
        for task in self._tasks:
            task.cancel()


JSON_TYPE = "application/json"
FORM_TYPE = "application/x-www-form-urlencoded"


def signature(secret: str, timestamp: str, body: str) -> str:
    base = f"v0:{timestamp}:{body}".encode()
    return "v0=" + hmac.new(secret.encode(), base, hashlib.sha256).hexdigest()


def signed_headers(secret: str, body: str, content_type: str, age: float = 0.0) -> dict[str, str]:
    """Return headers for ``body``; ``age`` is the seconds since it was signed."""
    timestamp = str(int(time.time() - age))
    return {
        "Content-Type": content_type,
        "User-Agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
        "X-Slack-Request-Timestamp": timestamp,
        "X-Slack-Signature": signature(secret, timestamp, body),
    }


def written(delivery: Delivery) -> tuple[str, str]:
    """Return body and content type in the form in which Slack sends each kind."""
    if delivery.kind == EVENT:
        return json.dumps(delivery.payload), JSON_TYPE
    if delivery.kind == INTERACTION:
        return urlencode({"payload": json.dumps(delivery.payload)}), FORM_TYPE
    return urlencode(delivery.payload), FORM_TYPE


class SignedHttp:
    """Sends deliveries to one URL, with a wrong ``secret`` or ``age`` if wanted."""

    def __init__(self, url: str, secret: str, ack_seconds: float, age: float = 0.0) -> None:
        self.url = url
        self.secret = secret
        self.ack_seconds = ack_seconds
        self.age = age
        self._session: aiohttp.ClientSession | None = None

    async def carry(self, delivery: Delivery, number: int, reason: str) -> Attempt:
        body, content_type = written(delivery)
        headers = signed_headers(self.secret, body, content_type, self.age)
        if number:
            headers |= {"X-Slack-Retry-Num": str(number), "X-Slack-Retry-Reason": reason}
        attempt = Attempt(number, time.perf_counter(), self.url)
        delivery.attempts.append(attempt)
        if self._session is None:
            self._session = aiohttp.ClientSession()
        try:
            async with asyncio.timeout(self.ack_seconds):
                async with self._session.post(
                    self.url, data=body.encode(), headers=headers, allow_redirects=False
                ) as answer:
                    text = await answer.text()
        except TimeoutError:
            attempt.failure = "http_timeout"
        except aiohttp.ClientError:
            attempt.failure = "connection_failed"
        else:
            attempt.status = answer.status
            attempt.no_retry = answer.headers.get("X-Slack-No-Retry") == "1"
            if 200 <= answer.status < 300:
                delivery.note_ack(attempt, _reply(answer.content_type, text))
            else:
                attempt.failure = "http_error"
        return attempt

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()


def _reply(content_type: str, text: str) -> Any:
    if content_type == JSON_TYPE and text:
        return json.loads(text)
    return {"text": text} if text else None
