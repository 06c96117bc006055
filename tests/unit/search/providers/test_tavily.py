"""Tavily: what is asked, what is read, and what its refusals mean."""

from __future__ import annotations

import dataclasses

import pytest

from bot.core.errors import CredentialsRefused, ProviderUnavailable
from bot.search.provider import Query
from tests.fakes.engines import WebPage, refusal
from tests.fakes.web_engines import FakeTavily
from tests.unit.search.engines import opened

USUAL = {
    "query": "tides",
    "topic": "general",
    "search_depth": "basic",
    "max_results": 5,
    "include_raw_content": "markdown",
}


@pytest.mark.parametrize(
    ("query", "more"),
    [
        (Query("tides", 5), {}),
        (Query(" tides\n", 50), {"max_results": 20}),
        (Query("tides", 5, "de", "DE"), {"country": "germany"}),
        (Query("tides", 5, "en-GB"), {"country": "united kingdom"}),
        (Query("tides", 5, "de", "XX"), {}),
        (Query("tides", 5, freshness="week"), {"time_range": "week"}),
        (
            Query("tides", 5, domains=("*.a.example", "a.example", "no host", "b.example")),
            {"include_domains": ["a.example", "b.example"]},
        ),
    ],
)
async def test_a_query_is_sent_in_tavilys_words(query: Query, more: dict[str, object]) -> None:
    engine = FakeTavily()
    async with opened("tavily", engine) as tavily:
        await tavily.search(query)
    assert engine.last == {**USUAL, **more}
    assert engine.complaints == []


async def test_only_pages_of_the_wanted_domains_come_back() -> None:
    pages = [WebPage(f"https://{host}/", host, "tides") for host in ("a.example", "b.example")]
    async with opened("tavily", FakeTavily(pages)) as tavily:
        hits = await tavily.search(Query("tides", 5, domains=("b.example",)))
    assert [hit.title for hit in hits] == ["b.example"]


async def test_a_wrong_key_names_its_setting() -> None:
    async with opened("tavily", FakeTavily(), tavily_api_key="wrong") as tavily:
        with pytest.raises(CredentialsRefused, match="correct TAVILY_API_KEY"):
            await tavily.search(Query("tides", 5))


@pytest.mark.parametrize("status", [402, 432, 433])
async def test_a_spent_plan_is_a_quota_and_rests_long(status: int) -> None:
    engine = FakeTavily()
    engine.failures.append(refusal(status, {"detail": {"error": "limit"}}))
    async with opened("tavily", engine) as tavily:
        with pytest.raises(ProviderUnavailable, match="quota of Tavily is used up") as caught:
            await tavily.search(Query("tides", 5))
    assert caught.value.retry_after == 3_600


async def test_the_fakes_own_plan_is_spent_by_searching() -> None:
    engine = FakeTavily(usage=999)
    async with opened("tavily", engine) as tavily:
        assert await tavily.report() == "answered; 999 of 1,000 credits are used"
        await tavily.search(Query("tides", 5))
        with pytest.raises(ProviderUnavailable, match="raise the plan's limit"):
            await tavily.search(Query("moon", 5))


@pytest.mark.parametrize(
    ("usage", "said"),
    [
        ({"key": {"usage": 3, "limit": 10}}, "answered; 3 of 10 credits are used"),
        ({"key": {"usage": True, "limit": 10}}, "answered"),
        ({"account": []}, "answered"),
        ({}, "answered"),
    ],
)
async def test_doctor_hears_the_keys_own_limit_first(usage: dict[str, object], said: str) -> None:
    engine = FakeTavily()
    engine.failures.append(refusal(200, usage))
    async with opened("tavily", engine) as tavily:
        assert await tavily.report() == said


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
