"""A research of many searches, killed twice; the long one is `python -m tests.bench flat`."""

from __future__ import annotations

import pytest

from tests.bench.flat import made_up, run


@pytest.mark.slow
async def test_each_search_costs_the_same_and_kills_change_nothing() -> None:
    texts, facts = made_up(300)
    [short, long], difference = await run(texts, facts, (10, 30), kills=2)
    assert difference == ""
    assert short.recall >= 0.95
    assert long.recall >= 0.95
    assert max(long.inputs) <= 32_000
    assert long.per_search <= 1.5 * short.per_search
