"""The check of answers finds as much after many tool calls as after few."""

from __future__ import annotations

import pytest

from tests.bench.citations import run


@pytest.mark.slow
@pytest.mark.shared
async def test_no_more_false_sentences_come_through_after_many_tool_calls() -> None:
    """Of 100 false ones at each depth, each kind among them; the scripted model errs on ten."""
    few, many = (await run({2: 20, 50: 50}, 200, 400, 2)).values()
    assert few.told[False] == many.told[False] == 100
    assert many.share("whole check") <= few.share("whole check") + 0.01
    assert few.share("whole check") <= 0.1 < 0.4 < many.share("first step")
    assert many.share_doubted("whole check") <= few.share_doubted("whole check") + 0.01
