"""The command ``footnote corrections``: corrections at the terminal."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.command import sentences, settings_for
from bot.errors import Invalid


def corrections(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="list | remove ID", help="List them, or remove one."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """List people's corrections of answers, on all platforms, or remove one.

    Examples:

        footnote corrections list

        footnote corrections remove 3fa9c1d20b7e
    """
    import asyncio

    with sentences():
        settings = settings_for(None, None)
        from adapters.terminal import corrections as adapter

        match words or ["list"]:
            case ["list"]:
                asyncio.run(adapter.show_list(settings, as_json=as_json))
            case ["remove", id]:
                asyncio.run(adapter.remove(settings, id))
            case _:
                raise Invalid("Write list, or remove ID.")
