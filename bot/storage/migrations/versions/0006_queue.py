"""The queue of the dispatcher `postgres`, where there is PostgreSQL."""

from alembic import op

from bot.storage import queue_schema

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        queue_schema.create(op.get_bind())
