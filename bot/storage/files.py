"""Files that people sent with a question on platforms that do not store files themselves.

A file belongs to its message and is deleted with it. Its address is never reused, so text that was
extracted from it stays valid.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.core.messages import Attachment, Thread
from bot.storage.database import Transactions
from bot.storage.retrying import awaited, repeated
from bot.storage.tables import files, messages, runs, spending


@dataclass(frozen=True, slots=True)
class Use:
    """The files that are stored, with their bytes, and the bytes that people sent on a day: all
    together, and the most of one person."""

    files: int
    stored: int
    today: int
    most: int


class Files(Transactions):
    """Failures are raised as ``StorageUnavailable``."""

    @awaited
    async def use(self, day: date) -> Use:
        """The use of the disk by files, and by those of a day (UTC), deleted ones included."""
        sizes = sa.select(sa.func.count(), sa.func.sum(sa.func.length(files.c.body)))
        sent = (
            sa.select(sa.func.sum(spending.c.uploaded_bytes).label("bytes"))
            .where(spending.c.day == day, spending.c.scope == "user")
            .group_by(spending.c.platform, spending.c.name)
            .subquery()
        )
        sums = sa.select(sa.func.sum(sent.c.bytes), sa.func.max(sent.c.bytes))
        async with self.database.read() as db:
            count, stored = (await db.execute(sizes)).one()
            today, most = (await db.execute(sums)).one()
        return Use(count, int(stored or 0), int(today or 0), int(most or 0))

    @awaited
    async def body(self, url: str) -> bytes | None:
        """The content of a file; None if it was deleted."""
        async with self.database.read() as db:
            found: bytes | None = await db.scalar(sa.select(files.c.body).where(files.c.url == url))
        return found

    @repeated
    async def of_thread(self, thread: Thread) -> Sequence[Attachment]:
        """The stored files of a thread, in the order in which they were sent."""
        query = (
            sa.select(messages.c.attachments, files.c.url)
            .join(files, files.c.message_id == messages.c.id)
            .join(runs, runs.c.message_id == messages.c.id)
            .where(messages.c.thread_key == thread.key, runs.c.removed.is_(False))
            .order_by(files.c.id)
        )
        async with self.database.read() as db:
            rows = (await db.execute(query)).all()
        sent = [Attachment(**file) for row in rows for file in row.attachments]
        of = {file.url: file for file in sent if not file.again}
        return [of[row.url] for row in rows if row.url in of]


async def keep_files(db: AsyncConnection, message_id: int, bodies: Mapping[str, bytes]) -> None:
    """Store a message's files (address → content), in the transaction that stores the message."""
    for url, body in bodies.items():
        await db.execute(sa.insert(files).values(message_id=message_id, url=url, body=body))


async def remove_files(db: AsyncConnection, message_id: int) -> None:
    """Delete the files of a message that itself stays, without its text."""
    await db.execute(sa.delete(files).where(files.c.message_id == message_id))
