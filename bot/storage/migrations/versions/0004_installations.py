"""Installations of the Slack app in workspaces, and the browsers on their way to one."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_table(
        "slack_installations",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("client_id", sa.Text(), nullable=False),
        sa.Column("app_id", sa.Text(), nullable=False),
        sa.Column("enterprise_id", sa.Text()),
        sa.Column("enterprise_name", sa.Text()),
        sa.Column("enterprise_url", sa.Text()),
        sa.Column("team_id", sa.Text()),
        sa.Column("team_name", sa.Text()),
        sa.Column("bot_token", sa.Text()),
        sa.Column("bot_id", sa.Text()),
        sa.Column("bot_user_id", sa.Text()),
        sa.Column("bot_scopes", sa.Text()),
        sa.Column("bot_refresh_token", sa.Text()),
        sa.Column("bot_token_expires_at", sa.DateTime()),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("user_token", sa.Text()),
        sa.Column("user_scopes", sa.Text()),
        sa.Column("user_refresh_token", sa.Text()),
        sa.Column("user_token_expires_at", sa.DateTime()),
        sa.Column("incoming_webhook_url", sa.Text()),
        sa.Column("incoming_webhook_channel", sa.Text()),
        sa.Column("incoming_webhook_channel_id", sa.Text()),
        sa.Column("incoming_webhook_configuration_url", sa.Text()),
        sa.Column("is_enterprise_install", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("token_type", sa.Text()),
        sa.Column("installed_at", sa.DateTime(), nullable=False, server_default=sa.func.now()),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_slack_installations")),
    )
    op.create_index(
        op.f("ix_slack_installations_client_id_team_id_user_id"),
        "slack_installations",
        ["client_id", "team_id", "user_id"],
    )
    op.create_table(
        "slack_bots",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("client_id", sa.Text(), nullable=False),
        sa.Column("app_id", sa.Text(), nullable=False),
        sa.Column("enterprise_id", sa.Text()),
        sa.Column("enterprise_name", sa.Text()),
        sa.Column("team_id", sa.Text()),
        sa.Column("team_name", sa.Text()),
        sa.Column("bot_token", sa.Text()),
        sa.Column("bot_id", sa.Text()),
        sa.Column("bot_user_id", sa.Text()),
        sa.Column("bot_scopes", sa.Text()),
        sa.Column("bot_refresh_token", sa.Text()),
        sa.Column("bot_token_expires_at", sa.DateTime()),
        sa.Column("is_enterprise_install", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("installed_at", sa.DateTime(), nullable=False, server_default=sa.func.now()),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_slack_bots")),
    )
    op.create_index(op.f("ix_slack_bots_client_id_team_id"), "slack_bots", ["client_id", "team_id"])
    op.create_table(
        "slack_oauth_states",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("expire_at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_slack_oauth_states")),
        sa.UniqueConstraint("state", name=op.f("uq_slack_oauth_states_state")),
    )
