"""The journal of a run: its finished steps, their results, and the numbers of its pages.

The cost of a step is added to the day's spending (``storage.spending``) in the transaction that
stores the step, so that a crash cannot lose only one of them.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, fields, replace
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.core.errors import RunLost
from bot.core.reader import is_conversation
from bot.pages.page import Page
from bot.pages.urls import dedupe_key
from bot.storage.database import Database, Transactions, awaited, patiently
from bot.storage.spending import NOTHING, Amount, Payer, add_spent
from bot.storage.tables import (
    PLACE,
    asked_runs,
    insert_for,
    messages,
    page_of,
    pages,
    run_pages,
    runs,
    steps,
    update_fenced,
)


def step_key(kind: str, inputs: Mapping[str, Any]) -> str:
    """The identity of a step: SHA-256 over its kind and its inputs as canonical JSON."""
    canonical = json.dumps([kind, inputs], sort_keys=True, ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


BEFORE = -1
"""The attempt of the steps that a run had finished when it failed, once it is tried again."""

SPOILED = "spoiled"
"""The kind of the step by which a run that fails records that a model's reply may be the cause."""


def page_read(kind: str, result: str) -> tuple[str, str] | None:
    """The URL and hash under which a step's page is stored; None if it read none.

    ``result`` is a serialized ``research.outcomes.ReadOutcome``.
    """
    if kind != "read":
        return None
    outcome = json.loads(result)
    return (outcome["url"], outcome["hash"]) if outcome.get("hash") else None


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """A finished step; ``result`` is JSON text."""

    key: str
    kind: str
    title: str
    result: str
    seconds: float
    at: datetime


@dataclass(eq=False, slots=True)
class _Entry:
    """A step waiting to be stored, with its page and cost. ``is_lost`` is set if the run was taken
    over first."""

    step: RecordedStep
    page: Page | None
    cost: Amount
    is_lost: bool = False

    @property
    def key(self) -> str:
        return self.step.key


class Journal(Transactions):
    """The finished steps of one attempt at a run. Writes raise ``RunLost`` once it is overtaken.

    ``payer`` is the account that is charged. ``seconds`` is how long earlier attempts worked on the
    question, by their finished steps; parallel steps count once. ``without_page`` holds the keys of
    recorded steps that must be repeated, ``earlier`` of those ``BEFORE`` that are reused. ``reach``
    is the signature of the documents that its readers may see (``rights.reach``): results recorded
    with a different one are not reused.
    """

    def __init__(
        self,
        database: Database,
        run_id: str,
        attempt: int,
        payer: Payer,
        finished: Mapping[str, RecordedStep],
        numbers: Mapping[str, int],
        seconds: float,
        without_page: Collection[str] = (),
        reach: str = "",
        earlier: Collection[str] = (),
    ) -> None:
        super().__init__(database)
        self._reach = reach
        self._run_id = run_id
        self._attempt = attempt
        self.payer = payer
        self.seconds = seconds
        self._owed = NOTHING
        self._finished = dict(finished)
        self._waiting: list[_Entry] = []
        self._recording = asyncio.Lock()
        self._pages: dict[tuple[str, str], Page] = {}  # read by this attempt, by URL and hash
        self._without_page = frozenset(without_page)
        self._earlier = frozenset(earlier)
        self._numbers = dict(numbers)
        self._numbering = asyncio.Lock()

    def finished(self, key: str) -> RecordedStep | None:
        """The step with this key, if this or an earlier attempt finished it."""
        return self._finished.get(self._kept_as(key))

    def is_earlier(self, key: str) -> bool:
        """True for a step that is reused from before the run failed: it does not count again."""
        return self._kept_as(key) in self._earlier

    def _kept_as(self, key: str) -> str:
        return step_key("within", {"reach": self._reach, "key": key}) if self._reach else key

    async def record(
        self, step: RecordedStep, page: Page | None = None, cost: Amount = NOTHING
    ) -> None:
        """Store a finished step, the page that it read and its cost, in one transaction.

        Steps that finish at the same time share a transaction: a run that opens eight pages at once
        would otherwise wait for eight. The cost counts even if the run was lost meanwhile.
        """
        entry = _Entry(replace(step, key=self._kept_as(step.key)), page, cost)
        self._waiting.append(entry)
        try:
            async with self._recording:
                if entry in self._waiting:  # otherwise it was stored together with another one
                    await self._keep(entry)
        finally:
            if entry in self._waiting:
                self._waiting.remove(entry)
        if entry.is_lost:
            raise RunLost(f"Run {self._run_id} has been taken over by a later attempt.")

    async def _keep(self, entry: _Entry) -> None:
        """Write all waiting entries; if that fails, only this one, so that the error is its own."""
        batch: list[_Entry] = []
        try:
            await self._write(batch)
        except Exception:
            if len(batch) < 2:
                raise
            await self._write([entry])

    @awaited
    async def _write(self, batch: list[_Entry]) -> None:
        """Write a batch in one transaction; an empty one is filled with all waiting entries.

        A retry writes the same batch, so that the cost of a step that was stored when the
        connection broke is not added twice.
        """
        async with self._owing() as owed:
            new = await self.database.transact(lambda db: self._store(db, batch, owed))
        self._waiting = [each for each in self._waiting if each not in batch]
        for each in batch:
            each.is_lost = new is None
            if new is not None:
                self._finished[each.key] = each.step
                if each.page is not None:
                    self._pages[each.page.url, each.page.hash] = each.page

    async def _store(
        self, db: AsyncConnection, batch: list[_Entry], owed: Amount
    ) -> set[str] | None:
        """The keys of the steps that were new; None if the run was lost, and only costs stored."""
        its = {"its_id": self._run_id, "its_attempt": self._attempt}
        is_ours = await db.scalar(_held(), its) is not None
        batch[:] = batch or self._waiting
        new = await self._insert(db, [each.step for each in batch]) if is_ours else None
        await self._spend(db, [each for each in batch if new is None or each.key in new], owed)
        if is_ours:
            await _keep_pages(db, [each.page for each in batch if each.page is not None])
        return new

    async def _insert(self, db: AsyncConnection, finished: Sequence[RecordedStep]) -> set[str]:
        """Store steps and return the keys of the new ones. A retry may find some already stored."""
        for key in self._without_page.intersection(step.key for step in finished):
            this = steps.c.run_id == self._run_id, steps.c.key == key
            await db.execute(sa.delete(steps).where(*this, steps.c.attempt < self._attempt))
        its = {"run_id": self._run_id, "attempt": self._attempt}
        rows = [its | {name: getattr(step, name) for name in _OF_STEP} for step in finished]
        return set((await db.scalars(_adding(db.dialect.name), rows)).all())

    async def _spend(self, db: AsyncConnection, new: Sequence[_Entry], owed: Amount) -> None:
        """Add the costs of steps, and to the first of them the amount owed."""
        costs: dict[date, Amount] = {}
        for entry in new:
            day = entry.step.at.astimezone(UTC).date()
            costs[day] = costs.get(day, owed if not costs else NOTHING) + entry.cost
        for day, cost in sorted(costs.items()):
            await add_spent(db, self.payer, day, cost)

    def owe(self, amount: Amount) -> None:
        """Remember spending that belongs to no step; the next step or ``settle`` stores it."""
        self._owed += amount

    async def settle(self, now: datetime) -> None:
        """Store what is still owed, even if another process has the run by now."""
        if self._owed == NOTHING:
            return
        async with self._owing() as owed, self.database.write() as db:
            await add_spent(db, self.payer, now.astimezone(UTC).date(), owed)

    @asynccontextmanager
    async def _owing(self) -> AsyncIterator[Amount]:
        """Hand out the amount owed for the block, and restore it if the block fails."""
        owed, self._owed = self._owed, NOTHING  # at once: steps may be recorded in parallel
        try:
            yield owed
        except BaseException:
            self._owed += owed
            raise

    async def page(self, url: str, page_hash: str) -> Page:
        """A page that a finished step of this run has read."""
        page = self._pages.get((url, page_hash)) or await self.stored(url, page_hash)
        if page is None:
            raise LookupError(f"{url} is not stored with the hash {page_hash}.")
        return page

    @awaited
    async def stored(self, url: str, page_hash: str) -> Page | None:
        """A page that any run has read, unless it has been pruned."""
        query = sa.select(pages).where(pages.c.url == url, pages.c.hash == page_hash)
        row = await self._row(query)
        return None if row is None else page_of(row)

    async def number(self, read: Sequence[Page]) -> list[int]:
        """The citation numbers of pages in this run; pages without one get the next numbers.

        A page keeps its number even when it is read again with a changed text, or at a variant
        of its address (``pages.urls.dedupe_key``).
        """
        # One call at a time: a number must be stored before parallel work uses it, or a crash
        # between the two would give the page a different one.
        async with self._numbering:
            return await self._numbered(read)

    @awaited
    async def _numbered(self, read: Sequence[Page]) -> list[int]:
        keys = [dedupe_key(page.url) for page in read]
        new: dict[str, Page] = {}
        for key, page in zip(keys, read, strict=True):
            if key not in self._numbers:
                new.setdefault(key, page)
        if new:
            first = max(self._numbers.values(), default=0) + 1
            new_numbers = {key: first + i for i, key in enumerate(new)}
            rows = [
                {
                    "run_id": self._run_id,
                    "number": new_numbers[key],
                    "its_url": page.url,
                    "its_hash": page.hash,
                }
                for key, page in new.items()
            ]

            async def keep(db: AsyncConnection) -> None:
                await update_fenced(db, self._run_id, self._attempt)
                await db.execute(_numbering(db.dialect.name), rows)

            await self.database.transact(keep)
            self._numbers |= new_numbers
        return [self._numbers[key] for key in keys]


async def open_journal(database: Database, run_id: str, attempt: int, reach: str = "") -> Journal:
    """Load the finished steps of earlier attempts at the run; ``reach`` as for ``Journal``.

    An edited question may reuse results of the earlier version, but its time starts over. Pages
    that have been pruned since are read again.
    """
    return await patiently(database, lambda: _load(database, run_id, attempt, reach))


@cache
def _held() -> sa.Select[Any]:
    """The run ``its_id``, if ``its_attempt`` is current, with a shared lock: the run cannot be
    claimed until the transaction ends, but other steps of it can be stored."""
    return (
        sa.select(runs.c.id)
        .where(runs.c.id == sa.bindparam("its_id"), runs.c.attempt == sa.bindparam("its_attempt"))
        .with_for_update(read=True)
    )


@cache
def _adding(dialect: str) -> Any:
    """Add steps that are not stored yet, and return their keys."""
    added = insert_for(dialect, steps).on_conflict_do_nothing(index_elements=["run_id", "key"])
    return added.returning(steps.c.key)


@cache
def _numbering(dialect: str) -> Any:
    """Number the stored page of ``its_url`` and ``its_hash``."""
    its_page = sa.select(pages.c.id).where(
        pages.c.url == sa.bindparam("its_url"), pages.c.hash == sa.bindparam("its_hash")
    )
    numbered = insert_for(dialect, run_pages).values(page_id=its_page.scalar_subquery())
    return numbered.on_conflict_do_nothing(index_elements=["run_id", "number"])


@cache
def _loading() -> Sequence[sa.Select[Any]]:
    """For the run ``its_id``: its place and time, its steps, and the numbers of its pages."""
    of_run = (
        sa.select(*PLACE, messages.c.author_id, runs.c.accepted_at)
        .select_from(asked_runs)
        .where(runs.c.id == sa.bindparam("its_id"))
    )
    finished = sa.select(*(steps.c[name] for name in _OF_STEP), steps.c.attempt).where(
        steps.c.run_id == sa.bindparam("its_id")
    )
    numbers = sa.select(pages.c.url, run_pages.c.number).join(run_pages)
    return of_run, finished, numbers.where(run_pages.c.run_id == sa.bindparam("its_id"))


async def _load(database: Database, run_id: str, attempt: int, reach: str) -> Journal:
    of_run, finished, numbers = _loading()
    its = {"its_id": run_id}

    async def load(
        db: AsyncConnection,
    ) -> tuple[Sequence[Any], list[RecordedStep], set[str], Sequence[sa.Row[Any]], set[str]]:
        run = (await db.execute(of_run, its)).one()
        kept = (await db.execute(finished, its)).all()
        recorded = [RecordedStep(*row[:-1]) for row in kept]
        before = {row.key for row in kept if row.attempt == BEFORE}
        rows = (await db.execute(numbers, its)).all()
        return run, recorded, before, rows, await _without_page(db, recorded)

    run, recorded, before, rows, gone = await database.query(load)
    *place, accepted_at = run
    gone |= _useless([step for step in recorded if step.key in before])
    return Journal(
        database,
        run_id,
        attempt,
        Payer(*place),
        {step.key: step for step in recorded if step.key not in gone},
        {dedupe_key(row.url): row.number for row in rows},
        _seconds([step for step in recorded if step.at >= accepted_at]),
        gone,
        reach,
        before - gone,
    )


async def _keep_pages(db: AsyncConnection, read: Sequence[Page]) -> None:
    """Store pages; for those already stored, update when they were last fetched."""
    if not read:
        return
    # Always in this order, so that two transactions cannot deadlock on each other's rows.
    ordered = sorted(read, key=lambda page: (page.url, page.hash))
    # Stored conversations may be reduced to quotes (``storage.store``): restore their full text.
    conversations = [page for page in ordered if is_conversation(page.url)]
    others = [page for page in ordered if not is_conversation(page.url)]
    for some, columns in ((others, _FETCHED), (conversations, (*_FETCHED, "text"))):
        if some:
            await db.execute(
                _keeping(db.dialect.name, columns),
                [{name: getattr(page, name) for name in _OF_PAGE} for page in some],
            )


_OF_STEP = tuple(field.name for field in fields(RecordedStep))
_OF_PAGE = tuple(column.name for column in pages.c if column.name != "id")
_FETCHED = ("fetched_at", "via")


@cache
def _keeping(dialect: str, changed: Sequence[str]) -> Any:
    """Store a page; of one that is already stored, change these columns."""
    keep = insert_for(dialect, pages)
    new = {name: keep.excluded[name] for name in changed}
    return keep.on_conflict_do_update(index_elements=["url", "hash"], set_=new)


async def _without_page(db: AsyncConnection, recorded: Sequence[RecordedStep]) -> set[str]:
    """The keys of the steps whose pages are no longer stored."""
    read = {step.key: page_read(step.kind, step.result) for step in recorded}
    wanted = {page for page in read.values() if page is not None}
    if not wanted:
        return set()
    query = sa.select(pages.c.url, pages.c.hash).where(
        sa.tuple_(pages.c.url, pages.c.hash).in_(wanted)
    )
    stored = {(row.url, row.hash) for row in (await db.execute(query)).all()}
    return {key for key, page in read.items() if page is not None and page not in stored}


def _useless(before: Sequence[RecordedStep]) -> set[str]:
    """The keys of the steps of a run that failed that are repeated: what failed, mere decisions,
    which have no title, and all model calls if one of them made the run fail."""
    spoiled = any(step.kind == SPOILED for step in before)
    return {
        step.key
        for step in before
        if not step.title
        or step.kind == "lapse"
        or (json.loads(step.result).get("problem") if step.kind in ("search", "read") else spoiled)
    }


def _seconds(worked: Sequence[RecordedStep]) -> float:
    """The total time during which at least one step was running."""
    seconds, until = 0.0, datetime.min.replace(tzinfo=UTC)
    for begin, end in sorted((s.at - timedelta(seconds=s.seconds), s.at) for s in worked):
        seconds += max(0.0, (end - max(begin, until)).total_seconds())
        until = max(until, end)
    return seconds
