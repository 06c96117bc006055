"""Deeds in the console as the audit log has them: who, what, of whom, from where."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from bot.storage.audit_log import Audit, AuditFilter, Entry
from bot.storage.forgetting import Subject
from tests.unit.adapters.web.conftest import Browser, OpenConsole, Running
from tests.unit.adapters.web.pages.test_history import PROXY, QUESTION, asked, do, thread_of

TOKEN = "a-token-of-the-tests"
Row = tuple[str, str, str, str]


async def log_of(running: Running, **wanted: Any) -> list[Entry]:
    audit = Audit(running.store.database)
    return [entry async for entry in audit.entries(AuditFilter(**wanted))]


async def rows(running: Running) -> list[Row]:
    return [
        (row.person, f"{row.deed} {row.kind}".strip(), row.object, row.outcome)
        for row in await log_of(running)
    ]


@pytest.fixture
async def proxied(open_console: OpenConsole) -> Running:
    return await open_console(**PROXY)


async def person(running: Running, name: str) -> Browser:
    return await running.browser("127.0.0.1", **{"X-User": name, "X-Forwarded-For": "192.0.2.7"})


async def test_each_deed_is_one_row_and_names_no_person_but_the_doer(proxied: Running) -> None:
    ada, bob = await person(proxied, "ada"), await person(proxied, "bob")
    run = await ada.answered(QUESTION)
    path = await thread_of(ada, run)
    thread = f"web:console:{path.rpartition('/')[2]}"
    await ada.get(path)
    await ada.get(f"/api/runs/{run}")
    await ada.get(f"/runs/{run}/pages/1")
    await do(ada, f"{path}/share")
    await do(ada, f"{path}/share")  # which it is already
    token = (await ada.get(path)).text.partition("/shared/")[2].partition('"')[0]
    for who in (path, f"/runs/{run}", f"/shared/{token}", f"/shared/{token}/export/md"):
        await bob.get(who)
    await ada.get(f"{path}/export/bib")
    await do(ada, f"{path}/unshare")
    await bob.get(f"/shared/{token}")
    await ada.send(f"/runs/{run}/edit", question="How long is the bridge?")
    await proxied.ended(run)
    await ada.send(f"/runs/{run}/delete")
    event = (await log_of(proxied, what=["forgot"]))[0].object
    assert await rows(proxied) == [
        ("ada", "asked run", run, "done"),
        ("ada", "read conversation", thread, "done"),
        ("ada", "read run", run, "done"),
        ("ada", "read page", f"{run}/1", "done"),
        ("ada", "shared conversation", thread, "done"),
        ("ada", "read conversation", thread, "done"),
        ("bob", "read conversation", thread, "refused"),
        ("bob", "read run", run, "done"),  # which was shared
        ("bob", "read shared conversation", thread, "done"),
        ("bob", "exported shared conversation", thread, "done"),
        ("ada", "exported conversation", thread, "done"),
        ("ada", "unshared conversation", thread, "done"),
        ("bob", "read shared conversation", "", "refused"),
        ("ada", "edited run", run, "done"),
        ("ada", "forgot message", event, "done"),
    ]
    found = await log_of(proxied)
    assert {(row.platform, row.workspace, row.address) for row in found} == {
        ("web", "console", "192.0.2.7")
    }
    assert all(row.at and "tower" not in repr(row) and token not in repr(row) for row in found)


async def test_whoever_is_forgotten_has_a_pseudonym_by_which_alone_they_are_found(
    proxied: Running,
) -> None:
    ursula, bob = await person(proxied, "ursula"), await person(proxied, "bob")
    await ursula.get(await asked(ursula))
    await asked(bob)
    path = await asked(ursula)
    await do(ursula, "/conversations/delete", thread=path.rpartition("/")[2])
    before = [row.deed for row in await log_of(proxied, who=("web", "ursula"))]
    assert before == ["asked", "read", "asked", "forgot"]
    forgetter = proxied.reception.forgetter
    await forgetter.forget(Subject("person", "web", "ursula"), datetime.now(UTC).date())
    everything = await log_of(proxied)
    assert "ursula" not in repr(everything)
    theirs = await log_of(proxied, who=("web", "ursula"))
    assert [row.deed for row in theirs] == before
    (name,) = {row.person for row in theirs}
    assert name.startswith("forgotten:")
    assert {row.address for row in theirs} == {""}
    assert everything[-1].object == f"web:{name}"
    assert everything[2].person == "bob"


async def test_a_program_that_waits_for_its_answer_reads_once(browser: Browser) -> None:
    browser.running.reasoner.let_on.clear()
    run = await browser.ask()
    for _ in range(3):
        await browser.get(f"/api/runs/{run}")
    browser.running.reasoner.let_on.set()
    await browser.running.ended(run)
    await browser.get(f"/api/runs/{run}")
    assert [row.deed for row in await log_of(browser.running)] == ["asked", "read"]


async def test_only_a_stream_without_its_page_is_a_row_of_its_own(browser: Browser) -> None:
    path = await asked(browser)
    other = await asked(browser)
    await browser.get(path)
    for each in (path, other, other):
        async with browser.follow(f"{each}/events") as events:
            await events.until_begun()
    read = [row.object.rpartition(":")[2] for row in await log_of(browser.running, what=["read"])]
    assert read == [each.rpartition("/")[2] for each in (path, other)]


async def test_reading_is_not_logged_where_that_is_not_wanted(open_console: OpenConsole) -> None:
    running = await open_console(audit_reads=False)
    browser = await running.browser()
    path = await asked(browser)
    await browser.get(path)
    await browser.get(f"{path}/export/md")
    assert [row.deed for row in await log_of(running)] == ["asked", "exported"]


async def test_a_question_that_is_refused_is_a_row(open_console: OpenConsole) -> None:
    running = await open_console(**PROXY, deny_users="bob")
    bob = await person(running, "bob")
    assert (await bob.send("/ask", question=QUESTION)).status_code == 403
    (row,) = await log_of(running)
    assert (row.person, row.deed, row.outcome, row.address) == (
        "bob",
        "asked",
        "refused",
        "192.0.2.7",
    )


async def test_right_and_wrong_tokens_are_told_apart(open_console: OpenConsole) -> None:
    running = await open_console(console_token=TOKEN)
    browser = await running.browser()
    await browser.get("/")  # sent to the sign-in page
    await browser.client.post("/sign-in", data={"token": "guess"})
    await browser.get("/api/threads/x", Authorization="Bearer guess")
    await browser.client.post("/sign-in", data={"token": TOKEN})
    await browser.get("/")
    await browser.send("/sign-out")
    assert await rows(running) == [
        ("", "signed-in", "", "refused"),
        ("", "signed-in", "", "refused"),
        ("local", "signed-in", "", "done"),
        ("local", "signed-out", "", "done"),
    ]


async def test_a_page_is_shown_where_its_row_cannot_be_kept(
    browser: Browser, capsys: pytest.CaptureFixture[str]
) -> None:
    path = await asked(browser)
    async with browser.running.store.database.write() as db:
        await db.exec_driver_sql("ALTER TABLE audit RENAME TO elsewhere")
    assert (await browser.get(path)).status_code == 200
    assert f"object=web:console:{path.rpartition('/')[2]}" in capsys.readouterr().out
