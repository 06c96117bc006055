"""Statistics and lists over some days are equal on both databases."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import sqlalchemy as sa

from bot.core.messages import Answer, Provenance, RunOptions, Thread, Usage
from bot.core.reader import EVERYTHING, NO_DOCUMENTS, Reach, telling
from bot.storage import overview as moments
from bot.storage.journal import RecordedStep
from bot.storage.overview import AskedQuestions, Overview, Overviews, Place, Scope, of_days
from bot.storage.spending import Amount
from bot.storage.store import Store
from bot.storage.tables import runs
from bot.storage.workspaces import Opinion, Workspaces
from tests.unit.samples import NOW
from tests.unit.storage.past import Past, a_channel_thread, pages

TODAY = NOW.astimezone(UTC).date()
YESTERDAY = TODAY - timedelta(days=1)
COST = Amount(micro_usd=1_000, model_calls=1, output_tokens=7)


async def asked(
    past: Past,
    state: str = "answered",
    seconds: float | None = 10.0,
    *,
    steps: Any = (),
    usd: float = 0.0,
) -> str:
    """A question that came to an end after some seconds, or to none."""
    record, journal = await past.begun()
    for key, kind, title, took, result in steps:
        step = RecordedStep(key, kind, title, result, took, past.at)
        await journal.record(step, cost=COST if kind == "think" else Amount())
    if usd:
        answer = Answer("answered", "Tall.", "?", record.id, usage=Usage(usd=usd))
        await past.store.save_answer(record.id, record.attempt, answer)
    if seconds is not None:
        ended = past.at + timedelta(seconds=seconds)
        await past.store.end(record.id, record.attempt, state, ended)
    return record.id


async def look(past: Past, **named: str) -> Overview:
    return await Overviews(past.store.database).look(of_days(TODAY, 7, **named))


async def test_questions_are_counted_by_day_and_by_what_became_of_them(past: Past) -> None:
    await asked(past)
    await asked(past, "failed")
    past.at = NOW - timedelta(days=1)
    await asked(past, "not_found")
    await asked(past, "not_found")
    past.at = NOW - timedelta(days=8)
    await asked(past)
    past.at = NOW - timedelta(days=1)
    await asked(past, "answered", None)  # it is still being worked on
    found = await look(past)
    assert [day.day for day in found.days] == [TODAY - timedelta(days=n) for n in range(6, -1, -1)]
    counted = {day.day: day.states for day in found.days if day.states}
    assert counted == {
        YESTERDAY: {"not_found": 2, "running": 1},
        TODAY: {"answered": 1, "failed": 1},
    }
    assert found.states == {"not_found": 2, "running": 1, "answered": 1, "failed": 1}


@pytest.mark.parametrize(
    ("zone", "moments"),
    [
        ("UTC", ("2026-03-27T23:59", "2026-03-28T00:00", "2026-03-28T23:59")),
        # UTC+14: the day begins at ten in the morning of the day before.
        ("Pacific/Kiritimati", ("2026-03-27T09:59", "2026-03-27T10:00", "2026-03-28T09:59")),
        # 29 March has 23 hours in Berlin, and 25 October 25.
        ("Europe/Berlin", ("2026-03-28T22:59", "2026-03-28T23:00", "2026-03-29T21:59")),
        ("Europe/Berlin", ("2026-10-24T21:59", "2026-10-24T22:00", "2026-10-25T22:59")),
        # Half an hour is changed here, and the day begins at half past.
        ("Australia/Lord_Howe", ("2026-04-04T12:59", "2026-04-04T13:00", "2026-04-05T13:29")),
        ("America/St_Johns", ("2026-06-01T02:29", "2026-06-01T02:30", "2026-06-02T02:29")),
    ],
)
async def test_days_of_questions_are_those_of_the_zone(
    past: Past, zone: str, moments: tuple[str, str, str]
) -> None:
    """The last minute of one day, and the first and the last of the day after it."""
    clock = ZoneInfo(zone)
    for moment in moments:
        past.at = datetime.fromisoformat(moment).replace(tzinfo=UTC)
        await asked(past, usd=0.25)
    last = past.at.astimezone(clock).date()
    scope = of_days(last, 60, clock)
    found = await Overviews(past.store.database).look(scope)
    counted = [(day.day, sum(day.states.values()), day.usd) for day in found.days if day.states]
    assert counted == [(last - timedelta(days=1), 1, 0.25), (last, 2, 0.5)]
    alone = await Overviews(past.store.database).look(of_days(last, 1, clock))
    assert sum(alone.states.values()) == 2


async def test_the_median_is_the_time_in_the_middle(past: Past) -> None:
    await asked(past, "failed", 1_000.0)
    medians = [(await look(past)).median]
    for took in (3.0, 1.0, 2.0, 100.0):
        await asked(past, seconds=took)
        medians.append((await look(past)).median)
    assert medians == [None, *(pytest.approx(each, abs=0.01) for each in (3.0, 2.0, 2.0, 2.5))]


async def test_what_was_spent_comes_from_the_accounts_of_the_day(past: Past) -> None:
    await asked(past, steps=[("k1", "think", "T", 1.0, '"x"'), ("k2", "think", "T", 1.0, '"y"')])
    past.thread = a_channel_thread(channel="C2")
    await asked(past, steps=[("k3", "think", "T", 1.0, '"z"')])
    assert (await look(past)).spent.micro_usd == 3_000
    assert (await look(past)).days[-1].spent.questions == 2
    assert (await look(past, channel="C2")).spent.micro_usd == 1_000
    assert (await look(past, platform="discord")).spent == Amount()


NARROWED: list[tuple[dict[str, str], int]] = [
    ({}, 4),
    ({"platform": "slack"}, 3),
    ({"platform": "discord"}, 1),
    ({"workspace": "T1"}, 2),
    ({"channel": "C2"}, 1),
    ({"platform": "slack", "workspace": "T2", "channel": "C1"}, 1),
    ({"workspace": "nowhere"}, 0),
]


async def test_a_scope_narrows_everything(past: Past) -> None:
    where = [("T1", "C1"), ("T1", "C2"), ("T2", "C1")]
    threads = [a_channel_thread(channel=channel, workspace=space) for space, channel in where]
    for thread in [*threads, Thread("discord", "G1", "D1", "t")]:
        past.thread = thread
        run = await asked(past, steps=[("s", "search", "tower", 2.0, '{"hits":[]}')])
        await past.judged(run, "bob")
    for named, count in NARROWED:
        found = await look(past, **named)
        assert sum(found.states.values()) == count, named
        assert found.verdicts == ({"good": count} if count else {}), named
        assert found.people == (2 if not named else min(count, 1)), "one on each platform"
        assert len(found.latest) == len(found.searches) == count, named


async def test_everyone_who_asked_is_counted_once(past: Past) -> None:
    for asker in ("ada", "bob", "ada"):
        await past.answered(asker)
    assert (await look(past)).people == 2


async def test_what_was_made_from_documents_is_told_where_they_may_be_read(past: Past) -> None:
    hr = Provenance(("file:///hr/pay.md",))
    run = await asked(past, steps=[("a", "search", "Ada's pay", 2.0, '{"hits":[]}')])
    answer = Answer("answered", "324 m", "How tall?", run, documents=hr.urls)
    await past.store.save_answer(run, 1, answer)
    await past.begun(asked="Who else earns 987654 euros?", made_from=hr)
    overviews = Overviews(past.store.database)
    for reach, question in (
        (EVERYTHING, "Who else earns 987654 euros?"),
        (Reach(((hr.urls[0], False),)), "(hidden)"),
        (NO_DOCUMENTS, "(hidden)"),
    ):
        found = await overviews.look(of_days(TODAY, 7), telling(reach, "(hidden)"))
        assert {one.text for one in found.latest} == {question, "Question 1?"}


async def test_the_latest_questions_come_with_what_they_took_and_cost(past: Past) -> None:
    old = await past.answered(cited=pages("tower"))
    past.at = NOW + timedelta(minutes=1)
    new = await asked(past, seconds=None)
    found = (await look(past)).latest
    assert [(one.run, one.state, one.seconds, one.usd) for one in found] == [
        (new, "running", None, None),
        (old, "answered", 0.0, 0.0),
    ]
    assert found[1].text == "Question 1?"


async def test_the_queue_is_what_waits_and_since_when(past: Past) -> None:
    await asked(past, seconds=None)
    past.at = NOW - timedelta(minutes=5)
    waiting = past.message("And?", "ada")
    await past.store.accept("waiting", waiting, RunOptions(), past.at)
    queue = (await look(past)).queue
    assert (queue.waiting, queue.running, queue.oldest) == (1, 1, past.at)


async def test_the_places_are_those_where_anything_was_asked(past: Past) -> None:
    await asked(past)
    await asked(past)
    past.thread = a_channel_thread(channel="C2")
    await asked(past)
    found = await Overviews(past.store.database).places()
    assert found == (Place("slack", "T1", "C1"), Place("slack", "T1", "C2"))


async def test_the_latest_searches_are_there_to_judge_providers_by(past: Past) -> None:
    result = json.dumps({"hits": [], "failures": ["brave: It is down."]})
    await asked(past, steps=[("s", "search", "tower", 2.0, result)])
    assert [search.result for search in (await look(past)).searches] == [result]


async def test_a_day_without_anything_is_a_day(past: Past) -> None:
    found = await Overviews(past.store.database).look(Scope(date(2020, 1, 1), date(2020, 1, 2)))
    assert [(day.day.day, dict(day.states)) for day in found.days] == [(1, {}), (2, {})]
    assert found.median is None


async def test_a_clock_that_is_behind_makes_no_negative_times(store: Store, past: Past) -> None:
    """The question was accepted by a process whose clock is an hour ahead."""
    run = await past.answered()
    async with store.database.write() as db:
        ahead = NOW + timedelta(hours=1)
        await db.execute(sa.update(runs).values(accepted_at=ahead, ended_at=NOW))
        seconds = await db.scalar(sa.select(moments.duration()).where(runs.c.id == run))
    assert seconds == 0


WEEK = of_days(NOW.astimezone(UTC).date(), 7)
HERE, THERE = Place("slack", "T1", "C1"), Place("slack", "T1", "C2")


async def ended(past: Past, text: str, state: str) -> str:
    record, _ = await past.begun(asked=text)
    await past.store.end(record.id, record.attempt, state, past.at)
    return record.id


def lists(past: Past) -> AskedQuestions:
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
    found = await lists(past).unanswered(WEEK)
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
    assert [one.run for one in await lists(past).unanswered(WEEK)] == [there]
    elsewhere = Scope(WEEK.first, WEEK.last, channel="C1")
    assert await lists(past).unanswered(elsewhere) == []


async def test_opinions_come_with_their_reasons_the_latest_first(past: Past) -> None:
    run = await past.answered()
    keep = Workspaces(past.store.database).keep_feedback
    await keep(run, "ada", Opinion("good"))
    await keep(run, "bob", Opinion("bad", "outdated", "It moved."))
    found = {one.verdict: one for one in await lists(past).feedback(WEEK)}
    assert {*found} == {"good", "bad"}
    bad = found["bad"]
    assert (bad.run, bad.reason, bad.words, bad.place) == (run, "outdated", "It moved.", HERE)
    assert bad.question.startswith("Question")
    moments = [one.at for one in await lists(past).feedback(WEEK)]
    assert moments == sorted(moments, reverse=True)


async def test_places_are_counted_by_what_became_of_questions(past: Past) -> None:
    await ended(past, "a tower", "answered")
    past.thread = a_channel_thread(channel="C2")
    for state in ("answered", "not_found", "answered"):
        await ended(past, "a mill", state)
    found = await lists(past).by_place(WEEK)
    assert [(one.place, one.asked, dict(one.states)) for one in found] == [
        (THERE, 3, {"answered": 2, "not_found": 1}),
        (HERE, 1, {"answered": 1}),
    ]


async def test_only_documents_count_as_quoted_each_once(past: Past) -> None:
    (web,) = pages("tower")
    (paper,) = pages("paper")
    paper = replace(paper, url="file:///srv/docs/paper.md")
    run = await past.answered(cited=(web, paper))
    assert await lists(past).quoted(WEEK) == [(run, "file:///srv/docs/paper.md")]
