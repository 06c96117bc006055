"""The bytes of files that people send in a day."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    op.add_column(
        "spending",
        sa.Column("uploaded_bytes", sa.BigInteger(), nullable=False, server_default="0"),
    )
