"""The commands ``footnote keys``: the keys that encrypt tokens."""

from __future__ import annotations

import asyncio

import typer

from bot.cli.command import command_app, settings_for
from bot.service.platform import platforms
from bot.storage.encryption import new_key

app = command_app("Manage the keys that encrypt tokens.")


@app.command()
def new() -> None:
    """Print a new key for FOOTNOTE_ENCRYPTION_KEYS.

    To change keys, put the new one before the old one and restart; then remove the old one.
    """
    typer.echo(new_key())


@app.command()
def forget() -> None:
    """Delete installations whose tokens cannot be decrypted; they must be installed again."""
    settings = settings_for()

    async def forget_unreadable() -> int:
        stored = [each.installations for each in platforms().values()]
        return sum([await kept().forget_unreadable(settings) for kept in stored if kept])

    typer.echo(f"{asyncio.run(forget_unreadable())} installation(s) forgotten.")
