"""An index of the pages that are documents: few, among millions of the web's."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    is_document = sa.text("substr(url, 1, 5) = 'file:'")
    op.create_index(
        "ix_pages_documents",
        "pages",
        ["id"],
        sqlite_where=is_document,
        postgresql_where=is_document,
    )
