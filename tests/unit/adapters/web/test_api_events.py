"""The events of a run, held to what the API's description says of them."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass
from typing import Any

import jsonschema
import pytest

from adapters.web.api import description
from adapters.web.live import Live, ReplyState
from bot.core.messages import Judgement, PlanView, RunOptions, StepView, Thread
from bot.reasoning.evidence import CitationDelta, TextDelta, Verdict
from tests.unit.adapters.web.conftest import Browser, Events, OpenConsole, Running
from tests.unit.adapters.web.test_api import asked
from tests.unit.samples import NOW, a_message

OPERATION = description()["paths"]["/api/runs/{run}/events"]["get"]
ITEM = OPERATION["responses"]["200"]["content"]["text/event-stream"]["itemSchema"]
KINDS = [each["properties"]["event"]["const"] for each in ITEM["oneOf"]]


def a_plan(*states: str) -> PlanView:
    steps = (
        StepView(f"s{n}", "search", f"query {n}", state)  # type: ignore[arg-type]
        for n, state in enumerate(states)
    )
    return PlanView("How tall?", tuple(steps))


@dataclass
class Working:
    """A run that waits for its reasoner; ``show`` is what its reply shows next."""

    here: Running
    run: str
    path: str
    thread: Thread
    live: Live

    def show(self, plan: PlanView | None = None, text: str | None = None) -> ReplyState:
        reply = self.here.poster.replies[self.run]
        if plan is not None:
            reply.progress(plan)
        if text is not None:
            reply.stream(text)
        now = self.live.here(self.run)
        assert now is not None
        return now

    async def end(self) -> None:
        self.here.reasoner.let_on.set()
        await self.here.ended(self.run)


@pytest.fixture
async def working(here: Running, browser: Browser) -> Working:
    here.reasoner.let_on.clear()
    accepted = await asked(browser)
    await here.reasoner.thinking.wait()
    record = await here.store.run(accepted["run"])
    assert record is not None
    live = here.platform.poster._live
    return Working(here, record.id, accepted["events"], record.message.thread, live)


def ids(events: Events) -> list[str]:
    return [id for _, _, id in events.told if id]


def place(id: str) -> tuple[int, ...]:
    """An id as what grows."""
    return tuple(10**9 if part == "end" else int(part) for part in id.split("."))


def shown_after(told: list[tuple[str, Any, str]]) -> dict[str, Any]:
    """The state of a client that got these events: the last of each kind."""
    return {kind: data for kind, data, _ in told}


def check(events: Events) -> None:
    """Each event is one of the description's, and their ids grow."""
    components = {"components": description()["components"]}
    for kind, data, id in events.told:
        item = {"event": kind, "data": json.dumps(data)} | ({"id": id} if id else {})
        jsonschema.validate(item, {**ITEM, **components})
        (described,) = (one for one in ITEM["oneOf"] if one["properties"]["event"]["const"] == kind)
        jsonschema.validate(
            data, {**described["properties"]["data"]["contentSchema"], **components}
        )
    grown = [place(id) for id in ids(events)]
    assert grown == sorted(set(grown))


# ---------------------------------------------------------------- what is told


async def test_a_run_from_its_plan_to_its_answer_is_as_described(
    working: Working, browser: Browser
) -> None:
    async with browser.follow(working.path) as events:
        working.show(plan=a_plan("running", "waiting"))
        await events.until("plan", "waiting")
        working.show(text="It is")
        await events.until("text", "It is")
        working.show(plan=a_plan("done", "running"), text="It is 330")
        await events.until("text", "330")
        await working.end()
        await events.until_end()
    check(events)
    assert set(events.kinds) == {"plan", "text", "answer"}
    assert events.kinds[-1] == "answer"
    assert events.headers["content-type"].startswith("text/event-stream")
    assert events.headers["cache-control"] == "no-store"
    assert events.text.startswith("retry: 1000\n\n")


async def test_a_deleted_question_ends_its_events(working: Working, browser: Browser) -> None:
    async with browser.follow(working.path) as events:
        working.show(plan=a_plan("running"))
        await events.until("plan")
        await browser.send(f"/runs/{working.run}/delete")
        assert await events.until("removed") == {"run": working.run}
        await events.until_end()
    check(events)
    working.here.reasoner.let_on.set()


def test_every_kind_is_described() -> None:
    assert KINDS == ["plan", "text", "answer", "removed"]
    for kind in KINDS:
        assert f"`{kind}`" in OPERATION["description"]


async def test_lines_in_a_text_do_not_break_an_event(working: Working, browser: Browser) -> None:
    text = "One.\n\ndata: two\r\n\rid: 9.9\u2028\u0085\n\nevent: answer"
    async with browser.follow(working.path) as events:
        working.show(text=text)
        assert await events.until("text", "One.") == {"text": text}
    check(events)
    working.here.reasoner.let_on.set()


@pytest.mark.parametrize("judgement", ["supported", "contradicted"])
async def test_an_answer_is_told_at_once_and_again_when_it_is_verified(
    working: Working, browser: Browser, judgement: Judgement
) -> None:
    reasoner = working.here.reasoner
    reasoner.answer = lambda question, evidence: [
        TextDelta("Tower is tall. "),
        CitationDelta(1, 0, 20),
        TextDelta("Tower is 330 m tall."),
        CitationDelta(1, 0, 20),
    ]
    reasoner.verdicts = {
        "Tower is tall.": Verdict(judgement),
        "Tower is 330 m tall.": Verdict("supported"),
    }
    reasoner.may_verify.clear()
    async with browser.follow(working.path) as events:
        reasoner.let_on.set()
        first = await events.until("answer")
        await reasoner.verifying.wait()
        assert first["verification"]["state"] == "pending"
        assert first["answer"] == "Tower is tall. Tower is 330 m tall [1]."
        assert (await browser.get(f"/api/runs/{working.run}")).json()["state"] == "running"
        reasoner.may_verify.set()
        await events.until_end()
    check(events)
    last = events.told[-1][1]
    assert [each["verdict"] for each in last["verification"]["sentences"]] == [
        judgement,
        "supported",
    ]
    assert last["verification"]["state"] == "done"
    assert ("Tower is tall." in last["answer"]) == (judgement == "supported")
    kept = (await browser.get(f"/api/runs/{working.run}")).json()
    assert kept["answer"] == last
    async with browser.follow(working.path, **{"Last-Event-ID": events.told[-1][2]}) as again:
        await again.until_end()
    assert (again.status, again.told) == (204, [])


# ---------------------------------------------------------------- coming back


async def test_from_every_id_a_client_gets_to_the_same_without_repeats(
    working: Working, browser: Browser
) -> None:
    states: list[dict[str, Any]] = [
        {"plan": a_plan("running")},
        {"text": "It"},
        {"plan": a_plan("done", "running")},
        {"text": "It is", "plan": a_plan("done", "done")},
        {"text": ""},
        {"text": "It is 330 m"},
    ]
    async with browser.follow(working.path) as stayed:
        for state in states:
            last = working.show(**state)
            async with asyncio.timeout(60):
                while last.mark not in ids(stayed):
                    await asyncio.sleep(0.005)
        have = stayed.told[:]
        known = ids(stayed)
        for id in known[:-1]:
            async with browser.follow(working.path, **{"Last-Event-ID": id}) as again:
                await again.until_told(f"id: {known[-1]}\n")
            check(again)
            assert all(place(other) > place(id) for other in ids(again))
            seen = have[: [each[2] for each in have].index(id) + 1]
            assert shown_after(seen + again.told) == shown_after(have)
        async with browser.follow(working.path, **{"Last-Event-ID": known[-1]}) as again:
            await again.until_told("retry: ")
            working.show(plan=a_plan("done", "done", "running"))
            await again.until("plan")
            assert again.kinds == ["plan"]  # its text has not changed
            await working.end()
            await again.until_end()
        check(again)
        assert again.kinds[-1] == "answer"
        assert all(place(other) > place(known[-1]) for other in ids(again))
        await stayed.until_end()
    check(stayed)


async def test_an_answer_that_was_missed_is_all_that_is_told(
    working: Working, browser: Browser
) -> None:
    async with browser.follow(working.path) as events:
        working.show(plan=a_plan("running"))
        await events.until("plan")
    await working.end()
    for id in ids(events):
        async with browser.follow(working.path, **{"Last-Event-ID": id}) as again:
            await again.until_end()
        check(again)
        assert again.kinds == ["answer"]


async def test_who_has_the_answer_is_told_not_to_come_again(
    working: Working, browser: Browser
) -> None:
    await working.end()
    async with browser.follow(working.path) as events:
        await events.until_end()
    async with browser.follow(working.path, **{"Last-Event-ID": ids(events)[-1]}) as again:
        await again.until_end()
    assert (again.status, again.told) == (204, [])


@pytest.mark.parametrize(
    "id", ["0.0", "1", "999999.999999", "x", "-1.-1", "1.0;x=y", "0" * 5_000, "%00", " "]
)
async def test_an_id_that_nobody_gave_is_answered_with_how_it_stands(
    working: Working, browser: Browser, id: str
) -> None:
    working.show(plan=a_plan("running"))
    header = {"Last-Event-ID": id}
    async with browser.follow(working.path, **header) as events:
        await events.until("plan")
        await working.end()
        await events.until_end()
    check(events)
    assert events.kinds[-1] == "answer"
    async with browser.follow(working.path, **header) as later:
        await later.until_end()
    assert later.kinds == ["answer"]


# ---------------------------------------------------------------- around it


async def test_head_tells_what_would_come_and_waits_for_nothing(
    working: Working, browser: Browser
) -> None:
    for path in (working.path, f"/threads/{working.thread.thread}/events"):
        async with browser.follow(path, method="HEAD") as events:
            await events.until_end()
        assert (events.status, events.text) == (200, "")
        assert events.headers["content-type"].startswith("text/event-stream")
    assert not working.live.onlookers
    working.here.reasoner.let_on.set()


async def test_a_stream_is_never_compressed(working: Working, browser: Browser) -> None:
    async with browser.follow(working.path, **{"Accept-Encoding": "gzip"}) as events:
        working.show(text="It is " * 1_000)
        await events.until("text")
    assert "content-encoding" not in events.headers
    working.here.reasoner.let_on.set()


async def test_a_run_that_is_not_there_is_told_in_a_sentence(browser: Browser) -> None:
    for run in ["none", "0" * 12, "%00", "x" * 100]:
        for method in ("GET", "HEAD"):
            answer = await browser.client.request(method, f"/api/runs/{run}/events")
            assert answer.status_code == 404
            assert answer.headers["content-type"] == "application/json"
        failure = {
            "$ref": "#/components/schemas/Failure",
            "components": description()["components"],
        }
        jsonschema.validate((await browser.get(f"/api/runs/{run}/events")).json(), failure)


async def test_one_client_cannot_hold_all_streams(working: Working, browser: Browser) -> None:
    streams = working.here.platform._console.streams
    streams._most = 2
    async with browser.follow(working.path) as one, browser.follow(working.path) as other:
        for events in (one, other):
            await events.until_told("retry: ")
        refused = await browser.get(working.path)
        assert refused.status_code == 429
        assert "Close some" in refused.json()["error"]
    async with browser.follow(working.path) as again:
        await again.until_told("retry: ")
    working.here.reasoner.let_on.set()


async def test_streams_that_were_left_leave_nothing(working: Working, browser: Browser) -> None:
    for _ in range(20):
        async with browser.follow(working.path) as events:
            await events.until_told("retry: ")
    streams = working.here.platform._console.streams
    async with asyncio.timeout(60):
        while working.live.onlookers or streams._open:
            await asyncio.sleep(0.01)
    assert not working.live._feeds
    working.here.reasoner.let_on.set()


# ---------------------------------------------------------------- who may see it


async def test_what_another_person_asked_is_not_there(open_console: OpenConsole) -> None:
    settings = {"console_user_header": "X-User", "admins": ("root",)}
    running = await open_console(**settings)
    running.reasoner.let_on.clear()
    ada, bob, root = [await running.browser(**{"X-User": name}) for name in ("ada", "bob", "root")]
    run = await ada.ask()
    await running.reasoner.thinking.wait()
    record = await running.store.run(run)
    assert record is not None
    paths = [f"/api/runs/{run}/events", f"/threads/{record.message.thread.thread}/events"]
    for path in paths:
        assert (await bob.get(path)).status_code == 404
        for allowed in (ada, root):
            async with allowed.follow(path) as events:
                await events.until_told("retry: ")
            assert events.status == 200
    running.reasoner.let_on.set()
    await running.ended(run)


async def test_a_thread_of_a_chat_is_for_operators_and_a_run_for_who_has_its_name(
    open_console: OpenConsole,
) -> None:
    running = await open_console(console_user_header="X-User", admins=("root",))
    place = Thread("slack", "T1", "C1", "1700000000.000100")
    await running.store.accept("r1", a_message("Secret?", place), RunOptions(), NOW)
    ada, root = [await running.browser(**{"X-User": name}) for name in ("ada", "root")]
    for name in (place.thread, place.key):
        for path in (f"/threads/{name}", f"/api/threads/{name}", f"/threads/{name}/events"):
            assert (await ada.get(path)).status_code == 404, path
        assert (await root.get(f"/api/threads/{name}")).status_code == 200
    assert (await ada.get("/api/runs/r1")).status_code == 200


def test_ids_are_compared_number_by_number() -> None:
    assert place("1.10") > place("1.9")
    assert place("1.9.end") > place("1.9")
    assert re.fullmatch(ITEM["oneOf"][0]["properties"]["id"]["pattern"], "1.9.end")
