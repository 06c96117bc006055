"""The rate limit and the circuit breaker, with a clock moved by hand."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.rate_limit import RateLimit
from bot.search.guarded import Breaker


@dataclass
class Clock:
    now: float = 100.0

    def __call__(self) -> float:
        return self.now


# ---------------------------------------------------------------- rate limit


def test_a_burst_goes_through_at_once() -> None:
    limit = RateLimit(rate=2, burst=3, clock=Clock())
    assert [limit.reserve(10) for _ in range(3)] == [0, 0, 0]


def test_after_the_burst_places_are_an_interval_apart() -> None:
    limit = RateLimit(rate=2, burst=2, clock=Clock())
    assert [limit.reserve(10) for _ in range(5)] == pytest.approx([0, 0, 0.5, 1.0, 1.5])


def test_time_gives_places_back_up_to_the_burst() -> None:
    clock = Clock()
    limit = RateLimit(rate=2, burst=2, clock=clock)
    for _ in range(4):
        limit.reserve(10)
    clock.now += 60
    assert [limit.reserve(10) for _ in range(3)] == pytest.approx([0, 0, 0.5])


def test_who_would_wait_too_long_takes_no_place() -> None:
    limit = RateLimit(rate=1, burst=1, clock=Clock())
    assert limit.reserve(10) == 0
    assert limit.reserve(0.5) is None
    assert limit.reserve(0.5) is None
    assert limit.reserve(1.0) == pytest.approx(1.0)


@given(
    rate=st.floats(0.5, 50),
    burst=st.integers(1, 20),
    gaps=st.lists(st.floats(0, 2), min_size=1, max_size=80),
)
def test_no_window_holds_more_than_burst_and_rate_allow(
    rate: float, burst: int, gaps: list[float]
) -> None:
    clock = Clock()
    limit = RateLimit(rate, burst, clock)
    starts = []
    for gap in gaps:
        clock.now += gap
        wait = limit.reserve(1_000_000)
        assert wait is not None
        starts.append(clock.now + wait)
    assert starts == sorted(starts)
    for i, begin in enumerate(starts):
        for j in range(i, len(starts)):
            assert j - i + 1 <= burst + (starts[j] - begin) * rate + 1e-6


@pytest.mark.parametrize(("rate", "burst"), [(0, 1), (-1, 1), (1, 0)])
def test_a_limit_that_lets_nothing_through_is_refused(rate: float, burst: int) -> None:
    with pytest.raises(ValueError, match="rate"):
        RateLimit(rate, burst, Clock())


# ---------------------------------------------------------------- circuit breaker


def _failing(breaker: Breaker, times: int) -> None:
    for _ in range(times):
        assert breaker.refused_for() is None
        breaker.record_failure()


def test_it_opens_after_failures_in_a_row() -> None:
    breaker = Breaker(3, 30, Clock())
    _failing(breaker, 3)
    assert breaker.refused_for() == 30


def test_a_success_between_failures_keeps_it_closed() -> None:
    breaker = Breaker(3, 30, Clock())
    for _ in range(5):
        _failing(breaker, 2)
        breaker.record_success()
    assert breaker.refused_for() is None


def test_it_says_how_long_it_stays_open() -> None:
    clock = Clock()
    breaker = Breaker(1, 30, clock)
    _failing(breaker, 1)
    clock.now += 12
    assert breaker.refused_for() == pytest.approx(18)


def test_after_its_rest_one_probe_goes_through_and_the_others_wait() -> None:
    clock = Clock()
    breaker = Breaker(1, 30, clock)
    _failing(breaker, 1)
    clock.now += 30
    assert breaker.refused_for() is None
    assert breaker.refused_for() is not None
    assert breaker.refused_for() is not None


def test_a_probe_that_succeeds_closes_it() -> None:
    clock = Clock()
    breaker = Breaker(2, 30, clock)
    _failing(breaker, 2)
    clock.now += 31
    assert breaker.refused_for() is None
    breaker.record_success()
    _failing(breaker, 1)
    assert breaker.refused_for() is None


def test_a_probe_that_fails_opens_it_again_at_once() -> None:
    clock = Clock()
    breaker = Breaker(3, 30, clock)
    _failing(breaker, 3)
    clock.now += 31
    _failing(breaker, 1)
    assert breaker.refused_for() == pytest.approx(30)


def test_a_probe_that_is_given_up_leaves_room_for_the_next() -> None:
    clock = Clock()
    breaker = Breaker(1, 30, clock)
    _failing(breaker, 1)
    clock.now += 31
    assert breaker.refused_for() is None
    breaker.record_cancellation()
    assert breaker.refused_for() is None


def test_a_pause_the_provider_asked_for_opens_it_at_the_first_failure() -> None:
    breaker = Breaker(5, 30, Clock())
    breaker.record_failure(rest=90)
    assert breaker.refused_for() == 90
