"""Corrections in both databases: kept once, bounded, and gone with their message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
import sqlalchemy as sa

from bot.core.errors import RunLost
from bot.core.messages import OWN_WORDS, Provenance
from bot.core.reader import EVERYTHING, Reach
from bot.core.texts import texts_for
from bot.search.corrections import CorrectionSearch
from bot.search.provider import Query
from bot.storage.audit_log import Actor, Audit, AuditFilter
from bot.storage.conversations import Conversations
from bot.storage.forgetting import Forgetting, Subject
from bot.storage.removal import Keep, Retention
from bot.storage.store import RunRecord, Store
from bot.storage.tables import corrections
from bot.storage.word_search import WORDS, Correction, Corrections
from tests.unit.samples import NOW
from tests.unit.storage.past import LEASE, Past, a_channel_thread

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


@pytest.fixture
def past(store: Store) -> Past:
    return Past(store)


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
