"""Runs: accepting, claiming, ending; of conversations only the quotes are left at the end."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
import sqlalchemy as sa

from bot.core.errors import RunLost
from bot.core.messages import Answer, Attachment, Citation, RunOptions
from bot.core.reader import attached
from bot.pages.page import Page
from bot.storage.journal import RecordedStep, open_journal
from bot.storage.store import TRANSCRIPT_MESSAGES, Standing, Store, is_dead, new_owner
from bot.storage.tables import citations, pages, steps
from tests.unit.evaluation.samples import an_answer
from tests.unit.samples import NOW, a_message, a_page, a_thread

LEASE = timedelta(seconds=30)
OPTIONS = RunOptions(depth="quick", providers=("local",), instructions="Be brief.")
ELSEWHERE = "another-host/1/abcd"
HERE = new_owner().rsplit("/", 2)[0]


def a_reply(run: str, **parts: object) -> Answer:
    return replace(Answer("answered", "330 m [1].", "How tall is the tower?", run), **parts)  # type: ignore[arg-type]


async def test_an_accepted_message_comes_back_as_it_was(store: Store) -> None:
    message = replace(
        a_message("多高? 🗼"),
        links=("https://example.org/",),
        attachments=(Attachment("a.md", "text/markdown", "https://example.org/a.md"),),
        locale="zh",
    )
    assert await store.accept("r1", message, OPTIONS, NOW) == ("r1", True)
    run = await store.run("r1")
    assert run is not None
    assert (run.message, run.options, run.state, run.attempt) == (message, OPTIONS, "accepted", 0)
    assert run.accepted_at == NOW


async def test_a_redelivered_event_finds_its_run(store: Store) -> None:
    message = a_message()
    await store.accept("r1", message, OPTIONS, NOW)
    assert await store.accept("r2", message, OPTIONS, NOW) == ("r1", False)
    assert await store.run("r2") is None


async def test_a_run_is_found_by_the_event_of_its_message(store: Store) -> None:
    message = a_message()
    await store.accept("r1", message, OPTIONS, NOW)
    found = await store.run_of_event(message.thread.platform, message.event_id)
    assert found == await store.run("r1")
    assert await store.run_of_event("slack", message.event_id) is None


async def test_redeliveries_at_the_same_time_create_one_run(store: Store) -> None:
    message = a_message()
    results = await asyncio.gather(
        *(store.accept(f"r{i}", message, OPTIONS, NOW) for i in range(20))
    )
    assert len({run_id for run_id, _ in results}) == 1
    assert sum(created for _, created in results) == 1


async def test_the_same_event_id_on_two_platforms_is_two_events(store: Store) -> None:
    message = a_message()
    other = replace(message, thread=replace(message.thread, platform="slack"))
    await store.accept("r1", message, OPTIONS, NOW)
    assert await store.accept("r2", other, OPTIONS, NOW) == ("r2", True)


async def test_a_run_can_be_claimed_only_while_no_one_works_on_it(store: Store) -> None:
    async def claimed(owner: str, at: datetime) -> int | None:
        run = await store.claim("r1", owner, at, LEASE)
        return None if run is None else run.attempt

    await store.accept("r1", a_message(), OPTIONS, NOW)
    later = NOW + 2 * LEASE
    assert await claimed(ELSEWHERE, NOW) == 1
    assert await claimed(new_owner(), NOW + LEASE / 2) is None
    assert await store.unfinished(NOW + LEASE / 2) == []
    await store.renew(ELSEWHERE, ["r1"], later)
    assert await claimed(new_owner(), NOW + LEASE) is None
    assert await claimed(new_owner(), later) == 2
    await store.release("r1", 2)
    assert await claimed(ELSEWHERE, later) == 3
    await store.end("r1", 3, "answered", NOW)
    assert await claimed(new_owner(), later + 2 * LEASE) is None
    assert await store.unfinished(later + 2 * LEASE) == []


async def test_the_lease_of_a_run_that_is_not_worked_on_any_more_is_not_renewed(
    store: Store,
) -> None:
    for run_id, thread in (("r1", a_thread("one")), ("r2", a_thread("two"))):
        await store.accept(run_id, a_message(run_id, thread, event_id=run_id), OPTIONS, NOW)
        await store.claim(run_id, ELSEWHERE, NOW, LEASE)
    assert await store.renew(ELSEWHERE, ["r2"], NOW + 2 * LEASE) == {("r2", 1)}
    assert await store.claim("r1", new_owner(), NOW + LEASE, LEASE) is not None


async def test_the_run_of_a_dead_process_on_this_host_is_free_at_once(store: Store) -> None:
    child = await asyncio.create_subprocess_exec("true")
    await child.wait()
    dead = f"{HERE}/{child.pid}/abcd"
    await store.accept("r1", a_message(), OPTIONS, NOW)
    await store.claim("r1", dead, NOW, LEASE)
    assert [run.id for run in await store.unfinished(NOW)] == ["r1"]
    assert await store.claim("r1", new_owner(), NOW, LEASE) is not None


@pytest.mark.parametrize(
    ("owner", "dead"),
    [
        (f"{HERE}/{os.getpid()}/x", False),
        (f"{HERE}/1/x", False),
        ("elsewhere/999999/x", False),
        (f"{socket.gethostname()}/999999/x", False),
        (f"{HERE[:-1]}{(int(HERE[-1], 16) + 1) % 10}/999999/x", False),
        (f"{HERE}/999999/x", True),
    ],
    ids=[
        "this process",
        "a process of the system",
        "a process on another host",
        "a process on a host of the same name",
        "a process in another container of the same name",
        "a process that never was",
    ],
)
def test_only_a_process_that_certainly_is_gone_counts_as_dead(owner: str, dead: bool) -> None:
    assert is_dead(owner) is dead


async def test_an_accepted_run_waits_for_the_owner_it_was_meant_for(store: Store) -> None:
    await store.accept("r1", a_message(), OPTIONS, NOW, owner=ELSEWHERE, lease=LEASE)
    assert await store.unfinished(NOW) == []
    assert await store.claim("r1", new_owner(), NOW, LEASE) is None
    assert await store.claim("r1", ELSEWHERE, NOW, LEASE) is not None


async def test_a_follow_up_cannot_be_claimed_before_the_question_it_follows(store: Store) -> None:
    await store.accept("r1", a_message("How tall?"), OPTIONS, NOW)
    await store.accept("r2", a_message("And how old?"), OPTIONS, NOW)
    await store.accept("other", a_message("Elsewhere.", a_thread("t2")), OPTIONS, NOW)
    assert await store.earlier_unfinished("r2") == "r1"
    assert await store.claim("r2", ELSEWHERE, NOW, LEASE) is None
    assert await store.claim("other", ELSEWHERE, NOW, LEASE) is not None
    await store.claim("r1", ELSEWHERE, NOW, LEASE)
    await store.end("r1", 1, "answered", NOW)
    assert await store.earlier_unfinished("r2") is None
    assert await store.claim("r2", ELSEWHERE, NOW, LEASE) is not None


async def test_a_follow_up_that_is_to_stop_need_not_wait(store: Store) -> None:
    await store.accept("r1", a_message("How tall?"), OPTIONS, NOW)
    await store.accept("r2", a_message("And how old?"), OPTIONS, NOW)
    await store.request_stop("r2")
    assert await store.claim("r2", ELSEWHERE, NOW, LEASE) is not None


async def test_a_withdrawn_stop_is_forgotten(store: Store) -> None:
    await store.accept("r1", a_message(), OPTIONS, NOW)
    await store.request_stop("r1")
    await store.withdraw_stop("r1")
    run = await store.claim("r1", ELSEWHERE, NOW, LEASE)
    assert run is not None
    assert not run.stop_requested


async def test_an_overtaken_attempt_can_write_nothing(store: Store) -> None:
    await store.accept("r1", a_message(), OPTIONS, NOW)
    await store.claim("r1", ELSEWHERE, NOW, LEASE)
    journal = await open_journal(store.database, "r1", 1)
    await store.claim("r1", new_owner(), NOW + LEASE, LEASE)
    step = RecordedStep("k", "search", "tower", "{}", 0.1, NOW)
    for write in (
        lambda: journal.record(step),
        lambda: journal.number([a_page()]),
        lambda: store.save_answer("r1", 1, a_reply("r1")),
        lambda: store.save_post_state("r1", 1, {"ts": "1"}),
        lambda: store.end("r1", 1, "answered", NOW),
    ):
        with pytest.raises(RunLost):
            await write()
    run = await store.run("r1")
    assert run is not None
    assert (run.state, run.answer, run.post_state) == ("running", None, None)
    assert (await open_journal(store.database, "r1", 2)).finished("k") is None


async def test_a_stop_and_a_loss_are_seen_by_whoever_works_on_the_run(store: Store) -> None:
    await store.accept("r1", a_message(), OPTIONS, NOW)
    await store.claim("r1", ELSEWHERE, NOW, LEASE)
    assert await store.standing(["r1", "gone"]) == {"r1": Standing(1, False)}
    await store.request_stop("r1")
    await store.claim("r1", new_owner(), NOW + LEASE, LEASE)
    assert await store.standing(["r1"]) == {"r1": Standing(2, True)}


async def test_a_run_that_is_to_stop_is_found_by_those_who_may_claim_it(store: Store) -> None:
    for name in ("free", "kept", "going on"):
        owner = ELSEWHERE if name == "kept" else None
        message = a_message(name, a_thread(name))
        await store.accept(name, message, OPTIONS, NOW, owner=owner, lease=LEASE)
    for name in ("free", "kept"):
        await store.request_stop(name)
    mine, later = new_owner(), NOW + LEASE
    assert await store.stopped_in_waiting(mine, NOW) == [("free", "terminal")]
    assert len(await store.stopped_in_waiting(ELSEWHERE, NOW)) == 2
    assert len(await store.stopped_in_waiting(mine, later)) == 2
    await store.claim("free", mine, NOW, LEASE)
    await store.end("free", 1, "stopped", NOW)
    assert await store.stopped_in_waiting(mine, NOW) == []


async def test_an_answer_is_kept_with_its_citations(store: Store) -> None:
    await store.accept("r1", a_message(), OPTIONS, NOW)
    await store.claim("r1", ELSEWHERE, NOW, LEASE)
    journal = await open_journal(store.database, "r1", 1)
    page = a_page()
    await journal.record(RecordedStep("k", "read", "Tower", "{}", 0.1, NOW), page)
    assert await journal.number([page]) == [1]
    citation = Citation(1, page.url, page.title, page.text, page.hash, 0, len(page.text))
    answer = a_reply("r1", citations=(citation,))
    await store.save_answer("r1", 1, answer)
    await store.save_answer("r1", 1, answer)  # a repetition changes nothing
    run = await store.run("r1")
    assert run is not None
    assert run.answer == answer


async def test_a_citation_rests_on_the_copy_that_was_quoted(store: Store) -> None:
    await store.accept("r1", a_message(), OPTIONS, NOW)
    await store.claim("r1", ELSEWHERE, NOW, LEASE)
    journal = await open_journal(store.database, "r1", 1)
    first, second = a_page(text="It was 324 m tall."), a_page(text="It is 330 m tall.")
    await journal.record(RecordedStep("1", "read", "Tower", "{}", 0.1, NOW), first)
    await journal.record(RecordedStep("2", "read", "Tower", "{}", 0.1, NOW), second)
    assert await journal.number([first, second]) == [1, 1]
    cited = [Citation(1, p.url, p.title, p.text, p.hash, 0, len(p.text)) for p in (second, first)]
    await store.save_answer("r1", 1, a_reply("r1", citations=tuple(cited)))
    kept = sa.select(citations.c.quote, pages.c.text).join(pages).order_by(citations.c.position)
    async with store.database.read() as db:
        rows = (await db.execute(kept)).all()
    assert [quote for quote, _ in rows] == [second.text, first.text]
    assert all(quote == text for quote, text in rows)


async def test_a_transcript_has_what_was_said_before_with_our_answers(store: Store) -> None:
    thread, other = a_thread("one"), a_thread("two")
    for run_id, text, where in (
        ("r1", "How tall is the tower?", thread),
        ("r2", "Elsewhere.", other),
        ("r3", "And how old?", thread),
        ("r4", "Who built it?", thread),
    ):
        await store.accept(run_id, a_message(text, where), OPTIONS, NOW)
    await store.claim("r1", ELSEWHERE, NOW, LEASE)
    await store.save_answer("r1", 1, a_reply("r1"))
    run = await store.run("r3")
    assert run is not None
    said = [(e.role, e.text) for e in (await store.transcript(run.message)).entries]
    assert said == [("person", "How tall is the tower?"), ("footnote", "330 m [1].")]


async def test_a_transcript_has_the_files_that_people_sent(store: Store) -> None:
    file = Attachment("plan.pdf", "application/pdf", "https://team.slack.example/files/F1")
    sent = replace(a_message("Read this.", a_thread("one")), attachments=(file,))
    await store.accept("r1", sent, OPTIONS, NOW)
    await store.accept("r2", a_message("And now?", a_thread("one")), OPTIONS, NOW)
    run = await store.run("r2")
    assert run is not None
    assert [entry.files for entry in (await store.transcript(run.message)).entries] == [(file,)]


async def test_a_long_thread_is_shown_by_its_end(store: Store) -> None:
    last = TRANSCRIPT_MESSAGES + 2
    for number in range(last + 1):
        await store.accept(f"r{number}", a_message(f"Question {number}"), OPTIONS, NOW)
    run = await store.run(f"r{last}")
    assert run is not None
    texts = [entry.text for entry in (await store.transcript(run.message)).entries]
    assert texts == [f"Question {number}" for number in range(2, last)]


def test_a_process_that_ended_unnoticed_by_its_parent_is_dead() -> None:
    """A zombie can be sent signals."""
    place, _, token = new_owner().rsplit("/", 2)
    with subprocess.Popen(["true"]) as child:
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and stays
        os.kill(child.pid, 0)
        assert is_dead(f"{place}/{child.pid}/{token}")
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as living:
        assert not is_dead(f"{place}/{living.pid}/{token}")
        living.kill()


MESSAGE = "https://acme.slack.com/archives/C1/p1764144000000100"
CHAT_FILE = "https://acme.slack.com/files/U024BE7LH/F024BERPE/plan.pdf"
SENT = attached("https://acme.slack.com/files/U024BE7LH/F0SENT/sent.pdf")
WEB = "https://example.org/tower"
TEXT = "It is 330 m tall. It is painted brown."
QUOTE = "It is 330 m tall."


async def left_after(
    store: Store, read: list[str], quoted: list[str]
) -> dict[str, tuple[str, str]]:
    """The title and text of each page that is left of a run; and that no step tells of any."""
    await store.accept("r1", a_message(), RunOptions(), NOW)
    await store.claim("r1", "h/1/x", NOW, timedelta(seconds=30))
    journal = await open_journal(store.database, "r1", 1)
    hits = json.dumps({"hits": [{"title": "Ann, Plan, 3 June 2026", "url": url} for url in read]})
    await journal.record(RecordedStep("s", "search", "tower", hits, 0.1, NOW))
    found = [Page(url, "Ann, Plan, 3 June 2026", TEXT, NOW) for url in read]
    for page in found:
        outcome = json.dumps({"url": page.url, "hash": page.hash, "title": page.title})
        await journal.record(RecordedStep(page.url, "read", "", outcome, 0.1, NOW), page)
    await journal.number(found)
    cited = tuple(
        Citation(number, page.url, page.title, QUOTE, page.hash, 0, len(QUOTE))
        for number, page in enumerate(found, 1)
        if page.url in quoted
    )
    await store.save_answer("r1", 1, an_answer("It is tall.", citations=cited))
    await store.end("r1", 1, "answered", NOW, searched_talk=True)
    async with store.database.read() as db:
        left = (await db.execute(sa.select(pages.c.url, pages.c.title, pages.c.text))).all()
        results = (await db.scalars(sa.select(steps.c.result))).all()
    assert not [url for url in (MESSAGE, CHAT_FILE) for result in results if url in result]
    return {row.url: (row.title, row.text) for row in left}


@pytest.mark.parametrize("url", [MESSAGE, CHAT_FILE])
async def test_of_a_page_that_is_quoted_its_title_and_quote_are_left(
    store: Store, url: str
) -> None:
    left = await left_after(store, [url], [url])
    title, text = left[url]
    assert title == "Ann, Plan, 3 June 2026"
    assert (text.strip(), len(text)) == (QUOTE, len(TEXT))


@pytest.mark.parametrize("url", [MESSAGE, CHAT_FILE])
async def test_of_a_page_that_is_not_quoted_neither_title_nor_text_is_left(
    store: Store, url: str
) -> None:
    left = await left_after(store, [url, WEB], [WEB])
    title, text = left[url]
    assert (title, text.strip()) == ("", "")
    assert left[WEB] == ("Ann, Plan, 3 June 2026", TEXT)


async def test_a_file_that_came_with_a_message_stays_as_it_was_read(store: Store) -> None:
    left = await left_after(store, [SENT, CHAT_FILE], [])
    assert left[SENT] == ("Ann, Plan, 3 June 2026", TEXT)
