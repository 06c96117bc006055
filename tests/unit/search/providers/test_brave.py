"""Brave Search: what is asked, what is read, and what its refusals mean."""

from __future__ import annotations

from typing import Any

import pytest

from bot.core.errors import CredentialsRefused, ProviderUnavailable, Refused
from bot.operation.configuration import load_settings
from bot.search.provider import Query
from bot.search.registry import declarations
from tests.fakes.engines import WebPage, refusal
from tests.fakes.web_engines import FakeBrave
from tests.unit.search.engines import KEYS, opened


async def test_further_snippets_are_joined_and_made_plain() -> None:
    page = WebPage("https://a.example/", 'Q & "A"', "A < B & C. Tides <rise> twice.")
    async with opened("brave", FakeBrave([page])) as brave:
        (hit,) = await brave.search(Query("tides", 5))
    assert hit.title == 'Q & "A"'
    assert hit.snippet == "A < B & C … Tides <rise> twice."


async def test_a_plan_without_further_snippets_is_asked_for_them_once() -> None:
    engine = FakeBrave(has_extra_snippets=False)
    async with opened("brave", engine) as brave:
        assert await brave.search(Query("Mercury", 5))
        assert await brave.search(Query("Zanzibar", 5))
    asked = [values.values.get("extra_snippets") for values in engine.asked]
    assert asked == ["true", None, None]


@pytest.mark.parametrize("key", ["wrong", "é"])
async def test_a_wrong_key_names_its_setting(key: str) -> None:
    """Brave answers it with 422."""
    async with opened("brave", FakeBrave(), brave_search_api_key=key) as brave:
        with pytest.raises(CredentialsRefused, match="correct BRAVE_SEARCH_API_KEY"):
            await brave.search(Query("tides", 5))


async def test_another_422_is_no_matter_of_the_key() -> None:
    engine = FakeBrave()
    engine.failures.append(refusal(422, {"error": {"code": "VALIDATION", "status": 422}}))
    async with opened("brave", engine) as brave:
        with pytest.raises(Refused) as caught:
            await brave.search(Query("tides", 5))
    assert not isinstance(caught.value, CredentialsRefused)


async def test_the_limit_of_a_second_passes_soon() -> None:
    async with opened("brave", FakeBrave(left=(0, 1_000))) as brave:
        with pytest.raises(ProviderUnavailable, match="FOOTNOTE_BRAVE_RATE") as caught:
            await brave.search(Query("tides", 5))
    assert caught.value.retry_after == 1


async def test_the_quota_of_a_month_is_back_when_brave_says() -> None:
    async with opened("brave", FakeBrave(left=(1, 0))) as brave:
        with pytest.raises(ProviderUnavailable, match="quota of Brave is used up") as caught:
            await brave.search(Query("tides", 5))
    assert caught.value.retry_after == 1_419_704


async def test_too_many_requests_without_rates_go_by_retry_after() -> None:
    engine = FakeBrave()
    engine.failures.append(refusal(429, {"error": {"code": "RATE_LIMITED"}}, retry_after="7"))
    engine.failures.append(refusal(429, {"error": "what"}))
    async with opened("brave", engine) as brave:
        for seconds in (7, None):
            with pytest.raises(ProviderUnavailable) as caught:
                await brave.search(Query("tides", 5))
            assert caught.value.retry_after == seconds


@pytest.mark.parametrize(
    ("engine", "said"),
    [
        (FakeBrave(left=(1, 1_205)), "1,204 of the 2,000 requests of this month are left."),
        (FakeBrave(limits=(1, 0), left=(1, 0)), "The plan has no monthly limit."),
        (
            FakeBrave(limits=(50, 0), left=(49, 0)),
            "The plan has no monthly limit. The plan allows more requests in a second than are "
            "made: set FOOTNOTE_BRAVE_RATE=50 to use them.",
        ),
    ],
)
async def test_doctor_hears_what_is_left_of_the_month(engine: FakeBrave, said: str) -> None:
    async with opened("brave", engine) as brave:
        assert str(await brave.report()) == f"A test search worked. {said}"
    assert engine.last["count"] == "1"


@pytest.mark.parametrize(
    ("values", "rate", "burst"), [({}, 1.0, 1), ({"brave_rate": 20}, 20.0, 20)]
)
def test_the_pace_is_that_of_the_plan(values: dict[str, Any], rate: float, burst: int) -> None:
    policy = declarations()["brave"].policy(load_settings(**KEYS, **values))
    assert (policy.rate, policy.burst) == (rate, burst)


async def test_several_excerpts_of_a_page_are_its_text() -> None:
    text = "The tides rise. *They* fall again. And | so on"
    async with opened("brave", FakeBrave([WebPage("https://a.example/", "Tides", text)])) as brave:
        await brave.search(Query("tides", 5))
        given = brave.text_of("https://www.a.example/")
    assert (given.title, given.by, given.media_type) == ("Tides", "Brave", "text/plain")
    assert given.text == "The tides rise\n\n*They* fall again\n\nAnd | so on"
