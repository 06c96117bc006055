"""Bringing a database to the schema of this version; see ``migrations``.

Within a thousand of revision numbers (``MAJOR``) migrations only add, so that an older process goes
on working beside a newer one that has migrated the database, and can be put back in its place. One
that takes away or changes begins the next thousand; older processes then refuse the database.
"""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa

from bot.errors import InvalidSetting
from bot.storage import queue_schema
from bot.storage.tables import HEAD

# Any number that is ours: who migrates holds it, so that processes starting together do not clash.
_ADVISORY_LOCK = 0x_F007_107E


MAJOR = 1000


def goes_with(revision: str) -> bool:
    """Return True if this Footnote can use a database at a revision, ours or a newer one."""
    is_number = revision.isdecimal() and len(revision) == len(HEAD)
    return is_number and revision >= HEAD and int(revision) // MAJOR == int(HEAD) // MAJOR


def revision(connection: sa.Connection) -> str | None:
    """The number of the newest migration that was made, or None in an empty database."""
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    number = connection.scalar(sa.text("SELECT version_num FROM alembic_version"))
    return str(number) if number else None


def missing(connection: sa.Connection) -> str:
    """A sentence that names what the database lacks for this version; "" if it lacks nothing.

    A newer version may have migrated it under us: what it adds does not keep this one from working.
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

    One that a newer Footnote has added to is left as it is. Raises ``InvalidSetting`` where a newer
    one has changed what this one needs.
    """
    # Alembic takes a fifth of a second to import and is needed only here.
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    _alone(connection)
    current = revision(connection)  # again, under the lock: another process may be done
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if current is not None and goes_with(current):
        return
    if current is not None and current not in known:
        raise InvalidSetting(
            "The database was written by a newer Footnote: upgrade this one, "
            "or choose another place with FOOTNOTE_DATA_DIR or FOOTNOTE_DATABASE_URL."
        )
    command.upgrade(config, "head")


def upgrade_queue(connection: sa.Connection, folder: Path | None = None) -> bool:
    """Apply the next of the queue's own migrations; whether there are more.

    ``folder`` is the SQL of the queue's library, else of the installed one.

    Raises ``InvalidSetting`` where a newer Procrastinate has been.
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
