"""The provenance of texts that Footnote made: of corrections and of questions from buttons."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    for table in ("messages", "corrections"):
        op.add_column(table, sa.Column("made_from", sa.JSON(), nullable=False, server_default="[]"))
    # What was made from which documents is not known, so the authors' own words are all that stays.
    op.execute(
        "UPDATE corrections SET question = '', statement = (SELECT substr(messages.text, 1, 600)"
        " FROM runs JOIN messages ON messages.id = runs.message_id"
        " WHERE runs.id = corrections.run_id)"
        " WHERE NOT removed"
    )
