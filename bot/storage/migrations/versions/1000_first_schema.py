"""The schema of the first release.

Words of conversations and answers are indexed by FTS5 on SQLite, kept in step by triggers, and by a
GIN index of lexemes on PostgreSQL. PostgreSQL tells other processes which runs change (see
``storage.postgres``): a run's reply is shown by other processes on the web only, which keeps all
that it shows as post state; a run that begins in any other state than "accepted" or "running" is
one of the past that is brought in.

Rows of the audit log are only added: triggers refuse all but retention and forgetting. A row may
be deleted once a row of the deed "pruned" names a later day, and changed only by putting a
pseudonym in the place of a person and taking the address away.
"""

import secrets

import sqlalchemy as sa
from alembic import op

from bot.storage.migrate import create_queue
from bot.storage.tables import audit_key, metadata

revision = "1000"
down_revision = None

# A payload may have 8,000 bytes; a thread's key that is cut is that of no thread.
_SIGNALS_POSTGRES = """
CREATE FUNCTION footnote_tell_of_run() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('footnote_runs', NEW.id || ' ' || left(NEW.thread_key, 1500));
    RETURN NULL;
END;
$$;

CREATE TRIGGER footnote_tell_of_new_run AFTER INSERT ON runs
    FOR EACH ROW WHEN (NEW.state IN ('accepted', 'running'))
    EXECUTE FUNCTION footnote_tell_of_run();

CREATE TRIGGER footnote_tell_of_run
    AFTER UPDATE OF state, removed, thread_key, post_state ON runs
    FOR EACH ROW WHEN (
        NEW.thread_key LIKE 'web:%'
        OR NEW.state <> OLD.state
        OR NEW.removed <> OLD.removed
        OR NEW.thread_key <> OLD.thread_key
    )
    EXECUTE FUNCTION footnote_tell_of_run();
"""

# Without positions: a conversation is found by all of its words, in whatever order.
_WORDS_SQLITE = (
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

_WORDS_POSTGRES = """
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

_UNCHANGED = " AND ".join(
    f"new.{name} = old.{name}"
    for name in ("id", "at", "platform", "workspace", "deed", "kind", "object", "place", "outcome")
)
_FORGETS = f"(new.person LIKE 'forgotten:%' AND new.address = '' AND {_UNCHANGED})"
_PRUNED = "(SELECT object FROM audit WHERE deed = 'pruned' ORDER BY at DESC LIMIT 1)"

_AUDIT_SQLITE = (
    "CREATE TRIGGER audit_is_kept BEFORE DELETE ON audit "
    f"WHEN old.at >= coalesce({_PRUNED}, '') "
    "BEGIN SELECT RAISE(ABORT, 'rows of the audit log are not deleted'); END",
    f"CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit WHEN NOT {_FORGETS} "
    "BEGIN SELECT RAISE(ABORT, 'rows of the audit log are not changed'); END",
)

_AUDIT_POSTGRES = (
    f"""
CREATE FUNCTION footnote_keep_audit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        IF NOT {_FORGETS} THEN
            RAISE EXCEPTION 'rows of the audit log are not changed';
        END IF;
        RETURN NEW;
    END IF;
    IF TG_OP = 'TRUNCATE' OR OLD.at >= coalesce(
        CAST({_PRUNED} AS date)::timestamp AT TIME ZONE 'UTC', '-infinity'
    ) THEN
        RAISE EXCEPTION 'rows of the audit log are not deleted';
    END IF;
    RETURN OLD;
END;
$$
""",
    "CREATE TRIGGER audit_is_kept BEFORE DELETE OR UPDATE ON audit "
    "FOR EACH ROW EXECUTE FUNCTION footnote_keep_audit()",
    "CREATE TRIGGER audit_is_not_emptied BEFORE TRUNCATE ON audit "
    "FOR EACH STATEMENT EXECUTE FUNCTION footnote_keep_audit()",
)

_SQLITE = (*_WORDS_SQLITE, *_AUDIT_SQLITE)
_POSTGRES = (_SIGNALS_POSTGRES, _WORDS_POSTGRES, *_AUDIT_POSTGRES)


def upgrade() -> None:
    connection = op.get_bind()
    on_postgres = connection.dialect.name == "postgresql"
    if on_postgres:  # the tables name the conditions of indexes for SQLite only
        for index in (index for table in metadata.tables.values() for index in table.indexes):
            where = index.dialect_options["sqlite"]["where"]
            index.dialect_options["postgresql"]["where"] = where
    # Until the first release. Before a migration follows it, the tables must be written down here.
    metadata.create_all(connection, checkfirst=False)
    connection.execute(sa.insert(audit_key).values(id=1, key=secrets.token_hex(32)))
    if on_postgres:
        create_queue(connection)
    for statement in _POSTGRES if on_postgres else _SQLITE:
        # Without parameters, so that the driver sends several statements and reads no % in them.
        connection.exec_driver_sql(statement, execution_options={"no_parameters": True})
