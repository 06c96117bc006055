"""The footnotes of a run's answer: their numbers and what they cite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.answers import Citation
from bot.storage.tables import pages, run_pages


async def show_numbers(db: AsyncConnection, run_id: str, shown: Mapping[int, int]) -> None:
    """Keep the footnote numbers that readers see; pages without one get the numbers after them."""
    of_run = run_pages.c.run_id == run_id
    numbers = (await db.scalars(sa.select(run_pages.c.number).where(of_run))).all()
    following = max((*shown.values(), *(() if shown else numbers)), default=0)
    rows = []
    for number in sorted(numbers):
        its = shown.get(number) if shown else number
        if its is None:
            its = following = following + 1
        rows.append({"its_number": number, "its_shown": its})
    if rows:
        given = sa.update(run_pages).where(of_run, run_pages.c.number == sa.bindparam("its_number"))
        await db.execute(given.values(shown=sa.bindparam("its_shown")), rows)


async def citation_rows(
    db: AsyncConnection, run_id: str, cited: Sequence[Citation]
) -> list[dict[str, Any]]:
    """The rows of an answer's citations, in their order."""
    numbered = sa.select(run_pages.c.shown, run_pages.c.page_id).where(run_pages.c.run_id == run_id)
    page_ids = {row.shown: row.page_id for row in (await db.execute(numbered)).all()}
    # The copy that was quoted, which need not be the one that got the number.
    quoted = sa.select(pages.c.id, pages.c.url, pages.c.hash).where(
        sa.tuple_(pages.c.url, pages.c.hash).in_({(c.url, c.page_hash) for c in cited})
    )
    copies = {(row.url, row.hash): row.id for row in (await db.execute(quoted)).all()}
    return [
        {
            "run_id": run_id,
            "position": position,
            "number": citation.number,
            "page_id": copies.get((citation.url, citation.page_hash), page_ids[citation.number]),
            "start": citation.start,
            "end": citation.end,
            "quote": citation.quote,
        }
        for position, citation in enumerate(cited)
    ]
