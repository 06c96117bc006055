"""The commands for stored data: threads, export, forget, db and keys."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from bot.command import EXIT_NO_ANSWER, sentences, settings_for
from bot.errors import Invalid

if TYPE_CHECKING:
    from bot.platform import Installations
    from bot.storage.removal import Removed
    from bot.storage.store import Store
    from bot.storage.subjects import Kind, Subject

forget_kinds = typer.Typer(
    help="Remove everything about a thread, a person or a workspace.", no_args_is_help=True
)
db = typer.Typer(help="Manage the database.", no_args_is_help=True)
keys = typer.Typer(help="Manage the keys that encrypt tokens.", no_args_is_help=True)

Name = Annotated[
    str,
    typer.Argument(
        metavar="THREAD",
        help="Its key, as `footnote threads` shows it, or the name of a conversation.",
    ),
]
Place = Annotated[
    str,
    typer.Argument(
        metavar="PLATFORM:ID", help="The platform and its own id, such as slack:U0123ABC."
    ),
]
Yes = Annotated[bool, typer.Option("--yes", help="Do it without asking.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would be removed.")]


def threads(
    platform: Annotated[
        str | None,
        typer.Option(
            "--platform",
            metavar="NAME",
            help="Only its threads: slack, discord, web (the console), terminal.",
        ),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many, the latest.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Print them as JSON.")] = False,
) -> None:
    """List the latest threads, with the keys to export or forget them by."""
    import asyncio

    with sentences():
        settings = settings_for()
        if platform is not None:
            _known_platform(platform, "--platform")
        from adapters.terminal.records import list_threads, show, threads_json, threads_lines

        found = asyncio.run(list_threads(settings, platform, limit))
        if as_json:
            typer.echo(threads_json(found))
        else:
            show(threads_lines(found))


def export(
    thread: Name,
    form: Annotated[
        Literal["markdown", "json"],
        typer.Option(
            "--format",
            metavar="markdown|json",
            help="Markdown to read, or JSON with everything stored about it.",
        ),
    ] = "markdown",
) -> None:
    """Print a thread: questions, answers with their footnotes and sources, dates.

    Example:

        footnote export tower > tower.md
    """
    import asyncio

    with sentences():
        settings = settings_for()
        from adapters.terminal.records import export_thread

        typer.echo(asyncio.run(export_thread(settings, thread, form)), nl=form == "json")


@forget_kinds.command("thread")
def forget_thread(thread: Name, yes: Yes = False, dry_run: DryRun = False) -> None:
    """Remove a thread: its messages, runs, answers, and the pages that only they rest on."""
    import asyncio

    with sentences():
        settings = settings_for()
        from adapters.terminal.records import open_records
        from bot.storage.archive import Archive
        from bot.storage.subjects import Subject

        async def run() -> None:
            async with open_records(settings) as store:
                found = await Archive(store.database).find(thread)
                await _forget(store, Subject("thread", found.platform, found.key), yes, dry_run)

        asyncio.run(run())


@forget_kinds.command("user")
def forget_user(user: Place, yes: Yes = False, dry_run: DryRun = False) -> None:
    """Remove what a person wrote, the answers to it, and their name from spending records.

    The totals of channels and workspaces stay. In chat, people can do this themselves.
    """
    _forget_place("person", user, yes, dry_run)


@forget_kinds.command("workspace")
def forget_workspace(workspace: Place, yes: Yes = False, dry_run: DryRun = False) -> None:
    """Remove a Slack workspace or Discord server: all threads, rules, totals, installations."""
    _forget_place("workspace", workspace, yes, dry_run)


@db.command()
def prune() -> None:
    """Delete now what is older than FOOTNOTE_KEEP_PAGES_DAYS and the like allow.

    `footnote serve` does so every hour.
    """
    import asyncio

    with sentences():
        settings = settings_for()
        from adapters.terminal.records import prune, removed_table, show

        removed = asyncio.run(prune(settings))
        if removed:
            show(removed_table(removed, "Removed"))
        else:
            typer.echo("Nothing was old enough to be removed.")


@db.command()
def upgrade() -> None:
    """Upgrade the database to this version's schema; opening it does so automatically."""
    import asyncio

    with sentences():
        from bot.configuration import load_settings
        from bot.storage.connecting import Connecting
        from bot.storage.database import open_database
        from bot.storage.tables import HEAD

        async def run() -> None:
            settings = load_settings()
            connecting = Connecting.of(settings)
            await (await open_database(settings.database, connecting=connecting)).close()

        asyncio.run(run())
        typer.echo(f"The database is at revision {HEAD}.")


@db.command()
def check() -> None:
    """Check that the database is intact: its file, its schema, and that every quote is in its page.
    Exit code 1: something is wrong."""
    import asyncio

    with sentences():
        settings = settings_for()
        from adapters.terminal.records import check_integrity

        problems = asyncio.run(check_integrity(settings))
        if problems:
            raise typer.Exit(EXIT_NO_ANSWER)


@db.command()
def backup(
    target: Annotated[
        Path, typer.Argument(metavar="FILE", help="The copy; an older one is replaced.")
    ],
) -> None:
    """Copy the SQLite database to a file, also while Footnote works."""
    import asyncio

    with sentences():
        settings = settings_for()
        from adapters.terminal.records import backed_up

        size = asyncio.run(backed_up(settings, target))
        typer.echo(
            f"{target}: {size:,} bytes. `footnote db check` checks whether a copy is intact."
        )


@keys.command()
def new() -> None:
    """Print a new key for FOOTNOTE_ENCRYPTION_KEYS.

    To change keys, put the new one before the old one and restart; then remove the old one.
    """
    with sentences():
        from bot.storage.encryption import new_key

        typer.echo(new_key())


@keys.command("forget")
def forget_workspaces() -> None:
    """Delete installations whose tokens cannot be decrypted; they must be installed again."""
    import asyncio

    with sentences():
        from bot.platform import platforms

        settings = settings_for()

        async def forget_unreadable() -> int:
            stored = [each.installations for each in platforms().values()]
            return sum([await kept().forget_unreadable(settings) for kept in stored if kept])

        typer.echo(f"{asyncio.run(forget_unreadable())} installation(s) forgotten.")


# ---------------------------------------------------------------- forgetting


def _forget_place(kind: Kind, place: str, yes: bool, dry_run: bool) -> None:
    import asyncio

    with sentences():
        platform, _, name = place.partition(":")
        if not name:
            raise Invalid(f"{place} is not a platform and id: write it like slack:U0123ABC.")
        _known_platform(platform, place)
        settings = settings_for()
        from adapters.terminal.records import open_records
        from bot.storage.subjects import Subject

        async def run() -> None:
            async with open_records(settings) as store:
                await _forget(store, Subject(kind, platform, name), yes, dry_run)

        asyncio.run(run())


async def _forget(store: Store, subject: Subject, yes: bool, dry_run: bool) -> None:
    """Show what is stored about the subject, ask for confirmation, and remove it."""
    from adapters.terminal.records import forget, removed_table, show, to_forget

    found = await to_forget(store, subject) + await _installations(store, subject)
    if not found:
        typer.echo(f"Nothing is kept about {_named(subject)}.")
        return
    if dry_run:
        show(removed_table(found, f"Would be removed about {_named(subject)}"))
        return
    if not yes:
        show(removed_table(found, f"To be removed about {_named(subject)}"))
        if not sys.stdin.isatty():
            raise Invalid(
                "There is no terminal to confirm in: add --yes to remove it, or --dry-run."
            )
        if not typer.confirm("It cannot be brought back. Remove it?"):
            raise typer.Exit(EXIT_NO_ANSWER)
    removed = await forget(store, subject) + await remove_installations(store, subject)
    show(removed_table(removed, f"Removed about {_named(subject)}"))


def _named(subject: Subject) -> str:
    return subject.name if subject.kind == "thread" else f"{subject.platform}:{subject.name}"


def _known_platform(name: str, given: str) -> None:
    """Raise ``Invalid`` for an unknown platform; ``given`` is the argument that contained the
    name."""
    from bot.messages import TERMINAL
    from bot.platform import platforms

    names = (*platforms(), TERMINAL)
    if name not in names:
        raise Invalid(f"{given}: no platform is called {name}; they are {', '.join(names)}.")


async def _installations(store: Store, subject: Subject) -> Removed:
    """Count the app installations to be removed with a workspace."""
    from bot.storage.removal import Removed

    kept = _kept_installations(subject)
    return Removed(installations=await kept.count(store.database, subject.name) if kept else 0)


async def remove_installations(store: Store, subject: Subject) -> Removed:
    """Remove a workspace's app installations; other subjects have none."""
    from bot.storage.removal import Removed

    kept = _kept_installations(subject)
    return Removed(installations=await kept.forget(store.database, subject.name) if kept else 0)


def _kept_installations(subject: Subject) -> Installations | None:
    from bot.platform import platforms

    platform = platforms().get(subject.platform)
    if subject.kind != "workspace" or platform is None or platform.installations is None:
        return None
    return platform.installations()
