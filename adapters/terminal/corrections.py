"""The actions of the command ``footnote corrections``."""

from __future__ import annotations

from typing import Any

import typer

from adapters.terminal.records import open_records
from bot.corrections.desk import CorrectionDesk, line_of
from bot.rendering.documents import printed_json
from bot.rendering.texts import DEFAULT, texts_for
from bot.rights.reader import EVERYTHING
from bot.settings import Settings
from bot.storage.corrections import Correction


async def show_list(settings: Settings, *, as_json: bool) -> None:
    """List all corrections, of every platform."""
    async with open_records(settings) as store:
        found = await CorrectionDesk(settings, store.database).listed(EVERYTHING)
    if as_json:
        typer.echo(printed_json([_document(each) for each in found]))
        return
    for each in found:
        typer.echo(f"{each.id}: {line_of(each)}")
    if not found:
        typer.echo(texts_for(DEFAULT)("correction-none"))


async def remove(settings: Settings, id: str) -> None:
    """Remove any correction, as the operator may."""
    async with open_records(settings) as store:
        gone = await CorrectionDesk(settings, store.database).remove(id, None)
    typer.echo(line_of(gone))
    typer.echo(texts_for(DEFAULT)("correction-removed"))


def _document(each: Correction) -> dict[str, Any]:
    return {
        "id": each.id,
        "statement": each.statement,
        "text": each.text,
        "question": each.question,
        "author": each.author.id,
        "name": each.author.name,
        "at": each.at.isoformat(),
        "thread": each.thread.key,
        "place": each.place,
        "url": each.url,
        "link": each.link,
    }
