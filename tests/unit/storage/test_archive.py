"""Conversations listed, found by name, and read back."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.core.errors import Invalid
from bot.core.messages import Thread
from bot.storage.archive import Archive
from bot.storage.store import Store
from tests.unit.samples import NOW, a_thread
from tests.unit.storage.past import Past, a_channel_thread, a_file, pages

TOWER = Thread("terminal", "local", "cli", "tower")


@pytest.fixture
async def past(store: Store) -> Past:
    """The thread t1 of a channel, then one at the terminal."""
    past = Past(store)
    await past.hear("Lunch?", "bob")
    run_id = await past.answered("ada", cited=pages("tower"), attachments=(a_file("a.txt"),))
    await past.judged(run_id, "bob")
    past.at, past.thread = NOW + timedelta(hours=1), TOWER
    await past.begun("eve")
    return past


async def test_the_latest_threads_come_first(past: Past) -> None:
    archive = Archive(past.store.database)
    found = await archive.threads(10)
    assert [(one.thread, one.messages, one.questions, one.begins) for one in found] == [
        (TOWER, 1, 1, "Question 3?"),
        (a_channel_thread(), 2, 1, "Lunch?"),
    ]
    assert found[0].last_at == NOW + timedelta(hours=1)
    assert await archive.threads(1) == found[:1]


@pytest.mark.parametrize("name", ["tower", TOWER.key])
async def test_a_thread_is_found_by_its_name_or_key(past: Past, name: str) -> None:
    assert await Archive(past.store.database).find(name) == TOWER


async def test_an_unknown_name_is_told_the_nearest_one(past: Past) -> None:
    with pytest.raises(Invalid, match=r"Did you mean terminal:local:cli:tower\?.*`footnote thr"):
        await Archive(past.store.database).find("towr")
    with pytest.raises(Invalid, match=r"There is no thread zzz\. `footnote threads` lists"):
        await Archive(past.store.database).find("zzz")


async def test_a_name_that_several_have_is_told_their_keys(past: Past) -> None:
    past.thread = a_thread("t1")
    await past.answered()
    with pytest.raises(Invalid, match="slack:T1:C1:t1, terminal:local:cli:t1"):
        await Archive(past.store.database).find("t1")
    assert await Archive(past.store.database).find("slack:T1:C1:t1") == a_channel_thread()


async def test_a_conversation_is_read_back_whole(past: Past) -> None:
    conversation = await Archive(past.store.database).conversation(a_channel_thread())
    heard, asked = conversation.said
    assert (heard.author.name, heard.text, heard.run) == ("Bob", "Lunch?", None)
    assert asked.attachments == (a_file("a.txt"),)
    run = asked.run
    assert run is not None
    assert (run.id, run.state, run.ended_at, run.feedback) == (
        "r2",
        "answered",
        NOW,
        {"bob": "good"},
    )
    assert run.answer is not None
    assert run.answer.citations[0].quote == "tower is 330 m tall."
    assert [step.kind for step in run.steps] == ["model", "read"]


async def test_what_is_not_answered_yet_has_no_answer(past: Past) -> None:
    conversation = await Archive(past.store.database).conversation(TOWER)
    run = conversation.said[0].run
    assert run is not None
    assert (run.state, run.answer, run.ended_at) == ("running", None, None)


async def test_a_thread_that_is_gone_is_a_sentence(past: Past) -> None:
    with pytest.raises(Invalid, match="is gone"):
        await Archive(past.store.database).conversation(replace(TOWER, thread="other"))
