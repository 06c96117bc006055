"""Pruning and forgetting: what finds rows by age and person, and what is still to be forgotten."""

import sqlalchemy as sa
from alembic import op

from bot.storage.tables import UtcDateTime

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    for table, columns in (
        ("threads", ["platform", "workspace", "channel"]),
        ("messages", ["author_id", "id"]),
        ("messages", ["at"]),
        ("feedback", ["author_id"]),
        ("pages", ["fetched_at"]),
        ("steps", ["at"]),
    ):
        op.create_index(op.f("_".join(["ix", table, *columns])), table, columns)
    op.create_table(
        "forgettings",
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("until", sa.Integer(), nullable=False),
        sa.Column("at", UtcDateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("kind", "platform", "name", name=op.f("pk_forgettings")),
    )
