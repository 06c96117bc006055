"""Pages whose text came from somebody else than their site."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.add_column("pages", sa.Column("via", sa.Text(), nullable=False, server_default=""))
