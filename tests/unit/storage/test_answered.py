"""Earlier answers, found by the words of a query on each database."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa

from bot.core.messages import Thread
from bot.storage.forgetting import Forgetting, Subject
from bot.storage.removal import Keep, Retention
from bot.storage.store import Store
from bot.storage.tables import found_words
from bot.storage.word_search import FoundWords
from bot.storage.workspaces import Opinion, Workspaces
from tests.unit.storage.past import Past, a_channel_thread

ELSEWHERE = a_channel_thread("t9")


@pytest.fixture
def past(store: Store) -> Past:
    return Past(store)


async def found(past: Past, text: str, near: Thread = ELSEWHERE) -> list[str]:
    words = FoundWords(past.store.database)
    await words.index()
    return [run.id for run in await words.answered(text, near)]


@pytest.mark.parametrize(
    ("asked", "query"),
    [
        ("How tall is the tower?", "towers tall"),
        ("How tall is the tower?", "how tall is the tower"),
        ("法国的首都是哪里？", "法国的首都"),
        ("Who plays in AC/DC?", "AC/DC plays"),
        ("Wo steht das Café 'Zur Post'?", "cafe zur post"),
    ],
)
async def test_an_answer_is_found_by_all_content_words_of_a_query(
    past: Past, asked: str, query: str
) -> None:
    run = await past.answered(asked=asked)
    await past.answered(asked="What else is there to know?")
    assert await found(past, query) == [run]


@pytest.mark.parametrize("query", ["tall bridge", "tower", "how is the", "?", "", "' \" & | !"])
async def test_other_and_fewer_words_find_none(past: Past, query: str) -> None:
    await past.answered(asked="How tall is the tower?")
    assert await found(past, query) == []


async def test_those_of_the_channel_come_first_then_the_latest(past: Past) -> None:
    runs = {}
    for name, channel in (("a", "C2"), ("b", "C1"), ("c", "C2"), ("d", "C1")):
        past.thread = Thread("slack", "T1", channel, name)
        runs[name] = await past.answered(asked="How tall is the tower?")
    near = Thread("slack", "T1", "C1", "t9")
    assert await found(past, "tall tower", near) == [runs[name] for name in "dbca"]
    assert await found(past, "tall tower", past.thread) == [runs[name] for name in "bca"]
    assert await found(past, "tall tower", Thread("slack", "T2", "C1", "t9")) == []
    assert await found(past, "tall tower", Thread("discord", "T1", "C1", "t9")) == []


async def test_no_answer_that_was_disliked_is_found(past: Past) -> None:
    run = await past.answered(asked="How tall is the tower?")
    workspaces = Workspaces(past.store.database)
    assert await workspaces.keep_feedback(run, "bob", Opinion("bad"))
    assert await found(past, "tall tower") == []
    assert await workspaces.keep_feedback(run, "bob", Opinion("good"))
    assert await found(past, "tall tower") == [run]


async def left(past: Past) -> bool:
    """Whether any word is left, in the table or in SQLite's index of it."""
    if await past.values(found_words.c.terms):
        return True
    if past.store.database.dialect != "sqlite":
        return False
    async with past.store.database.read() as db:
        index = await db.scalars(sa.text("SELECT block FROM found_words_index_data"))
        return any(b"tower" in bytes(block) for block in index)


@pytest.mark.parametrize(
    "subject",
    [
        Subject("person", "slack", "ada"),
        Subject("thread", "slack", a_channel_thread().key),
        Subject("workspace", "slack", "T1"),
    ],
    ids=lambda subject: subject.kind,
)
async def test_what_is_forgotten_leaves_no_words(past: Past, subject: Subject) -> None:
    run = await past.answered(asked="How tall is the tower?")
    assert await found(past, "tall tower") == [run]
    assert await left(past)
    forgetting = Forgetting(past.store.database)
    await forgetting.remove(await forgetting.ask(subject, datetime.now(UTC)))
    assert not await left(past)
    assert await found(past, "tall tower") == []


async def test_nor_does_what_is_too_old_to_be_kept(past: Past) -> None:
    await past.answered(asked="How tall is the tower?")
    assert len(await found(past, "tall tower")) == 1
    later = past.at + timedelta(days=40)
    await Retention(past.store.database, Keep(messages=timedelta(days=30))).prune(later)
    assert not await left(past)
