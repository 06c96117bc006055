"""The lists for those who write documents are equal on both databases."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, timedelta

import pytest

from bot.storage.overview import AskedQuestions, Place, Scope, of_days
from bot.storage.store import Store
from bot.storage.workspaces import Opinion, Workspaces
from tests.unit.samples import NOW
from tests.unit.storage.past import Past, a_channel_thread, pages

WEEK = of_days(NOW.astimezone(UTC).date(), 7)
HERE, THERE = Place("slack", "T1", "C1"), Place("slack", "T1", "C2")


@pytest.fixture
def past(store: Store) -> Past:
    return Past(store)


async def ended(past: Past, text: str, state: str) -> str:
    record, _ = await past.begun(asked=text)
    await past.store.end(record.id, record.attempt, state, past.at)
    return record.id


def asked(past: Past) -> AskedQuestions:
    return AskedQuestions(past.store.database)


async def test_the_same_words_are_one_unanswered_question(past: Past) -> None:
    past.at = NOW - timedelta(hours=3)
    await ended(past, "How do I reset the printer?", "not_found")
    past.at = NOW - timedelta(hours=2)
    other = await ended(past, "Who founded the company?", "partial")
    past.at = NOW - timedelta(hours=1)
    last = await ended(past, "Reset the printer, how?", "not_found")
    await ended(past, "How tall is the tower?", "answered")
    await ended(past, "How wide is the tower?", "failed")
    found = await asked(past).unanswered(WEEK)
    assert [(one.run, one.times, one.state) for one in found] == [
        (last, 2, "not_found"),
        (other, 1, "partial"),
    ]
    assert (found[0].text, found[0].place) == ("Reset the printer, how?", HERE)


async def test_unanswered_questions_are_those_of_the_scope(past: Past) -> None:
    past.at = NOW - timedelta(days=9)
    await ended(past, "How old is it?", "not_found")
    past.at, past.thread = NOW, a_channel_thread(channel="C2")
    there = await ended(past, "How old is she?", "not_found")
    assert [one.run for one in await asked(past).unanswered(WEEK)] == [there]
    elsewhere = Scope(WEEK.first, WEEK.last, channel="C1")
    assert await asked(past).unanswered(elsewhere) == []


async def test_opinions_come_with_their_reasons_the_latest_first(past: Past) -> None:
    run = await past.answered()
    keep = Workspaces(past.store.database).keep_feedback
    await keep(run, "ada", Opinion("good"))
    await keep(run, "bob", Opinion("bad", "outdated", "It moved."))
    found = {one.verdict: one for one in await asked(past).feedback(WEEK)}
    assert {*found} == {"good", "bad"}
    bad = found["bad"]
    assert (bad.run, bad.reason, bad.words, bad.place) == (run, "outdated", "It moved.", HERE)
    assert bad.question.startswith("Question")
    moments = [one.at for one in await asked(past).feedback(WEEK)]
    assert moments == sorted(moments, reverse=True)


async def test_places_are_counted_by_what_became_of_questions(past: Past) -> None:
    await ended(past, "a tower", "answered")
    past.thread = a_channel_thread(channel="C2")
    for state in ("answered", "not_found", "answered"):
        await ended(past, "a mill", state)
    found = await asked(past).by_place(WEEK)
    assert [(one.place, one.asked, dict(one.states)) for one in found] == [
        (THERE, 3, {"answered": 2, "not_found": 1}),
        (HERE, 1, {"answered": 1}),
    ]


async def test_only_documents_count_as_quoted_each_once(past: Past) -> None:
    (web,) = pages("tower")
    (paper,) = pages("paper")
    paper = replace(paper, url="file:///srv/docs/paper.md")
    run = await past.answered(cited=(web, paper))
    assert await asked(past).quoted(WEEK) == [(run, "file:///srv/docs/paper.md")]
