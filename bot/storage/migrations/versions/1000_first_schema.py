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
from bot.storage.tables import UtcDateTime

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
    _create_tables()
    audit_key = sa.table("audit_key", sa.column("id"), sa.column("key"))
    op.execute(sa.insert(audit_key).values(id=1, key=secrets.token_hex(32)))
    connection = op.get_bind()
    on_postgres = connection.dialect.name == "postgresql"
    if on_postgres:
        create_queue(connection)
    for statement in _POSTGRES if on_postgres else _SQLITE:
        # Without parameters, so that the driver sends several statements and reads no % in them.
        connection.exec_driver_sql(statement, execution_options={"no_parameters": True})


def _create_tables() -> None:
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", UtcDateTime(timezone=True), nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("person", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("deed", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("object", sa.Text(), nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit")),
    )
    op.create_index(op.f("ix_audit_at"), "audit", ["at"])
    op.create_index(op.f("ix_audit_deed_at"), "audit", ["deed", "at"])
    op.create_index(op.f("ix_audit_platform_person"), "audit", ["platform", "person"])
    op.create_table(
        "audit_key",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_key")),
    )
    op.create_table(
        "channel_rules",
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("rules", sa.JSON(), nullable=False),
        sa.Column("author_id", sa.Text(), nullable=False),
        sa.Column("at", UtcDateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("platform", "workspace", "channel", name=op.f("pk_channel_rules")),
    )
    op.create_table(
        "facts",
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.JSON(), nullable=False),
        sa.Column("at", UtcDateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("platform", "workspace", "name", name=op.f("pk_facts")),
    )
    op.create_table(
        "forgettings",
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("until", sa.Integer(), nullable=False),
        sa.Column("at", UtcDateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("kind", "platform", "name", name=op.f("pk_forgettings")),
    )
    op.create_table(
        "pages",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("fetched_at", UtcDateTime(timezone=True), nullable=False),
        sa.Column("via", sa.Text(), server_default="", nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pages")),
        sa.UniqueConstraint("url", "hash", name=op.f("uq_pages_url_hash")),
    )
    op.create_index(
        "ix_pages_documents",
        "pages",
        ["id"],
        sqlite_where=sa.text("substr(url, 1, 5) = 'file:'"),
        postgresql_where=sa.text("substr(url, 1, 5) = 'file:'"),
    )
    op.create_index(op.f("ix_pages_fetched_at"), "pages", ["fetched_at"])
    op.create_table(
        "sign_ins",
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("person", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("groups", sa.JSON(), nullable=False),
        sa.Column("id_token", sa.Text(), nullable=False),
        sa.Column("ends_at", UtcDateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_sign_ins")),
    )
    op.create_index(op.f("ix_sign_ins_ends_at"), "sign_ins", ["ends_at"])
    op.create_index(op.f("ix_sign_ins_person"), "sign_ins", ["person"])
    op.create_table(
        "slack_bots",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("client_id", sa.Text(), nullable=False),
        sa.Column("app_id", sa.Text(), nullable=False),
        sa.Column("enterprise_id", sa.Text(), nullable=True),
        sa.Column("enterprise_name", sa.Text(), nullable=True),
        sa.Column("team_id", sa.Text(), nullable=True),
        sa.Column("team_name", sa.Text(), nullable=True),
        sa.Column("bot_token", sa.Text(), nullable=True),
        sa.Column("bot_id", sa.Text(), nullable=True),
        sa.Column("bot_user_id", sa.Text(), nullable=True),
        sa.Column("bot_scopes", sa.Text(), nullable=True),
        sa.Column("bot_refresh_token", sa.Text(), nullable=True),
        sa.Column("bot_token_expires_at", sa.DateTime(), nullable=True),
        sa.Column("is_enterprise_install", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("installed_at", sa.DateTime(), server_default=sa.func.now(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_slack_bots")),
    )
    op.create_index(op.f("ix_slack_bots_client_id_team_id"), "slack_bots", ["client_id", "team_id"])
    op.create_table(
        "slack_installations",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("client_id", sa.Text(), nullable=False),
        sa.Column("app_id", sa.Text(), nullable=False),
        sa.Column("enterprise_id", sa.Text(), nullable=True),
        sa.Column("enterprise_name", sa.Text(), nullable=True),
        sa.Column("team_id", sa.Text(), nullable=True),
        sa.Column("team_name", sa.Text(), nullable=True),
        sa.Column("bot_token", sa.Text(), nullable=True),
        sa.Column("bot_id", sa.Text(), nullable=True),
        sa.Column("bot_user_id", sa.Text(), nullable=True),
        sa.Column("bot_scopes", sa.Text(), nullable=True),
        sa.Column("bot_refresh_token", sa.Text(), nullable=True),
        sa.Column("bot_token_expires_at", sa.DateTime(), nullable=True),
        sa.Column("is_enterprise_install", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("installed_at", sa.DateTime(), server_default=sa.func.now(), nullable=False),
        sa.Column("enterprise_url", sa.Text(), nullable=True),
        sa.Column("user_token", sa.Text(), nullable=True),
        sa.Column("user_scopes", sa.Text(), nullable=True),
        sa.Column("user_refresh_token", sa.Text(), nullable=True),
        sa.Column("token_type", sa.Text(), nullable=True),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("user_token_expires_at", sa.DateTime(), nullable=True),
        sa.Column("incoming_webhook_url", sa.Text(), nullable=True),
        sa.Column("incoming_webhook_channel", sa.Text(), nullable=True),
        sa.Column("incoming_webhook_channel_id", sa.Text(), nullable=True),
        sa.Column("incoming_webhook_configuration_url", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_slack_installations")),
    )
    op.create_index(
        op.f("ix_slack_installations_client_id_team_id_user_id"),
        "slack_installations",
        ["client_id", "team_id", "user_id"],
    )
    op.create_table(
        "slack_oauth_states",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("expire_at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_slack_oauth_states")),
        sa.UniqueConstraint("state", name=op.f("uq_slack_oauth_states_state")),
    )
    op.create_table(
        "spending",
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("micro_usd", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("questions", sa.Integer(), server_default="0", nullable=False),
        sa.Column("model_calls", sa.Integer(), server_default="0", nullable=False),
        sa.Column("unpriced_calls", sa.Integer(), server_default="0", nullable=False),
        sa.Column("input_tokens", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("output_tokens", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("cached_tokens", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("uploaded_bytes", sa.BigInteger(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint(
            "platform", "scope", "name", "day", "workspace", name=op.f("pk_spending")
        ),
    )
    op.create_index(op.f("ix_spending_day"), "spending", ["day"])
    op.create_table(
        "threads",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("thread", sa.Text(), nullable=False),
        sa.Column("created_at", UtcDateTime(timezone=True), nullable=False),
        sa.Column("history_read", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("title", sa.Text(), server_default="", nullable=False),
        sa.Column("titled_by", sa.Text(), server_default="", nullable=False),
        sa.Column("pinned", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_threads")),
    )
    op.create_index(
        "ix_threads_pinned",
        "threads",
        ["pinned"],
        sqlite_where=sa.text("pinned"),
        postgresql_where=sa.text("pinned"),
    )
    op.create_index(
        op.f("ix_threads_platform_workspace_channel"),
        "threads",
        ["platform", "workspace", "channel"],
    )
    op.create_table(
        "messages",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("thread_key", sa.Text(), nullable=False),
        sa.Column("event_key", sa.Text(), nullable=False),
        sa.Column("author_id", sa.Text(), nullable=False),
        sa.Column("author_name", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("links", sa.JSON(), nullable=False),
        sa.Column("attachments", sa.JSON(), nullable=False),
        sa.Column("locale", sa.Text(), nullable=False),
        sa.Column("at", UtcDateTime(timezone=True), nullable=False),
        sa.Column("made_from", sa.JSON(), server_default="[]", nullable=False),
        sa.ForeignKeyConstraint(
            ["thread_key"], ["threads.key"], name=op.f("fk_messages_thread_key"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_messages")),
        sa.UniqueConstraint("event_key", name=op.f("uq_messages_event_key")),
    )
    op.create_index(op.f("ix_messages_at"), "messages", ["at"])
    op.create_index(op.f("ix_messages_author_id_id"), "messages", ["author_id", "id"])
    op.create_index(op.f("ix_messages_thread_key_id"), "messages", ["thread_key", "id"])
    op.create_table(
        "shares",
        sa.Column("token", sa.Text(), nullable=False),
        sa.Column("thread_key", sa.Text(), nullable=False),
        sa.Column("author_id", sa.Text(), nullable=False),
        sa.Column("at", UtcDateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["thread_key"], ["threads.key"], name=op.f("fk_shares_thread_key"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("token", name=op.f("pk_shares")),
        sa.UniqueConstraint("thread_key", name=op.f("uq_shares_thread_key")),
    )
    op.create_index(op.f("ix_shares_author_id"), "shares", ["author_id"])
    op.create_table(
        "files",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("message_id", sa.Integer(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["message_id"], ["messages.id"], name=op.f("fk_files_message_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_files")),
        sa.UniqueConstraint("url", name=op.f("uq_files_url")),
    )
    op.create_index(op.f("ix_files_message_id"), "files", ["message_id"])
    op.create_table(
        "runs",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("thread_key", sa.Text(), nullable=False),
        sa.Column("message_id", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("accepted_at", UtcDateTime(timezone=True), nullable=False),
        sa.Column("ended_at", UtcDateTime(timezone=True), nullable=True),
        sa.Column("attempt", sa.Integer(), server_default="0", nullable=False),
        sa.Column("owner", sa.Text(), nullable=True),
        sa.Column("lease_until", UtcDateTime(timezone=True), nullable=True),
        sa.Column("stop_requested", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("removed", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("post_state", sa.JSON(), nullable=True),
        sa.Column("answer", sa.JSON(), nullable=True),
        sa.ForeignKeyConstraint(
            ["message_id"], ["messages.id"], name=op.f("fk_runs_message_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["thread_key"], ["threads.key"], name=op.f("fk_runs_thread_key"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_runs")),
        sa.UniqueConstraint("message_id", name=op.f("uq_runs_message_id")),
    )
    op.create_index(op.f("ix_runs_accepted_at"), "runs", ["accepted_at"])
    op.create_index(op.f("ix_runs_ended_at"), "runs", ["ended_at"])
    op.create_index(op.f("ix_runs_state"), "runs", ["state"])
    op.create_index(op.f("ix_runs_thread_key"), "runs", ["thread_key"])
    op.create_table(
        "citations",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("page_id", sa.Integer(), nullable=False),
        sa.Column("start", sa.Integer(), nullable=False),
        sa.Column("end", sa.Integer(), nullable=False),
        sa.Column("quote", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["page_id"], ["pages.id"], name=op.f("fk_citations_page_id")),
        sa.ForeignKeyConstraint(
            ["run_id"], ["runs.id"], name=op.f("fk_citations_run_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("run_id", "position", name=op.f("pk_citations")),
    )
    op.create_index(op.f("ix_citations_page_id"), "citations", ["page_id"])
    op.create_table(
        "corrections",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("channel_name", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("statement", sa.Text(), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("link", sa.Text(), nullable=False),
        sa.Column("terms", sa.Text(), nullable=False),
        sa.Column("made_from", sa.JSON(), server_default="[]", nullable=False),
        sa.Column("kept_at", UtcDateTime(timezone=True), nullable=False),
        sa.Column("removed", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id"], ["runs.id"], name=op.f("fk_corrections_run_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_corrections")),
    )
    op.create_index(op.f("ix_corrections_place_kept_at"), "corrections", ["place", "kept_at"])
    op.create_table(
        "feedback",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("author_id", sa.Text(), nullable=False),
        sa.Column("verdict", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.Column("words", sa.Text(), server_default="", nullable=False),
        sa.Column("at", UtcDateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id"], ["runs.id"], name=op.f("fk_feedback_run_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("run_id", "author_id", name=op.f("pk_feedback")),
    )
    op.create_index(op.f("ix_feedback_at"), "feedback", ["at"])
    op.create_index(op.f("ix_feedback_author_id"), "feedback", ["author_id"])
    op.create_table(
        "found_words",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("thread_key", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("part", sa.Text(), nullable=False),
        sa.Column("terms", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id"], ["runs.id"], name=op.f("fk_found_words_run_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["thread_key"],
            ["threads.key"],
            name=op.f("fk_found_words_thread_key"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_found_words")),
        sa.UniqueConstraint("run_id", "part", name=op.f("uq_found_words_run_id_part")),
    )
    op.create_index(op.f("ix_found_words_thread_key"), "found_words", ["thread_key"])
    op.create_table(
        "reservations",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("person", sa.Text(), nullable=False),
        sa.Column("micro_usd", sa.BigInteger(), nullable=False),
        sa.Column("is_answer", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id"], ["runs.id"], name=op.f("fk_reservations_run_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_reservations")),
    )
    op.create_index(op.f("ix_reservations_run_id"), "reservations", ["run_id"])
    op.create_table(
        "run_pages",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("shown", sa.Integer(), nullable=True),
        sa.Column("page_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["page_id"], ["pages.id"], name=op.f("fk_run_pages_page_id")),
        sa.ForeignKeyConstraint(
            ["run_id"], ["runs.id"], name=op.f("fk_run_pages_run_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("run_id", "number", name=op.f("pk_run_pages")),
        sa.UniqueConstraint("run_id", "page_id", name=op.f("uq_run_pages_run_id_page_id")),
    )
    op.create_index(op.f("ix_run_pages_page_id"), "run_pages", ["page_id"])
    op.create_table(
        "steps",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("result", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("at", UtcDateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id"], ["runs.id"], name=op.f("fk_steps_run_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_steps")),
        sa.UniqueConstraint("run_id", "key", name=op.f("uq_steps_run_id_key")),
    )
    op.create_index(op.f("ix_steps_at"), "steps", ["at"])
    op.create_table(
        "watches",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("origin_id", sa.Text(), nullable=False),
        sa.Column("author_id", sa.Text(), nullable=False),
        sa.Column("author_name", sa.Text(), nullable=False),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("locale", sa.Text(), nullable=False),
        sa.Column("schedule", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("created_at", UtcDateTime(timezone=True), nullable=False),
        sa.Column("due_at", UtcDateTime(timezone=True), nullable=False),
        sa.Column("interest_at", UtcDateTime(timezone=True), nullable=False),
        sa.Column("looked_at", UtcDateTime(timezone=True), nullable=True),
        sa.Column("outcome", sa.Text(), server_default="", nullable=False),
        sa.ForeignKeyConstraint(
            ["origin_id"], ["runs.id"], name=op.f("fk_watches_origin_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["run_id"], ["runs.id"], name=op.f("fk_watches_run_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_watches")),
    )
    op.create_index(op.f("ix_watches_author_id"), "watches", ["author_id"])
    op.create_index(op.f("ix_watches_origin_id"), "watches", ["origin_id"])
    op.create_index(op.f("ix_watches_run_id"), "watches", ["run_id"])
    op.create_index(op.f("ix_watches_state_due_at"), "watches", ["state", "due_at"])
