"""Pages of a run have the number they are shown under beside the one they were given."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.add_column("run_pages", sa.Column("shown", sa.Integer(), nullable=True))
