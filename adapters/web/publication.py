"""Reads the discovery document and the keys that an OpenID provider publishes, at most hourly.

OpenID Connect Discovery 1.0 (https://openid.net/specs/openid-connect-discovery-1_0.html).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx2
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from bot.console_access import is_loopback
from bot.egress import Egress
from bot.errors import Unavailable
from bot.rendering.lines import shortened
from bot.settings import Settings

FRESH_SECONDS = 3_600.0  # how long the discovery document and the keys are cached
# A token may name a key that the provider has just made, but anyone can send such tokens to the
# back channel, so the keys are not read more often than this.
SECONDS_BETWEEN_KEYS = 5.0
CALL_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Discovery:
    """The provider's discovery document; an endpoint that it lacks is ""."""

    issuer: str
    authorization: str
    token: str
    keys: str
    userinfo: str
    end_session: str
    authentication: tuple[str, ...]  # ways in which a client authenticates at the token endpoint
    names_issuer: bool  # in its responses through the browser (RFC 9207)
    has_back_channel: bool  # for notifying us that a session has ended


class Publication:
    """Reads and caches what the provider of the settings publishes."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._discovery: Discovery | None = None
        self._discovered = self._read_keys = float("-inf")
        self._keys: KeySet | None = None
        self._reading = asyncio.Lock()

    async def discovery(self) -> Discovery:
        """Return the discovery document, read at most hourly. Raises ``Unavailable``."""
        async with self._reading:
            if self._discovery is None or time.monotonic() > self._discovered + FRESH_SECONDS:
                self._discovery = _discovery(await self._read(self.document), self._settings)
                self._discovered = time.monotonic()
            return self._discovery

    @property
    def document(self) -> str:
        """Return the URL of the discovery document."""
        return f"{self._settings.oidc_issuer.rstrip('/')}/.well-known/openid-configuration"

    async def keys(self) -> KeySet:
        """Return the signing keys, read at most hourly. Raises ``Unavailable``."""
        return await self._keys_read_within(FRESH_SECONDS)

    async def newer_keys(self) -> KeySet:
        """Return the signing keys, read again unless they were read just now."""
        return await self._keys_read_within(SECONDS_BETWEEN_KEYS)

    async def _keys_read_within(self, seconds: float) -> KeySet:
        known = await self.discovery()
        async with self._reading:
            if self._keys is None or time.monotonic() > self._read_keys + seconds:
                told = await self._read(known.keys)
                try:
                    self._keys = KeySet.import_key_set(told)  # type: ignore[arg-type]
                except (JoseError, KeyError, TypeError, ValueError) as error:
                    raise unavailable(error) from error
                self._read_keys = time.monotonic()
            return self._keys

    async def _read(self, url: str) -> dict[str, Any]:
        try:
            transport = Egress.of(self._settings).transport(httpx2)
            async with (
                httpx2.AsyncClient(transport=transport, timeout=CALL_SECONDS) as client,
                asyncio.timeout(CALL_SECONDS),
            ):
                answer = await client.get(url)
            answer.raise_for_status()
            told = answer.json()
        except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError, ValueError) as error:
            raise unavailable(error) from error
        if not isinstance(told, dict):
            raise unavailable(ValueError(f"{url} is no JSON object"))
        return told


def _discovery(told: Mapping[str, Any], settings: Settings) -> Discovery:
    """Parse the document. Raises ``Unavailable`` if it is not the issuer's own (Discovery 4.3) or
    lacks something needed."""

    def endpoint(name: str, *, needed: bool = True) -> str:
        url = told.get(name, "")
        parts = urlsplit(url if isinstance(url, str) else "")
        is_safe = parts.scheme == "https" or is_loopback(parts.hostname or "")
        if (needed and not url) or (url and not (parts.hostname and is_safe)):
            raise Unavailable(f"The OpenID provider's discovery document has no usable {name}.")
        return url if isinstance(url, str) else ""

    issuer = told.get("issuer")
    if not isinstance(issuer, str) or issuer.rstrip("/") != settings.oidc_issuer.rstrip("/"):
        raise Unavailable(
            f"FOOTNOTE_OIDC_ISSUER is {settings.oidc_issuer}, but the provider calls itself "
            f"{shortened(str(issuer), 200)}: set it to that."
        )
    return Discovery(
        issuer,
        endpoint("authorization_endpoint"),
        endpoint("token_endpoint"),
        endpoint("jwks_uri"),
        endpoint("userinfo_endpoint", needed=False),
        endpoint("end_session_endpoint", needed=False),
        tuple(told.get("token_endpoint_auth_methods_supported") or ("client_secret_basic",)),
        told.get("authorization_response_iss_parameter_supported") is True,
        told.get("backchannel_logout_supported") is True,
    )


def unavailable(error: Exception) -> Unavailable:
    """Return the error for a provider that does not respond, or not as it should."""
    return Unavailable("The OpenID provider cannot be asked now.", detail=repr(error))
