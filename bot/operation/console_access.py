"""Access to the web console: who may use it, its addresses, the origin of requests, and guesses of
its token, which are limited."""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Literal
from urllib.parse import urlsplit

from pydantic import SecretStr

from bot.core.errors import InvalidSetting
from bot.core.extras import need
from bot.core.settings import Settings
from bot.service.platform import is_reached_over_http, listening_platforms

GUESSES_PER_MINUTE = 10  # from one address

Guess = Literal["right", "wrong", "too many"]

# Headers that proxies add to forwarded requests.
FORWARDED = (
    *("forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto"),
    *("x-real-ip", "via"),
)
# Headers that say who asks, from which page, and for which site.
SINGLE = ("host", "origin", "sec-fetch-site", "authorization", "cookie")
_HOST = re.compile(
    r"(?:\[(?P<v6>[0-9A-Fa-f:.]{2,45})\]|(?P<name>[A-Za-z0-9_-](?:[A-Za-z0-9._-]{0,252})))"
    r"(?::(?P<port>\d{1,5}))?"
)


def why_unclear(values: Callable[[str], list[str]], *named: str) -> str:
    """Return why a request does not say clearly who asks for what; "" if it does.

    ``values`` returns all values of a header. A header of ``SINGLE``, or one that is ``named``, may
    be there once: of two values, one may have come past the program that checks the other (RFC 9110
    section 5.3). Host must be there, and be a host (RFC 9112 section 3.2).
    """
    for name in (*SINGLE, *named):
        if len(values(name)) > 1:
            return f"The request has more than one header {name}."
    if not host_name(next(iter(values("host")), "")):
        return "The request does not say for which host it is."
    return ""


def is_loopback(host: str) -> bool:
    """Return True if a listening address is reachable from this machine only."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_from_here(peer: str, host: str) -> bool:
    """Return True if a request came from this machine and was addressed to it. The Host is checked
    too, since DNS rebinding would otherwise let a web page in as a local client."""
    return is_loopback(peer) and is_loopback(host_name(host))


def host_name(header: str) -> str:
    """Return the host of a Host header, in lower case without its port; "" if there is none (RFC
    9110 section 7.2, RFC 3986 section 3.2.2)."""
    match = _HOST.fullmatch(header)
    if match is None or int(match["port"] or 0) > 65_535:
        return ""
    try:
        return str(IPv6Address(match["v6"])) if match["v6"] else match["name"].lower()
    except ValueError:
        return ""


def has_console(settings: Settings) -> bool:
    """Return True if `footnote serve` opens the web console, which it does only where strangers
    cannot use it.

    Raises ``InvalidSetting`` where the settings demand a console that strangers could use.
    """
    if settings.console == "off":
        return False
    if settings.oidc_issuer:
        _check_single_sign_on(settings)
        return True
    if settings.console_token is not None or settings.console_user_header:
        return True
    if not _is_exposed(settings):
        return True
    if settings.console == "auto" and listening_platforms(settings):
        return False
    raise InvalidSetting(
        "The console would be open to everyone who reaches this machine: set "
        "FOOTNOTE_CONSOLE_TOKEN, or FOOTNOTE_OIDC_ISSUER for single sign-on, or "
        "FOOTNOTE_CONSOLE_USER_HEADER behind a proxy that signs people in; or have it on loopback "
        "only (FOOTNOTE_HTTP_HOST=127.0.0.1, no FOOTNOTE_PUBLIC_URL and no Slack over HTTP), or "
        "FOOTNOTE_CONSOLE=off."
    )


def allows_setup(settings: Settings) -> bool:
    """Return True if operators may keep settings in the console: by default where it is open to
    this machine alone."""
    if settings.console_setup != "auto":
        return settings.console_setup == "on"
    guarded = settings.console_token, settings.console_user_header, settings.oidc_issuer
    return not any(guarded)


def console_address(settings: Settings) -> str:
    """Return the console's address for browsers, as the settings have it, without a final slash."""
    if settings.public_url:
        return settings.public_url
    host = f"[{settings.http_host}]" if ":" in settings.http_host else settings.http_host
    return f"http://{host}:{settings.http_port}"


def _check_single_sign_on(settings: Settings) -> None:
    """Raise ``InvalidSetting`` if the OpenID provider could not sign people in safely."""
    need("sso", "FOOTNOTE_OIDC_ISSUER")
    if not settings.oidc_client_id:
        raise InvalidSetting(
            "FOOTNOTE_OIDC_ISSUER is set without FOOTNOTE_OIDC_CLIENT_ID: set both, with the "
            "client id registered at the provider."
        )
    if settings.console_user_header:
        raise InvalidSetting(
            "FOOTNOTE_OIDC_ISSUER and FOOTNOTE_CONSOLE_USER_HEADER both say who people are: unset "
            "one of them."
        )
    if not settings.public_url and not is_loopback(settings.http_host):
        raise InvalidSetting(
            "Single sign-on needs the address to which the provider redirects people: set "
            "FOOTNOTE_PUBLIC_URL."
        )
    for name, url in (("OIDC_ISSUER", settings.oidc_issuer), ("PUBLIC_URL", settings.public_url)):
        parts = urlsplit(url)
        if url and parts.scheme != "https" and not is_loopback(parts.hostname or ""):
            raise InvalidSetting(
                f"FOOTNOTE_{name} begins with http://, where anyone on the network path could sign "
                "in as someone else: single sign-on needs https://."
            )


def run_page(settings: Settings, run: str) -> str:
    """The address of the console page about a run; "" without a console or a public address."""
    if is_loopback(urlsplit(settings.public_url).hostname or "localhost"):
        return ""  # not reachable from other machines
    try:
        return f"{settings.public_url}/runs/{run}" if has_console(settings) else ""
    except InvalidSetting:  # `footnote serve` reports it
        return ""


def _is_exposed(settings: Settings) -> bool:
    """Return True if other machines may reach the HTTP endpoint, directly or through a proxy, which
    can make a request look as if it came from this machine."""
    hosts = [settings.http_host]
    if settings.public_url:
        hosts.append(urlsplit(settings.public_url).hostname or "")
    if is_reached_over_http(settings):
        return True
    return not all(is_loopback(host) for host in hosts)


# ---------------------------------------------------------------- the token


class Guesses:
    """Compares what clients show with the console's token, at all doors together: an address may be
    wrong ``GUESSES_PER_MINUTE`` times a minute."""

    def __init__(self, token: SecretStr | None) -> None:
        from bot.core.rate_limit import Pace  # reading the settings should not load it

        self._token = token.get_secret_value().encode() if token is not None else b""
        self._pace = Pace(GUESSES_PER_MINUTE)

    def judge(self, shown: str, address: str) -> Guess:
        """Judge what a client at this address shows. After too many wrong guesses the right one is
        not accepted either, for otherwise they could go on."""
        client = _home_of(address)
        if not self._pace.has_room(client):
            return "too many"
        if self._token and hmac.compare_digest(shown.strip().encode(), self._token):
            return "right"
        self._pace.allows(client)
        return "wrong"


def _home_of(address: str) -> str:
    """Return the network that a client has to itself: an IPv6 client chooses among the addresses of
    its /64 (RFC 4291, section 2.5.4)."""
    try:
        is_v6 = isinstance(ip_address(address), IPv6Address)
    except ValueError:
        return address
    return str(ip_network(f"{address.partition('%')[0]}/64", strict=False)) if is_v6 else address


def bearer_of(authorization: str) -> str | None:
    """Return the token in an Authorization header; None if there is none."""
    scheme, _, shown = authorization.partition(" ")
    return shown if scheme.lower() == "bearer" else None
