"""Claude's web search: what is asked, what it costs, and what its errors mean."""

from __future__ import annotations

from typing import Any

import pytest

from bot.core.errors import CredentialsRefused, ProviderUnavailable, Refused
from bot.search.provider import PaidHits, Query, Spent
from tests.fakes.claude_search import FakeClaudeSearch
from tests.fakes.engines import KEY, WebPage, refusal
from tests.unit.search.engines import opened

AT = {"anthropic_base_url": "https://claude.example", "anthropic_api_key": KEY}


async def test_the_small_model_is_asked_for_one_search() -> None:
    api = FakeClaudeSearch()
    async with opened("claude", api, **AT) as claude:
        await claude.search(Query("Mercury", 5, region="DE", domains=("wiki.example",)))
    assert api.last["model"] == "claude-haiku-5-5"
    assert api.last["tools"] == [
        {
            "type": "web_search_20250305",
            "name": "web_search",
            "max_uses": 1,
            "allowed_domains": ["wiki.example"],
            "user_location": {"type": "approximate", "country": "DE"},
        }
    ]


@pytest.mark.parametrize("model", ["openai:gpt-small", "gpt-small"])
async def test_another_services_small_model_is_not_asked(model: str) -> None:
    api = FakeClaudeSearch()
    async with opened("claude", api, small_model=model, **AT) as claude:
        await claude.search(Query("Mercury", 5))
    assert api.last["model"] == "claude-haiku-5-5"


async def test_only_addresses_titles_and_dates_are_used() -> None:
    api = FakeClaudeSearch([WebPage("https://a.example/tides", "Tides", "They rise.", age=3)])
    async with opened("claude", api, **AT) as claude:
        (hit,) = await claude.search(Query("tides", 5))
    assert (hit.url, hit.title, hit.snippet) == (
        "https://a.example/tides",
        "Tides",
        "October 30, 2026",
    )


async def test_a_search_says_what_it_cost() -> None:
    async with opened("claude", FakeClaudeSearch(), **AT) as claude:
        hits = await claude.search(Query("Mercury", 5))
    assert isinstance(hits, PaidHits)
    assert (hits.spent.model, hits.spent.usd) == ("claude-haiku-5-5", 0.01)
    assert hits.spent.input_tokens == 8_000
    assert hits.spent.output_tokens > 0


async def test_a_search_that_finds_nothing_is_paid_for_too() -> None:
    async with opened("claude", FakeClaudeSearch([]), **AT) as claude:
        hits = await claude.search(Query("tides", 5))
    assert hits == []
    assert hits.spent == Spent("claude-haiku-5-5", 8_000, hits.spent.output_tokens, 0.01)


@pytest.mark.parametrize(
    ("state", "error", "said"),
    [
        ({"error": "too_many_requests"}, ProviderUnavailable, "is not available at the moment"),
        ({"error": "unavailable"}, ProviderUnavailable, "is not available at the moment"),
        ({"error": "max_uses_exceeded"}, ProviderUnavailable, "is not available at the moment"),
        ({"is_lazy": True}, ProviderUnavailable, "is not available at the moment"),
        ({"error": "query_too_long"}, Refused, "does not accept the query"),
        ({"forbids": True}, ProviderUnavailable, "an administrator can allow web search"),
    ],
)
async def test_an_error_says_what_to_do(
    state: dict[str, Any], error: type[Exception], said: str
) -> None:
    async with opened("claude", FakeClaudeSearch(**state), **AT) as claude:
        with pytest.raises(error, match=said):
            await claude.search(Query("Mercury", 5))


async def test_a_wrong_key_is_named() -> None:
    api = FakeClaudeSearch()
    async with opened("claude", api, **{**AT, "anthropic_api_key": "other"}) as claude:
        with pytest.raises(CredentialsRefused, match="ANTHROPIC_API_KEY"):
            await claude.search(Query("Mercury", 5))


async def test_an_organization_that_forbids_it_is_left_alone_for_long() -> None:
    async with opened("claude", FakeClaudeSearch(forbids=True), **AT) as claude:
        with pytest.raises(ProviderUnavailable) as caught:
            await claude.search(Query("Mercury", 5))
    assert caught.value.retry_after == 3_600


@pytest.mark.parametrize("content", [None, [], ["text"], [{}], "text", [{"type": "text"}]])
async def test_a_reply_of_another_shape_is_no_traceback(content: object) -> None:
    api = FakeClaudeSearch()
    api.failures.append(refusal(200, {"content": content, "usage": None, "model": 7}))
    async with opened("claude", api, **AT) as claude:
        with pytest.raises(ProviderUnavailable):
            await claude.search(Query("Mercury", 5))


async def test_doctor_hears_what_a_search_costs() -> None:
    async with opened("claude", FakeClaudeSearch(), **AT) as claude:
        said = await claude.report()
    price = "A search costs 0.01 USD, and the tokens of a call of claude-haiku-5-5."
    assert str(said) == f"A test search worked. {price}"
