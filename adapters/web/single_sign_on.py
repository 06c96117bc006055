"""Signing in and out with an OpenID provider: the pages, and the provider's back channel.

A sign-in in progress is not stored: its state, nonce and PKCE verifier are derived from a secret in
the browser's cookie, so any number of tabs can sign in at once, in any process.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import json
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from adapters.web.addresses import (
    BACK_CHANNEL,
    CALLBACK,
    SIGNED_OUT,
    Proxies,
    own_path,
    provider_addresses,
)
from adapters.web.console import Console, texts_of
from adapters.web.forms import bounded_body, form_of
from adapters.web.gate import SIGN_IN, SIGN_OUT, set_cookie
from adapters.web.limits import SIGN_INS_PER_MINUTE
from adapters.web.visitors import BROWSER, COOKIE, Sessions, SignInRefused
from bot.errors import Denied, FootnoteError
from bot.logs import get_logger
from bot.rate_limit import Pace
from bot.rendering.lines import shortened
from bot.rendering.texts import sentence_for

ATTEMPT_SECONDS = 600  # time to sign in at the provider
LONGEST_PATH = 500  # characters of the path to which it leads

log = get_logger()


@dataclass(frozen=True, slots=True)
class Attempt:
    """A sign-in that has begun; ``to`` is the page to which it leads."""

    state: str
    nonce: str
    verifier: str
    to: str


class Attempts:
    """Makes attempts and recognises them later. ``sessions`` signs them."""

    def __init__(self, sessions: Sessions) -> None:
        self._sign = sessions.sign

    def begin(self, browser: str, to: str) -> Attempt:
        """Begin an attempt; ``browser`` is the browser's secret."""
        told = [secrets.token_hex(16), int(time.time()) + ATTEMPT_SECONDS, to]
        payload = base64.urlsafe_b64encode(json.dumps(told).encode()).decode().rstrip("=")
        return self._of(browser, payload, to)

    def find(self, browser: str, state: str) -> Attempt | None:
        """Return the attempt of a browser that has come back; None if it is not its own, or too
        old."""
        payload = state.partition(".")[0]
        told = _read(payload)
        if not browser or told is None or told[0] < time.time():
            return None
        attempt = self._of(browser, payload, told[1])
        return attempt if hmac.compare_digest(attempt.state.encode(), state.encode()) else None

    @staticmethod
    def path_in(state: str) -> str:
        """Return the path to which an attempt leads, without checking its signature."""
        told = _read(state.partition(".")[0])
        return own_path(told[1]) if told else "/"

    def _of(self, browser: str, payload: str, to: str) -> Attempt:
        proof, nonce, verifier = (
            self._sign(f"{what} {browser} {payload}") for what in ("state", "nonce", "verifier")
        )
        return Attempt(f"{payload}.{proof}", nonce, verifier, to)


def _read(payload: str) -> tuple[int, str] | None:
    """Return when an attempt expires, and the path to which it leads."""
    try:
        padded = payload + "=" * (-len(payload) % 4)
        _, until, to = json.loads(base64.urlsafe_b64decode(padded.encode()))
        return int(until), str(to)
    except (binascii.Error, ValueError, TypeError):
        return None


def single_sign_on_pages(console: Console) -> Sequence[BaseRoute]:
    """Return the routes; none if no provider is set."""
    if console.provider is None or console.sign_ins is None:
        return ()
    provider, sign_ins, settings = console.provider, console.sign_ins, console.settings
    secure, root = settings.public_url.startswith("https://"), settings.root
    attempts, pace = Attempts(console.sessions), Pace(SIGN_INS_PER_MINUTE)
    proxies = Proxies.of(settings)

    async def begin(request: Request) -> Response:
        _check_pace(request)
        to = own_path(request.query_params.get("to", "/"))
        browser = request.cookies.get(BROWSER) or secrets.token_hex(32)
        attempt = attempts.begin(browser, to if len(to) <= LONGEST_PATH else "/")
        try:
            url = await provider.authorization_url(attempt.state, attempt.nonce, attempt.verifier)
        except FootnoteError as error:
            return _failed(request, error, to)
        answer = RedirectResponse(url, status_code=303, headers={"Cache-Control": "no-store"})
        answer.raw_headers.append(_browser_cookie(browser))
        return answer

    async def come_back(request: Request) -> Response:
        _check_pace(request)
        told = request.query_params
        state = told.get("state", "")
        attempt = attempts.find(request.cookies.get(BROWSER, ""), state)
        if attempt is None:
            to = attempts.path_in(state)
            if request.state.visitor is not None:  # signed in meanwhile, in another tab
                return RedirectResponse(root + to, status_code=303)
            stale = SignInRefused("sso-stale", "the state is no attempt of this browser")
            return await _refused(request, stale, to)
        try:
            if "code" not in told:
                reason = shortened(told.get("error_description") or told.get("error", "?"), 200)
                raise SignInRefused("sso-denied", reason=reason)
            identity = await provider.identify(
                told["code"], told.get("iss", ""), attempt.nonce, attempt.verifier
            )
            if request.state.visitor is not None:
                await sign_ins.end(request.state.visitor.session)
            secret = await sign_ins.begin(identity)
        except FootnoteError as error:
            return await _refused(request, error, attempt.to)
        log.info("signed in", person=identity.person)
        seconds = round(settings.oidc_session_hours * 3_600)
        cookie = set_cookie(secret, root, secure=secure, seconds=seconds)
        headers = {"Set-Cookie": cookie, "Cache-Control": "no-store"}
        return RedirectResponse(root + attempt.to, status_code=303, headers=headers)

    def _check_pace(request: Request) -> None:
        if not pace.allows(proxies.client_of(request)):
            raise HTTPException(429, "Those were too many tries: wait a minute.")

    def _browser_cookie(browser: str) -> tuple[bytes, bytes]:
        told = set_cookie(
            browser, root + SIGN_IN, secure=secure, seconds=ATTEMPT_SECONDS, name=BROWSER
        )
        return b"set-cookie", told.encode()

    async def _refused(request: Request, error: FootnoteError, to: str) -> Response:
        if isinstance(error, Denied):  # otherwise the provider is away
            await console.audit.note("signed-in", outcome="refused")
        return _failed(request, error, to)

    def _failed(request: Request, error: FootnoteError, to: str) -> Response:
        """Return the page that says why a sign-in failed, with a link to try again."""
        is_denied = isinstance(error, Denied)
        log.warning("not signed in", error=error.sentence, detail=error.detail)
        texts = texts_of(request)
        sentence = sentence_for(error, texts) if is_denied else texts("sso-away")
        return console.page(
            request,
            "sign_in_failed.html",
            status=403 if is_denied else 503,
            sentence=sentence,
            to=to,
        )

    # ------------------------------------------------------------ signing out

    async def ask_how(request: Request) -> Response:
        if request.state.visitor is None or not request.state.visitor.session:
            return RedirectResponse(root + SIGNED_OUT, status_code=303)
        return console.page(request, "sign_out.html")

    async def sign_out(request: Request) -> Response:
        """End the session here, then at the provider. A page leads there, because browsers apply
        our ``form-action`` policy to redirects of forms."""
        everywhere = (await form_of(request)).get("all") == "true"
        visitor = request.state.visitor
        session = await sign_ins.find(request.cookies.get(COOKIE, ""))
        if everywhere:
            await sign_ins.end_of_person(visitor.id)
        else:
            await sign_ins.end(visitor.session)
        back = provider_addresses(settings)[1]
        url = await provider.sign_out_url(session.identity.id_token, back) if session else ""
        answer: Response = RedirectResponse(root + SIGNED_OUT, status_code=303)
        if url:
            answer = console.page(request, "leaving.html", url=url)
        answer.headers["Set-Cookie"] = set_cookie("", root, secure=secure)
        return answer

    async def signed_out(request: Request) -> Response:
        return console.page(request, "signed_out.html")

    async def ended_by_provider(request: Request) -> Response:
        """Handle the back channel: OpenID Connect Back-Channel Logout 1.0, sections 2.5 to 2.8."""
        _check_pace(request)
        body = (await bounded_body(request)).decode("utf-8", "replace")
        token = parse_qs(body).get("logout_token", [""])[0]
        headers = {"Cache-Control": "no-store"}
        try:
            await sign_ins.end_by_provider(*await provider.ended(token))
        except Denied as error:
            log.warning("no sessions ended", error=error.sentence, detail=error.detail)
            return JSONResponse({"error": "invalid_request"}, status_code=400, headers=headers)
        return Response(status_code=200, headers=headers)

    return [
        Route(SIGN_IN, begin),
        Route(CALLBACK, come_back),
        Route(SIGNED_OUT, signed_out),
        Route(BACK_CHANNEL, ended_by_provider, methods=["POST"]),
        Route(SIGN_OUT, ask_how),
        Route(SIGN_OUT, sign_out, methods=["POST"]),
    ]
