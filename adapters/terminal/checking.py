"""The text that `footnote check` is given: a file of any kind that documents may have."""

from __future__ import annotations

import asyncio
from pathlib import Path

from bot.errors import Invalid
from bot.messages import MAX_QUESTION
from bot.pages.media import media_type_of
from bot.pages.workers import Workers


async def text_of(path: Path) -> str:
    """The text of a file. Raises ``Invalid`` for one that is not there or too long, and
    ``PageUnreadable`` for one that holds no text."""
    try:
        data = await asyncio.to_thread(path.read_bytes)
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror or error}.") from error
    workers = Workers()
    try:
        text = (await workers.extract(data, media_type_of(path.name), path.name)).text
    finally:
        await workers.aclose()
    if len(text) > MAX_QUESTION:
        raise Invalid(
            f"{path} has {len(text):,} characters, but at most {MAX_QUESTION:,} can be checked at "
            "once: split it."
        )
    return text
