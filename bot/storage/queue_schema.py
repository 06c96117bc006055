"""The tables of the queue, which belong to Procrastinate and live beside ours in PostgreSQL.

Procrastinate ships its whole schema in one file, and each change in a file of ``sql/migrations``
whose name begins with the version and sorts by it. The name of the newest applied file is stored
as a table comment; files of a later version are applied when the database is next opened.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path

import sqlalchemy as sa

from bot.core.errors import InvalidSetting

_NEWEST = sa.text("SELECT obj_description(to_regclass('procrastinate_jobs'), 'pg_class')")

# Procrastinate notifies workers only of new jobs. A thread's next job can begin once the previous
# one has ended, which workers would notice only by polling: so they are notified of that as well.
_TELL_OF_FREED_LOCKS = """
CREATE INDEX footnote_jobs_waiting ON procrastinate_jobs (lock) WHERE status = 'todo';

CREATE FUNCTION footnote_tell_of_freed_lock() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    next_job procrastinate_jobs;
BEGIN
    SELECT * INTO next_job FROM procrastinate_jobs
        WHERE lock = OLD.lock AND status = 'todo'
            AND (scheduled_at IS NULL OR scheduled_at <= now())
        LIMIT 1;
    IF FOUND THEN
        PERFORM pg_notify(
            'procrastinate_queue_v1#' || next_job.queue_name,
            json_build_object('type', 'job_inserted', 'job_id', next_job.id)::text
        );
    END IF;
    RETURN NULL;
END;
$$;

CREATE TRIGGER footnote_tell_of_freed_lock
    AFTER UPDATE OF status OR DELETE ON procrastinate_jobs
    FOR EACH ROW WHEN (OLD.status = 'doing')
    EXECUTE FUNCTION footnote_tell_of_freed_lock();
"""


def create(connection: sa.Connection) -> None:
    """Create the tables with the schema of the installed Procrastinate."""
    folder = installed()
    _execute(connection, (folder / "schema.sql").read_text(encoding="utf-8"))
    _execute(connection, _TELL_OF_FREED_LOCKS)
    _mark(connection, _files(folder)[-1])


def is_current(connection: sa.Connection) -> bool:
    """Return True if the tables match the installed Procrastinate."""
    return _known(connection) == _files(installed())[-1]


def pending(connection: sa.Connection, folder: Path) -> list[str]:
    """The names of the files in ``folder`` that are still to be applied, in order.

    Raises ``InvalidSetting`` if a newer Procrastinate has migrated the tables.
    """
    known, names = _known(connection), _files(folder)
    if known > names[-1]:
        raise InvalidSetting(
            "The queue in the database was written by a newer Procrastinate: install that version "
            "here too, or choose another place with FOOTNOTE_DATABASE_URL."
        )
    return [name for name in names if name > known]


def apply(connection: sa.Connection, folder: Path, name: str) -> None:
    """Apply one file, each in its own transaction: a new enum value needs a commit before use."""
    _execute(connection, (folder / "migrations" / name).read_text(encoding="utf-8"))
    _mark(connection, name)


@cache
def installed() -> Path:
    """The folder with the SQL of the installed Procrastinate."""
    spec = find_spec("procrastinate")  # its import takes a tenth of a second
    assert spec is not None  # noqa: S101
    assert spec.submodule_search_locations  # noqa: S101
    return Path(spec.submodule_search_locations[0]) / "sql"


def _known(connection: sa.Connection) -> str:
    return str(connection.scalar(_NEWEST) or "")


@cache
def _files(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "migrations").glob("*.sql"))


def _execute(connection: sa.Connection, statements: str) -> None:
    # Without parameters, so that the driver accepts several statements and does not interpret %.
    connection.exec_driver_sql(statements, execution_options={"no_parameters": True})


def _mark(connection: sa.Connection, name: str) -> None:
    _execute(connection, f"COMMENT ON TABLE procrastinate_jobs IS '{name}'")
