"""Declares Slack as a platform of Footnote."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from adapters.slack.settings import SlackSettings, can_post, is_connected
from bot.core.extras import need
from bot.core.plugins import Setup, Step
from bot.core.texts import Said, said
from bot.service.platform import Declaration, Installations, Platform

if TYPE_CHECKING:
    from bot.core.measurements import Observed
    from bot.storage.workspaces import Workspaces


def _open(
    settings: SlackSettings, workspaces: Workspaces, observed: Observed | None
) -> AbstractAsyncContextManager[Platform]:
    need("slack", "Slack")
    from adapters.slack.platform import open_slack

    return open_slack(settings, workspaces, observed)


async def _check(settings: SlackSettings) -> Said:
    need("slack", "Slack")
    from adapters.slack.doctor import examine

    return await examine(settings)


def _installations() -> Installations:
    need("slack", "Slack")
    from adapters.slack.installations import StoredInstallations

    return StoredInstallations()


MANIFEST = Path(__file__).with_name("manifest.yaml")
# https://docs.slack.dev/app-manifests/configuring-apps-with-app-manifests: sharing a manifest
NEW_APP = "https://api.slack.com/apps?new_app=1&manifest_json="


def _steps() -> Sequence[Step]:
    import yaml

    manifest = MANIFEST.read_text(encoding="utf-8")
    link = NEW_APP + quote(json.dumps(yaml.safe_load(manifest), separators=(",", ":")), safe="")
    return (
        Step("connect-slack-app", "connect-slack-open", link=link, copied=manifest),
        Step("connect-slack-bot", "connect-slack-bot-field", field="slack_bot_token"),
        Step("connect-slack-socket", "connect-slack-socket-field", field="slack_app_token"),
    )


PLATFORM = Declaration(
    name="slack",
    title="Slack",
    settings=SlackSettings,
    listens=is_connected,
    posts=can_post,
    open=_open,
    check=_check,
    to_connect=lambda settings: said(
        "check-platform-off", names="SLACK_BOT_TOKEN, SLACK_APP_TOKEN"
    ),
    uses_http=lambda settings: settings.slack_signing_secret is not None,
    installations=_installations,
    setup=Setup("Slack", _steps, ("slack_bot_token", "slack_app_token"), "connect-slack-connected"),
)
