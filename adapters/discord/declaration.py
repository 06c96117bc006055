"""Declares Discord as a platform of Footnote."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

from adapters.discord.settings import DiscordSettings, has_token
from bot.core.extras import need
from bot.core.plugins import Setup, Step
from bot.core.texts import Said, said
from bot.service.platform import Declaration, Platform

if TYPE_CHECKING:
    from bot.core.measurements import Observed
    from bot.storage.workspaces import Workspaces


APPLICATIONS = "https://discord.com/developers/applications"


def _open(
    settings: DiscordSettings, workspaces: Workspaces, observed: Observed | None
) -> AbstractAsyncContextManager[Platform]:
    need("discord", "Discord")
    from adapters.discord.platform import open_discord

    return open_discord(settings, workspaces, observed)


async def _check(settings: DiscordSettings) -> Said:
    need("discord", "Discord")
    from adapters.discord.platform import examine

    return await examine(settings)


PLATFORM = Declaration(
    name="discord",
    title="Discord",
    settings=DiscordSettings,
    listens=has_token,
    posts=has_token,
    open=_open,
    check=_check,
    to_connect=lambda settings: said("check-platform-off", names="DISCORD_TOKEN"),
    setup=Setup(
        "Discord",
        lambda: (
            Step("connect-discord-app", "connect-discord-open", link=APPLICATIONS),
            Step("connect-discord-intent"),
            Step("connect-discord-enter", "connect-discord-field", field="discord_token"),
        ),
        ("discord_token",),
        "connect-discord-connected",
    ),
)
