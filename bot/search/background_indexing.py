"""Indexes documents in the background of a serving process, and reports the progress."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from bot.core.errors import FootnoteError, Stopped
from bot.core.logs import get_logger
from bot.core.measurements import Indexing
from bot.core.settings import Settings

if TYPE_CHECKING:
    from bot.search.index_report import IndexReport
    from bot.search.indexer import Indexer

log = get_logger()

TELL_SECONDS = 10.0  # between two progress lines
BESIDE_OTHERS = 2  # reader processes beside those that read web pages: 240 MB of memory
NAMED_PROBLEMS = 5  # unreadable files listed by name; the others are counted


@asynccontextmanager
async def documents_being_indexed(
    settings: Settings, tell: Callable[[str], None], indexing: Indexing
) -> AsyncIterator[None]:
    """Bring the index up to date with ``settings.docs`` once, in the background of the block.

    ``indexing`` always holds the current state, and ``tell`` receives lines about progress and
    errors. An error leaves the existing index as it is. Leaving the block soon ends the indexing;
    the next start continues it.
    """
    if not settings.docs:
        yield
        return
    from bot.search.indexer import Indexer  # imported here because few processes index
    from bot.search.reader_processes import SIZE, Readers

    readers = Readers(size=min(BESIDE_OTHERS, SIZE))
    indexer = Indexer(settings.index_path, areas=settings.collection_paths, readers=readers)
    indexing.stop = indexer.stop
    task = asyncio.create_task(_index(indexer, settings, tell, indexing))
    try:
        yield
    finally:
        indexer.stop()
        await task


async def _index(
    indexer: Indexer, settings: Settings, tell: Callable[[str], None], indexing: Indexing
) -> None:
    loop = asyncio.get_running_loop()
    told = 0.0

    def progress(done: int, total: int) -> None:  # in the indexer's thread
        nonlocal told
        loop.call_soon_threadsafe(indexing.advance, done, total)
        is_first, now = not told, time.monotonic()
        if done == total or (told and now < told + TELL_SECONDS):
            return
        told = now
        line = f"Indexed {done:,} of {total:,} files."
        if is_first:
            line = (
                f"Indexing {total - done:,} of {total:,} files; "
                "those that are indexed can be searched already."
            )
        loop.call_soon_threadsafe(tell, line)

    try:
        report = await asyncio.to_thread(indexer.index, settings.docs, progress)
    except Stopped:
        return
    except FootnoteError as error:
        indexing.become("not ok", error.sentence)
        tell(f"The documents are not all indexed: {error.sentence}")
    except Exception as error:
        indexing.become("not ok", f"It failed unexpectedly ({type(error).__name__}).")
        log.exception("indexing_failed")
        tell("The documents are not all indexed: it failed unexpectedly; the log has the details.")
    else:
        indexing.become("ok")
        for line in _lines_of(report):
            tell(line)


def _lines_of(report: IndexReport) -> list[str]:
    lines = [report.warning] if report.warning else []
    if report.added or report.changed or report.removed:
        lines.append(
            f"Indexed in {report.seconds:.1f} s: {report.added} new, {report.changed} changed, "
            f"{report.removed} removed, {report.unchanged} unchanged files."
        )
    problems = report.problems
    lines += [f"Skipped {path}: {reason}" for path, reason in problems[:NAMED_PROBLEMS]]
    if len(problems) > NAMED_PROBLEMS:
        lines.append(f"… and {len(problems) - NAMED_PROBLEMS} more files.")
    return lines
