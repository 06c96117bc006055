"""The overview: what finds runs by when they were asked and when they ended."""

from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    for column in ("accepted_at", "ended_at"):
        op.create_index(op.f(f"ix_runs_{column}"), "runs", [column])
