"""Access control: every request to the console passes through here first.

- By default only this machine has access: the peer and the Host must be loopback, so that neither a
  proxy nor DNS rebinding opens the console to others.
- With a token, a browser signs in once; a program sends it as ``Authorization: Bearer``.
- With a user header, a trusted proxy names the visitor.
- With an OpenID provider, people sign in there (see ``single_sign_on``); programs send the token.

A request must say clearly who asks, and for which host: it has each header that tells this once.
Requests that change anything must come from our own pages: their Origin is ours, and forms carry
the session's CSRF token (see ``forms``).
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from adapters.web.addresses import Proxies, is_address, peer_of
from adapters.web.limits import (
    GROUPS_OF_ONE_VISITOR,
    LONGEST_PERSON,
    REQUESTS_PER_MINUTE,
    SESSION_DAYS,
)
from adapters.web.visitors import BROWSER, COOKIE, LOCAL, Sessions, Visitor, Way
from bot.core.errors import StorageUnavailable
from bot.core.lines import one_line, shortened
from bot.core.rate_limit import Pace
from bot.core.settings import Settings
from bot.operation.console_access import (
    FORWARDED,
    Guesses,
    bearer_of,
    host_name,
    is_from_here,
    is_loopback,
    why_unclear,
)
from bot.storage.audit_log import Audit, acting, in_console
from bot.storage.console import SignIns

SIGN_IN = "/sign-in"
SIGN_OUT = "/sign-out"
OPEN_PATHS = ("/static/", "/manifest.webmanifest", SIGN_IN)  # they reveal nothing
SAFE = ("GET", "HEAD", "OPTIONS")

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    # Other sites get no referrer. With "no-referrer" our own forms would send "Origin: null"
    # (https://fetch.spec.whatwg.org/#append-a-request-origin-header), like those of other sites.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(self)",
}


class Refusal(Exception):
    """A request was refused; with its HTTP status, the reason, and cookies to set."""

    def __init__(self, status: int, sentence: str, cookies: Sequence[str] = ()) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence
        self.cookies = cookies


class Gate:
    """ASGI middleware; see the module docstring. It sets ``request.state.visitor``."""

    def __init__(
        self,
        app: ASGIApp,
        settings: Settings,
        sessions: Sessions,
        sign_ins: SignIns | None,
        guesses: Guesses,
        audit: Audit,
    ) -> None:
        """``sign_ins`` is None unless an OpenID provider signs people in."""
        self._app = app
        self._sessions = sessions
        self._sign_ins = sign_ins
        self._guesses = guesses
        self._audit = audit
        self._has_token = settings.console_token is not None
        self._header = settings.console_user_header.lower()
        self._groups_header = settings.console_groups_header.lower()
        self._named = tuple(filter(None, (self._header, self._groups_header)))
        self._proxies = Proxies.of(settings)
        self._public_host = urlsplit(settings.public_url).hostname or ""
        self._admins = frozenset(settings.admins)
        self._admin_groups = frozenset(settings.admin_groups)
        self._secure = settings.public_url.startswith("https://")
        self._root = settings.root
        self._pace = Pace(REQUESTS_PER_MINUTE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        request = Request(scope)
        cookies: Sequence[str] = ()  # to set
        answer: Response | None = None
        visitor, address = None, self._proxies.client_of(request)
        try:
            self._check_clear(request)
            await self._sessions.look()
            visitor, cookie = await self._admitted(request)
            if cookie:
                cookies = (set_cookie(cookie, self._root, secure=self._secure),)
            self._check_pace(request, visitor)
            if visitor is None and not scope["path"].startswith(OPEN_PATHS):
                answer = _ask_to_sign_in(request, self._root)
            else:
                self._check_origin(request, visitor)
            scope.setdefault("state", {})["visitor"] = visitor
        except Refusal as refusal:
            answer = refused(request, refusal.status, refusal.sentence)
            cookies = refusal.cookies
            if refusal.status == 401:  # a wrong token
                by = in_console("", address)
                await self._audit.note("signed-in", outcome="refused", by=by)
        with acting(in_console(visitor.id if visitor else "", address)):
            await (answer or self._app)(scope, receive, self._dressed(send, cookies))
        return None

    # ------------------------------------------------------------ who it is

    async def _admitted(self, request: Request) -> tuple[Visitor | None, str]:
        """Return the visitor, if known, and the cookie of a session that begins now, or ""."""
        way, user = self._way(request)
        peer = self._proxies.client_of(request)
        if self._has_token and way in ("token", "sso") and self._shows_token(request, peer):
            return Visitor("token", "API", "token", "", "", operator=True, client=peer), ""
        if self._sign_ins is not None:
            return await self._signed_in(request, self._sign_ins), ""
        shown = request.cookies.get(COOKIE, "")
        session = self._sessions.read(shown)
        cookie = self._sessions.renewed(shown) if session else ""
        if not session:
            if way == "token":
                return None, ""
            session, cookie = self._sessions.new()
        csrf = self._sessions.csrf(session)
        if way == "proxy":
            groups = self._groups(request)
            operator = self._is_operator(user, groups)
            return Visitor(user, user, way, session, csrf, operator, user, groups), cookie
        client = session if way == "token" else peer  # a session costs a sign-in, or nothing
        return Visitor(LOCAL, "You", way, session, csrf, operator=True, client=client), cookie

    async def _signed_in(self, request: Request, sign_ins: SignIns) -> Visitor | None:
        """Return the visitor whom the provider has signed in."""
        try:
            who = await sign_ins.find(request.cookies.get(COOKIE, ""))
        except StorageUnavailable as error:
            raise Refusal(503, "It cannot be told now who you are: try again soon.") from error
        if who is None:
            return None
        csrf = self._sessions.csrf(who.session)
        operator = self._is_operator(who.person, who.groups)
        return Visitor(
            who.person, who.name, "sso", who.session, csrf, operator, who.person, who.groups
        )

    def _is_operator(self, person: str, groups: tuple[str, ...]) -> bool:
        return person in self._admins or not self._admin_groups.isdisjoint(groups)

    def _way(self, request: Request) -> tuple[Way, str]:
        if self._sign_ins is not None:
            return "sso", ""
        if self._header:
            user = one_line(request.headers.get(self._header, ""))
            if user and peer_of(request) in self._proxies:
                self._check_host(request)
                if "," in user or len(user) > LONGEST_PERSON:  # a proxy may join two with a comma
                    raise Refusal(400, f"{self._header} does not name one person.")
                return "proxy", user
            if not self._has_token:
                raise Refusal(403, "You are not signed in: come through the proxy that does so.")
        if self._has_token:
            return "token", ""
        _check_local(peer_of(request), request.headers)
        return "open", ""

    def _groups(self, request: Request) -> tuple[str, ...]:
        """Return the groups that the proxy names."""
        named = request.headers.get(self._groups_header, "") if self._groups_header else ""
        parts = (part.strip() for part in named.split(","))
        return tuple(part for part in parts if part)[:GROUPS_OF_ONE_VISITOR]

    def _check_host(self, request: Request) -> None:
        """Refuse an unknown Host: DNS rebinding would let another site act as the visitor."""
        host = host_name(request.headers.get("host", ""))
        if not (is_address(host) or is_loopback(host) or host == self._public_host):
            raise Refusal(
                403,
                f"The console is not known as {shortened(host, 100) or 'that'}: set "
                "FOOTNOTE_PUBLIC_URL to the address at which people reach it.",
            )

    def _shows_token(self, request: Request, client: str) -> bool:
        shown = bearer_of(request.headers.get("authorization", ""))
        if shown is None:
            return False
        match self._guesses.judge(shown, client):
            case "too many":
                raise Refusal(429, "Those were too many wrong tokens: wait a minute.")
            case "wrong":
                raise Refusal(401, "The token is not right: it is FOOTNOTE_CONSOLE_TOKEN.")
        return True

    def _check_clear(self, request: Request) -> None:
        """Refuse a request that has two values where there is one. Of two cookies, one is old and
        for another path, or another site of our domain has set it: both are deleted."""
        if unclear := why_unclear(request.headers.getlist, *self._named):
            raise Refusal(400, unclear)
        if not request.scope["raw_path"].startswith(b"/") or request.scope["path"].startswith("//"):
            raise Refusal(400, "The request does not name a path of the console.")
        parts = request.headers.get("cookie", "").split(";")
        shown = [part.partition("=")[0].strip() for part in parts]
        deleted = [
            set_cookie("", path, secure=self._secure, name=name)
            for name, below in ((COOKIE, ""), (BROWSER, SIGN_IN))
            if shown.count(name) > 1
            for path in dict.fromkeys((below, f"{self._root}{below}"))
        ]
        if deleted:
            raise Refusal(400, "The browser sent a cookie twice: reload the page.", deleted)

    # ------------------------------------------------------------ what it may do

    def _check_pace(self, request: Request, visitor: Visitor | None) -> None:
        client = self._proxies.client_of(request) if visitor is None else visitor.client
        if not self._pace.allows(client):
            raise Refusal(429, "Too many requests within a minute: wait a little.")

    def _check_origin(self, request: Request, visitor: Visitor | None) -> None:
        if request.method in SAFE or (visitor is not None and not visitor.session):
            return
        origin = request.headers.get("origin")
        site = request.headers.get("sec-fetch-site", "same-origin")
        host = request.headers["host"]
        is_public = self._secure and host_name(host) == self._public_host
        schemes = ("https",) if is_public else ("https", "http")
        ours = origin is None or origin in [f"{scheme}://{host}" for scheme in schemes]
        if not ours or site not in ("same-origin", "none"):
            raise Refusal(403, "This came from another site: open the console itself.")

    def _dressed(self, send: Send, cookies: Sequence[str]) -> Send:
        async def dressed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                for cookie in cookies:
                    headers.append("Set-Cookie", cookie)
            await send(message)

        return dressed


def set_cookie(
    value: str,
    root: str,
    *,
    secure: bool,
    seconds: int = SESSION_DAYS * 86_400,
    name: str = COOKIE,
) -> str:
    """Return the header that sets the session's cookie, or another one, for paths below ``root``.

    ``SameSite=Lax`` keeps visitors signed in when they follow a link; forms carry their own token.
    """
    age = seconds if value else 0
    end = "; Secure" if secure else ""
    return f"{name}={value}; Path={root or '/'}; Max-Age={age}; HttpOnly; SameSite=Lax{end}"


def refused(request: Request, status: int, sentence: str) -> Response:
    """Return a refusal as plain text, or as JSON for a program."""
    if is_program(request):
        return JSONResponse({"error": sentence}, status_code=status)
    return PlainTextResponse(sentence, status_code=status)


def is_program(request: Request) -> bool:
    """Return True for a request by a script, to the JSON API or to ``/mcp``, and not for a page."""
    accepted = request.headers.get("accept", "")
    return str(request.scope["path"]).startswith(("/api/", "/mcp")) or accepted.startswith(
        "application/json"
    )


def _ask_to_sign_in(request: Request, root: str) -> Response:
    if is_program(request) or request.method not in SAFE:
        return refused(request, 401, "Sign in first, or send the token as Authorization: Bearer.")
    return RedirectResponse(f"{root}{SIGN_IN}?to={quote(request.scope['path'])}", status_code=303)


def _check_local(peer: str, headers: Headers) -> None:
    if not is_from_here(peer, headers.get("host", "")):
        raise Refusal(403, "This console is for the machine it runs on: use http://127.0.0.1.")
    if any(name in headers for name in FORWARDED):
        raise Refusal(403, "Behind a proxy the console needs FOOTNOTE_CONSOLE_TOKEN.")
