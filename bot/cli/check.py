"""The command ``footnote check``."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from bot.cli.ask import show_answer
from bot.cli.command import AsJson, Docs, Providers, command_app, standard_input
from bot.core.errors import Invalid
from bot.core.messages import MAX_QUESTION
from bot.pages.media import media_type_of
from bot.pages.workers import Workers

app = command_app()


@app.command()
def check(
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="A text; - reads it from standard input."),
    ],
    docs: Docs = None,
    provider: Providers = None,
    as_json: AsJson = False,
) -> None:
    """Check the statements of a text, each with a verdict and the quotes behind it.

    At most 12 of them: supported, partly supported, contradicted, nothing found, not checkable.

    Exit code 0: checked. 1: nothing was found to check it against. 2: the call or the settings need
    correcting.

    Examples:

        footnote check announcement.txt

        pbpaste | footnote check - --docs ./handbook
    """
    name = "The text" if file == "-" else file
    text = standard_input().read() if file == "-" else asyncio.run(_read(Path(file)))
    if not text.strip():
        raise Invalid(f"{name} is empty: there is nothing to check.")
    if len(text) > MAX_QUESTION:
        raise Invalid(
            f"{name} has {len(text):,} characters, but at most {MAX_QUESTION:,} can be checked at "
            "once: split it."
        )
    show_answer(text, None, docs, provider, as_json, style="check")


async def _read(path: Path) -> str:
    """Return the text of a document of any kind. Raises ``Invalid`` if there is none, and
    ``PageUnreadable`` if it contains no text."""
    try:
        data = await asyncio.to_thread(path.read_bytes)
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror or error}.") from error
    workers = Workers()
    try:
        return (await workers.extract(data, media_type_of(path.name), path.name)).text
    finally:
        await workers.aclose()
