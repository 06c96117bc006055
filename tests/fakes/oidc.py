"""A strict OpenID provider on loopback, which misbehaves when it is told to.

It checks what a client must send (OpenID Connect Core 1.0 section 3.1, RFC 7636, RFC 6749) and lets
everybody in who comes by: ``person`` is who that is.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import secrets
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import unquote_plus, urlencode

from joserfc import jwt
from joserfc.jwk import RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

CLIENT, SECRET = "footnote", "a secret: with /+&% in it"
ADA = {"sub": "0001", "name": "Ada", "email": "ada@example.com", "groups": ["hr"]}
SECONDS = 300  # that a token is good for

Claims = dict[str, Any]


@cache
def a_key(kid: str) -> RSAKey:
    """The key of this name; making one takes a tenth of a second."""
    return RSAKey.generate_key(2_048, {"kid": kid, "use": "sig", "alg": "RS256"})


def signed(claims: Claims, kid: str = "one", *, named: str | None = None) -> str:
    """A token, signed by one key and said to be so by ``named``, else by that one."""
    return jwt.encode({"alg": "RS256", "kid": named or kid}, claims, a_key(kid))


def unsigned(claims: Claims) -> str:
    """A token of the algorithm "none" (RFC 7519 section 6)."""
    return f"{_encoded({'alg': 'none', 'kid': 'one'})}.{_encoded(claims)}."


def signed_with_public_key(claims: Claims) -> str:
    """HS256 with the public key as its secret: taken by who looks at the token for the algorithm
    (CVE-2015-9235 and its kin)."""
    message = f"{_encoded({'alg': 'HS256', 'kid': 'one'})}.{_encoded(claims)}"
    pem = a_key("one").as_pem(private=False)
    mac = hmac.new(pem, message.encode(), hashlib.sha256).digest()
    return f"{message}.{base64.urlsafe_b64encode(mac).decode().rstrip('=')}"


def _encoded(told: Mapping[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(told).encode()).decode().rstrip("=")


async def _endless() -> AsyncIterator[bytes]:
    while True:
        yield b" "
        await asyncio.sleep(0.01)


@dataclass
class FakeProvider:
    """Its attributes say how it behaves. ``url`` is set once it is served."""

    redirect: str
    url: str = ""
    person: Claims = field(default_factory=lambda: dict(ADA))
    keys: tuple[str, ...] = ("one",)
    change: Callable[[Claims], None] = lambda claims: None  # the claims of an ID token
    sign: Callable[[Claims], str] = signed
    in_token: tuple[str, ...] = ("name", "email", "email_verified", "groups")
    document: dict[str, Any] = field(default_factory=dict)  # over what it publishes
    issuer_in_answer: str | None = None  # None: its own
    down: bool = False
    endless: bool = False  # its tokens come a byte at a time, for ever
    calls: list[str] = field(default_factory=list)
    _codes: dict[str, Mapping[str, str]] = field(default_factory=dict)
    _access: dict[str, Claims] = field(default_factory=dict)

    @property
    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/.well-known/openid-configuration", self._discovery),
                Route("/keys", self._keys),
                Route("/authorize", self._authorize),
                Route("/token", self._token, methods=["POST"]),
                Route("/userinfo", self._userinfo),
            ]
        )

    def told(self, path: str) -> int:
        """The number of requests for a path."""
        return self.calls.count(path)

    def claims(self, **more: Any) -> Claims:
        """Those that every token of this provider has."""
        now = int(time.time())
        return {"iss": self.url, "aud": CLIENT, "iat": now, "exp": now + SECONDS, **more}

    # ------------------------------------------------------------ endpoints

    async def _discovery(self, request: Request) -> Response:
        self.calls.append("discovery")
        if self.down:
            return Response("<html>down</html>", status_code=503)
        return JSONResponse(
            {
                "issuer": self.url,
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "jwks_uri": f"{self.url}/keys",
                "userinfo_endpoint": f"{self.url}/userinfo",
                "end_session_endpoint": f"{self.url}/end",
                "authorization_response_iss_parameter_supported": True,
                **self.document,
            }
        )

    async def _keys(self, request: Request) -> Response:
        self.calls.append("keys")
        return JSONResponse({"keys": [a_key(kid).as_dict(private=False) for kid in self.keys]})

    async def _authorize(self, request: Request) -> Response:
        asked = dict(request.query_params)
        wanted = {
            "response_type": "code",
            "client_id": CLIENT,
            "redirect_uri": self.redirect,
            "code_challenge_method": "S256",
        }
        wrong = {name: asked.get(name) for name in wanted if asked.get(name) != wanted[name]}
        missing = {"state", "nonce", "code_challenge", "scope"} - asked.keys()
        if wrong or missing or "openid" not in asked["scope"].split():
            return JSONResponse({"wrong": wrong, "missing": sorted(missing)}, status_code=400)
        code = secrets.token_urlsafe()
        self._codes[code] = asked
        issuer = self.url if self.issuer_in_answer is None else self.issuer_in_answer
        told = {"code": code, "state": asked["state"], "iss": issuer}
        return RedirectResponse(f"{self.redirect}?{urlencode(told)}", status_code=302)

    async def _token(self, request: Request) -> Response:
        self.calls.append("token")
        if self.endless:
            return StreamingResponse(_endless())
        _, _, proof = request.headers.get("authorization", "").partition(" ")
        client, _, secret = base64.b64decode(proof).decode().partition(":")
        if (unquote_plus(client), unquote_plus(secret)) != (CLIENT, SECRET):
            return JSONResponse({"error": "invalid_client"}, status_code=401)
        form = await request.form()
        asked = self._codes.pop(str(form.get("code")), None)
        digest = hashlib.sha256(str(form.get("code_verifier")).encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if (
            asked is None
            or form.get("grant_type") != "authorization_code"
            or form.get("redirect_uri") != asked["redirect_uri"]
            or challenge != asked["code_challenge"]
        ):
            return JSONResponse({"error": "invalid_grant"}, status_code=400)
        claims = self.claims(sub=self.person["sub"], nonce=asked["nonce"])
        claims |= {name: self.person[name] for name in self.in_token if name in self.person}
        self.change(claims)
        access = secrets.token_urlsafe()
        self._access[access] = self.person
        told = {"access_token": access, "token_type": "Bearer", "expires_in": SECONDS}
        return JSONResponse({**told, "id_token": self.sign(claims)})

    async def _userinfo(self, request: Request) -> Response:
        self.calls.append("userinfo")
        _, _, access = request.headers.get("authorization", "").partition(" ")
        if access not in self._access:
            return JSONResponse({"error": "invalid_token"}, status_code=401)
        return JSONResponse(self._access[access])
