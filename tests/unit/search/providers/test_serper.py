"""Serper: what is asked, what is read, and what its refusals mean."""

from __future__ import annotations

import pytest

from bot.core.errors import CredentialsRefused, InvalidSetting, ProviderUnavailable
from bot.operation.configuration import load_settings
from bot.search.provider import Freshness, Query
from bot.search.registry import declarations
from tests.fakes.engines import WebPage
from tests.fakes.web_engines import FakeSerper
from tests.unit.search.engines import opened


@pytest.mark.parametrize(
    ("query", "sent"),
    [
        (Query("tides", 5), {"q": "tides", "num": 10}),
        (Query("tides", 15), {"q": "tides", "num": 15}),
        (Query("tides", 50), {"q": "tides", "num": 20}),
        (Query("tides", 5, "de", "AT"), {"q": "tides", "num": 10, "hl": "de", "gl": "at"}),
        (Query("tides", 5, "en-GB"), {"q": "tides", "num": 10, "hl": "en", "gl": "gb"}),
        (Query("潮汐", 5, "zh-Hans"), {"q": "潮汐", "num": 10, "hl": "zh-cn"}),
        (Query("潮汐", 5, "zh-Hant"), {"q": "潮汐", "num": 10, "hl": "zh-tw"}),
        (
            Query("tides", 5, domains=("a.example", "b.example")),
            {"q": "tides (site:a.example OR site:b.example)", "num": 10},
        ),
    ],
)
async def test_a_query_is_sent_in_serpers_words(query: Query, sent: dict[str, object]) -> None:
    engine = FakeSerper()
    async with opened("serper", engine) as serper:
        await serper.search(query)
    assert engine.last == sent
    assert engine.complaints == []


@pytest.mark.parametrize(
    ("freshness", "sent"),
    [("day", "qdr:d"), ("week", "qdr:w"), ("month", "qdr:m"), ("year", "qdr:y"), ("", None)],
)
async def test_freshness_is_a_time_range(freshness: Freshness, sent: str | None) -> None:
    engine = FakeSerper()
    async with opened("serper", engine) as serper:
        await serper.search(Query("tides", 5, freshness=freshness))
    assert engine.last.get("tbs") == sent


async def test_a_question_is_cut_to_what_google_reads() -> None:
    engine = FakeSerper()
    async with opened("serper", engine) as serper:
        await serper.search(Query("tide " * 200, 5))
    assert engine.last["q"] == " ".join(["tide"] * 32)


async def test_answer_box_and_knowledge_graph_count_with_their_pages_only() -> None:
    pages = [WebPage("https://a.example/", "Tides", "tides")]
    box = {"title": "Box", "link": "https://box.example/", "snippet": "Twice a day."}
    graph = {
        "title": "Tide",
        "website": "https://shop.example/",
        "description": "Rise and fall.",
        "descriptionLink": "https://graph.example/",
    }
    engine = FakeSerper(pages, extras={"answerBox": box, "knowledgeGraph": graph})
    async with opened("serper", engine) as serper:
        hits = await serper.search(Query("tides", 5))
        assert [hit.title for hit in hits] == ["Box", "Tide", "Tides"]
        assert hits[1].snippet == "Rise and fall."
        engine.extras = {"answerBox": {"answer": "42"}, "knowledgeGraph": {"title": "Tide"}}
        assert [hit.title for hit in await serper.search(Query("tides", 5))] == ["Tides"]
        engine.extras = {"answerBox": box, "knowledgeGraph": graph}
        hits = await serper.search(Query("tides", 5, domains=("a.example",)))
        assert [hit.title for hit in hits] == ["Tides"]


async def test_a_wrong_key_names_its_setting_and_never_itself() -> None:
    async with opened("serper", FakeSerper(), serper_api_key="sk-wrong") as serper:
        with pytest.raises(CredentialsRefused, match="correct SERPER_API_KEY") as caught:
            await serper.search(Query("tides", 5))
    assert "sk-wrong" not in str(caught.value) + repr(caught.value)


async def test_a_spent_balance_is_a_quota_and_rests_long() -> None:
    engine = FakeSerper(balance=1)
    async with opened("serper", engine) as serper:
        assert await serper.search(Query("Mercury", 5))
        with pytest.raises(ProviderUnavailable, match="quota of Serper is used up") as caught:
            await serper.search(Query("Mercury", 5))
    assert caught.value.retry_after == 3_600


async def test_doctor_hears_the_balance_without_spending_any() -> None:
    engine = FakeSerper(balance=1_204)
    async with opened("serper", engine) as serper:
        assert await serper.report() == "answered; 1,204 credits are left"
    assert engine.balance == 1_204


def test_chosen_without_a_key_it_says_which_setting_is_missing() -> None:
    with pytest.raises(InvalidSetting, match="needs SERPER_API_KEY"):
        declarations()["serper"].build(load_settings(), lambda: pytest.fail("no client"))
