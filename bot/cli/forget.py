"""The commands ``footnote forget``."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, TextIO

import typer

from bot.cli.command import EXIT_NO_ANSWER, command_app, settings_for, standard_input
from bot.cli.export import ThreadArgument
from bot.cli.records import forgetter_of, open_records, platform_and_id, print_removed
from bot.core.errors import Invalid
from bot.core.messages import TERMINAL
from bot.core.settings import Settings
from bot.service.deletion import day_after
from bot.service.platform import Installations, platforms
from bot.storage.archive import Archive
from bot.storage.conversations import Conversations
from bot.storage.forgetting import Forgotten, Subject, SubjectKind, missing_forgettings
from bot.storage.removal import NOTHING_REMOVED, Removed
from bot.storage.store import Store

Place = Annotated[
    str,
    typer.Argument(
        metavar="PLATFORM:ID", help="The platform and its own id, such as slack:U0123ABC."
    ),
]
Yes = Annotated[bool, typer.Option("--yes", help="Do it without asking.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would be removed.")]

app = command_app("Remove everything about a thread, a person or a workspace.")


@app.command()
def thread(thread: ThreadArgument, yes: Yes = False, dry_run: DryRun = False) -> None:
    """Remove a thread: its messages, runs, answers, and the pages that only they rest on."""
    asyncio.run(_forget(settings_for(), "thread", thread, yes, dry_run))


@app.command()
def user(user: Place, yes: Yes = False, dry_run: DryRun = False) -> None:
    """Remove what a person wrote, the answers to it, and their name from spending records.

    The totals of channels and workspaces stay. In chat, people can do this themselves.
    """
    asyncio.run(_forget(settings_for(), "person", user, yes, dry_run))


@app.command()
def workspace(workspace: Place, yes: Yes = False, dry_run: DryRun = False) -> None:
    """Remove a Slack workspace or Discord server: all threads, rules, totals, installations."""
    asyncio.run(_forget(settings_for(), "workspace", workspace, yes, dry_run))


async def _forget(
    settings: Settings, kind: SubjectKind, given: str, yes: bool, dry_run: bool
) -> None:
    """Show what is stored about a subject, ask for confirmation, and remove it."""
    if kind != "thread":
        platform, id = platform_and_id(given)
        names = (*platforms(), TERMINAL)
        if platform not in names:
            known = ", ".join(names)
            raise Invalid(f"{given}: no platform is called {platform}; they are {known}.")
    async with open_records(settings) as store:
        if kind == "thread":
            found_thread = await Archive(store.database).find(given)
            platform, id = found_thread.platform, found_thread.key
            given = id
        subject = Subject(kind, platform, id)
        forgetter, until = forgetter_of(store), day_after(datetime.now(UTC).date())
        kept = _installations(subject)
        installed = await kept.count(store.database, subject.name) if kept else 0
        found = await forgetter.count(subject, until) + Removed(installations=installed)
        if not found:
            typer.echo(f"Nothing is kept about {given}.")
            return
        if dry_run:
            print_removed(found, f"Would be removed about {given}")
            return
        if not yes:
            print_removed(found, f"To be removed about {given}")
            if not sys.stdin.isatty():
                raise Invalid(
                    "There is no terminal to confirm in: add --yes to remove it, or --dry-run."
                )
            if not typer.confirm("It cannot be brought back. Remove it?"):
                raise typer.Exit(EXIT_NO_ANSWER)
        removed = await forgetter.forget(subject, until) + await _uninstalled(store, subject)
        print_removed(removed, f"Removed about {given}")


async def _uninstalled(store: Store, subject: Subject) -> Removed:
    """Remove a workspace's app installations; other subjects have none."""
    kept = _installations(subject)
    return Removed(installations=await kept.forget(store.database, subject.name) if kept else 0)


def _installations(subject: Subject) -> Installations | None:
    platform = platforms().get(subject.platform)
    if subject.kind != "workspace" or platform is None or platform.installations is None:
        return None
    return platform.installations()


# ---------------------------------------------------------------- forgetting again


@app.command()
def again(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="What `footnote audit export` wrote; - reads standard input."
        ),
    ],
) -> None:
    """Forget, after a restore, what was forgotten since the backup was made.

    FILE is the audit log exported before the restore. What this database already knows as forgotten
    is skipped, so the command may be repeated. Exit code 1: the log names people of another
    database.
    """
    settings = settings_for()
    try:
        lines = standard_input() if str(file) == "-" else file.open(encoding="utf-8")
    except OSError as error:
        raise Invalid(f"{file} cannot be read: {error.strerror}.") from None
    with lines:
        came = asyncio.run(replay_forgettings(settings, lines))
    typer.echo(f"Forgotten in the log: {came.in_log:,}. Forgotten again now: {came.repeated:,}.")
    if came.removed:
        print_removed(came.removed, "Removed")
    if came.foreign:
        typer.secho(
            f"{came.foreign:,} of them belong to people that this database cannot identify: "
            "the log is from another database, or the backup was made before it had an audit "
            "log.",
            fg="red",
            err=True,
        )
        raise typer.Exit(EXIT_NO_ANSWER)


@dataclass(frozen=True, slots=True)
class Replayed:
    """The outcome of a replay: ``in_log`` deletions are in the log, ``repeated`` of them were done
    now, and ``foreign`` could not be, because they use pseudonyms of another database."""

    in_log: int
    repeated: int
    foreign: int
    removed: Removed


async def replay_forgettings(settings: Settings, lines: TextIO) -> Replayed:
    """Repeat the deletions in a log that this database does not have.

    Raises ``Invalid`` for lines that are not from such a log, and ``StorageUnavailable``.
    """
    told = _forgettings(lines)
    removed = NOTHING_REMOVED
    async with open_records(settings) as store:
        due = await missing_forgettings(store.database, told)
        for subject, at in due.subjects.items():
            removed += await forgetter_of(store).forget_again(subject, at)
            removed += await _uninstalled(store, subject)
        conversations = Conversations(store.database)
        gone = 0
        for platform, event_id in due.messages:
            if await conversations.knows(platform, event_id):
                # `footnote serve` deletes its reply.
                now = datetime.now(UTC)
                await conversations.remove(platform, event_id, now, owner=None, lease=timedelta())
                gone += 1
    done = len(due.subjects) + gone
    return Replayed(len(told), done, due.foreign, removed + Removed(messages=gone))


def _forgettings(lines: TextIO) -> dict[Forgotten, datetime]:
    """Return the deletions in an exported log, each with its latest time."""
    found: dict[Forgotten, datetime] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            if row["deed"] != "forgot":
                continue
            what = str(row["kind"]), str(row["object"])
            at = datetime.fromisoformat(row["at"])
        except (ValueError, KeyError, TypeError):
            raise Invalid(
                f"Line {number} is none of an audit log: give a file that `footnote audit export` "
                "wrote."
            ) from None
        found[what] = max(at, found.get(what, at))
    return found
