"""The number of requests that a client may make in a minute."""

from __future__ import annotations

from bot.core.rate_limit import Pace


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_minutes_worth_may_come_at_once() -> None:
    pace = Pace(3, Clock())
    assert [pace.allows("ada") for _ in range(5)] == [True] * 3 + [False] * 2


def test_what_was_used_flows_back() -> None:
    clock = Clock()
    pace = Pace(3, clock)
    for _ in range(4):
        pace.allows("ada")
    clock.now = 20.0
    assert [pace.allows("ada") for _ in range(2)] == [True, False]


def test_trying_in_vain_costs_nothing() -> None:
    clock = Clock()
    pace = Pace(1, clock)
    for second in range(60):
        clock.now = float(second)
        pace.allows("ada")
    clock.now = 61.0
    assert pace.allows("ada")


def test_one_client_takes_nothing_from_another() -> None:
    pace = Pace(1, Clock())
    assert pace.allows("ada")
    assert pace.allows("bob")
    assert not pace.allows("ada")
