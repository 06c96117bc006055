"""Storage of standing questions: their schedules, their checks and the last reported answers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.core.errors import RunLost
from bot.core.messages import Answer, Author, Citation, RunOptions, Thread, Wording
from bot.pages.urls import dedupe_key
from bot.storage.audit_log import Actor, named, note
from bot.storage.console import UNSEEN
from bot.storage.database import Transactions, awaited, repeated
from bot.storage.removal import remove_empty_threads, remove_messages
from bot.storage.tables import (
    THREAD,
    answer_of,
    as_answer,
    as_options,
    asked_of,
    asked_runs,
    citation_rows,
    citations,
    feedback,
    keep_thread,
    messages,
    pages,
    run_pages,
    runs,
    thread_of,
    threads,
    understood,
    update_fenced,
    watches,
)

WatchState = Literal["watching", "paused", "ended"]
Outcome = Literal["", "same", "changed", "no_answer", "budget", "refused"]
CHECK_MARK = ":watch:"  # in the event ids of checks, between the first run's id and the watch's


@dataclass(frozen=True, slots=True)
class Watch:
    """A standing question.

    Changes are posted in ``thread``. ``run`` is the run with the last reported answer, ``origin``
    the first one. ``options`` are those of each check; they include what was known of the author.
    """

    id: str
    thread: Thread
    run: str
    origin: str
    question: Wording
    author: Author
    options: RunOptions
    locale: str
    schedule: str
    state: WatchState
    created_at: datetime
    due_at: datetime
    interest_at: datetime
    looked_at: datetime | None = None
    outcome: Outcome = ""

    @property
    def place(self) -> Thread:
        """The hidden thread in which its checks run until one finds a change."""
        where = self.thread
        return Thread(where.platform, where.workspace, where.channel, UNSEEN + self.id)

    @property
    def event_id(self) -> str:
        """The event id of the due check: starting the same check twice creates only one run."""
        return f"{self.origin}{CHECK_MARK}{self.id}:{self.due_at.timestamp():.0f}"


class StandingQuestions(Transactions):
    """Every method is one transaction. Failures are raised as ``StorageUnavailable``."""

    # ------------------------------------------------------------ by people

    @repeated
    async def begin(
        self,
        id: str,
        run_id: str,
        author: Author,
        options: RunOptions,
        locale: str,
        schedule: str,
        now: datetime,
        due_at: datetime,
        most: int,
    ) -> Watch | None:
        """Watch a run's question; if its author already watches it, set the new schedule.
        Returns None if the author already has ``most`` standing questions."""
        async with self.database.urgent_write() as db:
            platform = await db.scalar(
                sa.select(threads.c.platform).join(runs).where(runs.c.id == run_id)
            )
            query = _query().where(watches.c.author_id == author.id, threads.c.platform == platform)
            theirs = [_watch(row) for row in (await db.execute(query)).all()]
            known = next((one for one in theirs if run_id in (one.run, one.origin)), None)
            if known is None and sum(one.state != "ended" for one in theirs) >= most:
                return None
            values = {
                "schedule": schedule,
                "state": "watching",
                "due_at": due_at,
                "interest_at": now,
            }
            if known is not None:
                id = known.id
                await db.execute(sa.update(watches).where(watches.c.id == id).values(**values))
            else:
                await db.execute(
                    sa.insert(watches).values(
                        id=id,
                        run_id=run_id,
                        origin_id=run_id,
                        author_id=author.id,
                        author_name=author.name,
                        options=as_options.dump_python(options, mode="json"),
                        locale=locale,
                        created_at=now,
                        **values,
                    )
                )
            found = _watch((await db.execute(_query().where(watches.c.id == id))).one())
            if known is None:
                by = Actor(found.thread.platform, found.thread.workspace, author.id)
                place = named(found.thread.key)
                await note(db, "watched", "run", run_id, place=place, by=by)
        return found

    @repeated
    async def change(self, id: str, state: WatchState, now: datetime, due_at: datetime) -> None:
        """Pause or resume a standing question."""
        async with self.database.urgent_write() as db:
            await db.execute(
                sa.update(watches)
                .where(watches.c.id == id)
                .values(state=state, interest_at=now, due_at=due_at)
            )

    @repeated
    async def stop(self, watch: Watch) -> None:
        """Delete a standing question; the posted answers stay."""
        async with self.database.urgent_write() as db:
            gone = await db.execute(sa.delete(watches).where(watches.c.id == watch.id))
            if gone.rowcount:
                by = Actor(watch.thread.platform, watch.thread.workspace, watch.author.id)
                place = named(watch.thread.key)
                await note(db, "unwatched", "run", watch.run, place=place, by=by)

    @repeated
    async def record_interest(self, thread: Thread, now: datetime) -> None:
        """Record that somebody opened a thread, as interest in its standing questions."""
        of_thread = sa.select(runs.c.id).where(runs.c.thread_key == thread.key)
        query = sa.select(watches.c.id).where(watches.c.run_id.in_(of_thread))
        ids = await self._scalars(query)
        if ids:
            async with self.database.urgent_write() as db:
                await db.execute(
                    sa.update(watches).where(watches.c.id.in_(ids)).values(interest_at=now)
                )

    # ------------------------------------------------------------ reading

    @repeated
    async def watch(self, id: str) -> Watch | None:
        found = await self._found(watches.c.id == id)
        return found[0] if found else None

    @repeated
    async def listed(
        self, platform: str | None = None, author_id: str | None = None, thread: str | None = None
    ) -> list[Watch]:
        """All standing questions, or those of a platform, of a person, in a thread (its key)."""
        where: list[sa.ColumnElement[bool]] = []
        where += [threads.c.platform == platform] if platform is not None else []
        where += [watches.c.author_id == author_id] if author_id is not None else []
        where += [runs.c.thread_key == thread] if thread is not None else []
        return await self._found(*where)

    @repeated
    async def due(self, now: datetime, platforms: Collection[str]) -> list[Watch]:
        """The standing questions on these platforms that are due, the longest overdue first."""
        found = await self._found(
            watches.c.state == "watching",
            watches.c.due_at <= now,
            threads.c.platform.in_(platforms),
        )
        return sorted(found, key=lambda one: one.due_at)

    async def _found(self, *where: sa.ColumnElement[bool]) -> list[Watch]:
        query = _query().where(*where).order_by(watches.c.created_at, watches.c.id)
        return [_watch(row) for row in await self._rows(query)]

    @awaited
    async def interest(self, watch: Watch) -> datetime:
        """The last time that somebody asked, gave feedback or opened its thread."""
        latest_message = sa.select(sa.func.max(messages.c.at)).where(
            messages.c.thread_key == watch.thread.key,
            sa.not_(messages.c.event_key.contains(CHECK_MARK, autoescape=True)),
        )
        latest_feedback = (
            sa.select(sa.func.max(feedback.c.at))
            .join(runs, feedback.c.run_id == runs.c.id)
            .where(runs.c.thread_key == watch.thread.key)
        )
        async with self.database.read() as db:
            moments: list[datetime | None] = [
                await db.scalar(latest_message),
                await db.scalar(latest_feedback),
            ]
        return max([watch.interest_at, *(at for at in moments if at is not None)])

    @awaited
    async def pages(self, run_id: str) -> Mapping[str, str]:
        """The texts of the pages that a run has numbered or cited, by ``dedupe_key``."""
        used = sa.union(
            *(
                sa.select(each.c.page_id).where(each.c.run_id == run_id)
                for each in (run_pages, citations)
            )
        )
        query = sa.select(pages.c.url, pages.c.text).where(pages.c.id.in_(used))
        texts: dict[str, str] = {}
        async with self.database.read() as db:
            for url, text in (await db.execute(query)).all():
                key = dedupe_key(url)
                texts[key] = f"{texts[key]}\n{text}" if key in texts else text
        return texts

    # ------------------------------------------------------------ checks

    @repeated
    async def skip(self, watch: Watch, due_at: datetime, now: datetime, outcome: Outcome) -> None:
        """Skip the due check and schedule the next one."""
        async with self.database.urgent_write() as db:
            await db.execute(_moved(watch, due_at).values(outcome=outcome, looked_at=now))

    @awaited
    async def found_nothing(
        self, watch_id: str, run_id: str, attempt: int, outcome: Outcome, now: datetime
    ) -> None:
        """End a check without a change, recording its time and outcome. Raises ``RunLost``."""
        async with self.database.write() as db:
            await update_fenced(db, run_id, attempt, state="answered", ended_at=now, owner=None)
            await db.execute(
                sa.update(watches)
                .where(watches.c.id == watch_id)
                .values(looked_at=now, outcome=outcome)
            )
            ids: Sequence[int] = (
                await db.scalars(sa.select(runs.c.message_id).where(runs.c.id == run_id))
            ).all()
            await remove_messages(db, ids)

    @awaited
    async def end(self, watch_id: str, outcome: Outcome) -> None:
        """End a standing question: no more checks, unless somebody resumes it."""
        async with self.database.write() as db:
            await db.execute(
                sa.update(watches)
                .where(watches.c.id == watch_id)
                .values(state="ended", outcome=outcome)
            )

    @awaited
    async def tell(
        self,
        watch: Watch,
        run_id: str,
        attempt: int,
        answer: Answer,
        now: datetime,
        *,
        added: Sequence[Citation] = (),
        is_over: bool = False,
    ) -> None:
        """Store the new ``answer`` that a check found and move its run to the watch's own thread.
        The next check compares with it, unless the watch ``is_over``.

        ``added`` are the answer's citations that the run did not have. Raises ``RunLost``.
        """
        async with self.database.write() as db:
            await keep_thread(db, watch.thread, now)
            kept = as_answer.dump_python(answer, mode="json")
            seen = {"thread_key": watch.thread.key, "state": "running"}
            await update_fenced(db, run_id, attempt, answer=kept, **seen)
            if added:
                count = len(answer.citations) - len(added)
                rows = await citation_rows(db, run_id, added)
                await db.execute(
                    sa.insert(citations),
                    [row | {"position": count + place} for place, row in enumerate(rows)],
                )
            message = sa.select(runs.c.message_id).where(runs.c.id == run_id).scalar_subquery()
            await db.execute(
                sa.update(messages)
                .where(messages.c.id == message)
                .values(thread_key=watch.thread.key)
            )
            await remove_empty_threads(db, [watch.place.key])
            values: dict[str, Any] = {"looked_at": now}
            values |= {"state": "ended"} if is_over else {"run_id": run_id, "outcome": "changed"}
            await db.execute(sa.update(watches).where(watches.c.id == watch.id).values(**values))


async def begin_check(db: AsyncConnection, watch: Watch, due_at: datetime) -> None:
    """Schedule the next check, in the transaction that begins the due one. Raises ``RunLost`` if
    that is no longer due: another process has begun it, and may even have ended it."""
    moved = await db.execute(_moved(watch, due_at))
    if moved.rowcount != 1:
        raise RunLost(f"The check of {watch.id} due at {watch.due_at} has begun elsewhere.")


def _moved(watch: Watch, due_at: datetime) -> sa.Update:
    """Set when a standing question is due next, if it is still due at the time in ``watch``."""
    is_due = watches.c.due_at == watch.due_at, watches.c.state == "watching"
    return sa.update(watches).where(watches.c.id == watch.id, *is_due).values(due_at=due_at)


async def forget_watches_by(db: AsyncConnection, platform: str, person: str) -> None:
    """Delete the standing questions of a person on a platform."""
    theirs = sa.select(runs.c.id).join(threads).where(threads.c.platform == platform)
    await db.execute(
        sa.delete(watches).where(watches.c.author_id == person, watches.c.run_id.in_(theirs))
    )


def _query() -> sa.Select[Any]:
    return (
        sa.select(watches, runs.c.answer, messages.c.text, messages.c.made_from)
        .add_columns(*THREAD)
        .select_from(asked_runs)
        .join(watches, watches.c.run_id == runs.c.id)
        .where(sa.not_(runs.c.removed))
    )


def _watch(row: Any) -> Watch:
    return Watch(
        id=row.id,
        thread=thread_of(row),
        run=row.run_id,
        origin=row.origin_id,
        question=understood(asked_of(row), answer_of(row.answer)),
        author=Author(row.author_id, row.author_name),
        options=as_options.validate_python(row.options),
        locale=row.locale,
        schedule=row.schedule,
        state=row.state,
        created_at=row.created_at,
        due_at=row.due_at,
        interest_at=row.interest_at,
        looked_at=row.looked_at,
        outcome=row.outcome,
    )
