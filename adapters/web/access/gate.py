"""Access control: every request to the console passes through here first.

- By default only this machine has access: the peer and the Host must be loopback, so that neither a
  proxy nor DNS rebinding opens the console to others.
- With a token, a browser signs in once; a program sends it as ``Authorization: Bearer``.
- With a user header, a trusted proxy names the visitor.
- With an OpenID provider, people sign in there (see ``single_sign_on``); programs send the token.

A request must say clearly who asks, and for which host: it has each header that tells this once.
Requests that change anything must come from our own pages, as their browser says: see
``Gate._check_origin``.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Literal
from urllib.parse import quote, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from adapters.web.display import texts_of
from adapters.web.limits import (
    GROUPS_OF_ONE_VISITOR,
    LONGEST_PERSON,
    REQUESTS_PER_MINUTE,
)
from bot.core.errors import Denied, StorageUnavailable
from bot.core.lines import LOCAL, one_line, shortened
from bot.core.messages import Author, Thread
from bot.core.rate_limit import Pace
from bot.core.reader import Reader
from bot.core.settings import Settings
from bot.core.texts import Sentence, said
from bot.operation.console_access import (
    FORWARDED,
    Guesses,
    bearer_of,
    console_address,
    host_name,
    is_from_here,
    is_loopback,
    why_unclear,
)
from bot.storage.audit_log import Audit, acting, in_console
from bot.storage.console import SignIns
from bot.storage.workspaces import Workspaces

# Paths registered at an OpenID provider; they begin with the path of the sign-in page.
CALLBACK = "/sign-in/callback"
SIGNED_OUT = "/sign-in/signed-out"
LOOPBACK = ("127.0.0.1", "::1")
MOST_HOPS = 20  # entries of X-Forwarded-For that are read, from the end


def peer_of(request: Request) -> str:
    """Return the address of the TCP peer."""
    return _unmapped(request.client.host) if request.client else ""


def _unmapped(host: str) -> str:
    """Return the IPv4 address that a socket for both kinds shows as an IPv6 address (RFC 4291,
    section 2.5.5.2); anything else as it is."""
    if not host.lower().startswith("::ffff:") or not is_address(host):
        return host
    return str(IPv6Address(host).ipv4_mapped or host)


def is_address(host: str) -> bool:
    """Return True if a host is an IP address rather than a name."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def own_path(path: str) -> str:
    """Return a path of the console; never one that leads to another site."""
    plain = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable()
    return path if plain else "/"


def provider_addresses(settings: Settings) -> tuple[str, str]:
    """Return the URLs to register at the provider: the redirects after signing in and out."""
    address = console_address(settings)
    return address + CALLBACK, address + SIGNED_OUT


class Proxies:
    """The proxies whose headers are trusted: addresses and CIDRs. Raises ``ValueError``."""

    @classmethod
    def of(cls, settings: Settings) -> Proxies:
        """Return the proxies that the settings name. With a user header there is a proxy, by
        default on this machine; otherwise by default there is none, and every program that reaches
        the console is itself the client."""
        default = LOOPBACK if settings.console_user_header else ()
        return cls(settings.console_proxies or default)

    def __init__(self, listed: Sequence[str]) -> None:
        self._networks = [ip_network(each, strict=False) for each in listed]

    def __contains__(self, address: str) -> bool:
        return is_address(address) and any(
            ip_address(address) in network for network in self._networks
        )

    def client_of(self, request: Request) -> str:
        """Return the client's address as our outermost proxy saw it; the peer's if the peer is not
        one of our proxies.

        ``X-Forwarded-For`` is read from its end, where our proxies write, and only as long as the
        next hop is one of our proxies: earlier entries can be forged. Several of these headers are
        one list: some proxies add a line of their own, as HAProxy does.
        """
        client = peer_of(request)
        forwarded = ",".join(request.headers.getlist("x-forwarded-for")).split(",")
        for hop in reversed(forwarded[-MOST_HOPS:]):
            if client not in self or not is_address(hop.strip()):
                break
            client = _unmapped(hop.strip())
        return client


COOKIE = "footnote_session"
LONGEST_COOKIE = 400 * 86_400  # seconds that browsers keep one, at most
BROWSER = "footnote_sign_in"  # the cookie of a browser that is signing in at a provider

# Ways to get access: from this machine (loopback), with the token, through a proxy that names the
# person, or by signing in at the OpenID provider.
Way = Literal["open", "token", "proxy", "sso"]


@dataclass(frozen=True, slots=True)
class Visitor:
    """A visitor. ``session`` identifies a browser that has signed in, or is "". An ``operator`` may
    see everyone's questions. ``client`` is the subject of rate limits: a person, a browser, or an
    address. ``groups`` are those that the proxy or the provider names."""

    id: str
    name: str
    way: Way
    session: str
    operator: bool
    client: str = ""
    groups: tuple[str, ...] = ()

    @property
    def is_program(self) -> bool:
        """True for a program, which sends the console's token."""
        return self.way == "token" and not self.session

    @property
    def author(self) -> Author:
        return Author(self.id, self.name, admin=self.operator, groups=self.groups)

    @property
    def reader(self) -> Reader:
        """Return the visitor as a reader of documents. An operator also has the rights of the
        lists."""
        own = frozenset({Thread("web", "console", self.channel, "").place})
        corrections = None if self.operator else own
        groups = frozenset(self.groups)
        return Reader("console", self.channel, self.id, groups, corrections=corrections)

    @property
    def channel(self) -> str:
        """Return the channel of their threads: their own if people are identified, or else a shared
        one."""
        return self.id if self.way in ("proxy", "sso") else LOCAL


class SignInRefused(Denied):
    """A sign-in was refused; ``detail`` is for the log."""


async def session_key(workspaces: Workspaces) -> bytes:
    """Return the key with which all processes on this database sign, and which the first one
    makes."""
    known = (await workspaces.facts("web", "console")).get("session_key")
    if not known:  # two processes may start at once, and must accept each other's signatures
        made = secrets.token_hex(32)
        known = await workspaces.agreed("web", "console", "session_key", made)
    return bytes.fromhex(str(known))


SIGN_IN = "/sign-in"
SIGN_OUT = "/sign-out"
OPEN_PATHS = ("/static/", "/manifest.webmanifest", SIGN_IN)  # they reveal nothing
SAFE = ("GET", "HEAD", "OPTIONS")
PROGRAMS = ("/api/", "/mcp")  # the JSON API and the Model Context Protocol

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

    def __init__(self, status: int, sentence: Sentence, cookies: Sequence[str] = ()) -> None:
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
        sign_ins: SignIns | None,
        guesses: Guesses,
        audit: Audit,
    ) -> None:
        """``sign_ins`` is None if nobody has to sign in."""
        self._app = app
        self._sign_ins = sign_ins
        self._guesses = guesses
        self._audit = audit
        self._has_token = settings.console_token is not None
        self._has_provider = bool(settings.oidc_issuer)
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
            visitor = await self._admitted(request)
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

    async def _admitted(self, request: Request) -> Visitor | None:
        """Return the visitor, if known."""
        way, user = self._way(request)
        client = self._proxies.client_of(request)
        if way == "open":
            return Visitor(LOCAL, "You", way, "", operator=True, client=client)
        if way == "proxy":
            groups = self._groups(request)
            return Visitor(user, user, way, "", self._is_operator(user, groups), user, groups)
        if self._has_token and self._shows_token(request, client):
            return Visitor("token", "API", "token", "", operator=True, client=client)
        assert self._sign_ins is not None  # noqa: S101 - there is one where people sign in
        try:
            who = await self._sign_ins.find(request.cookies.get(COOKIE, ""))
        except StorageUnavailable as error:
            raise Refusal(503, said("refused-unknown")) from error
        if who is None:
            return None
        if way == "token":  # a session costs a sign-in
            return Visitor(LOCAL, who.name, way, who.session, operator=True, client=who.session)
        operator = self._is_operator(who.person, who.groups)
        return Visitor(who.person, who.name, way, who.session, operator, who.person, who.groups)

    def _is_operator(self, person: str, groups: tuple[str, ...]) -> bool:
        return person in self._admins or not self._admin_groups.isdisjoint(groups)

    def _way(self, request: Request) -> tuple[Way, str]:
        if self._has_provider:
            return "sso", ""
        if self._header:
            user = one_line(request.headers.get(self._header, ""))
            if user and peer_of(request) in self._proxies:
                self._check_host(request)
                if "," in user or len(user) > LONGEST_PERSON:  # a proxy may join two with a comma
                    raise Refusal(400, said("refused-several", header=self._header))
                return "proxy", user
            if not self._has_token:
                raise Refusal(403, said("refused-by-proxy"))
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
            raise Refusal(403, said("refused-host", host=shortened(host, 100) or "–"))

    def _shows_token(self, request: Request, client: str) -> bool:
        shown = bearer_of(request.headers.get("authorization", ""))
        if shown is None:
            return False
        match self._guesses.judge(shown, client):
            case "too many":
                raise Refusal(429, said("refused-tries"))
            case "wrong":
                raise Refusal(401, said("refused-token"))
        return True

    def _check_clear(self, request: Request) -> None:
        """Refuse a request that has two values where there is one. Of two cookies, one is old and
        for another path, or another site of our domain has set it: both are deleted."""
        if unclear := why_unclear(request.headers.getlist, *self._named):
            raise Refusal(400, unclear)
        if not request.scope["raw_path"].startswith(b"/") or request.scope["path"].startswith("//"):
            raise Refusal(400, said("refused-path"))
        parts = request.headers.get("cookie", "").split(";")
        shown = [part.partition("=")[0].strip() for part in parts]
        deleted = [
            set_cookie("", path, secure=self._secure, name=name)
            for name, below in ((COOKIE, ""), (BROWSER, SIGN_IN))
            if shown.count(name) > 1
            for path in dict.fromkeys((below, f"{self._root}{below}"))
        ]
        if deleted:
            raise Refusal(400, said("refused-cookie"), deleted)

    # ------------------------------------------------------------ what it may do

    def _check_pace(self, request: Request, visitor: Visitor | None) -> None:
        client = self._proxies.client_of(request) if visitor is None else visitor.client
        if not self._pace.allows(client):
            raise Refusal(429, said("refused-requests"))

    def _check_origin(self, request: Request, visitor: Visitor | None) -> None:
        """Refuse a change that another site's page asks for. Browsers say by ``Origin``, and most
        also by ``Sec-Fetch-Site``, whose page sends a form. Without both it is refused, except on
        the paths for programs, which send neither.

        https://cheatsheetseries.owasp.org/cheatsheets/Cross-Site_Request_Forgery_Prevention_Cheat_Sheet.html
        """
        if request.method in SAFE or (visitor is not None and visitor.is_program):
            return
        origin, site = (request.headers.get(name) for name in ("origin", "sec-fetch-site"))
        host = request.headers["host"]
        is_public = self._secure and host_name(host) == self._public_host
        schemes = ("https",) if is_public else ("https", "http")
        ours = origin is None or origin in [f"{scheme}://{host}" for scheme in schemes]
        told = (origin, site) != (None, None) or request.scope["path"].startswith(PROGRAMS)
        if not told or not ours or site not in (None, "same-origin", "none"):
            raise Refusal(403, said("refused-site"))

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
    seconds: int = LONGEST_COOKIE,
    name: str = COOKIE,
) -> str:
    """Return the header that sets the session's cookie, or another one, for paths below ``root``.

    ``SameSite=Lax`` keeps visitors signed in when they follow a link; forms carry their own token.
    """
    age = seconds if value else 0
    end = "; Secure" if secure else ""
    return f"{name}={value}; Path={root or '/'}; Max-Age={age}; HttpOnly; SameSite=Lax{end}"


def refused(request: Request, status: int, why: Sentence) -> Response:
    """Return a refusal as plain text, or as JSON for a program."""
    sentence = texts_of(request).say(why)
    if is_program(request):
        return JSONResponse({"error": sentence}, status_code=status)
    return PlainTextResponse(sentence, status_code=status)


def is_program(request: Request) -> bool:
    """Return True for a request by a script, to the JSON API or to ``/mcp``, and not for a page."""
    accepted = request.headers.get("accept", "")
    is_for_programs = request.scope["path"].startswith(PROGRAMS)
    return bool(is_for_programs) or accepted.startswith("application/json")


def _ask_to_sign_in(request: Request, root: str) -> Response:
    is_page = request.method in SAFE or "text/html" in request.headers.get("accept", "")
    if is_program(request) or not is_page:
        return refused(request, 401, said("refused-sign-in"))
    return RedirectResponse(f"{root}{SIGN_IN}?to={quote(request.scope['path'])}", status_code=303)


def _check_local(peer: str, headers: Headers) -> None:
    if not is_from_here(peer, headers.get("host", "")):
        raise Refusal(403, said("refused-elsewhere"))
    if any(name in headers for name in FORWARDED):
        raise Refusal(403, said("refused-open-proxy"))


def visitor_of(request: Request) -> Visitor:
    """Return the visitor of a request, as determined by the gate."""
    visitor: Visitor = request.state.visitor
    return visitor
