"""Shared parts of the commands of ``footnote``: exit codes, error sentences, settings."""

from __future__ import annotations

import getpass
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from traceback import format_exception
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from bot.credentials import without_credentials
from bot.errors import CredentialsRefused, FootnoteError, Invalid

if TYPE_CHECKING:
    from bot.settings import Settings

EXIT_OK, EXIT_NO_ANSWER, EXIT_USAGE, EXIT_INTERRUPTED = 0, 1, 2, 130
HANDBOOK = Path(__file__).parent / "handbook"
VECTOR_SECONDS = 10.0  # that `ask` and `chat` spend on vectors before they answer

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


@contextmanager
def indexed(settings: Settings) -> Iterator[None]:
    """Look for changed documents while the body imports what is slow to load; then bring the index
    up to date, and make vectors for a while where there is an embedder."""
    from bot.search.unchanged import CheckProcess

    with CheckProcess(settings.index_path, settings.docs) as check:
        yield
        if settings.docs:
            report = check.report()
            if report is None or report.problems:
                # Mostly there is nothing to do or tell, and rich, which this imports, takes 50 ms.
                from adapters.terminal.indexing import index_documents

                index_documents(settings, report)
            embed_documents(settings, VECTOR_SECONDS)


def embed_documents(settings: Settings, seconds: float) -> None:
    """Make vectors of documents for so many seconds, where there is an embedder."""
    if settings.docs and settings.has_embedder:
        from adapters.terminal.indexing import make_vectors

        make_vectors(settings, seconds=seconds)
