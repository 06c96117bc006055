"""Conversations and runs: listed, found by name, and read back whole."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.core.errors import Invalid
from bot.core.messages import Answer, Citation, Thread
from bot.storage.archive import Archive, Traces
from bot.storage.store import Store
from tests.unit.samples import NOW, a_page, a_thread
from tests.unit.storage.past import Past, a_channel_thread, a_file, pages

TOWER = Thread("terminal", "local", "cli", "tower")


@pytest.fixture
async def two(past: Past) -> Past:
    """The thread t1 of a channel, then one at the terminal."""
    await past.hear("Lunch?", "bob")
    run_id = await past.answered("ada", cited=pages("tower"), attachments=(a_file("a.txt"),))
    await past.judged(run_id, "bob")
    past.at, past.thread = NOW + timedelta(hours=1), TOWER
    await past.begun("eve")
    return past


async def test_the_latest_threads_come_first(two: Past) -> None:
    archive = Archive(two.store.database)
    found = await archive.threads(10)
    assert [(one.thread, one.messages, one.questions, one.begins) for one in found] == [
        (TOWER, 1, 1, "Question 3?"),
        (a_channel_thread(), 2, 1, "Lunch?"),
    ]
    assert found[0].last_at == NOW + timedelta(hours=1)
    assert await archive.threads(1) == found[:1]


@pytest.mark.parametrize("name", ["tower", TOWER.key])
async def test_a_thread_is_found_by_its_name_or_key(two: Past, name: str) -> None:
    assert await Archive(two.store.database).find(name) == TOWER


async def test_an_unknown_name_is_told_the_nearest_one(two: Past) -> None:
    with pytest.raises(Invalid, match=r"Did you mean terminal:local:cli:tower\?.*`footnote thr"):
        await Archive(two.store.database).find("towr")
    with pytest.raises(Invalid, match=r"There is no thread zzz\. `footnote threads` lists"):
        await Archive(two.store.database).find("zzz")


async def test_a_name_that_several_have_is_told_their_keys(two: Past) -> None:
    two.thread = a_thread("t1")
    await two.answered()
    with pytest.raises(Invalid, match="slack:T1:C1:t1, terminal:local:cli:t1"):
        await Archive(two.store.database).find("t1")
    assert await Archive(two.store.database).find("slack:T1:C1:t1") == a_channel_thread()


async def test_a_conversation_is_read_back_whole(two: Past) -> None:
    conversation = await Archive(two.store.database).conversation(a_channel_thread())
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


async def test_what_is_not_answered_yet_has_no_answer(two: Past) -> None:
    conversation = await Archive(two.store.database).conversation(TOWER)
    run = conversation.said[0].run
    assert run is not None
    assert (run.state, run.answer, run.ended_at) == ("running", None, None)


async def test_a_thread_that_is_gone_is_a_sentence(two: Past) -> None:
    with pytest.raises(Invalid, match="is gone"):
        await Archive(two.store.database).conversation(replace(TOWER, thread="other"))


@pytest.fixture
def traces(store: Store) -> Traces:
    return Traces(store)


async def test_a_run_is_read_back_with_everything_that_belongs_to_it(
    past: Past, traces: Traces
) -> None:
    await past.answered(cited=pages("other"))
    run_id = await past.answered(cited=pages("tower"), numbered=pages("city"), steps=2)
    await past.judged(run_id, "bob")
    kept = await traces.run(run_id)
    assert kept is not None
    assert kept.record.id == run_id
    assert kept.record.answer is not None
    assert kept.ended_at == NOW
    assert [(step.kind, step.attempt) for step in kept.steps] == [
        ("model", 1),
        ("model", 1),
        ("read", 1),
        ("read", 1),
    ]
    assert [(page.number, page.url) for page in kept.pages] == [
        (1, "https://example.org/tower"),
        (2, "https://example.org/city"),
    ]
    quoted, read = kept.pages
    assert quoted.text == "tower is 330 m tall."
    assert (read.text, read.characters) == (None, len("city is 330 m tall."))
    assert kept.feedback == {"bob": "good"}
    page = await traces.page(run_id, 2)
    assert page is not None
    assert page.text == "city is 330 m tall."
    assert await traces.page(run_id, 3) is None
    assert await traces.page("r99", 1) is None
    assert await traces.page(run_id, 1, "another hash") is None


async def test_a_page_that_changed_while_it_was_used_is_there_in_both_wordings(
    past: Past, traces: Traces
) -> None:
    run, journal = await past.begun()
    first = a_page(text="It is 324 m tall.")
    second = replace(first, text="It is 330 m tall.", hash="", fetched_at=NOW + timedelta(hours=1))
    await past.read(journal, first)
    await journal.number([first])
    await past.read(journal, replace(second, url=f"{second.url}#again"), second)
    await journal.number([second])
    cited = Citation(1, second.url, "Tower", second.text, second.hash, 0, len(second.text))
    await past.store.save_answer(
        run.id, run.attempt, Answer("answered", "[1]", "?", run.id, (cited,))
    )
    kept = await traces.run(run.id)
    assert kept is not None
    assert [(page.number, page.hash, page.text) for page in kept.pages] == [
        (1, first.hash, None),
        (1, second.hash, second.text),
    ]
    found = await traces.page(run.id, 1, second.hash)
    assert found is not None
    assert found.text == second.text


async def test_a_run_that_works_has_no_end_yet(past: Past, traces: Traces) -> None:
    run, journal = await past.begun()
    await past.read(journal, *pages("tower"))
    kept = await traces.run(run.id)
    assert kept is not None
    assert (kept.ended_at, kept.record.answer, len(kept.steps)) == (None, None, 1)


async def test_there_is_no_run_that_nobody_asked_for(traces: Traces) -> None:
    assert await traces.run("r1") is None
