"""Slack's OAuth 2.0: the page that asks an admin, and ``oauth.v2.access``.

https://docs.slack.dev/authentication/installing-with-oauth,
https://docs.slack.dev/reference/methods/oauth.v2.access,
https://docs.slack.dev/authentication/using-token-rotation
"""

from __future__ import annotations

import base64
import binascii
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import parse_qsl, urlencode, urlsplit

from tests.fakes.slack_call import Refused
from tests.fakes.slack_workspace import APP_ID, Json, Workspace

CODE_SECONDS = 600.0
TOKEN_SECONDS = 43_200  # the lifetime of a token that can be exchanged
SIGNED_IN = "d"  # the cookie that says where a browser is signed in: TEAM-USER


class Tenant(Protocol):
    """A workspace in which the app can be installed."""

    workspace: Workspace

    def granted(self, token: str, scopes: frozenset[str]) -> None:
        """Accept ``token`` from now on, after an installation."""


@dataclass(slots=True)
class Code:
    """A code that the page gave a browser; it works once."""

    tenant: Tenant
    user: str
    scopes: frozenset[str]
    redirect_uri: str | None
    made: float


@dataclass(frozen=True, slots=True)
class Page:
    """An answer to a browser."""

    status: int
    text: str = ""
    location: str = ""


@dataclass
class OAuth:
    """The OAuth of one app. ``rotating``: tokens expire and are exchanged for others."""

    client_id: str = "1234567890.1234567890"
    client_secret: str = "0123456789abcdef-client-secret"
    redirect_urls: list[str] = field(default_factory=list)
    rotating: bool = False
    tenants: dict[str, Tenant] = field(default_factory=dict)  # by team
    exchanges: list[Json] = field(default_factory=list)  # arguments of oauth.v2.access
    _codes: dict[str, Code] = field(default_factory=dict)
    _refreshing: dict[str, tuple[Tenant, frozenset[str]]] = field(default_factory=dict)

    # --- the page ---

    def page(self, query: Mapping[str, str], cookies: Mapping[str, str]) -> Page:
        """Respond to a redirected browser, whose owner agrees at once."""
        team, _, user = cookies.get(SIGNED_IN, "").partition("-")
        tenant = self.tenants.get(query.get("team") or team)
        if tenant is None or user not in tenant.workspace.users:
            return Page(200, "Sign in to your workspace")
        if query.get("client_id") != self.client_id:
            return Page(400, "invalid_client_id")
        scopes = frozenset(filter(None, query.get("scope", "").split(",")))
        if not scopes or query.get("user_scope"):
            return Page(400, "invalid_scope")
        app = tenant.workspace.manifest
        if scopes - app.scopes - app.optional:
            return Page(400, "invalid_scope")
        given = query.get("redirect_uri")
        target = given or next(iter(self.redirect_urls), "")
        # A configured URL may be a prefix of the requested one.
        if not any(target.startswith(known) for known in self.redirect_urls):
            return Page(400, "bad_redirect_uri")
        code = f"{secrets.randbelow(10**12)}.{secrets.token_hex(24)}"
        now = tenant.workspace.clock.now()
        self._codes[code] = Code(tenant, user, scopes, given, now)
        back = {"code": code, "state": query.get("state", "")}
        return Page(302, location=f"{target}?{urlencode(back)}")

    def refuse(self, authorize_url: str) -> str:
        """Return the URL to which a browser is redirected if its owner refuses."""
        asked = dict(parse_qsl(urlsplit(authorize_url).query))
        target = asked.get("redirect_uri") or self.redirect_urls[0]
        return f"{target}?{urlencode({'error': 'access_denied', 'state': asked['state']})}"

    # --- oauth.v2.access ---

    def access(self, authorization: str, args: Json) -> Json:
        """Respond to form arguments and the ``Authorization`` header. Raises ``Refused``."""
        client, secret = _client(authorization, args)
        self.exchanges.append(dict(args))
        if client != self.client_id:
            raise Refused("invalid_client_id")
        if secret != self.client_secret:
            raise Refused("bad_client_secret")
        kind = args.get("grant_type", "authorization_code")
        if kind == "refresh_token":
            return self._refreshed(str(args.get("refresh_token", "")))
        if kind != "authorization_code":
            raise Refused("invalid_grant_type")
        code = self._codes.pop(str(args.get("code", "")), None)
        if code is None or code.tenant.workspace.clock.now() - code.made > CODE_SECONDS:
            raise Refused("invalid_code")
        if args.get("redirect_uri") != code.redirect_uri:
            raise Refused("bad_redirect_uri")
        ws = code.tenant.workspace
        reply = self._token(code.tenant, code.scopes)
        organisation = {"id": ws.enterprise, "name": ws.name} if ws.enterprise else None
        return {
            **reply,
            "team": None if ws.whole else {"id": ws.team, "name": ws.name},
            "enterprise": organisation,
            "is_enterprise_install": ws.whole,
            "authed_user": {"id": code.user},
        }

    def _refreshed(self, token: str) -> Json:
        tenant, scopes = self._refreshing.pop(token, (None, frozenset[str]()))
        if tenant is None:
            raise Refused("invalid_refresh_token")
        ws = tenant.workspace
        return {**self._token(tenant, scopes), "team": {"id": ws.team, "name": ws.name}}

    def _token(self, tenant: Tenant, scopes: frozenset[str]) -> Json:
        ws = tenant.workspace
        token = f"xoxb-{ws.team}-{secrets.token_hex(12)}"
        reply: Json = {
            "ok": True,
            "app_id": APP_ID,
            "access_token": token,
            "token_type": "bot",
            "scope": ",".join(sorted(scopes)),
            "bot_user_id": ws.bot_user,
        }
        if self.rotating:
            refresh = f"xoxe-1-{secrets.token_hex(12)}"
            self._refreshing[refresh] = (tenant, scopes)
            token = reply["access_token"] = f"xoxe.{token}"
            reply |= {"refresh_token": refresh, "expires_in": TOKEN_SECONDS}
        tenant.granted(token, scopes)
        return reply


def _client(authorization: str, args: Json) -> tuple[str, str]:
    """Return id and secret, from HTTP Basic or the form."""
    kind, _, encoded = authorization.partition(" ")
    if kind != "Basic":
        return str(args.pop("client_id", "")), str(args.pop("client_secret", ""))
    try:
        client, _, secret = base64.b64decode(encoded, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return "", ""
    return client, secret
