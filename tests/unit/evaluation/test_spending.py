"""The expected cost of an evaluation, and the limit that it keeps to."""

from __future__ import annotations

import asyncio

import pytest

from bot.evaluation.evaluation import (
    LEAST,
    Purse,
    default_budget,
    expected_judging_usd,
    expected_usd,
)
from bot.operation.configuration import load_settings

CLAUDE = {"anthropic_api_key": "sk-test"}


def test_nothing_is_expected_to_be_spent_without_a_model() -> None:
    assert expected_usd(load_settings(), "auto") == 0.0
    assert default_budget(0.0) == 0.0


def test_deeper_research_is_expected_to_cost_more() -> None:
    settings = load_settings(**CLAUDE)
    quick, standard, deep = (expected_usd(settings, d) for d in ("quick", "standard", "deep"))
    assert quick is not None
    assert standard is not None
    assert deep is not None
    assert 0 < quick < standard < deep
    assert 0 < (expected_judging_usd(settings) or 0) < quick


def test_a_price_that_is_not_known_is_not_guessed() -> None:
    settings = load_settings(**CLAUDE, model="my-model")
    assert expected_usd(settings, "auto") is None


@pytest.mark.parametrize(("expected", "budget"), [(0.001, LEAST), (0.5, 1.0), (0.123, 0.25)])
def test_the_budget_is_twice_what_is_expected_in_whole_cents(
    expected: float, budget: float
) -> None:
    assert default_budget(expected) == budget


async def spend(purse: Purse, expected: float, cost: float, done: list[bool]) -> None:
    async with purse.covers(expected) as covered:
        await asyncio.sleep(0)
        if covered:
            purse.pay(cost)
        done.append(covered)


async def test_what_would_go_beyond_the_limit_is_not_begun() -> None:
    purse, done = Purse(1.0), list[bool]()
    for _ in range(3):
        await spend(purse, 0.4, 0.4, done)
    assert done == [True, True, False]
    assert purse.spent == pytest.approx(0.8)


async def test_work_under_way_counts_and_what_it_leaves_can_be_spent() -> None:
    """Two pieces fit at once; the third begins as the first ones cost less than was expected."""
    purse, done = Purse(1.0), list[bool]()
    await asyncio.gather(*(spend(purse, 0.5, 0.1, done) for _ in range(3)))
    assert done == [True, True, True]


async def test_who_waits_is_told_when_nothing_is_left() -> None:
    purse, done = Purse(1.0), list[bool]()
    await asyncio.gather(*(spend(purse, 0.6, 0.6, done) for _ in range(3)))
    assert done == [True, False, False]


async def test_a_purse_without_a_limit_covers_everything() -> None:
    purse, done = Purse(None), list[bool]()
    await spend(purse, 1e9, 1e9, done)
    assert done == [True]
