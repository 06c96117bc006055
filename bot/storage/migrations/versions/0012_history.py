"""Conversations with names, pins, links for others and words to find them by; reasons of feedback.

The words are filled in while Footnote works (``storage.found_words``): nothing is read here. On
SQLite an FTS5 table indexes them, kept in step by triggers; on PostgreSQL a GIN index of lexemes.
"""

import sqlalchemy as sa
from alembic import op

from bot.storage.tables import UtcDateTime

revision = "0012"
down_revision = "0011"

_SQLITE = (
    # Without positions: a conversation is found by all of its words, in whatever order.
    "CREATE VIRTUAL TABLE found_words_index USING fts5("
    "terms, content='found_words', content_rowid='id', detail=none, columnsize=0, "
    "tokenize='unicode61 remove_diacritics 0')",
    "CREATE TRIGGER found_words_added AFTER INSERT ON found_words BEGIN "
    "INSERT INTO found_words_index(rowid, terms) VALUES (new.id, new.terms); END",
    "CREATE TRIGGER found_words_gone AFTER DELETE ON found_words BEGIN "
    "INSERT INTO found_words_index(found_words_index, rowid, terms) "
    "VALUES ('delete', old.id, old.terms); END",
    "CREATE TRIGGER found_words_of_changed_run "
    "AFTER UPDATE OF answer, attempt, thread_key ON runs BEGIN "
    "DELETE FROM found_words WHERE run_id = new.id; END",
)

_POSTGRES = """
CREATE INDEX ix_found_words_terms ON found_words
    USING gin (array_to_tsvector(string_to_array(terms, ' ')));

CREATE FUNCTION footnote_forget_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM found_words WHERE run_id = NEW.id;
    RETURN NULL;
END;
$$;

CREATE TRIGGER footnote_forget_words AFTER UPDATE OF answer, attempt, thread_key ON runs
    FOR EACH ROW EXECUTE FUNCTION footnote_forget_words();
"""


def upgrade() -> None:
    for name in ("title", "titled_by"):
        op.add_column("threads", sa.Column(name, sa.Text(), nullable=False, server_default=""))
    op.add_column(
        "threads", sa.Column("pinned", sa.Boolean(), nullable=False, server_default=sa.false())
    )
    op.create_index(
        "ix_threads_pinned",
        "threads",
        ["pinned"],
        sqlite_where=sa.text("pinned"),
        postgresql_where=sa.text("pinned"),
    )
    for name in ("reason", "words"):
        op.add_column("feedback", sa.Column(name, sa.Text(), nullable=False, server_default=""))
    op.create_index(op.f("ix_feedback_at"), "feedback", ["at"])
    op.create_table(
        "shares",
        sa.Column("token", sa.Text(), nullable=False),
        sa.Column("thread_key", sa.Text(), nullable=False),
        sa.Column("author_id", sa.Text(), nullable=False),
        sa.Column("at", UtcDateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["thread_key"],
            ["threads.key"],
            name=op.f("fk_shares_thread_key_threads"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("token", name=op.f("pk_shares")),
        sa.UniqueConstraint("thread_key", name=op.f("uq_shares_thread_key")),
    )
    op.create_index(op.f("ix_shares_author_id"), "shares", ["author_id"])
    op.create_table(
        "found_words",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("thread_key", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("part", sa.Text(), nullable=False),
        sa.Column("terms", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["thread_key"],
            ["threads.key"],
            name=op.f("fk_found_words_thread_key_threads"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["run_id"],
            ["runs.id"],
            name=op.f("fk_found_words_run_id_runs"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_found_words")),
        sa.UniqueConstraint("run_id", "part", name=op.f("uq_found_words_run_id_part")),
    )
    op.create_index(op.f("ix_found_words_thread_key"), "found_words", ["thread_key"])
    if op.get_bind().dialect.name == "postgresql":
        op.get_bind().exec_driver_sql(_POSTGRES, execution_options={"no_parameters": True})
        return
    for statement in _SQLITE:
        op.get_bind().exec_driver_sql(statement)
