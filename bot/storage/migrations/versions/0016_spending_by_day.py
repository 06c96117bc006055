"""Spending by day: for sums over a month, and for what is old enough to be taken away."""

from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    op.create_index(op.f("ix_spending_day"), "spending", ["day"])
