"""Tables for an app's installations, used by slack_sdk's own stores.

Their names and columns are slack_sdk's (``slack_sdk.oauth``); a test compares the two. Columns with
a secret hold text that ``bot.storage.encryption`` closed, which is longer than what slack_sdk makes
room for, so all texts are of any length here. Moments are in UTC without saying so, as slack_sdk
writes them.
"""

from __future__ import annotations

import sqlalchemy as sa

from bot.storage.tables import metadata

# One row for everybody who installed the app, with all that Slack told then.
slack_installations = sa.Table(
    "slack_installations",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("client_id", sa.Text, nullable=False),
    sa.Column("app_id", sa.Text, nullable=False),
    sa.Column("enterprise_id", sa.Text),
    sa.Column("enterprise_name", sa.Text),
    sa.Column("enterprise_url", sa.Text),
    sa.Column("team_id", sa.Text),
    sa.Column("team_name", sa.Text),
    sa.Column("bot_token", sa.Text),
    sa.Column("bot_id", sa.Text),
    sa.Column("bot_user_id", sa.Text),
    sa.Column("bot_scopes", sa.Text),
    sa.Column("bot_refresh_token", sa.Text),
    sa.Column("bot_token_expires_at", sa.DateTime),
    sa.Column("user_id", sa.Text, nullable=False),
    sa.Column("user_token", sa.Text),
    sa.Column("user_scopes", sa.Text),
    sa.Column("user_refresh_token", sa.Text),
    sa.Column("user_token_expires_at", sa.DateTime),
    sa.Column("incoming_webhook_url", sa.Text),
    sa.Column("incoming_webhook_channel", sa.Text),
    sa.Column("incoming_webhook_channel_id", sa.Text),
    sa.Column("incoming_webhook_configuration_url", sa.Text),
    sa.Column("is_enterprise_install", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("token_type", sa.Text),
    sa.Column("installed_at", sa.DateTime, nullable=False, server_default=sa.func.now()),
    sa.Index(None, "client_id", "team_id", "user_id"),
)

# The bot of a workspace or of a whole organisation; the newest row counts.
slack_bots = sa.Table(
    "slack_bots",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("client_id", sa.Text, nullable=False),
    sa.Column("app_id", sa.Text, nullable=False),
    sa.Column("enterprise_id", sa.Text),
    sa.Column("enterprise_name", sa.Text),
    sa.Column("team_id", sa.Text),
    sa.Column("team_name", sa.Text),
    sa.Column("bot_token", sa.Text),
    sa.Column("bot_id", sa.Text),
    sa.Column("bot_user_id", sa.Text),
    sa.Column("bot_scopes", sa.Text),
    sa.Column("bot_refresh_token", sa.Text),
    sa.Column("bot_token_expires_at", sa.DateTime),
    sa.Column("is_enterprise_install", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("installed_at", sa.DateTime, nullable=False, server_default=sa.func.now()),
    sa.Index(None, "client_id", "team_id"),
)

# OAuth states of browsers sent to Slack, until they return or expire.
slack_oauth_states = sa.Table(
    "slack_oauth_states",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("state", sa.Text, nullable=False, unique=True),
    sa.Column("expire_at", sa.DateTime, nullable=False),
)
