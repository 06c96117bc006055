"""Migrating a database to the schema of this version; see ``migrations``.

Within the same thousand of revision numbers (``MAJOR``), migrations only add, so that an older
process keeps working on a database that a newer one has migrated, and upgrades can be undone. A
migration that removes or changes something begins the next thousand; older processes then refuse
the database.

The tables of the queue belong to Procrastinate and live beside ours in PostgreSQL. It ships its
whole schema in one file, and each change in a file of ``sql/migrations`` whose name begins with the
version and sorts by it. The name of the newest applied file is stored as a table comment; files of
a later version are applied when the database is next opened.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path

import sqlalchemy as sa

from bot.core.errors import InvalidSetting
from bot.storage.tables import HEAD

# An arbitrary number of our own: migrations hold this lock, so that starting processes wait.
_ADVISORY_LOCK = 0x_F007_107E


MAJOR = 1000
FIRST = "1000"  # the schema of the first release; earlier numbers were never released


def goes_with(revision: str) -> bool:
    """Return True if this Footnote can use a database at a revision, its own or a newer one."""
    is_number = revision.isdecimal() and len(revision) == len(HEAD)
    return is_number and revision >= HEAD and int(revision) // MAJOR == int(HEAD) // MAJOR


def revision(connection: sa.Connection) -> str | None:
    """The number of the last migration that was applied, or None for an empty database."""
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    number = connection.scalar(sa.text("SELECT version_num FROM alembic_version"))
    return str(number) if number else None


def missing(connection: sa.Connection) -> str:
    """A sentence that names what the database lacks for this version; "" if nothing.

    A newer version may have migrated it meanwhile: additions do not keep this one from working.
    """
    found = revision(connection)
    if found is not None and goes_with(found):
        return ""
    if found is not None and found > HEAD:
        return f"is at revision {found}, which is too new for this Footnote: upgrade it"
    if found is None:
        return f"has no tables of Footnote, which needs revision {HEAD}: run `footnote db upgrade`"
    return (
        f"is at revision {found}, but this Footnote needs {HEAD}: run `footnote db upgrade`, or "
        "start again"
    )


def is_current(connection: sa.Connection) -> bool:
    """Return True if there is nothing to migrate."""
    found = revision(connection)
    if found is None or not goes_with(found):
        return False
    return connection.dialect.name != "postgresql" or is_queue_current(connection)


def upgrade(connection: sa.Connection) -> None:
    """Bring the schema to ``HEAD`` within the connection's transaction.

    Additions by a newer Footnote are left alone. Raises ``InvalidSetting`` if a newer one has
    changed something that this one needs.
    """
    # Alembic takes a fifth of a second to import and is needed only here.
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    _alone(connection)
    current = revision(connection)  # again, under the lock: another process may have migrated
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if current is not None and goes_with(current):
        return
    if current is not None and current < FIRST:
        raise InvalidSetting(
            "The database was written before the first release of Footnote, and cannot be used any "
            "more: choose another place with FOOTNOTE_DATA_DIR or FOOTNOTE_DATABASE_URL."
        )
    if current is not None and current not in known:
        raise InvalidSetting(
            "The database was written by a newer Footnote: upgrade this one, "
            "or choose another place with FOOTNOTE_DATA_DIR or FOOTNOTE_DATABASE_URL."
        )
    command.upgrade(config, "head")


def upgrade_queue(connection: sa.Connection, folder: Path | None = None) -> bool:
    """Apply the next of the queue's own migrations; returns whether there are more.

    ``folder`` holds the queue's SQL files; by default, those of the installed library.

    Raises ``InvalidSetting`` if a newer Procrastinate has migrated the tables.
    """
    if connection.dialect.name != "postgresql":
        return False
    _alone(connection)
    folder = folder or queue_sql()
    names = pending_files(connection, folder)
    if names:
        apply_file(connection, folder, names[0])
    return len(names) > 1


def _alone(connection: sa.Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_ADVISORY_LOCK)))


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


def create_queue(connection: sa.Connection) -> None:
    """Create the tables with the schema of the installed Procrastinate."""
    folder = queue_sql()
    _execute(connection, (folder / "schema.sql").read_text(encoding="utf-8"))
    _execute(connection, _TELL_OF_FREED_LOCKS)
    _mark(connection, _files(folder)[-1])


def is_queue_current(connection: sa.Connection) -> bool:
    """Return True if the tables match the installed Procrastinate."""
    return _known(connection) == _files(queue_sql())[-1]


def pending_files(connection: sa.Connection, folder: Path) -> list[str]:
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


def apply_file(connection: sa.Connection, folder: Path, name: str) -> None:
    """Apply one file, each in its own transaction: a new enum value needs a commit before use."""
    _execute(connection, (folder / "migrations" / name).read_text(encoding="utf-8"))
    _mark(connection, name)


@cache
def queue_sql() -> Path:
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
