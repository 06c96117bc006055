"""The table of Slack's numbers, held against the SDK and against itself."""

from __future__ import annotations

import pytest
from slack_sdk.models.blocks import ButtonElement, ContextBlock, MarkdownBlock, SectionBlock

from adapters.slack import limits
from tests.fakes.slack_limits import STREAM_SECONDS, UPDATE_TEXT


@pytest.mark.parametrize(
    ("ours", "sdk"),
    [
        (limits.MARKDOWN_CHARACTERS, MarkdownBlock.text_max_length),
        (limits.SECTION_CHARACTERS, SectionBlock.text_max_length),
        (limits.CONTEXT_ELEMENTS, ContextBlock.elements_max_length),
        (limits.BUTTON_CHARACTERS, ButtonElement.text_max_length),
        (limits.URL_CHARACTERS, ButtonElement.url_max_length),
    ],
)
def test_the_numbers_are_those_of_the_sdk(ours: int, sdk: int) -> None:
    assert ours == sdk


@pytest.mark.parametrize(
    ("own", "slacks"),
    [
        (limits.PART_CHARACTERS, limits.MARKDOWN_CHARACTERS),
        (limits.PLAN_CHARACTERS + 2 * limits.STREAM_RESERVE, limits.STREAM_CHARACTERS // 2),
        (limits.STREAM_SECONDS_USED, STREAM_SECONDS),
        # Escaping makes a character five at most (&amp;).
        (5 * limits.NOTIFICATION_CHARACTERS, UPDATE_TEXT),
        (limits.RICH_TEXT_CHARACTERS, limits.SECTION_CHARACTERS),
    ],
)
def test_footnotes_own_numbers_keep_inside_of_slacks(own: float, slacks: float) -> None:
    assert own <= slacks
