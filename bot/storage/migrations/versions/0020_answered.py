"""Answered questions, found by their words when they are asked again.

On SQLite an FTS5 table indexes the words, kept in step by triggers; on PostgreSQL a GIN index of
lexemes. Answers are added as they are given: nothing is read here.
"""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"

_SQLITE = (
    "CREATE VIRTUAL TABLE answered_index USING fts5("
    "terms, content='answered', content_rowid='id', detail=none, columnsize=0, "
    "tokenize='unicode61 remove_diacritics 0')",
    "CREATE TRIGGER answered_added AFTER INSERT ON answered BEGIN "
    "INSERT INTO answered_index(rowid, terms) VALUES (new.id, new.terms); END",
    "CREATE TRIGGER answered_changed AFTER UPDATE OF terms ON answered BEGIN "
    "INSERT INTO answered_index(answered_index, rowid, terms) "
    "VALUES ('delete', old.id, old.terms); "
    "INSERT INTO answered_index(rowid, terms) VALUES (new.id, new.terms); END",
    "CREATE TRIGGER answered_gone AFTER DELETE ON answered BEGIN "
    "INSERT INTO answered_index(answered_index, rowid, terms) "
    "VALUES ('delete', old.id, old.terms); END",
)
_POSTGRES = """
CREATE INDEX ix_answered_terms ON answered
    USING gin (array_to_tsvector(string_to_array(terms, ' ')))
"""


def upgrade() -> None:
    op.create_table(
        "answered",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("origin_id", sa.Text(), nullable=False, server_default=""),
        sa.Column("terms", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id"], ["runs.id"], name=op.f("fk_answered_run_id_runs"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_answered")),
        sa.UniqueConstraint("run_id", name=op.f("uq_answered_run_id")),
    )
    op.create_index(op.f("ix_answered_origin_id"), "answered", ["origin_id"])
    if op.get_bind().dialect.name == "postgresql":
        op.execute(_POSTGRES)
        return
    for statement in _SQLITE:
        op.get_bind().exec_driver_sql(statement)
