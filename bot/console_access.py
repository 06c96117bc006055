"""Whether `footnote serve` opens the web console, and the addresses of its pages."""

from __future__ import annotations

from urllib.parse import urlsplit

from bot.errors import InvalidSetting
from bot.http_peer import is_loopback
from bot.platform import is_reached_over_http, listening_platforms
from bot.settings import Settings


def has_console(settings: Settings) -> bool:
    """Whether `footnote serve` opens the web console: only where strangers cannot use it.

    Raises ``InvalidSetting`` where the settings demand a console that strangers could use.
    """
    if settings.console == "off":
        return False
    if settings.console_token is not None or settings.console_user_header:
        return True
    if not _is_exposed(settings):
        return True
    if settings.console == "auto" and listening_platforms(settings):
        return False
    raise InvalidSetting(
        "The console would be open to everyone who reaches this machine: set "
        "FOOTNOTE_CONSOLE_TOKEN, or FOOTNOTE_CONSOLE_USER_HEADER behind a proxy that signs people "
        "in; or have it on loopback only (FOOTNOTE_HTTP_HOST=127.0.0.1, no FOOTNOTE_PUBLIC_URL and "
        "no Slack over HTTP), or FOOTNOTE_CONSOLE=off."
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
    """Whether other machines may reach the HTTP endpoint, directly or through a proxy, which can
    make a request look as if it came from this machine."""
    hosts = [settings.http_host]
    if settings.public_url:
        hosts.append(urlsplit(settings.public_url).hostname or "")
    if is_reached_over_http(settings):
        return True
    return not all(is_loopback(host) for host in hosts)
