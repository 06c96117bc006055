"""Slack's settings, and which of them connect it."""

from __future__ import annotations

from pydantic import SecretStr

from bot.core.errors import InvalidSetting
from bot.core.plugins import named_field
from bot.core.settings import Settings


class SlackSettings(Settings, defer_build=True):
    """One workspace by its bot token, or many by the app's id and secret; events come by Socket
    Mode with the app token, or by signed HTTP with the signing secret."""

    slack_bot_token: SecretStr | None = named_field(
        "SLACK_BOT_TOKEN", description="the token of the bot in one workspace"
    )
    slack_app_token: SecretStr | None = named_field(
        "SLACK_APP_TOKEN", description="the token of the app, for Socket Mode"
    )
    slack_signing_secret: SecretStr | None = named_field(
        "SLACK_SIGNING_SECRET", description="the secret that signs HTTP events"
    )
    slack_client_id: str | None = named_field(
        "SLACK_CLIENT_ID", description="the id of an app that many workspaces install"
    )
    slack_client_secret: SecretStr | None = named_field(
        "SLACK_CLIENT_SECRET", description="the secret of an app that many workspaces install"
    )
    slack_api_url: str = "https://slack.com/api/"


def in_many_workspaces(settings: SlackSettings) -> bool:
    """Return True if workspaces install the app themselves; a bot token means a single one."""
    return settings.slack_bot_token is None and settings.slack_client_id is not None


def is_connected(settings: SlackSettings) -> bool:
    entrances = (settings.slack_app_token, settings.slack_signing_secret)
    if settings.slack_bot_token is not None:
        if not any(entrances):
            raise InvalidSetting(
                "SLACK_BOT_TOKEN is set, but Footnote cannot receive events: set SLACK_APP_TOKEN "
                "for Socket Mode, or SLACK_SIGNING_SECRET for HTTP events."
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


def _look_at_app(settings: SlackSettings) -> None:
    """Raises ``InvalidSetting`` if an app for several workspaces lacks a setting."""
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
            "SLACK_CLIENT_ID is set, but Footnote cannot receive events: set SLACK_SIGNING_SECRET "
            "for HTTP events, or SLACK_APP_TOKEN for Socket Mode."
        )
    if not settings.encryption_keys:
        raise InvalidSetting(
            "Slack's tokens of several workspaces are kept encrypted: make a key with "
            "`footnote keys new`, set FOOTNOTE_ENCRYPTION_KEYS to it, and keep a copy where the "
            "database is not."
        )


def can_post(settings: SlackSettings) -> bool:
    return settings.slack_bot_token is not None or settings.slack_client_id is not None
