"""The command ``footnote corrections``: corrections at the terminal."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from bot.cli.command import command_app, settings_for
from bot.cli.records import open_records
from bot.core.errors import Invalid
from bot.core.reader import EVERYTHING
from bot.core.settings import Settings
from bot.core.texts import DEFAULT, texts_for
from bot.service.correction_service import CorrectionService, line_of

app = command_app()


@app.command()
def corrections(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="list | remove ID", help="List them, or remove one."),
    ] = None,
) -> None:
    """List people's corrections of answers, on all platforms, or remove one.

    Examples:

        footnote corrections list

        footnote corrections remove 3fa9c1d20b7e
    """
    match words or ["list"]:
        case ["list"]:
            asyncio.run(_list(settings_for()))
        case ["remove", id]:
            asyncio.run(_remove(settings_for(), id))
        case _:
            raise Invalid("Write list, or remove ID.")


async def _list(settings: Settings) -> None:
    async with open_records(settings) as store:
        found = await CorrectionService(settings, store.database).listed(EVERYTHING)
    for each in found:
        typer.echo(f"{each.id}: {line_of(each, texts_for(DEFAULT))}")
    if not found:
        typer.echo(texts_for(DEFAULT)("correction-none"))


async def _remove(settings: Settings, id: str) -> None:
    """Remove any correction, as the operator may."""
    async with open_records(settings) as store:
        gone = await CorrectionService(settings, store.database).remove(id, None)
    typer.echo(line_of(gone, texts_for(DEFAULT)))
    typer.echo(texts_for(DEFAULT)("correction-removed"))
