"""Signed requests to the app's own address: events, commands, interactions.

https://docs.slack.dev/authentication/verifying-requests-from-slack
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import time
from typing import Any
from urllib.parse import urlencode

import aiohttp

from tests.fakes.slack_delivery import EVENT, INTERACTION, Attempt, Delivery

JSON_TYPE = "application/json"
FORM_TYPE = "application/x-www-form-urlencoded"


def signature(secret: str, timestamp: str, body: str) -> str:
    base = f"v0:{timestamp}:{body}".encode()
    return "v0=" + hmac.new(secret.encode(), base, hashlib.sha256).hexdigest()


def signed_headers(secret: str, body: str, content_type: str, age: float = 0.0) -> dict[str, str]:
    """Headers for ``body``; ``age``: seconds since it was signed."""
    timestamp = str(int(time.time() - age))
    return {
        "Content-Type": content_type,
        "User-Agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
        "X-Slack-Request-Timestamp": timestamp,
        "X-Slack-Signature": signature(secret, timestamp, body),
    }


def written(delivery: Delivery) -> tuple[str, str]:
    """Body and content type, as Slack sends each kind."""
    if delivery.kind == EVENT:
        return json.dumps(delivery.payload), JSON_TYPE
    if delivery.kind == INTERACTION:
        return urlencode({"payload": json.dumps(delivery.payload)}), FORM_TYPE
    return urlencode(delivery.payload), FORM_TYPE


class SignedHttp:
    """Carries deliveries to one URL; ``secret`` and ``age`` can be made wrong."""

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
