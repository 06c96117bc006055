"""Standing questions."""

import sqlalchemy as sa
from alembic import op

from bot.storage.tables import UtcDateTime

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    op.create_table(
        "watches",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("origin_id", sa.Text(), nullable=False),
        sa.Column("author_id", sa.Text(), nullable=False),
        sa.Column("author_name", sa.Text(), nullable=False),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("locale", sa.Text(), nullable=False),
        sa.Column("schedule", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("created_at", UtcDateTime(timezone=True), nullable=False),
        sa.Column("due_at", UtcDateTime(timezone=True), nullable=False),
        sa.Column("interest_at", UtcDateTime(timezone=True), nullable=False),
        sa.Column("looked_at", UtcDateTime(timezone=True)),
        sa.Column("outcome", sa.Text(), nullable=False, server_default=""),
        *(
            sa.ForeignKeyConstraint(
                [name], ["runs.id"], name=op.f(f"fk_watches_{name}_runs"), ondelete="CASCADE"
            )
            for name in ("run_id", "origin_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_watches")),
    )
    for name in ("run_id", "origin_id", "author_id"):
        op.create_index(op.f(f"ix_watches_{name}"), "watches", [name])
    op.create_index(op.f("ix_watches_state_due_at"), "watches", ["state", "due_at"])
