"""The conversation page, as browsers with and without scripts use it."""

from __future__ import annotations

import re

import lxml.html  # type: ignore[import-untyped]
import pytest

from adapters.web.console import QUESTIONS
from bot.core.errors import CredentialsRefused
from bot.reasoning.evidence import AnswerDelta, Evidence, Rewritten
from tests.fakes.reasoner import cite_all
from tests.fakes.screen import seen
from tests.unit.adapters.web.conftest import Browser, OpenConsole, Running

QUESTION = "How tall is the tower?"


async def thread_of(browser: Browser, run: str) -> str:
    record = await browser.running.store.run(run)
    assert record is not None
    return f"/threads/{record.message.thread.thread}"


# ---------------------------------------------------------------- asking


async def test_the_first_page_invites_to_ask(browser: Browser) -> None:
    page = seen((await browser.get("/")).text)
    assert "Ask, and get an answer you can check" in page.text
    assert "Ask" in page.buttons


async def test_a_question_is_answered_in_its_thread(browser: Browser) -> None:
    run = await browser.answered(QUESTION)
    page = seen((await browser.get(await thread_of(browser, run))).text)
    assert QUESTION in page.text
    assert "How was this answered?" in page.text
    assert f"/runs/{run}" in page.links
    assert {"Helpful", "Not helpful", "Dig deeper"} <= set(page.buttons)
    assert not page.busy


async def test_a_browser_without_scripts_is_led_to_the_thread(browser: Browser) -> None:
    answer = await browser.post("/ask", question=QUESTION)
    assert answer.status_code == 303
    assert re.fullmatch(r"/threads/[0-9a-f]{16}#run-[0-9a-f]{12}", answer.headers["location"])


async def test_an_example_is_asked_with_a_press(browser: Browser) -> None:
    run = await browser.ask("", example="What is an example?")
    record = await browser.running.store.run(run)
    assert record is not None
    assert record.message.text == "What is an example?"


async def test_what_is_no_question_is_told(browser: Browser) -> None:
    """In words of the console: those of a chat speak of mentions."""
    for question in ("", "  \n", "?!", "😀"):
        answer = await browser.send("/ask", question=question)
        assert answer.status_code == 422
        assert answer.json()["error"] == "Please write your question in words."


@pytest.mark.parametrize(
    ("path", "above"),
    [("/ask", "/"), ("/runs/x/edit", "/runs/x"), ("/connect/slack/drop", "/connect/slack")],
)
async def test_the_address_of_a_form_leads_to_the_page_above_it(
    browser: Browser, path: str, above: str
) -> None:
    """Somebody opens again what answered the form."""
    answer = await browser.get(path)
    assert (answer.status_code, answer.headers["location"]) == (303, above)


async def test_an_unknown_depth_is_refused(browser: Browser) -> None:
    answer = await browser.send("/ask", question=QUESTION, depth="bottomless")
    assert answer.status_code == 422


async def test_a_thread_that_is_not_there_is_said_to_be_gone(browser: Browser) -> None:
    for path in ("/threads/none", "/threads/none/events", "/threads/%00"):
        assert (await browser.get(path)).status_code == 404
    answer = await browser.send("/ask", question=QUESTION, thread="none")
    assert answer.status_code == 404


async def test_too_many_questions_in_a_minute_are_too_many(
    open_console: OpenConsole, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.web.console.QUESTIONS", 2)
    browser = await (await open_console()).browser()
    await browser.ask()
    await browser.ask()
    answer = await browser.send("/ask", question=QUESTION)
    assert answer.status_code == 429
    assert "wait a little" in answer.json()["error"]


@pytest.mark.parametrize("files", [(), [("files", ("notes.txt", b"Notes of May."))]])
async def test_a_question_that_nobody_takes_is_kept_to_be_sent_again(
    here: Running, browser: Browser, files: list[tuple[str, tuple[str, bytes]]]
) -> None:
    """The form of its failure page asks it once."""
    thread = await thread_of(browser, await browser.answered())
    form = {"question": 'Is "it" <tall>?', "event": "one", "depth": "deep"}
    form["thread"] = thread.removeprefix("/threads/")
    console = here.platform._console
    console.reception = None
    failed = await browser.client.post("/ask", data=form, files=files or None)
    assert failed.status_code == 503
    assert "Footnote is starting or stopping. Try again in a moment." in failed.text
    shown = lxml.html.fromstring(failed.text).xpath("//main//form")[0]
    again = {name: value or "" for name, value in shown.form_values()}
    assert (shown.action, again) == ("/ask", form)
    assert ("Choose your files again" in failed.text) == bool(files)
    console.reception = here.reception
    taken = [await browser.client.post("/ask", data=again) for _ in range(2)]
    [run] = {answer.headers["location"].removeprefix(f"{thread}#run-") for answer in taken}
    record = await here.store.run(run)
    assert record is not None
    assert record.message.text == form["question"]


async def test_what_was_chosen_for_a_question_is_kept_with_it(
    here: Running, browser: Browser
) -> None:
    await browser.get("/")
    here.platform._console.reception = None
    chosen = {"chosen": ["1"], "source": ["wiki", "web"], "again": ["upload:a", "upload:b"]}
    form = {"event": ["one"], "question": ["What?"], **chosen}
    failed = await browser.client.post("/ask", data=form)
    shown = lxml.html.fromstring(failed.text).xpath("//main//form")[0]
    sent = {(name, value) for name, values in form.items() for value in values}
    assert set(shown.form_values()) == sent


async def test_a_question_that_nobody_takes_counts_for_no_limit(
    here: Running, browser: Browser
) -> None:
    console = here.platform._console
    console.reception = None
    for _ in range(QUESTIONS + 1):
        assert (await browser.send("/ask", question=QUESTION)).status_code == 503
    console.reception = here.reception
    assert await browser.ask(QUESTION)


# ---------------------------------------------------------------- forms


async def test_a_form_that_does_not_say_whose_it_is_changes_nothing(browser: Browser) -> None:
    del browser.client.headers["Sec-Fetch-Site"]
    assert (await browser.post("/ask", question=QUESTION)).status_code == 403
    browser.client.headers["Origin"] = str(browser.client.base_url)
    assert (await browser.post("/ask", question=QUESTION)).status_code == 303


async def test_a_form_that_is_too_large_is_refused(browser: Browser) -> None:
    answer = await browser.send("/ask", question="x" * 300_000)
    assert answer.status_code == 413


async def test_what_is_no_form_is_refused(browser: Browser) -> None:
    answer = await browser.client.post("/ask", json={"question": QUESTION})
    assert answer.status_code == 415


# ---------------------------------------------------------------- pressing


async def test_feedback_is_kept_and_shown_as_pressed(browser: Browser) -> None:
    run = await browser.answered()
    told = await browser.send(f"/runs/{run}/feedback", verdict="bad")
    assert told.json()["told"].startswith("Thank you")
    page = (await browser.get(await thread_of(browser, run))).text
    pressed = re.findall(r'aria-pressed="true">.*?<span>(.*?)</span>', page, re.DOTALL)
    assert pressed == ["Not helpful"]


async def test_digging_deeper_asks_once_more(here: Running, browser: Browser) -> None:
    run = await browser.answered()
    await browser.send(f"/runs/{run}/deeper")
    again = await browser.send(f"/runs/{run}/deeper")
    assert "already" in again.json()["told"]
    page = (await browser.get(await thread_of(browser, run))).text
    assert page.count('class="turn"') == 2


async def test_an_answer_is_regenerated_in_its_place(here: Running, browser: Browser) -> None:
    run = await browser.answered()
    before = await here.store.run(run)
    await browser.send(f"/runs/{run}/edit", regenerate="1")
    await here.ended(run)
    after = await here.store.run(run)
    assert before is not None
    assert after is not None
    assert after.attempt > before.attempt
    page = (await browser.get(await thread_of(browser, run))).text
    assert page.count('class="turn"') == 1
    assert "330 m" in page


async def test_a_correction_is_offered_unless_none_are_kept(open_console: OpenConsole) -> None:
    for most, offered in ((20, True), (0, False)):
        here = await open_console(corrections_per_day=most)
        browser = await here.browser()
        page = (await browser.get(await thread_of(browser, await browser.answered()))).text
        assert "Correct this" in page
        assert ('class="turns"' in page) == offered


async def test_every_answer_offers_to_correct_it_and_a_correction_names_one_of_its_thread(
    browser: Browser,
) -> None:
    first = await browser.answered()
    path = await thread_of(browser, first)
    thread = path.rpartition("/")[2]
    other = await browser.answered()
    last = await browser.answered(thread=thread)
    page = (await browser.get(path)).text
    assert re.findall(r'name="corrects" value="(\w+)"', page) == [first, last]
    for run in (other, "gone"):
        sent = await browser.send("/ask", question="331 m", thread=thread, corrects=run)
        assert sent.status_code == 404


async def test_a_deleted_question_is_gone(here: Running, browser: Browser) -> None:
    run = await browser.answered()
    path = await thread_of(browser, run)
    await browser.send(f"/runs/{run}/delete")
    await here.ended(run)
    assert 'class="turn"' not in (await browser.get(path)).text
    assert QUESTION not in (await browser.get("/")).text
    assert (await browser.send(f"/runs/{run}/deeper")).status_code == 404


# ---------------------------------------------------------------- languages


LANGUAGES = {
    "pt-BR,en;q=0.5": "en",
    "pt-BR, de-AT;q=0.9, en;q=0.5": "de",
    "fr-CA": "fr",
    "es-MX,es;q=0.9": "es",
    "ja-JP": "ja",
    "zh-TW,zh;q=0.9,en;q=0.5": "zh-Hant",
    "it, zh-CN;q=0.8, en;q=0.7": "zh-Hans",
    "en;q=0.2, zh;q=0.9": "zh-Hans",
    "": "en",
    "zh;q=0, en": "en",
    ";;;q=x,,": "en",
}


async def test_the_page_speaks_the_browsers_language(browser: Browser) -> None:
    for accepted, lang in LANGUAGES.items():
        page = (await browser.get("/", **{"Accept-Language": accepted})).text
        assert f'<html lang="{lang}">' in page, accepted


# ---------------------------------------------------------------- failures


async def test_only_an_operator_reads_why_the_model_is_away(open_console: OpenConsole) -> None:
    here = await open_console(console_user_header="X-User", admins=("root",))
    ann, root = await here.browser(**{"X-User": "ann"}), await here.browser(**{"X-User": "root"})

    def refuse(question: Rewritten, evidence: Evidence) -> list[AnswerDelta]:
        raise CredentialsRefused("ANTHROPIC_API_KEY was not accepted.")

    here.reasoner.answer = refuse
    run = await ann.answered(QUESTION)
    thread = await thread_of(ann, run)
    for browser, reads_why in ((ann, False), (root, True)):
        page = (await browser.get(thread)).text
        assert ("Your administrator can see why." in page) is not reads_why
        assert ("ANTHROPIC_API_KEY was not accepted." in page) is reads_why
    here.reasoner.answer = cite_all
    assert "Try again" in (await ann.get(thread)).text
    await ann.send(f"/runs/{run}/edit", regenerate="1")
    await here.ended(run)
    assert "Try again" not in (await ann.get(thread)).text
