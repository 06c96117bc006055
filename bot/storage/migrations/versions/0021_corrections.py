"""Corrections."""

import sqlalchemy as sa
from alembic import op

from bot.storage.tables import UtcDateTime

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    op.create_table(
        "corrections",
        sa.Column("run_id", sa.Text(), nullable=False),
        *(
            sa.Column(name, sa.Text(), nullable=False)
            for name in ("place", "channel_name", "url", "statement", "question", "link", "terms")
        ),
        sa.Column("kept_at", UtcDateTime(timezone=True), nullable=False),
        sa.Column("removed", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.ForeignKeyConstraint(
            ["run_id"], ["runs.id"], name=op.f("fk_corrections_run_id_runs"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_corrections")),
    )
    op.create_index(op.f("ix_corrections_place_kept_at"), "corrections", ["place", "kept_at"])
