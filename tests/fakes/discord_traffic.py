"""Rate limits, 429 storms and outages of the fake's HTTP side, and the log of its requests.

Headers and bodies: docs.discord.com/developers/topics/rate-limits.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Outage = Literal["reset", "500", "502", "503"]

# requests, seconds; per channel, guild or webhook. Discord was observed to send these.
LIKE_DISCORD: dict[tuple[str, str], tuple[int, float]] = {
    ("POST", "/channels/{channel_id}/messages"): (5, 5.0),
    ("PATCH", "/channels/{channel_id}/messages/{message_id}"): (5, 5.0),
    ("DELETE", "/channels/{channel_id}/messages/{message_id}"): (5, 1.0),
    ("POST", "/channels/{channel_id}/typing"): (5, 5.0),
    ("POST", "/channels/{channel_id}/messages/{message_id}/threads"): (50, 300.0),
    ("POST", "/channels/{channel_id}/threads"): (50, 300.0),
    ("PATCH", "/channels/{channel_id}"): (5, 15.0),
    ("PUT", "/channels/{channel_id}/messages/{message_id}/reactions/{emoji_name}/@me"): (1, 0.25),
    ("POST", "/webhooks/{webhook_id}/{webhook_token}"): (5, 2.0),
    ("PATCH", "/webhooks/{webhook_id}/{webhook_token}/messages/@original"): (5, 2.0),
}
GLOBAL_LIMIT = 50  # requests a second, interactions excepted
GENEROUS = (1_000, 1.0)


@dataclass(frozen=True, slots=True)
class Request:
    """One received request. ``at`` is its time by the fake's clock in seconds, ``seconds`` its
    duration; ``code`` is the JSON error code, ``answered`` false if the response was dropped."""

    method: str
    path: str
    template: str
    query: Mapping[str, str]
    body: Any
    at: float
    seconds: float
    status: int
    code: int | None = None
    answered: bool = True
    token: str | None = None


@dataclass
class Bucket:
    """A rate limit window that begins with its first request."""

    limit: int
    per: float
    left: int = 0
    ends: float = 0.0

    def take(self, now: float) -> float:
        """Return the seconds to wait; 0 if the request is within the limit."""
        if now >= self.ends:
            self.left, self.ends = self.limit, now + self.per
        if self.left <= 0:
            return self.ends - now
        self.left -= 1
        return 0.0


@dataclass
class Trouble:
    """A fault of the next ``times`` requests whose "METHOD /path" contains ``where``."""

    where: str
    times: float
    kind: str
    seconds: float = 0.0
    scope: str = "user"

    def strikes(self, request: str) -> bool:
        if self.times <= 0 or self.where not in request:
            return False
        self.times -= 1
        return True


@dataclass(frozen=True, slots=True)
class Limited:
    """A 429: the seconds to wait, and the scope of the limit (user, shared or global)."""

    retry_after: float
    scope: str
    headers: dict[str, str]

    @property
    def body(self) -> dict[str, Any]:
        told: dict[str, Any] = {"message": "You are being rate limited."}
        return told | {"retry_after": self.retry_after, "global": self.scope == "global"}


@dataclass
class Traffic:
    """Counts requests and causes faults on request, in real time like the clients' waits."""

    limits: dict[tuple[str, str], tuple[int, float]] = field(default_factory=dict)
    default: tuple[int, float] = GENEROUS
    global_limit: int | None = None
    requests: list[Request] = field(default_factory=list)
    _buckets: dict[tuple[str, str, str], Bucket] = field(default_factory=dict)
    _troubles: list[Trouble] = field(default_factory=list)
    _recent: deque[float] = field(default_factory=deque)

    def like_discord(self) -> None:
        """Apply the limits that Discord was observed to use, instead of generous ones."""
        self.limits = dict(LIKE_DISCORD)
        self.global_limit = GLOBAL_LIMIT

    def limit(self, method: str, template: str, requests: int, seconds: float) -> None:
        """Allow ``requests`` per ``seconds`` on one route, for each channel or webhook."""
        self.limits[method, template] = (requests, seconds)

    def trouble(self, kind: str, where: str, times: float, **more: Any) -> None:
        self._troubles.append(Trouble(where, times, kind, **more))

    def calm(self) -> None:
        """End all faults."""
        self._troubles.clear()

    def strikes(self, kind: str, request: str) -> Trouble | None:
        """Return the fault of this kind that applies to a request, and count its use."""
        return next((t for t in self._troubles if t.kind == kind and t.strikes(request)), None)

    def outage(self, request: str) -> Outage | None:
        for kind in ("reset", "500", "502", "503"):
            if self.strikes(kind, request):
                return kind
        return None

    def admit(self, method: str, template: str, path: str, major: str) -> dict[str, str] | Limited:
        """Return headers for a request within its limits, or else its 429."""
        now = time.monotonic()
        if storm := self.strikes("storm", f"{method} {path}"):
            headers = {"X-RateLimit-Limit": "5", "X-RateLimit-Remaining": "0"}
            if storm.scope == "global":
                headers = {"X-RateLimit-Global": "true"}
            else:
                headers |= self._times(method, template, storm.seconds)
            return self._limited(storm.seconds, storm.scope, headers)
        if wait := self._too_many_in_all(now, template):
            return self._limited(wait, "global", {"X-RateLimit-Global": "true"})
        count, per = self.limits.get((method, template), self.default)
        bucket = self._buckets.setdefault((method, template, major), Bucket(count, per))
        bucket.limit, bucket.per = count, per
        wait = bucket.take(now)
        headers = {
            "X-RateLimit-Limit": str(count),
            "X-RateLimit-Remaining": str(bucket.left),
            **self._times(method, template, bucket.ends - now),
        }
        return self._limited(wait, "user", headers) if wait else headers

    def _too_many_in_all(self, now: float, template: str) -> float:
        if self.global_limit is None or template.startswith(("/interactions", "/webhooks")):
            return 0.0
        while self._recent and self._recent[0] <= now - 1:
            self._recent.popleft()
        if len(self._recent) >= self.global_limit:
            return self._recent[0] + 1 - now
        self._recent.append(now)
        return 0.0

    @staticmethod
    def _times(method: str, template: str, seconds: float) -> dict[str, str]:
        name = hashlib.sha256(f"{method} {template}".encode()).hexdigest()[:32]
        return {
            "X-RateLimit-Reset": f"{time.time() + seconds:.3f}",
            "X-RateLimit-Reset-After": f"{max(seconds, 0.001):.3f}",
            "X-RateLimit-Bucket": name,
        }

    @staticmethod
    def _limited(seconds: float, scope: str, headers: dict[str, str]) -> Limited:
        seconds = round(max(seconds, 0.001), 3)
        told = {"Retry-After": str(math.ceil(seconds)), "X-RateLimit-Scope": scope}
        return Limited(seconds, scope, headers | told)
