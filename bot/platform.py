"""A chat platform as `footnote serve` runs it: a way in, a way out, and what they need."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from bot.errors import InvalidSetting
from bot.posting import Poster
from bot.settings import Settings

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

    from bot.conversing.reception import Reception


class Platform(Protocol):
    """Opened with its adapter's ``open_…(settings, workspaces)``, an async context manager.

    ``routes`` are added to the HTTP endpoint of `serve`, ``poster`` works before and after ``run``.
    """

    name: str
    poster: Poster

    @property
    def routes(self) -> Sequence[BaseRoute]: ...

    async def run(self, reception: Reception, ready: Callable[[], None]) -> None:
        """Listen until cancelled; calls ``ready`` once events arrive.

        Reconnects by itself. Raises ``CredentialsRefused`` or ``Invalid`` when trying again cannot
        help, with the sentence what to do.
        """
        ...


def configured_platforms(settings: Settings) -> list[str]:
    """The platforms whose tokens are set. Raises ``InvalidSetting`` for half a set of them."""
    names = []
    entrances = (settings.slack_app_token, settings.slack_signing_secret)
    if settings.slack_bot_token is not None:
        if not any(entrances):
            raise InvalidSetting(
                "SLACK_BOT_TOKEN is set, but no way in: set SLACK_APP_TOKEN for Socket Mode, "
                "or SLACK_SIGNING_SECRET for HTTP events."
            )
        names.append("slack")
    elif any(entrances):
        raise InvalidSetting("Slack needs SLACK_BOT_TOKEN too: copy it from the app's settings.")
    if settings.discord_token is not None:
        names.append("discord")
    return names
