"""The tables of the queue, which are Procrastinate's own, beside ours in PostgreSQL.

Procrastinate brings its whole schema in one file and each change of it in a file of
``sql/migrations``, whose names begin with the version and sort by it. The name of the newest one
that the tables know is kept as their comment; files that a later version brings are applied when
the database is next opened.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path

import sqlalchemy as sa

from bot.errors import InvalidSetting

_NEWEST = sa.text("SELECT obj_description(to_regclass('procrastinate_jobs'), 'pg_class')")

# Procrastinate tells its workers of new jobs only. The next job of a thread can begin when the one
# before it has ended, which they would find out by polling: so they are told in the same way.
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
    """Make the tables as the installed Procrastinate wants them."""
    folder = installed()
    _execute(connection, (folder / "schema.sql").read_text(encoding="utf-8"))
    _execute(connection, _TELL_OF_FREED_LOCKS)
    _mark(connection, _files(folder)[-1])


def is_current(connection: sa.Connection) -> bool:
    """Return True if the tables are those of the installed Procrastinate."""
    return _known(connection) == _files(installed())[-1]


def pending(connection: sa.Connection, folder: Path) -> list[str]:
    """The names of the files in ``folder`` that are yet to be applied, in order.

    Raises ``InvalidSetting`` where a newer Procrastinate has been.
    """
    known, names = _known(connection), _files(folder)
    if known > names[-1]:
        raise InvalidSetting(
            "The queue in the database was written by a newer Procrastinate: install that version "
            "here too, or choose another place with FOOTNOTE_DATABASE_URL."
        )
    return [name for name in names if name > known]


def apply(connection: sa.Connection, folder: Path, name: str) -> None:
    """Apply one file. A transaction each: what one adds to a type only the next may use."""
    _execute(connection, (folder / "migrations" / name).read_text(encoding="utf-8"))
    _mark(connection, name)


@cache
def installed() -> Path:
    """The folder of the installed Procrastinate's SQL."""
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
    # Without parameters, so that the driver sends several statements and reads no % in them.
    connection.exec_driver_sql(statements, execution_options={"no_parameters": True})


def _mark(connection: sa.Connection, name: str) -> None:
    _execute(connection, f"COMMENT ON TABLE procrastinate_jobs IS '{name}'")
