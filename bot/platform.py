"""A chat platform as `footnote serve` runs it: a way in, a way out, and what they need."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from ipaddress import ip_address
from typing import TYPE_CHECKING, Literal, Protocol
from urllib.parse import urlsplit

from bot.errors import InvalidSetting
from bot.posting import Poster
from bot.settings import Settings

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

    from bot.conversing.reception import Reception


@dataclass
class Connection:
    """How it stands with a platform: its adapter tells, `/readyz` reads.

    ``since`` when it is so, ``why`` it is not connected, in a sentence or in the peer's own words;
    neither may hold a secret.
    """

    state: Literal["connecting", "connected", "lost", "failed"] = "connecting"
    since: datetime = field(default_factory=lambda: datetime.now(UTC))
    why: str = ""

    def made(self) -> None:
        """Events arrive, or can be posted where none are listened to."""
        self._turn("connected")

    def away(self, why: str) -> None:
        """It cannot be reached for now; it is tried on."""
        lost = self.state in ("connected", "lost")
        self._turn("lost" if lost else "connecting", why)

    def failed(self, why: str) -> None:
        """It is given up: trying again cannot help."""
        self._turn("failed", why)

    def _turn(
        self, state: Literal["connecting", "connected", "lost", "failed"], why: str = ""
    ) -> None:
        if state != self.state:
            self.state, self.since = state, datetime.now(UTC)
        self.why = why


class Platform(Protocol):
    """Opened with its adapter's ``open_…(settings, workspaces, observed)``, an async context
    manager; what is said to the platform is counted in ``observed`` (``observing.Observed``).

    ``routes`` are added to the HTTP endpoint of `serve`, ``poster`` works before and after ``run``,
    ``connection`` is kept up to date by ``reach`` and ``run``.
    """

    name: str
    poster: Poster
    connection: Connection

    @property
    def routes(self) -> Sequence[BaseRoute]: ...

    async def reach(self) -> None:
        """Return once the platform can be posted in, however long it is away; no listening.

        Raises ``CredentialsRefused`` and ``Invalid`` with the sentence what to do.
        """
        ...

    async def run(self, reception: Reception, ready: Callable[[], None]) -> None:
        """Listen until cancelled; calls ``ready`` once events arrive.

        Reconnects by itself. Raises ``CredentialsRefused`` or ``Invalid`` when trying again cannot
        help, with the sentence what to do.
        """
        ...


def configured_platforms(settings: Settings) -> list[str]:
    """The chat platforms whose tokens are set. Raises ``InvalidSetting`` for half a set of them."""
    names = []
    if _uses_slack(settings):
        names.append("slack")
    if settings.discord_token is not None:
        names.append("discord")
    return names


def has_console(settings: Settings) -> bool:
    """Whether `footnote serve` opens the web console: wherever nobody can come in unasked.

    Raises ``InvalidSetting`` when it is to be on where it would be open to all.
    """
    if settings.console == "off":
        return False
    if settings.console_token is not None or settings.console_user_header:
        return True
    if not _is_exposed(settings):
        return True
    if settings.console == "auto" and configured_platforms(settings):
        return False
    raise InvalidSetting(
        "The console would be open to everyone who reaches this machine: set "
        "FOOTNOTE_CONSOLE_TOKEN, or FOOTNOTE_CONSOLE_USER_HEADER behind a proxy that signs people "
        "in; or have it on loopback only (FOOTNOTE_HTTP_HOST=127.0.0.1, no FOOTNOTE_PUBLIC_URL and "
        "no Slack over HTTP), or FOOTNOTE_CONSOLE=off."
    )


def run_page(settings: Settings, run: str) -> str:
    """Where a browser shows how a run was answered, to be linked to from elsewhere; "" where there
    is no console or nobody said how it is reached."""
    if is_loopback(urlsplit(settings.public_url).hostname or "localhost"):
        return ""  # nobody else would get there
    try:
        return f"{settings.public_url}/runs/{run}" if has_console(settings) else ""
    except InvalidSetting:  # what `footnote serve` says of the same settings
        return ""


def _is_exposed(settings: Settings) -> bool:
    """Whether others than this machine may reach the HTTP endpoint, be it through a proxy, which
    can make a request look as if it came from here."""
    hosts = [settings.http_host]
    if settings.public_url:
        hosts.append(urlsplit(settings.public_url).hostname or "")
    if settings.slack_signing_secret is not None:
        return True
    return not all(is_loopback(host) for host in hosts)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address that is listened on."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


# What a proxy adds to the requests that it passes on.
_HOST = re.compile(
    r"(?:\[(?P<v6>[0-9A-Fa-f:.]{2,45})\]|(?P<name>[A-Za-z0-9_-](?:[A-Za-z0-9._-]{0,252})))(?::\d{1,5})?"
)
FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")


def is_from_here(peer: str, host: str) -> bool:
    """Whether a request came from this machine and knew so: without a look at its Host, a name that
    was made to point here (DNS rebinding) would open what is closed to others."""
    return is_loopback(peer) and is_loopback(host_name(host))


def host_name(header: str) -> str:
    """The host in a Host header, in lower case and without its port; "" where there is none
    (RFC 9110 section 7.2, RFC 3986 section 3.2.2)."""
    match = _HOST.fullmatch(header)
    return (match["v6"] or match["name"]).lower() if match else ""


def postable_platforms(settings: Settings) -> list[str]:
    """The platforms in which a worker can post: it needs no way in."""
    names = [] if settings.console == "off" else ["web"]
    if settings.slack_bot_token is not None or settings.slack_client_id is not None:
        names.append("slack")
    if settings.discord_token is not None:
        names.append("discord")
    return names


def in_many_workspaces(settings: Settings) -> bool:
    """Whether Slack's workspaces install the app by themselves; a bot token means one only."""
    return settings.slack_bot_token is None and settings.slack_client_id is not None


def _uses_slack(settings: Settings) -> bool:
    entrances = (settings.slack_app_token, settings.slack_signing_secret)
    if settings.slack_bot_token is not None:
        if not any(entrances):
            raise InvalidSetting(
                "SLACK_BOT_TOKEN is set, but no way in: set SLACK_APP_TOKEN for Socket Mode, "
                "or SLACK_SIGNING_SECRET for HTTP events."
            )
        return True
    if settings.slack_client_id is not None or settings.slack_client_secret is not None:
        _look_at_app(settings)
        return True
    if any(entrances):
        raise InvalidSetting(
            "Slack needs SLACK_BOT_TOKEN too: copy it from the app's settings. For several "
            "workspaces it needs SLACK_CLIENT_ID and SLACK_CLIENT_SECRET in its place."
        )
    return False


def _look_at_app(settings: Settings) -> None:
    """Raises ``InvalidSetting`` for what an app in several workspaces still needs."""
    if settings.slack_client_id is None or settings.slack_client_secret is None:
        missing, there = "SLACK_CLIENT_ID", "SLACK_CLIENT_SECRET"
        if settings.slack_client_id is not None:
            missing, there = there, missing
        raise InvalidSetting(
            f"{there} is set, but {missing} is not: copy both from Basic Information of your app "
            "at https://api.slack.com/apps, or set SLACK_BOT_TOKEN for one workspace."
        )
    if settings.slack_signing_secret is None and settings.slack_app_token is None:
        raise InvalidSetting(
            "SLACK_CLIENT_ID is set, but no way in: set SLACK_SIGNING_SECRET for HTTP events, "
            "or SLACK_APP_TOKEN for Socket Mode."
        )
    if not settings.encryption_keys:
        raise InvalidSetting(
            "Slack's tokens of several workspaces are kept encrypted: make a key with "
            "`footnote keys new`, set FOOTNOTE_ENCRYPTION_KEYS to it, and keep a copy where the "
            "database is not."
        )
