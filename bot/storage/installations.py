"""Tables for an app's installations, used by slack_sdk's own stores.

Their names and columns are slack_sdk's (``slack_sdk.oauth``); a test compares the two. Secrets are
encrypted by ``bot.storage.encryption``, which makes them longer than slack_sdk's columns, so all
text columns have unlimited length here. Times are in UTC without a time zone, as slack_sdk writes
them.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from bot.storage.tables import metadata


def _texts(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.Text) for name in names]


def _of_app() -> list[sa.Column[Any]]:
    """The columns shared by both tables: the app, where it is installed, and its bot."""
    return [
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("client_id", sa.Text, nullable=False),
        sa.Column("app_id", sa.Text, nullable=False),
        *_texts("enterprise_id", "enterprise_name", "team_id", "team_name"),
        *_texts("bot_token", "bot_id", "bot_user_id", "bot_scopes", "bot_refresh_token"),
        sa.Column("bot_token_expires_at", sa.DateTime),
        sa.Column("is_enterprise_install", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("installed_at", sa.DateTime, nullable=False, server_default=sa.func.now()),
    ]


# One row for each person who installed the app, with everything that Slack reported then.
slack_installations = sa.Table(
    "slack_installations",
    metadata,
    *_of_app(),
    *_texts("enterprise_url", "user_token", "user_scopes", "user_refresh_token", "token_type"),
    sa.Column("user_id", sa.Text, nullable=False),
    sa.Column("user_token_expires_at", sa.DateTime),
    *_texts("incoming_webhook_url", "incoming_webhook_channel", "incoming_webhook_channel_id"),
    *_texts("incoming_webhook_configuration_url"),
    sa.Index(None, "client_id", "team_id", "user_id"),
)

# The bot of a workspace or of a whole organisation; the newest row is valid.
slack_bots = sa.Table("slack_bots", metadata, *_of_app(), sa.Index(None, "client_id", "team_id"))

# OAuth states of browsers sent to Slack, until they return or expire.
slack_oauth_states = sa.Table(
    "slack_oauth_states",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("state", sa.Text, nullable=False, unique=True),
    sa.Column("expire_at", sa.DateTime, nullable=False),
)
