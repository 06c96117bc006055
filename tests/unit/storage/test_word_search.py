"""Earlier answers, found by their words; corrections, kept once, and gone with their message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa

from bot.core.errors import RunLost
from bot.core.messages import OWN_WORDS, Provenance, Thread
from bot.core.reader import EVERYTHING, Reach
from bot.core.texts import texts_for
from bot.search.earlier_answers import CorrectionSearch
from bot.search.provider import Query
from bot.storage.audit_log import Actor, Audit, AuditFilter
from bot.storage.conversations import Conversations
from bot.storage.forgetting import Forgetting, Subject
from bot.storage.removal import Keep, Retention
from bot.storage.store import RunRecord
from bot.storage.tables import corrections, found_words
from bot.storage.word_search import WORDS, Correction, Corrections, FoundWords
from bot.storage.workspaces import Opinion, Workspaces
from tests.unit.samples import NOW
from tests.unit.storage.past import LEASE, Past, a_channel_thread

ELSEWHERE = a_channel_thread("t9")


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
    """Whether the word is left, in the table or in SQLite's index of it, in which words in a row
    share their first letters."""
    if any("tower" in terms for terms in await past.values(found_words.c.terms)):
        return True
    if past.store.database.dialect != "sqlite":
        return False
    async with past.store.database.read() as db:
        index = await db.scalars(sa.text("SELECT block FROM found_words_index_data"))
        return any(b"ower" in bytes(block) for block in index)


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
    past.thread = a_channel_thread(workspace="T2")
    await past.answered("bob", asked="How long is the bridge?")
    assert await found(past, "tall tower") == [run]
    assert await left(past)
    forgetting = Forgetting(past.store.database)
    await forgetting.remove(await forgetting.ask(subject, datetime.now(UTC)))
    assert not await left(past)
    assert await found(past, "tall tower") == []


async def test_nor_does_what_is_too_old_to_be_kept(past: Past) -> None:
    await past.answered(asked="How tall is the tower?")
    later = past.at + timedelta(days=40)
    past.at = later
    await past.answered(asked="How long is the bridge?")
    assert len(await found(past, "tall tower")) == 1
    await Retention(past.store.database, Keep(messages=timedelta(days=30))).prune(later)
    assert not await left(past)


MOST = 3
BY = Actor("slack", "T1", "ada")


def of(run: RunRecord, **parts: str) -> Correction:
    said = run.message
    given = Correction(
        id=run.id,
        thread=said.thread,
        author=said.author,
        at=said.at,
        text=said.text,
        statement="The limit is 140 euros.",
        question="What is the limit?",
        place=said.thread.home,
        url="https://acme.slack.com/archives/C1/p1",
        link="https://example.org/policy",
    )
    return replace(given, **parts)  # type: ignore[arg-type]


async def begun(past: Past, author: str, text: str = "No, 140.") -> RunRecord:
    """A run at work, in a thread of its own."""
    run, _ = await past.begun(author, text, thread=a_channel_thread(f"t{past.numbered}"))
    return run


async def corrected(past: Past, text: str = "No, 140 since May.", author: str = "ada") -> RunRecord:
    run = await begun(past, author, text)
    assert await Corrections(past.store.database).keep(of(run), run.attempt, past.at, MOST)
    return run


async def kept(past: Past) -> Sequence[str]:
    return sorted(await past.values(corrections.c.run_id))


async def deeds(past: Past) -> list[tuple[str, str, str]]:
    log = Audit(past.store.database)
    return [
        (each.deed, each.object, each.person)
        async for each in log.entries(AuditFilter(what=("corrected", "retracted")))
    ]


async def test_it_is_kept_once_by_the_attempt_that_holds_the_run(past: Past) -> None:
    stored = Corrections(past.store.database)
    run = await corrected(past)
    assert await stored.keep(of(run, statement="Other"), run.attempt, NOW, MOST)
    with pytest.raises(RunLost):
        await stored.keep(of(run), run.attempt - 1, NOW, MOST)
    (found,) = await stored.listed()
    assert replace(found, terms=frozenset()) == of(run)
    assert {"limit", "140", "euro"} <= found.terms
    assert await stored.of_places(["slack:T1"]) == [found]
    assert await stored.of_places(["slack:T2", "slack:T1:C1", "discord:T1"]) == []
    assert await deeds(past) == [("corrected", run.id, "ada")]


async def test_a_person_makes_so_many_in_a_day(past: Past) -> None:
    stored = Corrections(past.store.database)
    for _ in range(MOST):
        await corrected(past)
    run = await begun(past, "ada")
    assert not await stored.keep(of(run), run.attempt, NOW, MOST)
    other = await begun(past, "bob")
    assert await stored.keep(of(other), other.attempt, NOW, MOST)
    assert await stored.keep(of(run), run.attempt, NOW + timedelta(days=1), MOST)


async def test_what_was_taken_back_is_not_kept_again_and_leaves_nothing(past: Past) -> None:
    stored = Corrections(past.store.database)
    run = await corrected(past)
    await stored.remove(of(run), BY)
    await stored.remove(of(run), BY)
    assert await stored.listed() == []
    assert await stored.correction(run.id) is None
    assert not await stored.keep(of(run), run.attempt, NOW, MOST)
    async with past.store.database.read() as db:
        row = (await db.execute(sa.select(corrections))).one()
    assert (row.statement, row.question, row.link, row.url, row.terms) == ("",) * 5
    assert await deeds(past) == [("corrected", run.id, "ada"), ("retracted", run.id, "ada")]


async def test_a_long_message_is_bounded(past: Past) -> None:
    run = await corrected(past, "x" * (2 * WORDS))
    found = await Corrections(past.store.database).correction(run.id)
    assert found is not None
    assert len(found.text) == WORDS


async def test_it_goes_with_an_edit_and_with_its_message(past: Past) -> None:
    edited, deleted = await corrected(past), await corrected(past)
    said = Conversations(past.store.database)
    how = {"owner": None, "lease": LEASE}
    event = edited.message.event_id
    assert await said.edit("slack", event, "No, 150.", (), NOW, **how)  # type: ignore[arg-type]
    assert await kept(past) == [deleted.id]
    assert await said.remove("slack", deleted.message.event_id, NOW, **how)  # type: ignore[arg-type]
    assert await kept(past) == []


async def test_it_is_forgotten_with_its_author_and_its_age(past: Past) -> None:
    await corrected(past, author="ada")
    bobs = await corrected(past, author="bob")
    forgetting = Forgetting(past.store.database)
    await forgetting.remove(await forgetting.ask(Subject("person", "slack", "ada"), NOW))
    assert await kept(past) == [bobs.id]
    await past.store.end(bobs.id, bobs.attempt, "answered", NOW)
    day = timedelta(days=1)
    await Retention(past.store.database, Keep(messages=day)).prune(NOW + 2 * day)
    assert await kept(past) == []


HR = Provenance(("file:///hr/pay.md",))
WITHOUT_HR = Reach(((HR.urls[0], False),))


async def test_a_hit_says_of_bare_words_what_they_correct_and_of_others_what_was_said(
    past: Past,
) -> None:
    stored = Corrections(past.store.database)
    for text, statement in (("140 since May.", "140 since May."), ("140.", "The limit is 140.")):
        run = await begun(past, "ada", text)
        await stored.keep(of(run, statement=statement), run.attempt, past.at, MOST)
        search = CorrectionSearch(stored, [run.message.thread.home], "another", texts_for("en"))
    hits = await search.search(Query("what is the limit", reach=EVERYTHING))
    assert {hit.snippet for hit in hits if hit.url.startswith("correction:")} == {
        "140 since May. (Correction of the answer to: What is the limit?)",
        "The limit is 140. (140.)",
    }


@pytest.mark.parametrize(
    ("said", "statement", "words", "found", "own"),
    [
        # A model completed it: elsewhere it would say nothing, or too much.
        ("No, that is old.", "Ada earns 987654 euros no more.", "987654 euros", False, False),
        ("No, that is old.", "Ada earns 987654 euros no more.", "old", False, False),
        # Its author's own sentences are told everywhere, without the question that it answers.
        ("No. The limit is 140 euros.", "The limit is 140 euros.", "140 euros", True, True),
        ("No. The limit is 140 euros.", "The limit is 140 euros.", "987654 times", False, True),
    ],
)
async def test_what_a_model_added_is_told_where_all_it_was_made_from_may_be_read(
    past: Past, said: str, statement: str, words: str, found: bool, own: bool
) -> None:
    run = await begun(past, "ada", said)
    question = "Is it 987654 times the limit?"
    kept = of(run, statement=statement, question=question)
    stored = Corrections(past.store.database)
    await stored.keep(replace(kept, made_from=HR), run.attempt, past.at, MOST)
    search = CorrectionSearch(stored, [kept.place], "another", texts_for("en"))
    hits = await search.search(Query(words, reach=EVERYTHING))
    its_own = [hit for hit in hits if hit.url.startswith("correction:")]
    if words != "old":
        (hit, link) = hits
        assert (hit.made_from, link.made_from, link.url) == (HR, HR, kept.link)
        page = await search.read(hit.url, EVERYTHING)
        assert page.made_from == HR
        assert statement in page.text
    elsewhere = await search.search(Query(words, reach=WITHOUT_HR))
    assert bool(elsewhere) is found
    assert all(hit.made_from == OWN_WORDS for hit in elsewhere)
    (known,) = await stored.listed()
    for url in {hit.url for hit in its_own}:
        page = await search.read(url, WITHOUT_HR)  # by its address
        assert (page.made_from, said in page.text) == (OWN_WORDS, True)
        assert "987654" not in page.text
    assert known.is_own_words is own
    shown = known.within(WITHOUT_HR)
    assert "987654" not in repr(replace(shown, terms=frozenset())) + " ".join(shown.terms)
