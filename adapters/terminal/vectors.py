"""Making the vectors of documents with a progress bar, and one line that says what came of it."""

from __future__ import annotations

import asyncio
import math

from rich.console import Console
from rich.text import Text

from adapters.terminal.indexing import progress_bar
from bot.search.embedding.choice import open_embedder
from bot.search.vector_filling import Filled, Progress, fill_vectors
from bot.settings import Settings


def make_vectors(settings: Settings, *, seconds: float = math.inf) -> Filled:
    """Give vectors to the passages of ``settings.docs`` that have none, for some seconds at most.

    Says what was made, and why some have none. Raises ``InvalidSetting`` for settings that
    contradict each other, or a path that does not exist.
    """
    err = Console(stderr=True, highlight=False)
    with progress_bar(err, "Vectors", "passages") as advance:
        filled = asyncio.run(_fill(settings, advance, seconds))
    if filled.made or filled.with_vector < filled.passages:
        err.print(Text(line_of(filled), style="yellow" if filled.problem else "dim"))
    return filled


async def _fill(settings: Settings, advance: Progress, seconds: float) -> Filled:
    async with open_embedder(settings) as embedder:
        assert embedder is not None  # noqa: S101 - the caller knows that one is configured
        return await fill_vectors(
            settings.index_path, settings.docs, embedder, advance, seconds=seconds
        )


def line_of(filled: Filled) -> str:
    """The outcome as one line."""
    having = f"{filled.with_vector:,} of {filled.passages:,} passages have vectors"
    if filled.problem and not filled.with_vector:
        return f"Documents are searched by words alone. {filled.problem}"
    if filled.problem:
        return f"{having}; the others are found by words alone. {filled.problem}"
    if filled.with_vector < filled.passages:
        return f"{having}; `footnote index` makes the others."
    return f"{having}: {filled.made:,} made in {filled.seconds:.1f} s."
