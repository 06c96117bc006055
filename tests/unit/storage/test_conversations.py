"""Questions are accepted in PostgreSQL in one statement; their files are kept, and go with them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa

from bot.core.messages import Attachment, RunOptions
from bot.pages.page import Page
from bot.storage.conversations import Conversations, Files
from bot.storage.forgetting import Forgetting, Subject
from bot.storage.removal import Keep, Retention
from bot.storage.store import Store
from bot.storage.tables import messages, runs, spending
from tests.unit.samples import NOW, a_message, a_thread
from tests.unit.storage.past import LEASE, OWNER, Past

LOCKING = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"
WAITING = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
LAST_ID = "SELECT last_value FROM messages_id_seq"


async def _held_up(locker: psycopg.AsyncConnection[tuple[int]], count: int) -> None:
    """Return once so many wait for the lock."""
    async with asyncio.timeout(60):
        while await _number(locker, WAITING) != count:
            await asyncio.sleep(0.01)


async def _number(connection: psycopg.AsyncConnection[tuple[int]], query: str) -> int:
    row = await (await connection.execute(query)).fetchone()
    assert row is not None
    return row[0]


@pytest.fixture
async def locker(postgres_url: str) -> AsyncIterator[psycopg.AsyncConnection[tuple[int]]]:
    address = postgres_url.replace("postgresql+psycopg", "postgresql")
    async with await psycopg.AsyncConnection[tuple[int]].connect(address) as connection:
        yield connection


async def test_a_message_that_waits_for_its_thread_has_no_number_yet(
    pg_store: Store, locker: psycopg.AsyncConnection[tuple[int]]
) -> None:
    await pg_store.accept("r1", a_message(event_id="1"), RunOptions(), NOW)
    before = await _number(locker, LAST_ID)
    await locker.execute(LOCKING, [a_thread().key])
    accepting = asyncio.create_task(
        pg_store.accept("r2", a_message(event_id="2"), RunOptions(), NOW)
    )
    await _held_up(locker, 1)
    assert await _number(locker, LAST_ID) == before
    await locker.commit()
    assert await accepting == ("r2", True)


async def test_an_event_that_comes_many_times_at_once_makes_one_run(
    pg_store: Store, locker: psycopg.AsyncConnection[tuple[int]]
) -> None:
    await locker.execute(LOCKING, [a_thread().key])
    message = a_message(event_id="1")
    several = [
        asyncio.create_task(pg_store.accept(f"r{n}", message, RunOptions(), NOW)) for n in range(4)
    ]
    await _held_up(locker, 4)
    await locker.commit()
    kept = await asyncio.gather(*several)
    assert len({run for run, _ in kept}) == 1
    assert sorted(new for _, new in kept) == [False, False, False, True]
    async with pg_store.database.read() as db:
        counts = [await db.scalar(sa.select(sa.func.count()).select_from(runs))]
        counts += (await db.scalars(sa.select(spending.c.questions))).all()
        assert (await db.scalars(sa.text("SELECT deed FROM audit"))).all() == ["asked"]
    assert counts == [1, 1, 1, 1], "a run, and one question of each account"


async def test_a_redelivery_leaves_an_edited_question_as_it_is(pg_store: Store) -> None:
    message = a_message("How tall?", event_id="1")
    await pg_store.accept("r1", message, RunOptions(), NOW)
    async with pg_store.database.write() as db:
        await db.execute(sa.update(messages).values(text="How old?"))
    assert await pg_store.accept("r2", message, RunOptions(), NOW) == ("r1", False)
    run = await pg_store.run("r1")
    assert run is not None
    assert run.message.text == "How old?"


# https://github.com/psycopg/psycopg/discussions/628
LONGEST, MOST_PARAMETERS = 4_096, 50


async def test_the_driver_remembers_the_statements_of_a_question(
    pg_store: Store, request: pytest.FixtureRequest
) -> None:
    sent: list[tuple[str, int]] = []

    def sees(connection: Any, cursor: Any, statement: str, values: Any, *_: object) -> None:
        sent.append((statement, len(values)))

    sa.event.listen(sa.Engine, "before_cursor_execute", sees)
    request.addfinalizer(lambda: sa.event.remove(sa.Engine, "before_cursor_execute", sees))
    await pg_store.accept("r1", a_message(), RunOptions(), NOW)
    run = await pg_store.claim("r1", "here", NOW, timedelta(seconds=30))
    assert run is not None
    await pg_store.end("r1", run.attempt, "answered", NOW)
    assert len(sent) == 3
    assert all(len(text) <= LONGEST and count <= MOST_PARAMETERS for text, count in sent)


URL = "upload:abc1/notes.md"
NOTES = Attachment("notes.md", "text/markdown", URL)
PAGE = Page(URL, "Notes", "The tower is 330 m tall.", NOW)


@pytest.fixture
def files(store: Store) -> Files:
    return Files(store.database)


async def sent(past: Past, *files: Attachment, body: bytes = b"# Notes") -> str:
    """The id of the run of a question with files; those that came before are kept already."""
    message = past.message("How tall?", "ada", attachments=files)
    bodies = {file.url: body for file in files if not file.again}
    run, _ = await past.store.accept(f"f{past.numbered}", message, RunOptions(), NOW, files=bodies)
    return run


async def ended(past: Past, run: str) -> None:
    record = await past.store.claim(run, OWNER, NOW, LEASE)
    assert record is not None
    await past.store.end(run, record.attempt, "answered", NOW)


async def test_a_file_is_kept_with_its_question(past: Past, files: Files) -> None:
    await sent(past, NOTES, body=bytes(range(256)) * 100)
    assert await files.body(URL) == bytes(range(256)) * 100
    assert await files.body("upload:abc2/notes.md") is None
    assert await files.of_thread(past.thread) == [NOTES]


async def test_a_question_that_comes_again_brings_nothing_new(past: Past, files: Files) -> None:
    message = past.message("How tall?", "ada", attachments=(NOTES,))
    for body in (b"first", b"second"):
        await past.store.accept("r1", message, RunOptions(), NOW, files={URL: body})
    assert await files.body(URL) == b"first"


async def test_what_is_read_again_is_no_other_file(past: Past, files: Files) -> None:
    await sent(past, NOTES)
    other = Attachment("b.md", "text/markdown", "upload:abc2/b.md")
    await sent(past, other, replace(NOTES, again=True))
    assert await files.of_thread(past.thread) == [NOTES, other]


async def test_a_deleted_question_takes_its_files_and_what_was_read_of_them_along(
    past: Past, files: Files
) -> None:
    run = await past.answered(cited=(PAGE,), attachments=(NOTES,))
    stays = await past.answered(cited=(replace(PAGE, url="https://example.org/"),))
    await Conversations(past.store.database).remove("slack", "e1", NOW, owner=None, lease=LEASE)
    assert await files.of_thread(past.thread) == []
    assert await past.store.recent_page(URL, NOW - timedelta(days=9)) is None
    rows = await past.rows()
    assert (rows["pages"], rows["citations"]) == (1, 1), (run, stays)


async def test_what_another_answer_cites_of_a_file_stays_with_that(past: Past) -> None:
    await past.answered(cited=(PAGE,), attachments=(NOTES,))
    await past.answered(cited=(PAGE,), attachments=(replace(NOTES, again=True),))
    await Conversations(past.store.database).remove("slack", "e1", NOW, owner=None, lease=LEASE)
    assert (await past.rows())["pages"] == 1


async def test_files_go_when_messages_are_pruned(past: Past) -> None:
    await ended(past, await sent(past, NOTES))
    keep = Keep(messages=timedelta(days=30))
    await Retention(past.store.database, keep).prune(NOW + timedelta(days=29))
    assert (await past.rows())["files"] == 1
    await Retention(past.store.database, keep).prune(NOW + timedelta(days=31))
    assert "files" not in await past.rows()


@pytest.mark.parametrize("kind", ["thread", "person"])
async def test_files_go_when_their_thread_or_author_is_forgotten(past: Past, kind: str) -> None:
    await ended(past, await sent(past, NOTES))
    name = {"thread": past.thread.key, "person": "ada"}[kind]
    forgetting = Forgetting(past.store.database)
    request = await forgetting.ask(Subject(kind, "slack", name), NOW)  # type: ignore[arg-type]
    await forgetting.remove(request)
    assert "files" not in await past.rows()
