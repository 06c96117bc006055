"""Shared parts of the commands of ``footnote``: exit codes, error sentences, settings."""

from __future__ import annotations

import getpass
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from traceback import format_exception
from typing import TYPE_CHECKING, TextIO

import typer

from bot.credentials import without_credentials
from bot.errors import CredentialsRefused, FootnoteError, Invalid

if TYPE_CHECKING:
    from bot.settings import Settings

EXIT_OK, EXIT_NO_ANSWER, EXIT_USAGE, EXIT_INTERRUPTED = 0, 1, 2, 130
HANDBOOK = Path(__file__).parent / "handbook"


def settings_for(docs: list[Path] | None = None, providers: list[str] | None = None) -> Settings:
    """The settings, with what the command line says; logging is as they want it."""
    from bot.configuration import load_settings
    from bot.logs import configure_logging

    settings = load_settings(
        docs=tuple(str(path) for path in docs) if docs else None,
        providers=tuple(providers) if providers else None,
    )
    configure_logging(settings.log_level, settings.log_format)
    return settings


@contextmanager
def sentences() -> Iterator[None]:
    """Errors leave as one sentence on stderr and an exit code, never as a traceback."""
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
        # Whoever read our output has seen enough; what Python still holds back has no reader.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(EXIT_NO_ANSWER) from None
    except (CancelledError, KeyboardInterrupt):
        typer.secho(
            "Interrupted. Nothing is lost: the same command continues where it was.",
            fg="yellow",
            err=True,
        )
        raise typer.Exit(EXIT_INTERRUPTED) from None
    except (typer.Exit, typer.Abort):
        raise
    except Exception as error:  # noqa: BLE001  (the last one to hear of it)
        if os.environ.get("FOOTNOTE_LOG_LEVEL") == "debug":
            typer.echo(without_credentials("".join(format_exception(error))), err=True)
            raise typer.Exit(EXIT_NO_ANSWER) from None
        told = without_credentials(str(error))
        typer.secho(
            f"Something broke inside Footnote ({type(error).__name__}: {told}). Nothing is lost. "
            "FOOTNOTE_LOG_LEVEL=debug shows where; please report it.",
            fg="red",
            err=True,
        )
        raise typer.Exit(EXIT_NO_ANSWER) from None


def tell(line: str) -> None:
    """Print a line beside the output, on stderr."""
    typer.echo(line, err=True)


def this_user() -> str:
    """The name of the person at this terminal, as the system knows it."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user without a name
        return str(os.getuid())


def standard_input() -> TextIO:
    """Standard input. Raises ``Invalid`` where there is none."""
    if sys.stdin is None or sys.stdin.closed:
        raise Invalid("Standard input is closed: give the question as an argument.")
    return sys.stdin
