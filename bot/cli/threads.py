"""The command ``footnote threads``."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from datetime import UTC
from typing import Annotated

import typer

from bot.cli.command import AsJson, command_app, settings_for
from bot.cli.output import print_json
from bot.cli.records import open_records
from bot.core.lines import one_line, shortened
from bot.core.settings import Settings
from bot.storage.archive import Archive, ThreadEntry

BEGINNING = 60  # characters of a thread's first message

app = command_app()


@app.command()
def threads(
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many, the latest.")] = 20,
    as_json: AsJson = False,
) -> None:
    """List the latest threads, with the keys to export or forget them by."""
    found = asyncio.run(_latest(settings_for(), limit))
    if as_json:
        print_json([_document(each) for each in found])
        return
    for each in found:
        last = f"{each.last_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
        counts = f"{each.questions:,} of {each.messages:,} messages asked"
        typer.secho(each.thread.key, bold=True)
        typer.echo(f"    {last} · {counts} · {shortened(one_line(each.begins), BEGINNING)}")
    if not found:
        typer.echo("Nothing was asked yet.")


async def _latest(settings: Settings, limit: int) -> list[ThreadEntry]:
    async with open_records(settings) as store:
        return await Archive(store.database).threads(limit)


def _document(each: ThreadEntry) -> dict[str, object]:
    return {
        "key": each.thread.key,
        **asdict(each.thread),
        "messages": each.messages,
        "questions": each.questions,
        "begins": each.begins,
        "last_at": each.last_at.astimezone(UTC).isoformat(),
    }
