"""The command ``footnote export``."""

from __future__ import annotations

import asyncio
from typing import Annotated, Literal

import typer
from pydantic import TypeAdapter

from bot.cli.command import command_app, settings_for
from bot.cli.output import print_json
from bot.cli.records import open_records
from bot.core.settings import Settings
from bot.rendering.documents import as_markdown
from bot.storage.archive import Archive, Conversation
from bot.storage.audit_log import Audit, named

ThreadArgument = Annotated[
    str,
    typer.Argument(
        metavar="THREAD",
        help="Its key, as `footnote threads` shows it, or the name of a conversation.",
    ),
]

app = command_app()


@app.command()
def export(
    thread: ThreadArgument,
    form: Annotated[
        Literal["markdown", "json"],
        typer.Option(
            "--format",
            metavar="markdown|json",
            help="Markdown to read, or JSON with everything stored about it.",
        ),
    ] = "markdown",
) -> None:
    """Print a thread: questions, answers with their footnotes and sources, dates.

    Example:

        footnote export tower > tower.md
    """
    conversation = asyncio.run(_exported(settings_for(), thread))
    if form == "json":
        print_json(as_json(conversation))
    else:
        typer.echo(as_markdown(conversation), nl=False)


async def _exported(settings: Settings, name: str) -> Conversation:
    """Return a thread, and note its export. Raises ``Invalid`` if there is none of that name."""
    async with open_records(settings) as store:
        archive = Archive(store.database)
        conversation = await archive.conversation(await archive.find(name))
        key = named(conversation.thread.key)
        await Audit(store.database).note("exported", "conversation", key)
        return conversation


def as_json(conversation: Conversation) -> dict[str, object]:
    """Return a conversation in the documented form of ``footnote export --format json``; times are
    in UTC."""
    fields = TypeAdapter(Conversation).dump_python(conversation, mode="json")
    return {"key": conversation.thread.key, **fields}
