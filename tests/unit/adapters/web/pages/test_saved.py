"""Standing questions and corrections in the console: a visitor's own; operators see all."""

from __future__ import annotations

import re

from bot.reasoning.evidence import Rewritten
from tests.unit.adapters.web.conftest import Browser, OpenConsole, Running
from tests.unit.adapters.web.pages.test_history import PROXY, asked, do, thread_of


async def menu_of(browser: Browser, path: str) -> list[str]:
    page = (await browser.get(path)).text
    return re.findall(r'action="(/(?:runs|watches)/[0-9a-f]+/(?:watch|pause|resume|stop))"', page)


async def test_everybody_has_their_own_standing_questions(open_console: OpenConsole) -> None:
    here = await open_console(**PROXY)
    ann, bob = await here.browser(**{"X-User": "ann"}), await here.browser(**{"X-User": "bob"})
    root = await here.browser(**{"X-User": "root"})
    path = await asked(ann)
    (watch,) = await menu_of(ann, path)
    assert (await do(ann, watch, every="weekly")).startswith(path)
    assert "every week" in (await ann.get(path)).text
    assert await menu_of(bob, "/watches") == []
    pause, stop = await menu_of(ann, "/watches")
    assert await menu_of(root, "/watches") == [pause, stop]
    await bob.get("/")
    stolen = await bob.post(stop)
    assert stolen.status_code == 404
    await do(ann, pause)
    assert "paused" in (await ann.get("/watches")).text
    resume, _ = await menu_of(ann, "/watches")
    await do(ann, resume)
    await do(root, stop)
    assert await menu_of(ann, "/watches") == []


async def test_an_answer_can_be_watched_once_and_from_the_moment_it_is_there(
    here: Running, browser: Browser
) -> None:
    here.reasoner.let_on.clear()
    run = await browser.ask()
    bar = f"{await thread_of(browser, run)}/bar"
    assert await menu_of(browser, bar) == []
    here.reasoner.let_on.set()
    await here.ended(run)
    assert await menu_of(browser, bar) == [f"/runs/{run}/watch"]
    told = (await browser.send(f"/runs/{run}/watch", every="daily")).json()["told"]
    assert told == "Watched daily: I post here when the answer changes."
    assert "<span>Watched daily</span>" in (await browser.get(bar)).text
    pause, stop = await menu_of(browser, bar)
    await browser.send(pause)
    assert "<span>Watch paused</span>" in (await browser.get(bar)).text
    told = (await browser.send(stop)).json()["told"]
    assert told == "No longer checking: How tall is the tower?"
    assert await menu_of(browser, bar) == [f"/runs/{run}/watch"]


async def test_who_stops_watching_in_a_conversation_stays_there(browser: Browser) -> None:
    path = await asked(browser)
    (watch,) = await menu_of(browser, path)
    await do(browser, watch, every="daily")
    _, stop = await menu_of(browser, path)
    assert await do(browser, stop, back="thread") == path


async def buttons(browser: Browser) -> list[str]:
    page = (await browser.get("/corrections")).text
    return re.findall(r'action="(/corrections/[0-9a-f]+/remove)"', page)


async def correct(browser: Browser) -> str:
    """Correct an answer; the run of the correction."""
    thread = (await asked(browser)).rpartition("/")[2]
    said = "No, it is 331 m tall since May 2026."
    browser.running.reasoner.rewritten = Rewritten("chat", said, correction=said)
    run = await browser.answered(said, thread=thread)
    browser.running.reasoner.rewritten = None
    return run


async def test_everybody_sees_their_own_corrections(
    open_console: OpenConsole,
) -> None:
    here = await open_console(**PROXY)
    ann, bob = await here.browser(**{"X-User": "ann"}), await here.browser(**{"X-User": "bob"})
    root = await here.browser(**{"X-User": "root"})
    await correct(ann)
    (remove,) = await buttons(ann)
    assert "331 m tall since May" in (await ann.get("/corrections")).text
    assert "331 m" not in (await bob.get("/corrections")).text
    await bob.get("/")
    assert (await bob.post(remove)).status_code == 404
    assert await buttons(root) == [remove]
    await do(ann, remove)
    assert await buttons(ann) == []
    assert "No corrections yet." in (await ann.get("/corrections")).text
    run = await correct(ann)
    thread = await thread_of(ann, run)
    assert f'action="/runs/{run}/retract"' in (await ann.get(thread)).text
    await do(ann, f"/runs/{run}/retract")
    assert await buttons(root) == []
    await correct(ann)
    (again,) = await buttons(root)
    await do(root, again)
    assert await buttons(root) == []


async def test_a_receipt_of_a_correction_can_only_be_taken_back(browser: Browser) -> None:
    run = await correct(browser)
    page = (await browser.get(await thread_of(browser, run))).text
    assert f'action="/runs/{run}/retract"' in page
    assert f'action="/runs/{run}/deeper"' not in page
    assert 'name="verdict" value="good"' not in page.partition(f'id="run-{run}"')[2]
