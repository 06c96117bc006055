"""Forgetting a thread, a person, a workspace: all of it goes, nothing else does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.core.errors import RunLost
from bot.core.messages import Author, RunOptions
from bot.storage.database import Database
from bot.storage.forgetting import Forgetting, Subject, SubjectKind
from bot.storage.removal import Removed
from bot.storage.spending import Payer, Spending
from bot.storage.standing_questions import StandingQuestions
from bot.storage.store import new_owner
from bot.storage.tables import audit, channel_rules, feedback, messages, runs, threads
from bot.storage.tables import pages as pages_table
from bot.storage.workspaces import Workspaces
from tests.unit.samples import NOW
from tests.unit.storage.past import LEASE, Past, a_channel_thread, a_file, pages

TODAY = NOW.date()
TOMORROW = TODAY + timedelta(days=1)
THREAD = Subject("thread", "slack", "slack:T1:C1:t1")
ADA = Subject("person", "slack", "ada")
WORKSPACE = Subject("workspace", "slack", "T1")


async def forget(past: Past, subject: Subject, before: date = TOMORROW) -> Removed:
    forgetting = Forgetting(past.store.database)
    request = await forgetting.ask(subject, datetime.now(UTC))
    removed = await forgetting.remove(request)
    removed += await forgetting.remove_spending(subject, before)
    await forgetting.delete_request(request)
    return removed


@pytest.fixture
async def busy(past: Past) -> Past:
    """Ada and Bob ask in three threads of two workspaces, and judge each other's answers."""
    workspaces = Workspaces(past.store.database)
    for workspace in ("T1", "T2"):
        for name in ("t1", "t2"):
            past.thread = a_channel_thread(name, "C1", workspace)
            shared = pages("tower", "bridge")
            adas = await past.answered("ada", cited=shared, read=pages(f"{workspace}{name}-ada"))
            bobs = await past.answered("bob", cited=shared, numbered=pages(f"{workspace}{name}"))
            await past.judged(adas, "bob")
            await past.judged(bobs, "ada")
            await past.hear("I see.", "ada")
            await past.hear("Indeed.", "bob")
        await workspaces.remember("slack", workspace, "streams", False)
        await workspaces.set_rules("slack", workspace, "C1", {"tone": "dry"}, "ada")
    return past


@pytest.mark.parametrize("subject", [THREAD, ADA, WORKSPACE], ids=lambda subject: subject.kind)
async def test_what_would_go_is_counted_before_exactly(
    busy: Past, subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However little of it is looked at at once."""
    monkeypatch.setattr("bot.storage.forgetting.PICKED", 3)
    monkeypatch.setattr("bot.storage.forgetting.COUNTED", 2)
    expected = await Forgetting(busy.store.database).count(subject, TOMORROW)
    assert await forget(busy, subject) == expected
    assert not await Forgetting(busy.store.database).count(subject, TOMORROW)
    assert not await forget(busy, subject)


async def test_a_thread_goes_with_all_that_was_said_and_found_in_it(busy: Past) -> None:
    removed = await forget(busy, THREAD)
    assert removed == Removed(threads=1, messages=4, runs=2, steps=8, pages=2, feedback=2)
    assert THREAD.name not in await busy.values(threads.c.key)
    left = await busy.values(pages_table.c.url)
    assert "https://example.org/T1t1" not in left
    assert "https://example.org/tower" in left, "other answers cite it"


async def test_a_persons_words_and_runs_go_from_all_threads(busy: Past) -> None:
    removed = await forget(busy, ADA)
    assert removed == Removed(
        messages=8, runs=4, steps=16, pages=4, feedback=8, spending=2, pseudonyms=6
    )
    assert set(await busy.values(messages.c.author_id)) == {"bob"}
    assert await busy.values(feedback.c.author_id) == []
    assert await busy.values(channel_rules.c.author_id) == ["", ""]
    assert len(await busy.values(threads.c.key)) == 4


async def test_sums_of_channel_and_workspace_outlive_a_person(busy: Past) -> None:
    await forget(busy, ADA)
    spent = await Spending(busy.store.database).day(Payer("slack", "T1", "C1", "ada"), TODAY)
    assert (spent.user.questions, spent.channel.questions, spent.workspace.questions) == (0, 4, 4)


async def test_a_persons_sum_of_today_can_outlive_their_words(busy: Past) -> None:
    """Or a daily budget could be had again by being forgotten."""
    assert (await Forgetting(busy.store.database).count(ADA, TODAY)).spending == 0
    removed = await forget(busy, ADA, before=TODAY)
    assert removed.spending == 0
    spent = await Spending(busy.store.database).day(Payer("slack", "T1", "C1", "ada"), TODAY)
    assert spent.user.questions == 4


async def test_a_workspace_goes_with_its_rules_facts_and_sums(busy: Past) -> None:
    removed = await forget(busy, WORKSPACE)
    assert removed == Removed(
        threads=2,
        messages=8,
        runs=4,
        steps=16,
        pages=4,
        feedback=4,
        spending=4,
        rules=1,
        facts=1,
        pseudonyms=5,
    )
    workspaces = Workspaces(busy.store.database)
    assert await workspaces.facts("slack", "T1") == {}
    assert await workspaces.facts("slack", "T2") == {"streams": False}
    assert {line.workspace for line in await Spending(busy.store.database).lines(TODAY, TODAY)} == {
        "T2"
    }


async def test_everything_forgotten_leaves_an_empty_database(busy: Past) -> None:
    for name in ("T1", "T2"):
        await forget(busy, Subject("workspace", "slack", name))
    assert await busy.rows() == {}


async def test_a_similar_name_is_another_one(busy: Past) -> None:
    before = await busy.rows()
    for subject in (
        Subject("thread", "slack", "slack:T1:C1:t"),
        Subject("person", "slack", "ad"),
        Subject("person", "slack", "C1"),
        Subject("person", "discord", "ada"),
        Subject("workspace", "slack", "T"),
        Subject("workspace", "discord", "T1"),
        Subject("person", "slack", "%"),
    ):
        assert not await forget(busy, subject), subject
        assert await busy.rows() == before, subject


async def test_a_file_somebody_sent_goes_unless_another_answer_cites_it(past: Past) -> None:
    mine, ours = pages("mine.txt", "ours.txt")
    files = (a_file("mine.txt"), a_file("ours.txt"))
    await past.answered("ada", read=(mine, ours), attachments=files)
    await past.answered("bob", cited=(ours,))
    assert (await forget(past, ADA)).pages == 1
    assert await past.values(pages_table.c.url) == ["https://example.org/ours.txt"]


async def test_a_file_goes_even_after_the_steps_that_read_it(past: Past) -> None:
    await past.answered("ada", read=pages("mine.txt"), attachments=(a_file("mine.txt"),))
    async with past.store.database.write() as db:
        await db.execute(sa.text("DELETE FROM steps"))
    assert (await forget(past, ADA)).pages == 1


async def test_who_asked_the_same_once_more_asked_the_forgotten_words(
    past: Past, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They count once, even if the same person asked again."""
    monkeypatch.setattr("bot.storage.forgetting.PICKED", 1)
    run_id = await past.answered("ada")
    await past.answered("bob", event_id=f"{run_id}:deeper:0a1b")
    await past.answered("bob", event_id=f"{run_id}x:deeper:0a1b")
    await past.answered("ada", event_id=f"{run_id}:deeper:0a1c")
    expected = await Forgetting(past.store.database).count(ADA, TOMORROW)
    assert await forget(past, ADA) == expected
    assert await past.values(runs.c.id) == ["r3"]


async def test_a_thread_in_which_nobody_else_spoke_goes_too(past: Past) -> None:
    await past.answered("ada", read=pages("tower"))
    expected = await Forgetting(past.store.database).count(ADA, TOMORROW)
    assert (expected.threads, expected.pages) == (1, 1)
    assert await forget(past, ADA) == expected
    assert await past.values(threads.c.key) == []


async def test_a_run_that_is_forgotten_while_it_works_is_fenced_off(past: Past) -> None:
    run, journal = await past.begun("ada")
    await past.read(journal, *pages("tower"))
    await forget(past, ADA)
    with pytest.raises(RunLost):
        await past.read(journal, *pages("river"))
    with pytest.raises(RunLost):
        await past.store.end(run.id, run.attempt, "answered", NOW)
    assert await past.rows("spending") == {}


async def test_a_run_is_fenced_off_before_anything_of_it_goes(past: Past) -> None:
    """Else what it kept meanwhile would stay, without the run that it belonged to."""
    run, journal = await past.begun("ada")
    await past.read(journal, *pages("tower"))
    request = await Forgetting(past.store.database).ask(ADA, NOW)
    with pytest.raises(Crash):
        await Forgetting(_Mortal(past.store.database, transactions=1)).remove(request)
    with pytest.raises(RunLost):
        await past.read(journal, *pages("river"))
    left = await past.store.run(run.id)
    assert left is not None
    assert (left.state, left.attempt) == ("stopped", run.attempt + 1)
    assert not await past.store.may_claim(run.id, "another-host/2/x", NOW + LEASE)


async def test_a_run_that_has_ended_is_not_stopped_by_being_forgotten(past: Past) -> None:
    run_id = await past.answered("ada")
    request = await Forgetting(past.store.database).ask(ADA, NOW)
    with pytest.raises(Crash):
        await Forgetting(_Mortal(past.store.database, transactions=1)).remove(request)
    run = await past.store.run(run_id)
    assert run is not None
    assert (run.state, run.attempt) == ("answered", 1)


async def test_standing_questions_go_with_their_author(past: Past) -> None:
    """Though they rest on the answer to somebody else."""
    standing = StandingQuestions(past.store.database)
    run_id = await past.answered("bob")
    for name in ("ada", "eve"):
        options = Author(name, ""), RunOptions(), "en", "daily", NOW, NOW, 3
        assert await standing.begin(name, run_id, *options)
    await forget(past, ADA)
    assert [watch.id for watch in await standing.listed()] == ["eve"]


async def test_a_thread_that_is_empty_already_goes_too(busy: Past) -> None:
    async with busy.store.database.write() as db:
        place = {"platform": "slack", "workspace": "T1", "channel": "C1", "thread": "t9"}
        await db.execute(sa.insert(threads).values(key="slack:T1:C1:t9", created_at=NOW, **place))
    assert await forget(busy, replace(THREAD, name="slack:T1:C1:t9")) == Removed(threads=1)
    assert len(await busy.values(threads.c.key)) == 4


async def test_a_thread_has_no_sums_and_no_people_of_its_own(busy: Past) -> None:
    forgetting = Forgetting(busy.store.database)
    assert not await forgetting.count(replace(THREAD, name="T1"), TOMORROW)
    for subject in (THREAD, replace(THREAD, name="T1")):
        assert not await forgetting.remove_spending(subject, TOMORROW)
    assert (await forgetting.remove_spending(WORKSPACE, TODAY)).spending == 0
    assert (await forgetting.remove_spending(WORKSPACE, TOMORROW)).spending == 4


async def test_only_what_a_living_process_took_on_is_worked_on(past: Past) -> None:
    forgetting = Forgetting(past.store.database)
    await past.begun("ada")
    past.thread = a_channel_thread("t2")
    run, _ = await past.begun("ada")
    await past.store.release(run.id, run.attempt)
    past.thread = a_channel_thread("t1", workspace="T2")
    await past.begun("bob")
    assert await forgetting.unfinished(THREAD) == ["r1"]
    for subject in (ADA, WORKSPACE):
        assert await forgetting.unfinished(subject) == ["r1", "r2"]
        assert await forgetting.worked_on(subject, NOW) == ["r1"]
    assert await forgetting.worked_on(ADA, NOW + LEASE) == []
    assert await past.store.claim("r2", new_owner(), NOW, LEASE)
    assert set(await forgetting.worked_on(ADA, NOW)) == {"r1", "r2"}


# ---------------------------------------------------------------- wishes


async def test_what_is_said_after_the_wish_is_remembered(past: Past) -> None:
    forgetting = Forgetting(past.store.database)
    early = await forgetting.ask(ADA, NOW)
    await past.answered("ada")
    assert (await forgetting.remove(early)).runs == 0
    request = await forgetting.ask(ADA, NOW)
    await past.answered("ada")
    assert (await forgetting.remove(request)).runs == 1
    assert await past.values(runs.c.id) == ["r2"]


async def test_the_log_no_longer_names_who_did_what_before_the_wish(
    past: Past, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However few of its rows are changed at once."""
    monkeypatch.setattr("bot.storage.forgetting.ROWS_AT_ONCE", 1)
    for author in ("ada", "ada", "bob"):
        await past.answered(author)
    forgetting = Forgetting(past.store.database)
    request = await forgetting.ask(ADA, NOW)
    past.at = NOW + timedelta(seconds=1)
    await past.answered("ada")
    assert (await forgetting.remove(request)).pseudonyms == 2
    names = await past.values(audit.c.person)
    assert [name.partition(":")[0] for name in names] == [
        "",
        "ada",
        "bob",
        "forgotten",
        "forgotten",
    ]


async def test_a_wish_outlives_a_crash(past: Past) -> None:
    await past.answered("ada")
    request = await Forgetting(past.store.database).ask(ADA, NOW)
    later = Forgetting(past.store.database)
    assert await later.pending_requests() == [request]
    await later.remove(request)
    await later.delete_request(request)
    assert await later.pending_requests() == []


async def test_an_older_wish_that_is_fulfilled_leaves_a_newer_one(past: Past) -> None:
    forgetting = Forgetting(past.store.database)
    await past.answered("ada")
    first = await forgetting.ask(ADA, NOW)
    await past.answered("ada")
    second = await forgetting.ask(ADA, NOW)
    await forgetting.delete_request(first)
    assert await forgetting.pending_requests() == [second]


class Crash(BaseException):
    """The process is gone."""


@pytest.mark.parametrize("kind", ["thread", "person", "workspace"])
async def test_a_crash_after_any_batch_loses_nothing_of_what_was_to_go(
    busy: Past, kind: SubjectKind
) -> None:
    """However often it is cut short, going on takes away the rest."""
    subject = {"thread": THREAD, "person": ADA, "workspace": WORKSPACE}[kind]
    database = busy.store.database
    request = await Forgetting(database).ask(subject, datetime.now(UTC))
    for crashes in range(100):
        try:
            await Forgetting(_Mortal(database, transactions=crashes)).remove(request)
        except Crash:
            continue
        break
    await Forgetting(database).remove_spending(subject, TOMORROW)
    assert crashes >= 3
    assert not await Forgetting(database).count(subject, TOMORROW)


class _Mortal(Database):
    """A database whose process dies after some transactions."""

    def __init__(self, database: Database, transactions: int) -> None:
        self.dialect = database.dialect
        self._whole = None  # so that all of it passes through ``write`` and ``read``
        self._mortal = database
        self._left = transactions

    @asynccontextmanager
    async def write(self) -> AsyncIterator[AsyncConnection]:
        if self._left == 0:
            raise Crash
        self._left -= 1
        async with self._mortal.write() as db:
            yield db

    @asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncConnection]:
        async with self._mortal.read() as db:
            yield db
