"""The page of an evaluation in a real browser: it fits, it is quiet, it keeps nobody out."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from bot.evaluation.page import page
from bot.evaluation.questions import CaseTurn
from tests.live.browser import WIDTHS, barriers, chromium, scrolls_sideways, too_wide, watched
from tests.unit.evaluation.samples import GOOD, POOR, REFUSAL, TALL, a_set, an_answer, an_outcome

__all__ = ["chromium"]

WIDE = an_answer(
    f"{'Donaudampfschifffahrt' * 20} [1].\n\n| a | b |\n|---|---|\n| {'x' * 200} | y |"
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    questions = a_set(
        TALL,
        replace(TALL, question="Why is it so tall? " * 20),
        CaseTurn("Who won?", refuse=True),
        CaseTurn("And who came second?"),
    )
    outcome = an_outcome(questions, (GOOD, POOR, REFUSAL, None), (POOR, WIDE, GOOD, None))
    file = tmp_path / "page.html"
    text = page(outcome, datetime(2026, 1, 15, tzinfo=UTC), interrupted=True)
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_every_width_and_has_no_barriers(
    chromium: Browser, file: Path, scheme: str
) -> None:
    with watched(chromium, color_scheme=scheme) as browser:
        shown = browser.context.new_page()
        shown.goto(file.as_uri())
        for summary in shown.locator("main > details > summary").all():
            summary.click()
        for width in WIDTHS:
            shown.set_viewport_size({"width": width, "height": 800})
            assert scrolls_sideways(shown) == 0
            assert too_wide(shown) == []
        assert barriers(shown) == []
        assert browser.asked == [file.as_uri()]
