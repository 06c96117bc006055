"""Conversations on chat platforms: history, removed questions, feedback, channel rules, facts."""

import sqlalchemy as sa
from alembic import op

from bot.storage.tables import UtcDateTime

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.add_column(
        "threads",
        sa.Column("history_read", sa.Boolean(), nullable=False, server_default=sa.false()),
    )
    op.add_column(
        "runs", sa.Column("removed", sa.Boolean(), nullable=False, server_default=sa.false())
    )
    op.create_table(
        "feedback",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("author_id", sa.Text(), nullable=False),
        sa.Column("verdict", sa.Text(), nullable=False),
        sa.Column("at", UtcDateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id"], ["runs.id"], name=op.f("fk_feedback_run_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("run_id", "author_id", name=op.f("pk_feedback")),
    )
    op.create_table(
        "channel_rules",
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("rules", sa.JSON(), nullable=False),
        sa.Column("author_id", sa.Text(), nullable=False),
        sa.Column("at", UtcDateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("platform", "workspace", "channel", name=op.f("pk_channel_rules")),
    )
    op.create_table(
        "facts",
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.JSON(), nullable=False),
        sa.Column("at", UtcDateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("platform", "workspace", "name", name=op.f("pk_facts")),
    )
