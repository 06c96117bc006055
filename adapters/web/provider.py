"""Client of an OpenID provider: signs people in and out, and checks the identities in ID tokens.

OpenID Connect Core 1.0, RP-Initiated Logout 1.0 and Back-Channel Logout 1.0
(https://openid.net/developers/specs/), with PKCE (RFC 7636). Authlib implements the protocol and
checks the claims, joserfc checks the signatures; this module decides what to trust.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote_plus, urlencode, urlsplit

import httpx2
from authlib.integrations.base_client import OAuthError
from authlib.integrations.httpx_client import AsyncOAuth2Client
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import ClaimError, ExpiredTokenError, InvalidKeyIdError, JoseError

from adapters.web.addresses import provider_addresses
from adapters.web.limits import GROUPS_OF_ONE_VISITOR
from adapters.web.publication import CALL_SECONDS, Discovery, Publication, unavailable
from adapters.web.visitors import LOCAL, SignInRefused
from bot.egress import Egress
from bot.errors import Unavailable
from bot.logs import get_logger
from bot.rendering.lines import shortened
from bot.settings import Settings
from bot.storage.sign_ins import Identity

LEEWAY_SECONDS = 60  # by which the provider's clock and ours may differ
# Signatures by a key that only the provider has (RFC 7518 section 3.1, RFC 8037). "none" signs
# nothing, and with HS256 a public key could be misused as the secret.
ALGORITHMS = (
    *(f"{kind}{bits}" for kind in ("RS", "PS", "ES") for bits in (256, 384, 512)),
    "EdDSA",
    "Ed25519",
)
BACK_CHANNEL = "http://schemas.openid.net/event/backchannel-logout"
LONGEST_ID = 200  # characters
_OURS = (LOCAL, "token")  # ids of visitors without a name

log = get_logger()


class Provider:
    """Signs people in and out. ``redirect`` is the URL to which the provider sends browsers
    back."""

    def __init__(self, settings: Settings, redirect: str) -> None:
        self.publication = Publication(settings)
        self._settings = settings
        self._redirect = redirect

    # ------------------------------------------------------------ signing in

    async def authorization_url(self, state: str, nonce: str, verifier: str) -> str:
        """Return the URL at which a browser signs in. Raises ``Unavailable``."""
        known = await self.publication.discovery()
        async with self._client(known) as client:
            url, _ = client.create_authorization_url(
                known.authorization, state=state, code_verifier=verifier, nonce=nonce
            )
        return str(url)

    async def identify(self, code: str, issuer: str, nonce: str, verifier: str) -> Identity:
        """Return the person who has signed in. The browser brought back ``code`` and ``issuer``
        ("": not named). Raises ``SignInRefused`` and ``Unavailable``."""
        known = await self.publication.discovery()
        if (issuer or known.names_issuer) and issuer != known.issuer:
            raise SignInRefused("sso-refused-issuer", f"the answer is from {issuer!r}")
        async with self._client(known) as client:
            token = await self._redeemed(client, known, code, verifier)
            id_token = token.get("id_token")
            if not isinstance(id_token, str):
                raise SignInRefused("sso-refused-token", "no ID token")
            claims = await self._checked(id_token, nonce, str(token.get("access_token", "")))
            claims = {**await self._more_of(client, known, claims), **claims}
        return self._identity(claims, id_token)

    async def _redeemed(
        self, client: Any, known: Discovery, code: str, verifier: str
    ) -> Mapping[str, Any]:
        try:
            async with asyncio.timeout(CALL_SECONDS):
                token = await client.fetch_token(
                    known.token, code=code, code_verifier=verifier, auth=self._basic(known)
                )
        except OAuthError as error:
            if error.error == "invalid_grant":  # the code was used already, or has expired
                raise SignInRefused("sso-stale", str(error)) from error
            if error.error in ("invalid_client", "unauthorized_client"):
                raise SignInRefused("sso-client", str(error)) from error
            raise Unavailable(
                "The sign-in service does not work now.", detail=str(error)
            ) from error
        except (httpx2.HTTPError, TimeoutError, ValueError) as error:
            raise unavailable(error) from error
        return dict(token)

    def _basic(self, known: Discovery) -> httpx2.BasicAuth | None:
        """Return the client's credentials, encoded as in RFC 6749 section 2.3.1, which Authlib does
        not do; None if the client authenticates in another way."""
        secret = self._settings.oidc_client_secret
        if secret is None or _authentication(known, has_secret=True) != "client_secret_basic":
            return None
        return httpx2.BasicAuth(
            quote_plus(self._settings.oidc_client_id), quote_plus(secret.get_secret_value())
        )

    def _identity(self, claims: Mapping[str, Any], id_token: str) -> Identity:
        person = claims.get(self._settings.oidc_user_claim)
        claim = self._settings.oidc_user_claim
        if not isinstance(person, str) or not 0 < len(person) <= LONGEST_ID or person in _OURS:
            raise SignInRefused("sso-nameless", f"unusable: {person!r}", claim=claim)
        if claim == "email" and claims.get("email_verified", True) is not True:
            raise SignInRefused("sso-nameless", "email_verified is not true", claim=claim)
        groups = groups_in(claims, self._settings.oidc_groups_claim)
        wanted = self._settings.oidc_allow_groups
        if wanted and not set(wanted).intersection(groups):
            raise SignInRefused("sso-not-allowed", f"{person} is in none of the groups")
        named = (claims.get(each) for each in ("name", "preferred_username", "email"))
        name = next((each for each in named if isinstance(each, str) and each), person)
        sid = claims.get("sid")
        return Identity(
            person,
            shortened(name, LONGEST_ID),
            groups,
            str(claims["sub"]),
            sid if isinstance(sid, str) else "",
            id_token,
        )

    async def _more_of(
        self, client: Any, known: Discovery, claims: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Return the claims of the userinfo endpoint, if the ID token lacks a needed one."""
        needed = (self._settings.oidc_user_claim, self._settings.oidc_groups_claim, "name")
        if not known.userinfo or all(_found(claims, each) is not None for each in needed):
            return {}
        try:
            async with asyncio.timeout(CALL_SECONDS):
                answer = await client.get(known.userinfo)
            answer.raise_for_status()
            told = answer.json()
        except (OAuthError, httpx2.HTTPError, TimeoutError, ValueError) as error:
            raise unavailable(error) from error
        # Core 5.3.2: otherwise another person's claims could be substituted.
        if not isinstance(told, dict) or told.get("sub") != claims["sub"]:
            raise SignInRefused("sso-refused-token", "userinfo is about somebody else")
        return told

    # ------------------------------------------------------------ tokens

    async def _checked(self, id_token: str, nonce: str, access_token: str) -> dict[str, Any]:
        """Return the checked claims of an ID token (Core 3.1.3.7). Raises ``SignInRefused``."""
        known = await self.publication.discovery()
        token = await self._verified(id_token)
        client_id = self._settings.oidc_client_id
        claims = CodeIDToken(
            token.claims,
            token.header,
            {
                "iss": {"essential": True, "value": known.issuer},
                "aud": {"essential": True, "value": client_id},
            },
            {"nonce": nonce, "client_id": client_id, "access_token": access_token},
        )
        self._validate(claims)
        if not isinstance(claims["sub"], str) or not claims["sub"]:
            raise SignInRefused("sso-refused-token", "no usable sub")
        return dict(claims)

    async def ended(self, logout_token: str) -> tuple[str, str]:
        """Return the subject and the session, one of which may be "", that a logout token of the
        provider ends. Raises ``SignInRefused`` and ``Unavailable``."""
        known = await self.publication.discovery()
        token = await self._verified(logout_token)
        registry = jwt.JWTClaimsRegistry(
            now=int(time.time()),
            leeway=LEEWAY_SECONDS,
            iss={"essential": True, "value": known.issuer},
            aud={"essential": True, "value": self._settings.oidc_client_id},
            iat={"essential": True},
            exp={"essential": True},
        )
        try:
            registry.validate(token.claims)
        except JoseError as error:
            raise SignInRefused("sso-refused-token", str(error)) from error
        events, subject, session = (token.claims.get(each) for each in ("events", "sub", "sid"))
        is_logout = isinstance(events, dict) and BACK_CHANNEL in events
        if not is_logout or "nonce" in token.claims or not (subject or session):
            raise SignInRefused("sso-refused-token", "no logout token")
        return str(subject or ""), str(session or "")

    def _validate(self, claims: CodeIDToken) -> None:
        try:
            claims.validate(now=int(time.time()), leeway=LEEWAY_SECONDS)
        except ExpiredTokenError as error:
            raise SignInRefused("sso-refused-expired", str(error)) from error
        except ClaimError as error:
            text_id = {
                "iss": "sso-refused-issuer",
                "aud": "sso-refused-audience",
                "azp": "sso-refused-audience",
                "nonce": "sso-refused-nonce",
                "iat": "sso-refused-early",
                "nbf": "sso-refused-early",
            }.get(error.claim, "sso-refused-token")
            raise SignInRefused(text_id, str(error)) from error
        except (JoseError, TypeError, ValueError) as error:
            raise SignInRefused("sso-refused-token", str(error)) from error

    async def _verified(self, token: str) -> jwt.Token:
        """Return the token, if one of the provider's keys signed it. For an unknown key the keys
        are read again once, because the provider may have changed them."""
        for keys in (self.publication.keys, self.publication.newer_keys):
            try:
                return jwt.decode(token, await keys(), algorithms=ALGORITHMS)
            except InvalidKeyIdError as error:
                unknown = error
            except (JoseError, TypeError, ValueError) as error:
                raise SignInRefused("sso-refused-signature", repr(error)) from error
        raise SignInRefused("sso-refused-signature", str(unknown)) from unknown

    def _client(self, known: Discovery) -> Any:
        """Return Authlib's client for one sign-in, which keeps the access token."""
        secret = self._settings.oidc_client_secret
        return AsyncOAuth2Client(
            self._settings.oidc_client_id,
            secret.get_secret_value() if secret else None,
            token_endpoint_auth_method=_authentication(known, has_secret=secret is not None),
            scope=" ".join(dict.fromkeys(("openid", *self._settings.oidc_scopes))),
            redirect_uri=self._redirect,
            code_challenge_method="S256",
            transport=Egress.of(self._settings).transport(httpx2),
            timeout=CALL_SECONDS,
        )

    # ------------------------------------------------------------ signing out

    async def sign_out_url(self, id_token: str, back: str) -> str:
        """Return the URL at which a browser ends its session at the provider, which redirects it to
        ``back``; "" if the provider has no such endpoint or cannot be reached."""
        try:
            known = await self.publication.discovery()
        except Unavailable as error:
            log.warning("not signed out at the provider", error=str(error))
            return ""
        if not known.end_session:
            return ""
        asked = {
            "id_token_hint": id_token,
            "client_id": self._settings.oidc_client_id,
            "post_logout_redirect_uri": back,
        }
        mark = "&" if urlsplit(known.end_session).query else "?"
        return f"{known.end_session}{mark}{urlencode(asked)}"


def _authentication(known: Discovery, *, has_secret: bool) -> str:
    if not has_secret:
        return "none"
    ways = known.authentication
    is_post = "client_secret_post" in ways and "client_secret_basic" not in ways
    return "client_secret_post" if is_post else "client_secret_basic"


def _found(claims: Mapping[str, Any], claim: str) -> Any:
    """Return a claim by name. If no claim has that name, dots lead into objects, as in Keycloak's
    ``realm_access.roles``."""
    if claim in claims:
        return claims[claim]
    found: Any = claims
    for part in claim.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return found


def groups_in(claims: Mapping[str, Any], claim: str) -> tuple[str, ...]:
    """Return the groups in a claim, which is a list of strings or one string."""
    told = _found(claims, claim)
    told = [told] if isinstance(told, str) else told
    if not isinstance(told, list):
        return ()
    named = [each for each in told if isinstance(each, str) and each]
    return tuple(dict.fromkeys(named))[:GROUPS_OF_ONE_VISITOR]


async def report(settings: Settings) -> str:
    """Report on the provider, and what to register there, in a sentence without its full stop.

    Raises ``Unavailable`` if it cannot be reached or publishes nothing usable.
    """
    redirect, signed_out, back_channel = provider_addresses(settings)
    publication = Publication(settings)
    try:
        known = await publication.discovery()
        keys = await publication.keys()
    except Unavailable as error:
        raise Unavailable(
            f"The OpenID provider {settings.oidc_issuer} does not sign people in: "
            f"{error.sentence[:1].lower()}{error.sentence[1:].rstrip('.')}. Its document should be "
            f"at {publication.document}.",
            detail=error.detail,
        ) from error
    count = len(keys.keys)
    told = (
        f"{known.issuer} signs people in, with {count} {'key' if count == 1 else 'keys'}. Register "
        f"there {redirect} as the redirect address"
    )
    if known.end_session:
        told += f", {signed_out} as the one after signing out"
    if known.has_back_channel:
        told += f", {back_channel} as the one of the back channel"
    return told
