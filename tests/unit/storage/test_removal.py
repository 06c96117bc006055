"""Pruning: what is too old goes, and what others need stays; in short transactions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.operation.configuration import load_settings
from bot.storage.conversations import Conversations
from bot.storage.database import Database
from bot.storage.journal import open_journal
from bot.storage.removal import FIRST, LEAST, MOST, Batches, Keep, Removed, Retention
from bot.storage.store import Store
from bot.storage.tables import messages, runs, spending, steps, threads
from bot.storage.tables import pages as pages_table
from tests.fakes.virtual_time import in_virtual_time, now
from tests.unit.samples import NOW
from tests.unit.storage.past import LEASE, OWNER, Past, a_channel_thread, pages

DAY = timedelta(days=1)
EVERYTHING = Keep(pages=DAY, steps=DAY, messages=DAY)


async def prune(past: Past, keep: Keep, after: timedelta = 2 * DAY) -> Removed:
    return await Retention(past.store.database, keep).prune(NOW + after)


async def test_nothing_is_pruned_unless_a_setting_says_so(past: Past) -> None:
    await past.answered(cited=pages("tower"), read=pages("other"))
    before = await past.rows()
    assert not await prune(past, Keep(), 10_000 * DAY)
    assert await past.rows() == before


def test_counts_add_up_and_are_true_if_anything_goes() -> None:
    assert Removed(pages=1, runs=2) + Removed(runs=3) == Removed(pages=1, runs=5)
    assert Removed(pages=1)
    assert not Removed()


async def test_old_steps_go_and_the_answer_stays(past: Past) -> None:
    run_id = await past.answered(cited=pages("tower"), steps=30)
    assert await prune(past, Keep(steps=DAY)) == Removed(steps=31)
    run = await past.store.run(run_id)
    assert run is not None
    assert run.answer is not None
    assert (await past.rows())["citations"] == 1
    assert "steps" not in await past.rows()


async def test_an_old_message_goes_with_its_run_and_its_empty_thread(past: Past) -> None:
    run_id = await past.answered(cited=pages("tower"))
    await past.judged(run_id, "bob")
    await past.hear("I see.", "bob")
    removed = await prune(past, Keep(messages=DAY))
    assert removed == Removed(threads=1, messages=2, runs=1, steps=2, feedback=1)
    assert set(await past.rows()) == {"pages", "spending"}


async def test_the_spending_of_earlier_days_goes_and_the_rest_stays(past: Past) -> None:
    for day in range(4):
        past.at = NOW + day * DAY
        await past.answered()
    before = (await past.rows())["spending"]
    assert await prune(past, Keep(), 4 * DAY) == Removed()
    assert await prune(past, Keep(spending=2 * DAY), 4 * DAY) == Removed(spending=before // 2)
    kept = await past.values(spending.c.day)
    assert {*kept} == {(NOW + 2 * DAY).date(), (NOW + 3 * DAY).date()}
    assert await prune(past, Keep(spending=2 * DAY), 4 * DAY) == Removed()


async def test_a_page_that_a_kept_answer_cites_is_kept(past: Past) -> None:
    await past.answered(cited=pages("tower"), numbered=pages("bridge"), read=pages("river"))
    assert await prune(past, Keep(pages=DAY)) == Removed(pages=2)
    assert await past.values(pages_table.c.url) == ["https://example.org/tower"]
    assert (await past.rows())["run_pages"] == 1


async def test_a_cited_page_goes_once_its_answer_has_gone(past: Past) -> None:
    await past.answered(cited=pages("tower"))
    removed = await prune(past, EVERYTHING)
    assert removed == Removed(threads=1, messages=1, runs=1, steps=2, pages=1)
    assert set(await past.rows()) == {"spending"}
    assert not await prune(past, EVERYTHING)


async def test_what_is_younger_stays(past: Past) -> None:
    await past.answered(cited=pages("tower"), read=pages("river"))
    before = await past.rows()
    assert not await prune(past, EVERYTHING, DAY)
    assert await past.rows() == before


HOUR = timedelta(hours=1)


async def ended_later(past: Past) -> str:
    """A question with one step, whose run ends an hour after."""
    run, journal = await past.begun()
    await past.read(journal, *pages("tower"))
    await past.store.end(run.id, run.attempt, "answered", NOW + HOUR)
    return run.id


@pytest.mark.parametrize(
    ("keep", "removed"),
    [
        (Keep(steps=DAY), Removed(steps=1)),
        (Keep(messages=DAY), Removed(threads=1, messages=1, runs=1, steps=1)),
    ],
    ids=["steps", "messages"],
)
async def test_the_age_of_a_run_counts_from_its_end(
    past: Past, keep: Keep, removed: Removed
) -> None:
    await ended_later(past)
    assert not await prune(past, keep, DAY + HOUR)
    assert await prune(past, keep, DAY + HOUR + timedelta(microseconds=1)) == removed


async def test_steps_and_messages_are_kept_for_times_of_their_own(past: Past) -> None:
    await past.answered(cited=pages("tower"))
    longer = Keep(steps=DAY, messages=3 * DAY)
    assert await prune(past, longer) == Removed(steps=2)
    assert not await prune(past, longer, 3 * DAY)
    assert await prune(past, longer, 4 * DAY) == Removed(threads=1, messages=1, runs=1)


async def test_a_message_takes_its_steps_along_though_they_were_to_be_kept_longer(
    past: Past,
) -> None:
    await past.answered()
    assert await prune(past, Keep(steps=9 * DAY, messages=DAY)) == Removed(
        threads=1, messages=1, runs=1, steps=1
    )


@pytest.mark.parametrize(("after", "gone"), [(2 * DAY, 0), (2 * DAY + HOUR, 1)])
async def test_a_page_that_an_unfinished_run_might_have_read_stays(
    past: Past, after: timedelta, gone: int
) -> None:
    """Stored pages are read again for a time, and the memory of a process adds as much."""
    await past.answered(read=pages("tower"))
    past.at = NOW + after
    past.thread = a_channel_thread("t2")
    await past.begun()
    assert await prune(past, Keep(pages=HOUR, page_ttl=DAY), 9 * DAY) == Removed(pages=gone)


async def test_what_could_not_be_taken_away_is_passed_once(
    past: Past, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def remove_none(*_: object) -> Removed:
        return Removed()

    monkeypatch.setattr("bot.storage.removal.remove_pages", remove_none)
    await past.answered(read=pages("tower", "bridge"))
    async with asyncio.timeout(60):
        assert not await prune(past, Keep(pages=DAY))


def test_the_settings_say_in_days_how_long_rows_are_kept() -> None:
    assert Keep.of(load_settings()) == Keep(spending=400 * DAY, audit=400 * DAY, page_ttl=DAY)
    settings = load_settings(keep_steps_days=2, keep_messages_days=3)
    assert Keep.of(settings) == Keep(2 * DAY, 2 * DAY, 3 * DAY, 400 * DAY, 400 * DAY, DAY)


async def test_a_page_fetched_again_is_young_again(past: Past) -> None:
    await past.answered(read=pages("tower"))
    past.at = NOW + DAY
    await past.answered(read=pages("tower", at=NOW + DAY))
    assert not await prune(past, Keep(pages=DAY))


async def test_nothing_of_a_run_that_has_not_ended_is_touched(past: Past) -> None:
    _, journal = await past.begun()
    await past.read(journal, *pages("tower", "river"))
    await journal.number(pages("tower"))
    before = await past.rows()
    assert not await prune(past, EVERYTHING, 100 * DAY)
    assert await past.rows() == before


async def test_a_page_that_was_old_when_an_unfinished_run_read_it_stays(past: Past) -> None:
    past.at = NOW + DAY
    _, journal = await past.begun()
    await past.read(journal, *pages("tower", at=NOW))
    keep = Keep(pages=DAY, page_ttl=DAY)
    assert not await prune(past, keep, 3 * DAY)


async def test_a_page_that_an_unfinished_run_has_numbered_stays_however_old(past: Past) -> None:
    past.at = NOW + DAY
    _, journal = await past.begun()
    await past.read(journal, *pages("tower", "river", at=NOW))
    await journal.number(pages("tower"))
    assert await prune(past, Keep(pages=DAY), 3 * DAY) == Removed(pages=1)
    assert await past.values(pages_table.c.url) == ["https://example.org/tower"]


async def test_other_pages_go_although_some_run_has_not_ended(past: Past) -> None:
    await past.answered(read=pages("tower"))
    past.at = NOW + 2 * DAY
    past.thread = a_channel_thread("t2")
    await past.begun()
    assert await prune(past, Keep(pages=DAY)) == Removed(pages=1)


async def test_an_old_question_that_was_edited_lately_stays(past: Past) -> None:
    run_id = await past.answered(cited=pages("tower"))
    conversations = Conversations(past.store.database)
    late = NOW + 2 * DAY
    await conversations.edit("slack", "e1", "How wide?", (), late, owner=None, lease=LEASE)
    assert not await prune(past, Keep(steps=DAY, messages=DAY))
    run = await past.store.claim(run_id, OWNER, late, LEASE)
    assert run is not None
    await past.store.end(run_id, run.attempt, "answered", late)
    assert not await prune(past, Keep(steps=DAY, messages=DAY))
    assert (await past.rows())["runs"] == 1


async def test_an_edited_question_reads_a_pruned_page_again(past: Past) -> None:
    """Its steps were kept: the one that read the page does not count as finished any more."""
    (page,) = pages("tower")
    run_id = await past.answered(read=(page,))
    await prune(past, Keep(pages=DAY))
    await Conversations(past.store.database).edit(
        "slack", "e1", "How wide?", (), NOW, owner=None, lease=LEASE
    )
    run = await past.store.claim(run_id, OWNER, NOW, LEASE)
    assert run is not None
    journal = await open_journal(past.store.database, run_id, run.attempt)
    assert journal.finished(f"read {page.url}") is None
    assert journal.finished("model 0") is not None
    await past.read(journal, page)
    assert journal.finished(f"read {page.url}") is not None
    assert await journal.number([page]) == [1]
    assert len(await past.values(steps.c.id)) == 2


async def test_a_thread_in_which_something_is_kept_stays_and_others_go(past: Past) -> None:
    await past.answered()
    past.thread = a_channel_thread("t2")
    await past.answered()
    past.at = NOW + 2 * DAY
    await past.hear("And now?", "bob")
    assert await prune(past, Keep(messages=DAY)) == Removed(threads=1, messages=2, runs=2, steps=2)
    assert await past.values(messages.c.text) == ["And now?"]


async def test_many_rows_go_in_several_portions(
    past: Past, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.storage.removal.ROWS_PICKED", 50)
    said = [past.message(f"Word {number}", "bob") for number in range(130)]
    await Conversations(past.store.database).hear(said, NOW)
    await past.begun()
    assert await prune(past, Keep(messages=DAY)) == Removed(messages=130)
    assert await past.values(runs.c.state) == ["running"]


async def test_the_pieces_hold_every_row_once_in_order(store: Store) -> None:
    batches, rows = Batches(store.database), list(range(1_000))
    pieces = []
    for piece in batches.of(rows):
        pieces.append(piece)
        async with batches.batch():
            pass
    assert [row for piece in pieces for row in piece] == rows
    assert all(pieces)


@in_virtual_time
async def test_batches_adapt_to_how_long_they_take_and_others_get_as_much_time() -> None:
    batches = Batches(Idle())
    batches.goal = 3.0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bot.storage.removal.monotonic", now)
        sizes = []
        for seconds in (0.9, 0.9, 3.0, 1.0, *[0.9] * 4, *[3.1] * 7):
            began = now()
            sizes.append(len(next(batches.of(range(1_000)))))
            async with batches.batch():
                await asyncio.sleep(seconds)
            assert now() - began == pytest.approx(2 * seconds)
    assert sizes == [8, 16, 32, 32, 32, 64, 128, 200, 200, 100, 50, 25, 12, 6, 4]
    assert (sizes[0], max(sizes), min(sizes)) == (FIRST, MOST, LEAST)


class Idle(Database):
    """A database on which a transaction takes no time."""

    def __init__(self) -> None:
        self.dialect = "sqlite"

    @asynccontextmanager
    async def write(self) -> AsyncIterator[AsyncConnection]:
        yield None  # type: ignore[misc]


async def test_a_batch_that_was_not_full_says_nothing_of_a_larger_one(store: Store) -> None:
    batches = Batches(store.database)
    batches.goal = 60.0
    for _ in range(10):
        for _ in batches.of(range(FIRST - 1)):
            async with batches.batch():
                pass
    assert len(next(batches.of(range(10_000)))) == FIRST


async def test_what_other_transactions_hold_is_left_for_the_next_round(pg_store: Store) -> None:
    past = Past(pg_store)
    for name in ("edited", "accepting", "idle"):
        past.thread = a_channel_thread(name)
        await past.answered()
    keep = Keep(messages=DAY)
    async with asyncio.timeout(60), pg_store.database.write() as db:
        await db.execute(sa.select(messages).where(messages.c.id == 1).with_for_update())
        lock = sa.func.hashtextextended(a_channel_thread("accepting").key, 0)
        await db.execute(sa.select(sa.func.pg_advisory_xact_lock(lock)))
        removed = await prune(past, keep)
    assert (removed.messages, removed.threads) == (2, 1)
    assert len(await past.values(threads.c.key)) == 2
    removed = await prune(past, keep)
    assert (removed.messages, removed.threads) == (1, 1)
