"""Steps as bars: in order of time, within the drawing, long breaks cut short."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.web.svg.waterfall import SCALE, THINNEST, Waterfall, rounded, waterfall
from bot.research.trace import Span

TIMES = st.tuples(st.floats(0, 10_000), st.floats(0, 500), st.floats(0, 100))


def a_span(begin: float | None, seconds: float, waited: float = 0.0) -> Span:
    end = None if begin is None else begin + seconds
    return Span("s", "search", "S", "done", seconds, begin, end, waited)


def drawn(*spans: Span) -> Waterfall:
    return waterfall(spans)


@given(st.lists(TIMES, max_size=40))
def test_every_bar_is_within_the_drawing_and_can_be_seen(
    times: list[tuple[float, float, float]],
) -> None:
    found = drawn(*(a_span(*each) for each in times))
    for bar in found.bars:
        assert bar.x >= 0
        assert bar.x + bar.width <= SCALE + 0.01
        assert bar.width >= THINNEST
        assert 0 <= bar.wait_x <= bar.x
        assert bar.wait_width >= 0
    assert all(0 <= tick.x <= SCALE for tick in found.ticks)


@given(st.lists(TIMES, min_size=2, max_size=40))
def test_what_began_earlier_is_never_to_the_right(times: list[tuple[float, float, float]]) -> None:
    bars = sorted(drawn(*(a_span(*t) for t in times)).bars, key=lambda bar: bar.span.begin or 0)
    # A bar that would be too thin at the right edge is moved to the left to be seen.
    assert all(one.x <= other.x + THINNEST for one, other in pairwise(bars))
    ticks = drawn(*(a_span(*t) for t in times)).ticks
    assert all(one.x <= other.x and one.seconds < other.seconds for one, other in pairwise(ticks))


def test_bars_are_as_long_as_their_steps_took() -> None:
    bars = drawn(a_span(0, 5), a_span(5, 5), a_span(0, 10)).bars
    assert [(bar.x, bar.width) for bar in bars] == [(0, 500), (500, 500), (0, 1_000)]


def test_waiting_is_drawn_before_the_bar() -> None:
    (_, bar) = drawn(a_span(0, 5), a_span(5, 5, waited=4)).bars
    assert (bar.wait_x, bar.wait_width) == (100, 400)


def test_the_night_between_a_crash_and_the_next_attempt_is_cut_short() -> None:
    found = drawn(a_span(0, 10), a_span(30_000, 10))
    assert [pause.seconds for pause in found.breaks] == [29_990]
    first, second = found.bars
    assert first.width == pytest.approx(second.width)
    assert first.width > 400
    assert all(tick.seconds <= 10 or tick.seconds >= 30_000 for tick in found.ticks)


def test_a_step_without_times_has_no_bar() -> None:
    (bar,) = drawn(a_span(None, 3.0)).bars
    assert bar.width == 0
    assert drawn().ticks == ()


@pytest.mark.parametrize(
    ("value", "expected"), [(0.03, 0.05), (1, 1), (1.1, 2), (3, 5), (7, 10), (10, 10), (11, 20)]
)
def test_scales_have_round_steps(value: float, expected: float) -> None:
    assert rounded(value) == pytest.approx(expected)
