"""Client for a search engine's HTTP API: sends requests, parses JSON, translates errors."""

from __future__ import annotations

import email.utils
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NoReturn

from bot.core.errors import Broken, CredentialsRefused, ProviderUnavailable, Refused
from bot.core.settings import renewed

if TYPE_CHECKING:
    import httpx

MAX_REPLY_BYTES = 4_000_000  # the largest page of results is below 1 MB
REQUEST_SECONDS = 10.0
QUOTA_RESTS = 3_600.0  # seconds; retrying does not restore a used-up quota
QUOTA_STATUSES = (402, 432, 433)  # Payment Required; Tavily's "plan limit", "pay-as-you-go limit"


@dataclass(frozen=True, slots=True)
class Reply:
    """``data`` is the JSON object; ``headers`` have lower-case names."""

    status: int
    headers: Mapping[str, str]
    data: Mapping[str, Any]


async def fetched(
    responding: AbstractAsyncContextManager[httpx.Response],
    title: str,
    place: str,
    broken: Callable[[str], Broken],
    most_bytes: int,
) -> tuple[int, Mapping[str, str], bytes]:
    """The status, headers and body of a response. ``title`` and ``place`` as for ``JsonApi``;
    ``broken`` creates the error for an unreadable answer from a detail.

    Raises ``ProviderUnavailable`` if there is no response, and ``Broken`` for an invalid response
    or one of more than ``most_bytes``.
    """
    import httpx

    body = bytearray()
    try:
        async with responding as response:
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > most_bytes:
                    raise broken(f"a reply of more than {most_bytes} bytes")
            return response.status_code, response.headers, bytes(body)
    except httpx.TimeoutException as error:
        raise ProviderUnavailable(
            f"{title} does not answer in time: try again later.",
            detail=type(error).__name__,
        ) from error
    except httpx.ProxyError as error:
        raise ProviderUnavailable(str(error)) from error
    except httpx.TransportError as error:
        raise ProviderUnavailable(
            f"{title} cannot be reached: check the network and {place}.",
            detail=f"{type(error).__name__}: {error}",
        ) from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise broken(f"{type(error).__name__}: {error}") from error


class JsonApi:
    """Client for one API.

    ``title`` names it in sentences; ``key`` and ``place`` are the settings with its key ("" if it
    has none) and its address. Redirects are not followed, so that a key is sent only to the
    configured host. ``seconds`` limits a request, ``most_bytes`` an answer.
    """

    def __init__(
        self,
        client: httpx.AsyncClient,
        base: str,
        *,
        title: str,
        key: str,
        place: str,
        headers: Mapping[str, str] | None = None,
        seconds: float = REQUEST_SECONDS,
        most_bytes: int = MAX_REPLY_BYTES,
    ) -> None:
        self.title = title
        self._seconds = seconds
        self._most_bytes = most_bytes
        self._client = client
        self._base = base.rstrip("/")
        self._key = key
        self._place = place
        self._headers = {"Accept": "application/json", **(headers or {})}

    async def get(self, path: str, parameters: Mapping[str, str] | None = None) -> Reply:
        """The answer to a GET. Raises like ``answer``."""
        return self.answer(await self.send("GET", path, parameters=parameters))

    async def post(self, path: str, body: Mapping[str, Any]) -> Reply:
        """The answer to a POST of JSON. Raises like ``answer``."""
        return self.answer(await self.send("POST", path, body=body))

    def answer(self, reply: Reply) -> Reply:
        """Return the reply if it is a result.

        Raises ``ProviderUnavailable`` (down, too many requests, quota used up),
        ``CredentialsRefused`` (the key), ``Refused`` (the request) or ``Broken`` (a redirect).
        """
        status = reply.status
        if status == 200:
            return reply
        detail = f"HTTP {status}: {json.dumps(reply.data, ensure_ascii=False)[:300]}"
        if status in (401, 403):
            self.refuse_key(detail)
        if status in QUOTA_STATUSES:
            self.quota_spent(detail)
        if status == 429:
            raise ProviderUnavailable(
                f"{self.title} takes no more requests at the moment: try again later.",
                detail=detail,
                retry_after=retry_after(reply.headers),
            )
        if status >= 500:
            raise ProviderUnavailable(
                f"{self.title} is busy or down (HTTP {status}): try again later.",
                detail=detail,
                retry_after=retry_after(reply.headers),
            )
        if 300 <= status < 400:
            raise Broken(
                f"{self.title} redirects elsewhere, which is not followed: check {self._place}.",
                detail=f"HTTP {status}",
            )
        raise Refused(f"{self.title} does not accept the request (HTTP {status}).", detail=detail)

    def refuse_key(self, detail: str) -> NoReturn:
        """Raise the error for a refused key."""
        if not self._key:
            raise CredentialsRefused(
                f"{self.title} refuses access: allow this machine there, or check {self._place}.",
                detail=detail,
            )
        raise CredentialsRefused(
            f"{self.title} does not accept its key: correct {self._key}.", detail=detail
        )

    def quota_spent(self, detail: str, wait: float = QUOTA_RESTS) -> NoReturn:
        """Raise the error for a used-up quota; ``wait``: seconds until it may be restored."""
        raise ProviderUnavailable(
            f"The quota of {self.title} is used up: raise the plan's limit, or take the provider "
            "out of FOOTNOTE_PROVIDERS.",
            detail=detail,
            retry_after=wait,
        )

    def broken(self, detail: str) -> Broken:
        """The error for an unreadable answer."""
        return Broken(
            f"{self.title} gave an answer that cannot be read: check {self._place}.", detail=detail
        )

    async def send(
        self,
        method: str,
        path: str,
        *,
        parameters: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> Reply:
        """Send one request and return its reply, whatever the status.

        Raises ``ProviderUnavailable`` if there is no response, ``Broken`` for one that is too large
        and for a result (200) that is not a JSON object. Other statuses may have any body.
        """
        responding = self._client.stream(
            method,
            self._base + path,
            params=parameters,
            json=body,
            headers={n: renewed(self._key, v) for n, v in self._headers.items()},
            follow_redirects=False,
            timeout=self._seconds,
        )
        try:
            status, headers, content = await fetched(
                responding, self.title, self._place, self.broken, self._most_bytes
            )
        except UnicodeEncodeError:  # in a header, which must be ASCII: it is the key
            self.refuse_key("the key is not ASCII")
        return Reply(status, headers, self._object(status, content))

    def _object(self, status: int, content: bytes) -> Mapping[str, Any]:
        try:
            data = json.loads(content)
        except (ValueError, RecursionError):
            data = None
        if isinstance(data, dict):
            return data
        if status == 200:
            raise self.broken("no JSON object") from None
        return {"text": content[:300].decode("utf-8", "replace")}


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds from a Retry-After header, delay or HTTP date (RFC 9110 section 10.2.3)."""
    value = headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return float(value[:9])
    try:
        moment = email.utils.parsedate_to_datetime(value)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def mapping(value: Any) -> Mapping[str, Any]:
    """The value if it is an object, otherwise an empty one."""
    return value if isinstance(value, dict) else {}


def mappings(value: Any) -> Iterator[dict[str, Any]]:
    """The objects of a list."""
    return (each for each in _list(value) if isinstance(each, dict))


def string(value: Any) -> str:
    """The value if it is a string, otherwise ""."""
    return value if isinstance(value, str) else ""


def strings(value: Any) -> Iterator[str]:
    """The strings of a list."""
    return (each for each in _list(value) if isinstance(each, str))


def integer(value: Any) -> int | None:
    """The value if it is a whole number (not a boolean), otherwise None."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
