"""The value of a button comes back as it was meant; any other value means nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.slack import format as controls
from adapters.slack.interactions import CONTROLS, meaning_of
from bot.service.buttons import Deeper, Details, Feedback, FollowUp, Press, Stop

RUNS = st.text("0123456789abcdef", min_size=12, max_size=12)


@given(RUNS, st.integers(0, 9))
def test_what_a_control_carries_comes_back(run: str, number: int) -> None:
    for action, value, press in (
        (controls.GOOD, f"good:{run}", Feedback(run, "good")),
        (controls.BAD, f"bad:{run}", Feedback(run, "bad")),
        (controls.DEEPER, run, Deeper(run)),
        (controls.DETAILS, run, Details(run)),
        (controls.STOP, run, Stop(run)),
        (controls.FOLLOW_UP, f"{run}:{number}", FollowUp(run, number)),
    ):
        assert meaning_of(action, value) == press
        assert CONTROLS.fullmatch(action)


@pytest.mark.parametrize(
    ("action", "value"),
    [
        ("footnote_feedback_good", "abc"),
        ("footnote_feedback_good", "fine:abc"),
        ("footnote_feedback_good", "good:"),
        ("footnote_details", "a b"),
        ("footnote_deeper", ""),
        ("footnote_deeper", "a b"),
        ("footnote_stop", "abc:1"),
        ("footnote_follow_up", "abc"),
        ("footnote_follow_up", "abc:-1"),
        ("footnote_follow_up", "abc:999999"),
        ("other", "abc"),
    ],
)
def test_nonsense_means_nothing(action: str, value: str) -> None:
    assert meaning_of(action, value) is None


@given(st.text(), st.text())
def test_nothing_that_is_sent_breaks_it(action: str, value: str) -> None:
    assert isinstance(meaning_of(action, value), Press | None)
