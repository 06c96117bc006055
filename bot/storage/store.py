"""Threads, messages and runs: what was accepted, which process works on it, and the result."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.core.messages import Answer, Attachment, Entry, Message, Provenance, RunOptions, Transcript
from bot.core.reader import documents_in
from bot.pages.page import Page
from bot.storage.accepting import NewQuestion, keep_question
from bot.storage.connecting import Connecting
from bot.storage.database import Transactions, open_database
from bot.storage.records import (
    CHECK_STATES,
    UNFINISHED,
    WORKING,
    RunRecord,
    Standing,
    as_answer,
    claiming,
    earlier_in_thread,
    is_free,
    one_run,
    record_of,
    run_query,
)
from bot.storage.retrying import awaited, repeated
from bot.storage.rows import (
    citation_rows,
    pad_ids,
    page_of,
    show_numbers,
    update_fenced,
)
from bot.storage.said import keep_only_quotes
from bot.storage.spending import DaySpent
from bot.storage.tables import citations, messages, pages, runs, threads

NO_FILES: Mapping[str, bytes] = {}
TRANSCRIPT_MESSAGES = 60  # of a thread: a follow-up may refer to any of its answers


class Store(Transactions):
    """Every method is one transaction, retried as ``again`` describes. Failures are raised as
    ``StorageUnavailable``."""

    async def close(self) -> None:
        await self.database.close()

    # ------------------------------------------------------------ accepting

    @repeated
    async def accept(
        self,
        run_id: str,
        message: Message,
        options: RunOptions,
        now: datetime,
        *,
        owner: str | None = None,
        lease: timedelta = timedelta(),
        post_state: dict[str, Any] | None = None,
        permit: Callable[[DaySpent], None] | None = None,
        files: Mapping[str, bytes] = NO_FILES,
        together: Callable[[AsyncConnection], Awaitable[None]] | None = None,
    ) -> tuple[str, bool]:
        """Store the message and create its run, unless its event is already known.

        With an ``owner``, only that owner may claim the run until the lease expires. Returns the
        run's id (the earlier one for a redelivery) and whether it is new. ``permit`` receives
        what has been spent today (by UTC date), including this question, and raises to refuse it.
        ``files`` holds the bodies of the attachments to store with it, by URL. ``together`` runs
        in the same transaction; if it raises, nothing is stored.
        """
        asked = NewQuestion(
            run_id, message, options, now, owner, lease, post_state, permit, files, together
        )
        database = self.database
        begin = database.write_at_once if asked.is_one_statement else database.urgent_write
        async with begin() as db:
            kept = await keep_question(db, asked)
        return kept, kept == run_id  # also true if an earlier try of this call stored it

    # ------------------------------------------------------------ reading

    @repeated
    async def run(self, run_id: str) -> RunRecord | None:
        async with self.database.read() as db:
            row = (await db.execute(one_run(), {"its_id": run_id})).one_or_none()
        return None if row is None else record_of(row)

    @repeated
    async def run_of_event(self, platform: str, event_id: str) -> RunRecord | None:
        """The run of the message with this platform event id."""
        query = run_query().where(messages.c.event_key == f"{platform}:{event_id}")
        async with self.database.read() as db:
            row = (await db.execute(query)).one_or_none()
        return None if row is None else record_of(row)

    @repeated
    async def unfinished(
        self, now: datetime, platforms: Collection[str] | None = None
    ) -> list[RunRecord]:
        """Unclaimed runs, oldest first: accepted, or abandoned by an owner that has ended."""
        query = run_query().where(runs.c.state.in_(UNFINISHED)).order_by(messages.c.id)
        if platforms is not None:
            query = query.where(threads.c.platform.in_(platforms))
        async with self.database.read() as db:
            rows = (await db.execute(query)).all()
        return [record_of(row) for row in rows if is_free(row, now)]

    @repeated
    async def earlier_unfinished(self, run_id: str) -> str | None:
        """The oldest unfinished run that precedes this unfinished one in its thread, or None."""
        async with self.database.read() as db:
            found: str | None = await db.scalar(earlier_in_thread(), {"its_id": run_id})
        return found

    @repeated
    async def may_claim(self, run_id: str, owner: str, now: datetime) -> bool:
        """Return True if a run is unfinished and no other live process owns it."""
        row = await self._unfinished_one(run_id)
        return row is not None and (row.owner == owner or is_free(row, now))

    @repeated
    async def is_held(self, run_id: str, now: datetime) -> bool:
        """Return True if a live process owns an unfinished run, as far as can be known."""
        row = await self._unfinished_one(run_id)
        return row is not None and not is_free(row, now)

    async def _unfinished_one(self, run_id: str) -> Any:
        query = sa.select(runs.c.owner, runs.c.lease_until).where(
            runs.c.id == run_id, runs.c.state.in_(UNFINISHED)
        )
        async with self.database.read() as db:
            return (await db.execute(query)).one_or_none()

    @awaited
    async def transcript(self, run: RunRecord) -> Transcript:
        """The messages before the run's own in its thread, interleaved with Footnote's answers."""
        thread = run.message.thread
        its = {"its_thread": thread.key, "its_event": f"{thread.platform}:{run.message.event_id}"}
        async with self.database.read() as db:
            rows = (await db.execute(_earlier(), its)).all()
        entries: list[Entry] = []
        for name, text, attachments, made_from, answer in reversed(rows):
            files = tuple(Attachment(**file) for file in attachments)
            source = Provenance.of(made_from)
            entries.append(Entry("person", name, text, files=files, made_from=source))
            if answer is not None:
                entries.append(_entry(as_answer.validate_python(answer)))
        return Transcript(tuple(entries))

    @repeated
    async def thread_names(self, platform: str) -> list[str]:
        """The names of the platform's conversations."""
        query = sa.select(threads.c.thread).where(threads.c.platform == platform)
        async with self.database.read() as db:
            return list((await db.scalars(query)).all())

    @awaited
    async def recent_page(self, url: str, since: datetime) -> Page | None:
        """The newest copy of a page, if it was fetched after ``since`` from the site itself."""
        query = (
            sa.select(pages)
            .where(pages.c.url == url, pages.c.fetched_at >= since, pages.c.via == "")
            .order_by(pages.c.fetched_at.desc())
            .limit(1)
        )
        async with self.database.read() as db:
            row = (await db.execute(query)).one_or_none()
        return None if row is None else page_of(row)

    # ------------------------------------------------------------ working on a run

    @repeated
    async def claim(
        self, run_id: str, owner: str, now: datetime, lease: timedelta
    ) -> RunRecord | None:
        """Begin a new attempt.

        Returns None when the run has ended, another process is working on it, or an earlier run
        of its thread is unfinished, because a follow-up depends on the answer before it. A run
        with a stop request does not wait for earlier ones.
        """
        its = {"its_id": run_id}
        if self.database.dialect == "postgresql":
            values = {**its, "by": owner, "at": now, "until": now + lease}
            async with self.database.write_at_once() as db:
                row = (await db.execute(claiming(), values)).one_or_none()
            if row is not None:
                return record_of(row)
        async with self.database.write() as db:
            query = one_run().with_for_update(of=runs)
            row = (await db.execute(query, its)).one_or_none()
            if row is None or row.state not in UNFINISHED:
                return None
            if row.owner != owner and not is_free(row, now):
                return None
            if not row.stop_requested and await db.scalar(earlier_in_thread(), its) is not None:
                return None
            state = "looking" if row.state in CHECK_STATES else "running"
            await db.execute(
                sa.update(runs)
                .where(runs.c.id == run_id)
                .values(state=state, attempt=row.attempt + 1, owner=owner, lease_until=now + lease)
            )
        return replace(record_of(row), state="running", attempt=row.attempt + 1)

    @repeated
    async def renew(
        self, owner: str, run_ids: Collection[str], until: datetime
    ) -> set[tuple[str, int]]:
        """Extend the leases of those runs that belong to this owner; returns their ids and
        attempts."""
        async with self.database.urgent_write() as db:
            ours = runs.c.owner == owner, runs.c.id.in_(pad_ids(run_ids))
            kept = await db.execute(
                sa.update(runs)
                .where(*ours, runs.c.state.in_(WORKING))
                .values(lease_until=until)
                .returning(runs.c.id, runs.c.attempt)
            )
            return {(row.id, row.attempt) for row in kept}

    @repeated
    async def standing(self, run_ids: Collection[str]) -> dict[str, Standing]:
        """The state of runs in progress; deleted runs are left out."""
        query = sa.select(runs.c.id, runs.c.attempt, runs.c.stop_requested)
        async with self.database.read() as db:
            rows = await db.execute(query.where(runs.c.id.in_(pad_ids(run_ids))))
        return {row.id: Standing(row.attempt, row.stop_requested) for row in rows}

    @repeated
    async def release(self, run_id: str, attempt: int) -> None:
        """Give up an unfinished run, so that any process may claim it at once."""
        async with self.database.write() as db:
            await db.execute(
                sa.update(runs)
                .where(runs.c.id == run_id, runs.c.attempt == attempt)
                .values(owner=None, lease_until=None)
            )

    @repeated
    async def request_stop(self, run_id: str) -> None:
        """Ask the process that is working on the run to stop."""
        async with self.database.urgent_write() as db:
            await db.execute(
                sa.update(runs)
                .where(runs.c.id == run_id, runs.c.state.in_(UNFINISHED))
                .values(stop_requested=True)
            )

    @repeated
    async def withdraw_stop(self, run_id: str) -> None:
        """Cancel a stop request, because the person asks for the run again."""
        async with self.database.write() as db:
            await db.execute(
                sa.update(runs).where(runs.c.id == run_id).values(stop_requested=False)
            )

    @repeated
    async def stopped_in_waiting(self, owner: str, now: datetime) -> list[tuple[str, str]]:
        """Unclaimed runs with a stop request that this owner may claim, with their platforms."""
        query = (
            sa.select(runs.c.id, threads.c.platform)
            .join(threads, runs.c.thread_key == threads.c.key)
            .where(
                runs.c.state.in_(UNFINISHED),
                runs.c.stop_requested,
                sa.or_(runs.c.owner.is_(None), runs.c.lease_until <= now, runs.c.owner == owner),
            )
        )
        async with self.database.read() as db:
            return [(row.id, row.platform) for row in await db.execute(query)]

    # ------------------------------------------------------------ ending a run

    @awaited
    async def save_post_state(self, run_id: str, attempt: int, post_state: dict[str, Any]) -> None:
        """Store what the poster needs to find its posts again. Raises ``RunLost``."""
        async with self.database.write_at_once() as db:
            await update_fenced(db, run_id, attempt, post_state=post_state)

    @awaited
    async def save_answer(
        self, run_id: str, attempt: int, answer: Answer, shown: Mapping[int, int] | None = None
    ) -> None:
        """Store the answer, its citations and the page numbers that it displays.

        ``shown`` maps a page's number in the run (``storage.journal``) to the displayed number;
        pages missing from it are numbered after those, and without ``shown`` all pages keep the
        number of the run. Raises ``RunLost``.
        """
        async with self.database.write() as db:
            await update_fenced(
                db, run_id, attempt, answer=as_answer.dump_python(answer, mode="json")
            )
            await show_numbers(db, run_id, shown or {})
            await db.execute(_uncite(), {"its_id": run_id})
            if answer.citations:
                await db.execute(
                    sa.insert(citations),
                    await citation_rows(db, run_id, answer.citations),
                )

    @awaited
    async def end(
        self, run_id: str, attempt: int, state: str, now: datetime, *, searched_talk: bool = False
    ) -> None:
        """Mark a run as ended, after its answer was posted. With ``searched_talk``, only the quoted
        parts of conversations are kept. Raises ``RunLost``."""
        async with self.database.write_at_once() as db:
            await update_fenced(
                db, run_id, attempt, state=state, ended_at=now, owner=None, lease_until=None
            )
            if searched_talk:
                await keep_only_quotes(db, run_id)


@cache
def _earlier() -> sa.Select[Any]:
    """The newest messages of ``its_thread`` before ``its_event``, with their answers."""
    # Ordered by the platform's clock, so that history read later still comes before.
    asked = messages.alias("asked")
    is_before = sa.tuple_(messages.c.at, messages.c.id) < sa.tuple_(asked.c.at, asked.c.id)
    is_asked = asked.c.event_key == sa.bindparam("its_event")
    return (
        sa.select(messages.c.author_name, messages.c.text, messages.c.attachments)
        .add_columns(messages.c.made_from, runs.c.answer)
        .join_from(messages, runs, isouter=True)
        .where(
            messages.c.thread_key == sa.bindparam("its_thread"),
            messages.c.text != "",
            sa.select(asked.c.id).where(is_asked, is_before).exists(),
        )
        .order_by(messages.c.at.desc(), messages.c.id.desc())
        .limit(TRANSCRIPT_MESSAGES)
    )


@cache
def _uncite() -> sa.Delete:
    return sa.delete(citations).where(citations.c.run_id == sa.bindparam("its_id"))


async def open_store(
    url: str,
    *,
    connecting: Connecting = Connecting(),  # noqa: B008  (frozen)
) -> Store:
    """Open the store at a SQLAlchemy URL. Raises ``StorageUnavailable`` or ``InvalidSetting``."""
    return Store(await open_database(url, connecting=connecting))


def _entry(answer: Answer) -> Entry:
    titles = dict.fromkeys(citation.title for citation in answer.citations)
    return Entry(
        role="footnote",
        name="Footnote",
        text=answer.text,
        sources=tuple(titles),
        question=answer.question,
        cited=tuple(sorted(answer.citations, key=lambda citation: citation.number)),
        made_from=documents_in(answer.rests_on),
    )
