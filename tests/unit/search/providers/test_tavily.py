"""Tavily: what is asked, what is read, and what its refusals mean."""

from __future__ import annotations

import dataclasses

import pytest

from bot.search.provider import Query
from tests.fakes.engines import WebPage, refusal
from tests.fakes.web_engines import FakeTavily
from tests.unit.search.engines import opened


@pytest.mark.parametrize(
    ("usage", "said"),
    [
        ({"key": {"usage": 3, "limit": 10}}, "A test search worked. 3 of 10 credits are used."),
        ({"key": {"usage": True, "limit": 10}}, "A test search worked."),
        ({"account": []}, "A test search worked."),
        ({}, "A test search worked."),
    ],
)
async def test_doctor_hears_the_keys_own_limit_first(usage: dict[str, object], said: str) -> None:
    engine = FakeTavily()
    engine.failures.append(refusal(200, usage))
    async with opened("tavily", engine) as tavily:
        assert str(await tavily.report()) == said


async def test_the_text_of_a_page_that_was_found_is_given() -> None:
    pages = [WebPage("https://a.example/tides?utm_source=x", "Tides", "The tides rise.")]
    async with opened("tavily", FakeTavily(pages)) as tavily:
        (hit,) = await tavily.search(Query("tides", 5))
        given = tavily.text_of(hit.url)
    assert (given.title, given.text, given.by) == ("Tides", "# Tides\n\nThe tides rise.", "Tavily")
    assert tavily.text_of("https://a.example/other") is None
    assert "rise" not in repr(dataclasses.replace(hit, snippet=""))


@pytest.mark.parametrize("raw", [None, "", " \n", 7, ["text"], {}])
async def test_what_is_no_text_is_none(raw: object) -> None:
    engine = FakeTavily()
    result = {"url": "https://a.example/", "title": None, "content": "x", "raw_content": raw}
    engine.failures.append(refusal(200, {"results": [result]}))
    async with opened("tavily", engine) as tavily:
        assert len(await tavily.search(Query("tides", 5))) == 1
        assert tavily.text_of("https://a.example/") is None
