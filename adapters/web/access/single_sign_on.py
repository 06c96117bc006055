"""Single sign-on: people sign in with an OpenID provider, whose groups are rights.

Authlib's Starlette client does the protocol (OpenID Connect Core 1.0 with PKCE, RFC 7636); this
module decides what to trust. State, nonce and PKCE verifier of a sign-in in progress are derived
from a secret in the browser's cookie, so any number of tabs can sign in at once, in any process.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote_plus, urlsplit

import httpx2
from authlib.common.urls import add_params_to_uri
from authlib.integrations.base_client import OAuthError
from authlib.integrations.httpx_client import AsyncOAuth2Client
from authlib.integrations.starlette_client import StarletteIntegration, StarletteOAuth2App
from joserfc.errors import JoseError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from adapters.web.access.gate import (
    BROWSER,
    CALLBACK,
    COOKIE,
    SIGN_IN,
    SIGN_OUT,
    SIGNED_OUT,
    Proxies,
    SignInRefused,
    own_path,
    provider_addresses,
    set_cookie,
)
from adapters.web.console import Console
from adapters.web.display import texts_of
from adapters.web.forms import form_of
from adapters.web.limits import GROUPS_OF_ONE_VISITOR, SIGN_INS_PER_MINUTE
from bot.core.egress import Egress
from bot.core.errors import Denied, FootnoteError, Unavailable, sentence_for
from bot.core.lines import LOCAL, shortened
from bot.core.logs import get_logger
from bot.core.rate_limit import Pace
from bot.core.settings import Settings
from bot.core.texts import Said, said
from bot.operation.console_access import is_loopback
from bot.storage.console import Identity, SignIns

CALL_SECONDS = 10.0  # for one request to the provider, and twice that for all of one step
FRESH_SECONDS = 3_600.0  # for which the provider's discovery document and keys are cached
ATTEMPT_SECONDS = 600  # time to sign in at the provider
LEEWAY_SECONDS = 60  # by which the provider's clock and ours may differ
LONGEST = 200  # characters of an id or a name
LONGEST_PATH = 500  # characters of the path to which a sign-in leads
NAME = "provider"  # by which Authlib keeps the state
BASIC = "client_secret_basic"  # how a client authenticates unless the provider excludes it
# Signatures by a key that only the provider has (RFC 7518 section 3.1, RFC 8037). "none" signs
# nothing, and with HS256 a public key could be misused as the secret.
ALGORITHMS = ["EdDSA", "Ed25519"]
ALGORITHMS += [f"{kind}{bits}" for kind in ("RS", "PS", "ES") for bits in (256, 384, 512)]

log = get_logger()


class Provider(StarletteOAuth2App):  # type: ignore[misc]
    """The OpenID provider of the settings. Raises ``SignInRefused`` and ``Unavailable``."""

    def __init__(self, settings: Settings) -> None:
        secret = settings.oidc_client_secret
        super().__init__(
            StarletteIntegration(NAME),
            NAME,
            client_id=settings.oidc_client_id,
            client_secret=secret.get_secret_value() if secret else None,
            client_kwargs={
                "scope": " ".join(dict.fromkeys(("openid", *settings.oidc_scopes))),
                "code_challenge_method": "S256",
            },
        )
        self.document = f"{settings.oidc_issuer.rstrip('/')}/.well-known/openid-configuration"
        self._settings = settings
        self._loaded = float("-inf")

    def client_cls(self, **options: Any) -> AsyncOAuth2Client:
        """Return a client for one step, which closes its transport."""
        transport = Egress.of(self._settings).transport(httpx2)
        return AsyncOAuth2Client(transport=transport, timeout=CALL_SECONDS, **options)

    @asynccontextmanager
    async def step(self) -> AsyncIterator[None]:
        """Bound the time of a step of the protocol, and translate its errors."""
        try:
            async with asyncio.timeout(2 * CALL_SECONDS):
                yield
        except (httpx2.HTTPError, TimeoutError) as error:
            sentence = f"The OpenID provider cannot be asked now: see {self.document}."
            raise Unavailable(sentence, detail=repr(error)) from error
        except OAuthError as error:  # invalid_grant: the code was used already, or has expired
            stale = error.error == "invalid_grant"
            id = "sso-stale" if stale else "sso-refused"
            raise SignInRefused(said(id), detail=repr(error)) from error
        except (JoseError, KeyError, ValueError) as error:
            raise SignInRefused(said("sso-refused"), detail=repr(error)) from error

    async def load_server_metadata(self) -> dict[str, Any]:
        """Return the discovery document, read hourly; Authlib adds the keys."""
        if time.monotonic() > self._loaded + FRESH_SECONDS:
            async with self._get_session() as client:
                answer = await client.request("GET", self.document, withhold_token=True)
            self.server_metadata = _trusted(answer.raise_for_status().json(), self._settings)
            self._loaded = time.monotonic()
        metadata: dict[str, Any] = self.server_metadata
        return metadata

    async def identify(self, request: Request) -> Identity:
        """Return the person whom the provider sent back with a code."""
        known = await self.load_server_metadata()
        issuer = request.query_params.get("iss", "")  # RFC 9207
        if (issuer or known["names_issuer"]) and issuer != known["issuer"]:
            raise SignInRefused(said("sso-refused"), detail=f"the answer is from {issuer!r}")
        basic = None
        if known["token_endpoint_auth_method"] == BASIC:
            # Encoded as in RFC 6749 section 2.3.1, which Authlib does not do.
            basic = httpx2.BasicAuth(*map(quote_plus, (self.client_id, self.client_secret)))
        trusted = {"iss": known["issuer"], "aud": self.client_id}
        token = await self.authorize_access_token(
            request,
            auth=basic,
            leeway=LEEWAY_SECONDS,
            claims_options={name: {"essential": True, "value": trusted[name]} for name in trusted},
        )
        claims = token["userinfo"]
        if not isinstance(claims["sub"], str) or not claims["sub"]:
            raise SignInRefused(said("sso-refused"), detail="no usable sub")
        needed = self._settings.oidc_user_claim, self._settings.oidc_groups_claim, "name"
        if known["userinfo_endpoint"] and any(_found(claims, each) is None for each in needed):
            more = await self.userinfo(token=token)
            # Core 5.3.2: otherwise another person's claims could be substituted.
            if more["sub"] != claims["sub"]:
                raise SignInRefused(said("sso-refused"), detail="userinfo is about somebody else")
            claims = {**more, **claims}
        return _identity(claims, token["id_token"], self._settings)


def _trusted(told: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Return what Authlib may know of a discovery document: it takes any name as an option. Raises
    ``Unavailable`` if the document is not the issuer's own (Discovery 4.3) or lacks something."""
    issuer = str(told.get("issuer"))
    if issuer.rstrip("/") != settings.oidc_issuer.rstrip("/"):
        its = shortened(issuer, LONGEST)
        raise Unavailable(said("sso-issuer", given=settings.oidc_issuer, its=its))
    needed, endpoints = ("authorization_endpoint", "token_endpoint", "jwks_uri"), {}
    for name in (*needed, "userinfo_endpoint", "end_session_endpoint"):
        url = endpoints[name] = str(told.get(name) or "")
        parts = urlsplit(url)
        safe = parts.hostname and (parts.scheme == "https" or is_loopback(parts.hostname))
        if not safe and (url or name in needed):
            raise Unavailable(said("sso-lacks", name=name))
    ways = told.get("token_endpoint_auth_methods_supported") or [BASIC]
    is_post = "client_secret_post" in ways and BASIC not in ways
    with_secret = "client_secret_post" if is_post else BASIC
    return {
        **endpoints,
        "issuer": issuer,
        "id_token_signing_alg_values_supported": ALGORITHMS,
        "token_endpoint_auth_method": with_secret if settings.oidc_client_secret else "none",
        "names_issuer": told.get("authorization_response_iss_parameter_supported") is True,
    }


def _identity(claims: Mapping[str, Any], id_token: str, settings: Settings) -> Identity:
    claim, wanted = settings.oidc_user_claim, settings.oidc_allow_groups
    person, groups = claims.get(claim), groups_in(claims, settings.oidc_groups_claim)
    usable = isinstance(person, str) and 0 < len(person) <= LONGEST
    if not usable or person in (LOCAL, "token"):  # ids of visitors without a name
        raise SignInRefused(said("sso-nameless", claim=claim), detail=f"unusable: {person!r}")
    if claim == "email" and claims.get("email_verified", True) is not True:
        raise SignInRefused(said("sso-nameless", claim=claim), detail="email_verified is not true")
    if wanted and not set(wanted).intersection(groups):
        raise SignInRefused(said("sso-not-allowed"), detail=f"{person} is in none of the groups")
    named = (claims.get(each) for each in ("name", "preferred_username", "email"))
    name = next((each for each in named if isinstance(each, str) and each), str(person))
    return Identity(str(person), shortened(name, LONGEST), groups, id_token)


def _found(claims: Mapping[str, Any], claim: str) -> Any:
    """Return a claim by name, in which dots lead into objects unless a claim has that name."""
    found: Any = claims
    for part in [claim] if claim in claims else claim.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return found


def groups_in(claims: Mapping[str, Any], claim: str) -> tuple[str, ...]:
    """Return the groups in a claim, which is a list of strings or one string."""
    told = _found(claims, claim)
    told = [told] if isinstance(told, str) else told
    named = [each for each in told if isinstance(each, str)] if isinstance(told, list) else []
    return tuple(dict.fromkeys(filter(None, named)))[:GROUPS_OF_ONE_VISITOR]


async def report(settings: Settings) -> Said:
    """Report on the provider, and what to register there."""
    provider, (redirect, signed_out) = Provider(settings), provider_addresses(settings)
    async with provider.step():
        known, keys = await provider.load_server_metadata(), await provider.fetch_jwk_set()
    issuer, count = known["issuer"], len(keys["keys"])
    told = said("check-sso", issuer=issuer, count=count, redirect=redirect)
    ends = known["end_session_endpoint"]
    return told + said("check-sso-out", address=signed_out) if ends else told


def single_sign_on_pages(console: Console, sign_ins: SignIns) -> Sequence[BaseRoute]:
    """Return the routes of the pages that lead to the provider and back."""
    settings, root = console.settings, console.settings.root
    secure = settings.public_url.startswith("https://")
    provider, proxies = Provider(settings), Proxies.of(settings)
    redirect, signed_out_url = provider_addresses(settings)
    pace = Pace(SIGN_INS_PER_MINUTE)

    def check_pace(request: Request) -> None:
        if not pace.allows(proxies.client_of(request)):
            raise HTTPException(429, texts_of(request)("refused-tries"))

    def attempt(browser: str, told: str) -> tuple[str, dict[str, str]]:
        """Return the state, and the secrets, of a browser's attempt to sign in."""
        proof, nonce, verifier = (
            hmac.new(console.key, f"{what} {browser} {told}".encode(), "sha256").hexdigest()
            for what in ("state", "nonce", "verifier")
        )
        return f"{told}-{proof}", {"nonce": nonce, "code_verifier": verifier}

    async def begin(request: Request) -> Response:
        check_pace(request)
        to = own_path(request.query_params.get("to", "/"))
        path = (to if len(to) <= LONGEST_PATH else "/").encode().hex()
        browser = request.cookies.get(BROWSER) or secrets.token_hex(32)
        until = int(time.time()) + ATTEMPT_SECONDS
        state, hidden = attempt(browser, f"{until}-{secrets.token_hex(16)}-{path}")
        request.scope["session"] = {}
        try:
            async with provider.step():
                answer: Response = await provider.authorize_redirect(
                    request, redirect, state=state, **hidden
                )
        except FootnoteError as error:
            return failed(request, error, to)
        below, age = root + SIGN_IN, ATTEMPT_SECONDS
        cookie = set_cookie(browser, below, secure=secure, seconds=age, name=BROWSER)
        answer.headers.update({"Set-Cookie": cookie, "Cache-Control": "no-store"})
        return answer

    async def come_back(request: Request) -> Response:
        check_pace(request)
        asked, visitor = request.query_params, request.state.visitor
        state, browser = asked.get("state", ""), request.cookies.get(BROWSER, "")
        told = state.rpartition("-")[0]
        expected, hidden = attempt(browser, told)
        ours = browser and hmac.compare_digest(state.encode(), expected.encode())
        to = bytes.fromhex(told.rpartition("-")[2]).decode() if ours else "/"
        try:
            if not ours or int(told.partition("-")[0]) < time.time():
                if visitor is not None:  # signed in meanwhile, in another tab
                    return RedirectResponse(root + to, status_code=303)
                raise SignInRefused(said("sso-stale"), detail="not an attempt of this browser")
            if "code" not in asked:
                reason = asked.get("error_description") or asked.get("error", "?")
                raise SignInRefused(said("sso-denied", reason=shortened(reason, LONGEST)))
            kept = {"data": {**hidden, "redirect_uri": redirect}}
            request.scope["session"] = {f"_state_{NAME}_{state}": kept}
            async with provider.step():
                identity = await provider.identify(request)
            if visitor is not None:
                await sign_ins.end(visitor.session)
            secret = await sign_ins.begin(identity)
        except FootnoteError as error:
            if isinstance(error, Denied):  # otherwise the provider is away
                await console.audit.note("signed-in", outcome="refused")
            return failed(request, error, to)
        seconds = round(settings.oidc_session_hours * 3_600)
        cookie = set_cookie(secret, root, secure=secure, seconds=seconds)
        headers = {"Set-Cookie": cookie, "Cache-Control": "no-store"}
        return RedirectResponse(root + to, status_code=303, headers=headers)

    def failed(request: Request, error: FootnoteError, to: str) -> Response:
        """Return the page that says why a sign-in failed, with a link to try again."""
        log.warning("not signed in", error=error.sentence, detail=error.detail)
        texts, status = texts_of(request), 403 if isinstance(error, Denied) else 503
        told = sentence_for(error, texts) if status == 403 else texts("sso-away")
        return console.page(request, "sign_in_failed.html", status=status, sentence=told, to=to)

    async def ask_how(request: Request) -> Response:
        return console.page(request, "sign_out.html")

    async def sign_out(request: Request) -> Response:
        """End the session here, then at the provider. A page leads there, because browsers apply
        our ``form-action`` policy to redirects of forms."""
        everywhere = (await form_of(request)).get("all") == "true"
        answer: Response = RedirectResponse(root + SIGNED_OUT, status_code=303)
        who = await sign_ins.find(request.cookies.get(COOKIE, ""))
        if who is not None:
            await sign_ins.end(who.session, everywhere=everywhere)
            answer = await sign_out_there(request, who.id_token) or answer
        answer.headers["Set-Cookie"] = set_cookie("", root, secure=secure)
        return answer

    async def sign_out_there(request: Request, id_token: str) -> Response | None:
        try:
            async with provider.step():
                ends = (await provider.load_server_metadata())["end_session_endpoint"]
        except FootnoteError as error:
            log.warning("not signed out at the provider", error=error.sentence)
            return None
        told = {"id_token_hint": id_token, "client_id": settings.oidc_client_id}
        url = add_params_to_uri(ends, {**told, "post_logout_redirect_uri": signed_out_url})
        return console.page(request, "leaving.html", url=url) if ends else None

    async def signed_out(request: Request) -> Response:
        return console.page(request, "signed_out.html")

    return [
        Route(SIGN_IN, begin),
        Route(CALLBACK, come_back),
        Route(SIGNED_OUT, signed_out),
        Route(SIGN_OUT, ask_how),
        Route(SIGN_OUT, sign_out, methods=["POST"]),
    ]
