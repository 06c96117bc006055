"""Access to the web console: who it is open to, the addresses of its pages, origins of requests."""

from __future__ import annotations

import re
from ipaddress import ip_address
from urllib.parse import urlsplit

from bot.errors import InvalidSetting
from bot.extras import need
from bot.platform import is_reached_over_http, listening_platforms
from bot.settings import Settings

# Headers that a proxy adds to the requests that it passes on.
FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")
_HOST = re.compile(
    r"(?:\[(?P<v6>[0-9A-Fa-f:.]{2,45})\]|(?P<name>[A-Za-z0-9_-](?:[A-Za-z0-9._-]{0,252})))(?::\d{1,5})?"
)


def is_loopback(host: str) -> bool:
    """Return True if only this machine reaches an address that is listened on."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_from_here(peer: str, host: str) -> bool:
    """Return True if a request came from this machine and knew so: without a look at its Host, a
    name that was made to point here (DNS rebinding) would open what is closed to others."""
    return is_loopback(peer) and is_loopback(host_name(host))


def host_name(header: str) -> str:
    """The host in a Host header, in lower case and without its port; "" where there is none
    (RFC 9110 section 7.2, RFC 3986 section 3.2.2)."""
    match = _HOST.fullmatch(header)
    return (match["v6"] or match["name"]).lower() if match else ""


def has_console(settings: Settings) -> bool:
    """Return True if `footnote serve` opens the web console: only where strangers cannot use it.

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


def console_address(settings: Settings) -> str:
    """The console's address for browsers, as far as the settings tell, without a final slash."""
    if settings.public_url:
        return settings.public_url
    host = f"[{settings.http_host}]" if ":" in settings.http_host else settings.http_host
    return f"http://{host}:{settings.http_port}"


def _check_single_sign_on(settings: Settings) -> None:
    """Raises ``InvalidSetting`` where people could not be signed in by the OpenID provider."""
    need("sso", "FOOTNOTE_OIDC_ISSUER")
    if not settings.oidc_client_id:
        raise InvalidSetting(
            "FOOTNOTE_OIDC_ISSUER is set without FOOTNOTE_OIDC_CLIENT_ID: set both, as "
            "the provider names the client."
        )
    if settings.console_user_header:
        raise InvalidSetting(
            "FOOTNOTE_OIDC_ISSUER and FOOTNOTE_CONSOLE_USER_HEADER both say who people are: unset "
            "one of them."
        )
    if not settings.public_url and not is_loopback(settings.http_host):
        raise InvalidSetting(
            "Single sign-on needs the address to which people come back: set FOOTNOTE_PUBLIC_URL."
        )
    for name, url in (("OIDC_ISSUER", settings.oidc_issuer), ("PUBLIC_URL", settings.public_url)):
        parts = urlsplit(url)
        if url and parts.scheme != "https" and not is_loopback(parts.hostname or ""):
            raise InvalidSetting(
                f"FOOTNOTE_{name} begins with http://, where anybody on the way could sign in as "
                "anybody: single sign-on needs https://."
            )


def run_page(settings: Settings, run: str) -> str:
    """The address of the page that shows how a run was answered; "" where there is no console, or
    its address is not known."""
    if is_loopback(urlsplit(settings.public_url).hostname or "localhost"):
        return ""  # nobody else would get there
    try:
        return f"{settings.public_url}/runs/{run}" if has_console(settings) else ""
    except InvalidSetting:  # what `footnote serve` says of the same settings
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
