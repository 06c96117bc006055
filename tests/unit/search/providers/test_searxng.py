"""SearXNG: what is asked, what is read, and what its refusals mean."""

from __future__ import annotations

import pytest

from bot.core.errors import ProviderUnavailable, Refused
from bot.search.provider import Query
from tests.fakes.engines import WebPage, refusal
from tests.fakes.web_engines import FakeSearxng
from tests.unit.search.engines import opened


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("!g tides", "g tides"),
        ("!!wiki tides", "wiki tides"),
        (":fr marées", "fr marées"),
        ("<3 tides", "3 tides"),
        ("tides !images moon", "tides images moon"),
        ("wow! what: now?", "wow! what: now?"),
        ("10:30 a<b", "10:30 a<b"),
    ],
)
async def test_a_query_cannot_steer_searxng(text: str, sent: str) -> None:
    engine = FakeSearxng()
    async with opened("searxng", engine) as searxng:
        await searxng.search(Query(text, 5))
    assert engine.last["q"] == sent
    assert engine.complaints == []


@pytest.mark.parametrize("text", ["", "  ", "!", "? !! :"])
async def test_a_query_without_words_is_not_sent(text: str) -> None:
    engine = FakeSearxng()
    async with opened("searxng", engine) as searxng:
        assert await searxng.search(Query(text, 5)) == []
    assert engine.asked == []


async def test_json_that_is_switched_off_says_what_to_set() -> None:
    async with opened("searxng", FakeSearxng(formats=("html",))) as searxng:
        with pytest.raises(Refused, match=r"add json to search\.formats in its settings\.yml"):
            await searxng.search(Query("tides", 5))


async def test_an_infobox_is_a_hit_when_it_names_its_page() -> None:
    engine = FakeSearxng()
    boxes = [
        {"infobox": "Tide", "id": "https://wiki.example/Tide", "content": "<b>Rise</b> and fall."},
        {"infobox": "Nothing", "id": "nothing", "content": "x"},
        "broken",
    ]
    engine.failures.append(refusal(200, {"results": [], "infoboxes": boxes}))
    async with opened("searxng", engine) as searxng:
        (hit,) = await searxng.search(Query("tides", 5))
    assert (hit.title, hit.snippet) == ("Tide", "Rise and fall.")


async def test_silence_of_the_engines_is_no_empty_web() -> None:
    engine = FakeSearxng(unresponsive=[["brave", "too many requests"], ["google", "CAPTCHA"]])
    async with opened("searxng", engine) as searxng:
        assert await searxng.search(Query("Mercury", 5))
        with pytest.raises(ProviderUnavailable, match=r"brave \(too many requests\), google"):
            await searxng.search(Query("xyzzyplugh", 5))


async def test_doctor_hears_which_engines_are_silent() -> None:
    page = WebPage("https://a.example/", "Earth", "The third planet.")
    engine = FakeSearxng([page])
    async with opened("searxng", engine) as searxng:
        assert str(await searxng.report()) == "A test search found one page."
        engine.unresponsive.append(["brave", "timeout"])
        silent = "Engines that did not answer: brave (timeout)."
        assert str(await searxng.report()) == f"A test search found one page. {silent}"
