"""The commands ``footnote db``."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from bot.cli.command import EXIT_NO_ANSWER, command_app, settings_for
from bot.cli.records import forgetter_of, open_records, print_removed, this_person
from bot.core.errors import Invalid
from bot.core.settings import Settings
from bot.operation.configuration import load_settings
from bot.service.deletion import Maintenance
from bot.storage import migrate
from bot.storage.audit_log import Audit
from bot.storage.database import database_of, existing_database
from bot.storage.integrity import findings
from bot.storage.postgres import Connecting
from bot.storage.removal import Keep, Removed, Retention
from bot.storage.tables import HEAD

app = command_app("Manage the database.")


@app.command()
def prune() -> None:
    """Delete now what is older than FOOTNOTE_KEEP_STEPS_DAYS and the like allow.

    `footnote serve` does so every hour.
    """
    removed = asyncio.run(_pruned(settings_for()))
    if removed:
        print_removed(removed, "Removed")
    else:
        typer.echo("Nothing was old enough to be removed.")


async def _pruned(settings: Settings) -> Removed:
    async with open_records(settings) as store:
        retention = Retention(store.database, Keep.of(settings))
        return await Maintenance(retention, forgetter_of(store)).once()


@app.command()
def upgrade() -> None:
    """Upgrade the database to this version's schema; opening it does so automatically."""

    async def run() -> None:
        async with database_of(load_settings()):
            pass

    asyncio.run(run())
    typer.echo(f"The database is at revision {HEAD}.")


@app.command()
def check() -> None:
    """Check that the database is intact: its file, its schema, and that every quote is in its page.
    Exit code 1: something is wrong."""
    if asyncio.run(_problems(settings_for())):
        raise typer.Exit(EXIT_NO_ANSWER)


async def _problems(settings: Settings) -> int:
    """Print the findings about the database; return the number of problems."""
    database = existing_database(settings.database, Connecting.of(settings))
    problems = 0
    try:
        async for finding in findings(database):
            typer.echo(f"{finding.what}: {finding.problem or f'{finding.looked_at:,} sound'}")
            problems += bool(finding.problem)
    finally:
        await database.close()
    return problems


@app.command()
def backup(
    target: Annotated[
        Path, typer.Argument(metavar="FILE", help="The copy; an older one is replaced.")
    ],
) -> None:
    """Copy the SQLite database to a file, also while Footnote works."""
    size = asyncio.run(_backed_up(settings_for(), target))
    typer.echo(f"{target}: {size:,} bytes. `footnote db check` checks whether a copy is intact.")


async def _backed_up(settings: Settings, target: Path) -> int:
    """Copy an SQLite database while others write to it; return the size of the copy in bytes.

    The copy replaces an older one atomically, and only its owner may read it. Raises ``Invalid``
    for another kind of database, and ``StorageUnavailable``.
    """
    database = existing_database(settings.database, Connecting.of(settings))
    try:
        if database.dialect != "sqlite":
            raise Invalid(
                "PostgreSQL has its own tools for backups: pg_dump, or point-in-time recovery. "
                "The handbook's page on backups has the commands."
            )
        if not target.parent.is_dir():
            raise Invalid(f"{target.parent} is not a folder: make it, or name another place.")
        partial = target.with_name(f".{target.name}.partial")
        try:
            partial.unlink(missing_ok=True)
            partial.touch(mode=0o600)
            async with database.read() as connection:
                lacking = await connection.run_sync(migrate.missing)
            if not lacking:  # an older database has no audit log
                await Audit(database).note("exported", "database", by=this_person())
            async with database.long_read() as connection:
                await connection.exec_driver_sql("VACUUM INTO ?", (str(partial),))
            size = partial.stat().st_size
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise Invalid(f"{target} cannot be written: {error.strerror}.") from None
    finally:
        await database.close()
    return size
