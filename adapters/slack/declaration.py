"""Declares Slack as a platform of Footnote."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

from adapters.slack.settings import SlackSettings, can_post, is_connected
from bot.core.extras import need
from bot.service.platform import Declaration, Installations, Platform

if TYPE_CHECKING:
    from bot.core.measurements import Observed
    from bot.storage.workspaces import Workspaces


def _open(
    settings: SlackSettings, workspaces: Workspaces, observed: Observed | None
) -> AbstractAsyncContextManager[Platform]:
    need("slack", "Answering in Slack")
    from adapters.slack.platform import open_slack

    return open_slack(settings, workspaces, observed)


async def _check(settings: SlackSettings) -> str:
    need("slack", "Answering in Slack")
    from adapters.slack.doctor import examine

    return await examine(settings)


def _installations() -> Installations:
    need("slack", "Answering in Slack")
    from adapters.slack.installations import StoredInstallations

    return StoredInstallations()


PLATFORM = Declaration(
    name="slack",
    title="Slack",
    settings=SlackSettings,
    listens=is_connected,
    posts=can_post,
    open=_open,
    check=_check,
    to_connect=lambda settings: (
        "not connected. Set SLACK_BOT_TOKEN and SLACK_APP_TOKEN to answer there"
    ),
    uses_http=lambda settings: settings.slack_signing_secret is not None,
    installations=_installations,
)
