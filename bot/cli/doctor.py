"""The command ``footnote doctor``."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from bot.cli.command import EXIT_NO_ANSWER, EXIT_OK, command_app, settings_for
from bot.operation.diagnosis import examine

app = command_app()


@app.command()
def doctor(
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="List all settings, and those that are set.")
    ] = False,
) -> None:
    """Check every configured part and say what to fix, problems first.

    Exit code 0: nothing is wrong. 1: something does not work. 2: a setting is wrong.
    """
    sound = asyncio.run(examine(settings_for(), verbose=verbose))
    raise typer.Exit(EXIT_OK if sound else EXIT_NO_ANSWER)
