"""Serper: what is asked, what is read, and what its refusals mean."""

from __future__ import annotations

import pytest

from bot.core.errors import ProviderUnavailable
from bot.search.provider import Query
from tests.fakes.engines import WebPage
from tests.fakes.web_engines import FakeSerper
from tests.unit.search.engines import opened


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
        assert str(await serper.report()) == "A test search worked. 1,204 credits are left."
    assert engine.balance == 1_204
