"""The table of limits is what Discord documents, and what the fake holds it to."""

from __future__ import annotations

import pytest

from adapters.discord import limits
from tests.fakes import discord_limits as documented
from tests.fakes.discord_webhooks import FOLLOWUPS_ELSEWHERE


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (limits.CONTENT, documented.CONTENT),
        (limits.NONCE, documented.NONCE),
        (limits.EMBED_FIELDS, documented.FIELDS),
        (limits.EMBED_FIELD_NAME, documented.FIELD_NAME),
        (limits.EMBED_FIELD_VALUE, documented.FIELD_VALUE),
        (limits.EMBED_FOOTER, documented.FOOTER),
        (limits.EMBED_TOTAL, documented.EMBED_TOTAL),
        (limits.BUTTON_URL, documented.BUTTON_URL),
        (limits.OPTION_LABEL, documented.OPTION),
        (limits.PLACEHOLDER, documented.PLACEHOLDER),
        (limits.THREAD_NAME, documented.THREAD_NAME),
        (limits.FOLLOW_UPS_ELSEWHERE, FOLLOWUPS_ELSEWHERE),
    ],
)
def test_a_limit_is_as_documented(ours: float, theirs: float) -> None:
    assert ours == theirs


def test_parts_leave_room_in_a_message() -> None:
    assert limits.PART < limits.CONTENT


def test_edits_stay_below_what_discord_allows() -> None:
    requests, seconds = 5, 5.0  # per channel, as Discord is seen to apply it
    assert limits.SECONDS_BETWEEN_EDITS * requests > seconds
