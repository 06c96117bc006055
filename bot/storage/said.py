"""Deletes what an ended run has read of conversations, except the quotes in its answer.

Chat platforms allow messages to be used for one question, but not to be stored. While a run works,
its journal holds what it found. When it ends, its searches of conversations are deleted, and in the
pages everything but the quotes is overwritten with spaces, so that positions stay valid. A page
without a quote also loses its title, which may be the name of somebody's file.
"""

from __future__ import annotations

import json
import re

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.core.reader import conversations_in, is_conversation
from bot.storage.tables import citations, pages, steps

_FOUND = ("search", "read", "ready")  # kinds of steps whose results name documents

_VISIBLE = re.compile(r"\S")


async def keep_only_quotes(db: AsyncConnection, run_id: str) -> None:
    """Delete what an ended run has read of conversations and does not quote."""
    found = sa.select(steps.c.id, steps.c.kind, steps.c.result).where(
        steps.c.run_id == run_id, steps.c.kind.in_(_FOUND)
    )
    rows = [row for row in await db.execute(found) if conversations_in(row.result)]
    if not rows:
        return
    await db.execute(sa.delete(steps).where(steps.c.id.in_([row.id for row in rows])))
    read = [json.loads(row.result) for row in rows if row.kind == "read"]
    copies = [(each["url"], each["hash"]) for each in read if is_conversation(each["url"])]
    its_pages = sa.select(pages.c.id, pages.c.text).where(
        sa.tuple_(pages.c.url, pages.c.hash).in_(copies)
    )
    for page in (await db.execute(its_pages)).all() if copies else ():
        text = list(_VISIBLE.sub(" ", page.text))
        quotes = sa.select(citations.c.start, citations.c.quote)
        quoted = (await db.execute(quotes.where(citations.c.page_id == page.id))).all()
        for quote in quoted:
            text[quote.start : quote.start + len(quote.quote)] = quote.quote
        left = {"text": "".join(text)} if quoted else {"text": "".join(text), "title": ""}
        await db.execute(sa.update(pages).where(pages.c.id == page.id).values(left))
