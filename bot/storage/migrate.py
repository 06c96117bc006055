"""Migrating a database to the schema of this version; see ``migrations``.

Within the same thousand of revision numbers (``MAJOR``), migrations only add, so that an older
process keeps working on a database that a newer one has migrated, and upgrades can be undone. A
migration that removes or changes something begins the next thousand; older processes then refuse
the database.
"""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa

from bot.core.errors import InvalidSetting
from bot.storage import queue_schema
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
    return connection.dialect.name != "postgresql" or queue_schema.is_current(connection)


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
    folder = folder or queue_schema.installed()
    names = queue_schema.pending(connection, folder)
    if names:
        queue_schema.apply(connection, folder, names[0])
    return len(names) > 1


def _alone(connection: sa.Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_ADVISORY_LOCK)))
