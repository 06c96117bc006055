"""Telling other processes which runs change, where there is PostgreSQL (see ``storage.signals``).

A run's reply is shown by other processes on the web only, which keeps all that it shows as post
state. A run that begins in any other state than these two is one of the past that is brought in.
"""

from alembic import op

revision = "0008"
down_revision = "0007"

# A payload may have 8,000 bytes; a thread's key that is cut is that of no thread.
_TRIGGERS = """
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


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        # Without parameters, so that the driver sends several statements and reads no % in them.
        op.get_bind().exec_driver_sql(_TRIGGERS, execution_options={"no_parameters": True})
