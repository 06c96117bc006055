"""Answered questions are found by their words, and only while their answers may be given again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa

from bot.messages import Thread
from bot.reasoning.repeated import terms_of
from bot.storage.answered import MOST_FOUND, AnsweredQuestions
from bot.storage.audit import Actor
from bot.storage.conversations import Conversations
from bot.storage.corrections import Correction, Corrections
from bot.storage.forgetting import Forgetting
from bot.storage.retention import Keep, Retention
from bot.storage.store import Store
from bot.storage.subjects import Subject
from bot.storage.tables import answered
from bot.storage.workspaces import Opinion, Workspaces
from tests.unit.storage.past import Past, a_channel_thread

TALL = terms_of("How tall is the tower?")
HERE = a_channel_thread()


@pytest.fixture
def past(store: Store) -> Past:
    return Past(store)


@pytest.fixture
def questions(store: Store) -> AnsweredQuestions:
    return AnsweredQuestions(store.database)


async def kept(past: Past, question: str = "How tall is the tower?", author: str = "ada") -> str:
    run = await past.answered(author, asked=question)
    await AnsweredQuestions(past.store.database).keep(run, terms_of(question), past.thread)
    return run


async def found(
    past: Past, question: str = "How tall is the tower?", at: Thread = HERE
) -> list[str]:
    questions = AnsweredQuestions(past.store.database)
    return [run.id for run in await questions.find(terms_of(question), at)]


@pytest.mark.parametrize(
    ("kept_as", "asked"),
    [
        ("How tall is the tower?", "how tall is the tower"),
        ("法国的首都是哪里？", "请问法国首都是哪里"),
        ("Who plays in AC/DC?", "who plays in ac/dc"),
        ("Wo steht das Café 'Zur Post'?", "wo steht das cafe zur post"),
    ],
)
async def test_a_question_is_found_by_its_words(past: Past, kept_as: str, asked: str) -> None:
    run = await kept(past, kept_as)
    await kept(past, "What else is there to know?")
    assert await found(past, asked) == [run]


@pytest.mark.parametrize(
    "other", ["How tall is the bridge?", "How tall is the tower of Paris?", "Is it tall?", "?"]
)
async def test_another_is_not(past: Past, other: str) -> None:
    await kept(past)
    assert await found(past, other) == []


async def test_those_of_the_thread_come_first_then_those_of_the_channel(past: Past) -> None:
    runs = {}
    for thread in (
        HERE,
        a_channel_thread("t2"),
        a_channel_thread("t3"),
        a_channel_thread("t4", "C2"),
        a_channel_thread("t5", workspace="T2"),
    ):
        past.thread = thread
        runs[thread.thread] = await kept(past)
    assert await found(past) == [runs[name] for name in ("t1", "t3", "t2", "t4")]


async def test_no_more_are_found_than_are_looked_at(past: Past) -> None:
    for number in range(MOST_FOUND + 2):
        past.thread = a_channel_thread(f"t{number}")
        await kept(past)
    assert len(await found(past, at=a_channel_thread("elsewhere"))) == MOST_FOUND


async def test_one_that_anybody_marked_not_helpful_is_not_found(past: Past) -> None:
    run = await kept(past)
    workspaces = Workspaces(past.store.database)
    await workspaces.keep_feedback(run, "bob", Opinion("good"))
    assert await found(past) == [run]
    await workspaces.keep_feedback(run, "cat", Opinion("bad"))
    assert await found(past) == []


async def test_nor_one_that_was_not_helpful_when_it_was_given_again(
    past: Past, questions: AnsweredQuestions
) -> None:
    run = await kept(past)
    past.thread = a_channel_thread("t2")
    given = await past.answered("bob", asked="How tall is the tower?")
    await questions.keep(given, TALL, past.thread, run)
    assert await found(past) == [run]
    await Workspaces(past.store.database).keep_feedback(given, "bob", Opinion("bad"))
    assert await found(past) == []


async def test_a_deleted_question_is_not_found(past: Past) -> None:
    run = await kept(past)
    record = await past.store.run(run)
    assert record is not None
    conversations = Conversations(past.store.database)
    at, lease = datetime.now(UTC), timedelta()
    await conversations.remove("slack", record.message.event_id, at, owner=None, lease=lease)
    assert await found(past) == []


@pytest.mark.parametrize(
    "subject",
    [
        Subject("person", "slack", "ada"),
        Subject("thread", "slack", HERE.key),
        Subject("workspace", "slack", "T1"),
    ],
    ids=lambda subject: subject.kind,
)
async def test_what_is_forgotten_leaves_no_words(past: Past, subject: Subject) -> None:
    await kept(past)
    forgetting = Forgetting(past.store.database)
    await forgetting.remove(await forgetting.ask(subject, datetime.now(UTC)))
    assert await found(past) == []
    assert await past.values(answered.c.terms) == []
    if past.store.database.dialect == "sqlite":
        async with past.store.database.read() as db:
            index = await db.scalars(sa.text("SELECT block FROM answered_index_data"))
            assert not any(b"tower" in bytes(block) for block in index)


async def test_nor_does_what_is_too_old_to_be_kept(past: Past) -> None:
    await kept(past)
    later = past.at + timedelta(days=40)
    await Retention(past.store.database, Keep(messages=timedelta(days=30))).prune(later)
    assert await past.values(answered.c.terms) == []


async def test_a_question_that_was_edited_is_found_by_its_new_words(
    past: Past, questions: AnsweredQuestions
) -> None:
    run = await kept(past)
    await questions.keep(run, terms_of("How wide is the tower?"), HERE)
    assert await found(past) == []
    assert await found(past, "How wide is the tower?") == [run]


@pytest.mark.parametrize("where", ["t1", "t2"])
async def test_one_that_was_corrected_where_it_was_given_is_not_found(
    past: Past, questions: AnsweredQuestions, where: str
) -> None:
    run = await kept(past)
    past.thread = a_channel_thread("t2")
    given = await past.answered("bob", asked="How tall is the tower?")
    await questions.keep(given, TALL, past.thread, run)
    past.thread = a_channel_thread(where)
    record, _ = await past.begun("cat", asked="No, it is 312 m tall.")
    said = "The tower is 312 m tall."
    place = record.message.thread.place
    correction = Correction(
        record.id, past.thread, record.message.author, past.at, said, said, "", place, "", "", ""
    )
    corrections = Corrections(past.store.database)
    assert await corrections.keep(correction, record.attempt, past.at, 5)
    assert await found(past) == []
    await corrections.remove(correction, Actor("", "", ""))
    assert await found(past) == [run]
