"""The JSON API, and that it does what its description says."""

from __future__ import annotations

from typing import Any

import jsonschema

from adapters.web.api import description
from tests.unit.adapters.web.conftest import Browser, OpenConsole, Running

QUESTION = {"question": "How tall is the tower?"}


async def asked(browser: Browser, **changes: Any) -> Any:
    answer = await browser.client.post("/api/questions", json={**QUESTION, **changes})
    assert answer.status_code == 202, answer.text
    return answer.json()


def check(document: Any, name: str) -> None:
    """Return True if a document is what the description says it is."""
    schemas = description()["components"]
    jsonschema.validate(document, {"$ref": f"#/components/schemas/{name}", "components": schemas})


async def test_a_question_is_answered(here: Running, browser: Browser) -> None:
    accepted = await asked(browser)
    check(accepted, "Accepted")
    await here.ended(accepted["run"])
    run = (await browser.get(accepted["url"])).json()
    check(run, "Run")
    assert run["state"] == "answered"
    assert run["answer"]["citations"][0]["quote"] == "Tower is 330 m tall."
    assert run["answer"]["run"] == accepted["run"]


async def test_a_question_chooses_the_documents_to_search(here: Running, browser: Browser) -> None:
    only = {"within": ["minutes", "pdf"], "since": "2026-03-01"}
    run = await here.store.run((await asked(browser, **only))["run"])
    assert run is not None
    options = run.options
    assert (options.within, options.since, options.until) == (("minutes", "pdf"), "2026-03-01", "")
    assert options.providers == ("local",)


async def test_a_thread_holds_its_questions_in_order(here: Running, browser: Browser) -> None:
    first = await asked(browser)
    second = await asked(browser, question="And how old?", thread=first["thread"])
    await here.ended(second["run"])
    thread = (await browser.get(f"/api/threads/{first['thread']}")).json()
    check(thread, "Conversation")
    assert [run["run"] for run in thread["runs"]] == [first["run"], second["run"]]
    by_key = (await browser.get(f"/api/threads/{thread['key']}")).json()
    assert by_key == thread


async def test_a_request_that_is_repeated_is_one_question(browser: Browser) -> None:
    same = {"Idempotency-Key": "k1"}
    post = browser.client.post
    first = (await post("/api/questions", json=QUESTION, headers=same)).json()
    again = (await post("/api/questions", json=QUESTION, headers=same)).json()
    assert (first["new"], again["new"]) == (True, False)
    assert first["run"] == again["run"]
    assert (await asked(browser))["run"] != first["run"]


async def test_a_run_is_stopped(here: Running, browser: Browser) -> None:
    here.reasoner.let_on.clear()
    accepted = await asked(browser)
    await here.reasoner.thinking.wait()
    stop = await browser.client.post(f"{accepted['url']}/stop", json={})
    assert stop.json() == {"run": accepted["run"], "stopping": True}
    await here.ended(accepted["run"])
    assert (await browser.get(accepted["url"])).json()["state"] == "stopped"


# ---------------------------------------------------------------- mistakes


async def test_a_mistake_is_told_in_a_sentence(browser: Browser) -> None:
    for body, status in [
        ("", 400),
        ("{", 400),
        ("[" * 100_000, 400),
        ("[]", 422),
        ("{}", 422),
        ('{"question": ""}', 422),
        ('{"question": 1}', 422),
        ('{"question": "x", "depth": "deeper"}', 422),
        ('{"question": "x", "colour": "red"}', 422),
        ('{"question": "x", "since": "2026-02-30"}', 422),
        ('{"question": "x", "within": "minutes"}', 422),
        ('{"question": "?!"}', 422),
        ('{"question": "How \\ud800 tall?"}', 422),
        ('{"question": "x y", "thread": "none"}', 404),
        ('{"question": "x y", "thread": "\\u0000"}', 404),
        ('{"question": "' + "x" * 20_001 + '"}', 422),
        ('{"question": "' + "x" * 300_000 + '"}', 413),
    ]:
        headers = {"Content-Type": "application/json"}
        answer = await browser.client.post("/api/questions", content=body, headers=headers)
        assert answer.status_code == status
        check(answer.json(), "Failure")


async def test_any_text_can_be_asked(here: Running, browser: Browser) -> None:
    for text in ["a\\u0000b", "a\\u202eb", "高さは？"]:
        headers = {"Content-Type": "application/json"}
        body = f'{{"question": "{text}"}}'
        answer = await browser.client.post("/api/questions", content=body, headers=headers)
        accepted = answer.json()
        await here.ended(accepted["run"])
        assert (await browser.get(accepted["url"])).status_code == 200


async def test_what_is_not_there_is_told(browser: Browser) -> None:
    for name in ["none", "%00", "a%2Fb", "x" * 500, "%ED%A0%80"]:
        for path in (f"/api/runs/{name}", f"/api/runs/{name}/events", f"/api/threads/{name}"):
            answer = await browser.get(path)
            assert answer.status_code == 404
            check(answer.json(), "Failure")


async def test_another_method_is_told_which_there_are(browser: Browser) -> None:
    answer = await browser.client.delete("/api/questions")
    assert answer.status_code == 405
    assert answer.headers["allow"] == "POST"
    check(answer.json(), "Failure")


async def test_before_footnote_listens_it_says_so(open_console: OpenConsole) -> None:
    running = await open_console()
    running.platform._console.reception = None
    browser = await running.browser()
    answer = await browser.client.post("/api/questions", json=QUESTION)
    assert answer.status_code == 503
    assert "starting" in answer.json()["error"]
