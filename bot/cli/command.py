"""Parts shared by all ``footnote`` commands: exit codes, error messages, settings."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from traceback import format_exception
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

import bot
from bot.core.errors import CredentialsRefused, FootnoteError, Invalid, without_credentials

if TYPE_CHECKING:
    from bot.core.settings import Settings

EXIT_OK, EXIT_NO_ANSWER, EXIT_USAGE, EXIT_INTERRUPTED = 0, 1, 2, 130
HANDBOOK = Path(bot.__file__).parent / "handbook"

Docs = Annotated[
    list[Path] | None,
    typer.Option(
        "--docs",
        metavar="PATH",
        help="A folder or file to search (Markdown, HTML, PDF, Office files and more); repeatable.",
    ),
]
Providers = Annotated[
    list[str] | None,
    typer.Option(
        "--provider",
        metavar="NAME",
        help="Search only with this, such as wikipedia, local or brave; repeatable.",
    ),
]


AsJson = Annotated[bool, typer.Option("--json", help="Print it as JSON; logs stay on stderr.")]


def command_app(help: str | None = None) -> typer.Typer:
    """Return an app for the command of a module, or with ``help`` for a group of commands."""
    return typer.Typer(
        help=help,
        no_args_is_help=help is not None,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )


def settings_for(docs: list[Path] | None = None, providers: list[str] | None = None) -> Settings:
    """Load the settings, with those of the command line, and configure logging."""
    from bot.core.logs import configure_logging
    from bot.operation.configuration import load_settings

    settings = load_settings(
        docs=tuple(str(path) for path in docs) if docs else None,
        providers=tuple(providers) if providers else None,
    )
    configure_logging(settings.log_level, settings.log_format)
    return settings


def settings_with_kept(docs: Docs = None, providers: Providers = None) -> Settings:
    """Load the settings like ``settings_for``, with those kept in the console, whose folders
    ``docs`` replaces; print what is wrong with them. Raises ``StorageUnavailable``."""
    settings = settings_for(docs, providers)
    if not _may_have_kept(settings):
        return settings
    import asyncio

    from bot.operation.kept_settings import read_kept

    kept = asyncio.run(read_kept(settings))
    for problem in dict.fromkeys(kept.problems.values()):
        typer.secho(problem, fg="yellow", err=True)
    return kept.settings.model_copy(update={"docs": settings.docs}) if docs else kept.settings


def _may_have_kept(settings: Settings) -> bool:
    """Return False if nothing is kept. Opening the database would take longer than looking into
    the embedded one here, which most people have without kept settings."""
    if settings.database_url or settings.uploads_path.exists():
        return True
    file = settings.data_dir.expanduser() / "footnote.sqlite"
    if not file.exists():  # connecting would create it, readable for others
        return False
    import sqlite3

    kept = "SELECT 1 FROM facts WHERE (platform, workspace) = ('web', 'settings')"
    try:
        with closing(sqlite3.connect(file)) as db:
            return db.execute(kept).fetchone() is not None
    except sqlite3.Error:
        return True  # opening it migrates an old one, or says what is wrong


@contextmanager
def sentences() -> Iterator[None]:
    """Turn errors into one sentence on stderr and an exit code, never a traceback."""
    from asyncio import CancelledError

    try:
        yield
    except (Invalid, CredentialsRefused) as error:
        typer.secho(error.sentence, fg="red", err=True)
        raise typer.Exit(EXIT_USAGE) from None
    except FootnoteError as error:
        typer.secho(error.sentence, fg="red", err=True)
        raise typer.Exit(EXIT_NO_ANSWER) from None
    except BrokenPipeError:
        # The reader closed the pipe: discard what Python still has buffered.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(EXIT_NO_ANSWER) from None
    except (CancelledError, KeyboardInterrupt):
        typer.secho(
            "Interrupted. Nothing is lost: the same command continues where it was.",
            fg="yellow",
            err=True,
        )
        raise typer.Exit(EXIT_INTERRUPTED) from None
    except Exception as error:
        if isinstance(error, typer.Abort) or hasattr(error, "exit_code"):
            raise  # Typer's own: a wrong call, or the end of the command
        if os.environ.get("FOOTNOTE_LOG_LEVEL") == "debug":
            typer.echo(without_credentials("".join(format_exception(error))), err=True)
            raise typer.Exit(EXIT_NO_ANSWER) from None
        reason = without_credentials(str(error))
        typer.secho(
            f"Something broke inside Footnote ({type(error).__name__}: {reason}). Nothing is lost. "
            "FOOTNOTE_LOG_LEVEL=debug shows where; please report it.",
            fg="red",
            err=True,
        )
        raise typer.Exit(EXIT_NO_ANSWER) from None


def standard_input() -> TextIO:
    """Return standard input. Raises ``Invalid`` if it is closed."""
    if sys.stdin is None or sys.stdin.closed:
        raise Invalid("Standard input is closed: give the question as an argument.")
    return sys.stdin
