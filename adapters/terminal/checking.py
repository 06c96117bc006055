"""Reads the text for `footnote check`, from standard input or a document of any kind."""

from __future__ import annotations

import asyncio
from pathlib import Path

from bot.command import standard_input
from bot.errors import Invalid
from bot.messages import MAX_QUESTION
from bot.pages.media import media_type_of
from bot.pages.workers import Workers


def text_of(file: str) -> str:
    """Return the text to check; ``-`` is standard input. Raises ``Invalid`` if the file does not
    exist or the text is empty or too long, ``PageUnreadable`` if the file contains no text."""
    name = "The text" if file == "-" else file
    text = standard_input().read() if file == "-" else asyncio.run(_read(Path(file)))
    if not text.strip():
        raise Invalid(f"{name} is empty: there is nothing to check.")
    if len(text) > MAX_QUESTION:
        raise Invalid(
            f"{name} has {len(text):,} characters, but at most {MAX_QUESTION:,} can be checked at "
            "once: split it."
        )
    return text


async def _read(path: Path) -> str:
    try:
        data = await asyncio.to_thread(path.read_bytes)
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror or error}.") from error
    workers = Workers()
    try:
        return (await workers.extract(data, media_type_of(path.name), path.name)).text
    finally:
        await workers.aclose()
