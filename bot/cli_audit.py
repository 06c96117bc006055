"""The commands that export the audit log and read it back: audit export, forget again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bot.cli_records import forget_kinds, remove_installations
from bot.command import EXIT_NO_ANSWER, sentences, settings_for, standard_input
from bot.errors import Invalid

audit = typer.Typer(
    help="The log of who asked, read, shared, exported, forgot and signed in.", no_args_is_help=True
)


@audit.command()
def export(
    since: Annotated[
        str | None, typer.Option("--since", metavar="DATE", help="From this day or moment (UTC).")
    ] = None,
    until: Annotated[
        str | None, typer.Option("--until", metavar="DATE", help="Before this day or moment.")
    ] = None,
    who: Annotated[
        str | None,
        typer.Option(
            "--who", metavar="PLATFORM:ID", help="Only this person, such as slack:U0123ABC."
        ),
    ] = None,
    what: Annotated[
        list[str] | None,
        typer.Option("--what", metavar="DEED", help="Only this, such as asked; repeatable."),
    ] = None,
    texts: Annotated[
        bool, typer.Option("--texts", help="With the questions' texts, as they are stored now.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", metavar="FILE", help="Write to a file, not to standard output."),
    ] = None,
) -> None:
    """Print the audit log as JSON lines, oldest first.

    Example:

        footnote audit export --since 2026-11-01 --what read --what exported
    """
    import asyncio

    with sentences():
        settings = settings_for()
        from adapters.terminal.auditing import export_audit, moment
        from bot.storage.audit import DEEDS, AuditFilter

        platform, _, person = (who or "").partition(":")
        if who is not None and not person:
            raise Invalid(f"{who} is not a platform and id: write it like slack:U0123ABC.")
        for deed in what or ():
            if deed not in DEEDS:
                raise Invalid(f"--what {deed} is unknown: choose from {', '.join(DEEDS)}.")
        wanted = AuditFilter(
            None if since is None else moment(since, "--since"),
            None if until is None else moment(until, "--until"),
            None if who is None else (platform, person),
            tuple(what or ()),
            texts,
        )
        asyncio.run(export_audit(settings, wanted, output))


@forget_kinds.command("again")
def forget_again(
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
    import asyncio

    with sentences():
        settings = settings_for()
        from adapters.terminal.auditing import replay_forgettings
        from adapters.terminal.records import removed_table, show

        try:
            lines = standard_input() if str(file) == "-" else file.open(encoding="utf-8")
        except OSError as error:
            raise Invalid(f"{file} cannot be read: {error.strerror}.") from None
        with lines:
            came = asyncio.run(replay_forgettings(settings, lines, remove_installations))
        typer.echo(
            f"Forgotten in the log: {came.in_log:,}. Forgotten again now: {came.repeated:,}."
        )
        if came.removed:
            show(removed_table(came.removed, "Removed"))
        if came.foreign:
            typer.secho(
                f"{came.foreign:,} of them belong to people that this database cannot identify: "
                "the log is from another database, or the backup was made before it had an audit "
                "log.",
                fg="red",
                err=True,
            )
            raise typer.Exit(EXIT_NO_ANSWER)
