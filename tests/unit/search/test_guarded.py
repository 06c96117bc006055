"""Retries, deadline, rate limit, breaker, cache and single flight around one provider.

Time is virtual: waits take none, and the provider notes when it was asked.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.errors import (
    Broken,
    CredentialsRefused,
    FootnoteError,
    PageUnreadable,
    ProviderUnavailable,
)
from bot.core.rate_limit import RateLimit
from bot.search.guarded import Breaker, Guarded
from bot.search.provider import Hit, Policy, Query
from tests.fakes.virtual_time import in_virtual_time, now
from tests.unit.search.scripted import Scripted, hits, reading, scripted

A, B = hits("scripted", "a"), hits("scripted", "b")


def down(retry_after: float | None = None) -> ProviderUnavailable:
    return ProviderUnavailable("It is down.", retry_after=retry_after)


def guarded(provider: Scripted, **policy: float) -> Guarded:
    return Guarded(provider, Policy(**policy), now)  # type: ignore[arg-type]


# ---------------------------------------------------------------- retries


@in_virtual_time
async def test_a_passing_failure_is_tried_again_with_growing_waits() -> None:
    provider = scripted(down(), down(), A)
    assert await guarded(provider).search(Query("q", 5)) == tuple(A)
    first, second = (b - a for a, b in zip(provider.at, provider.at[1:], strict=False))
    assert 0.2 <= first <= 0.4
    assert 0.4 <= second <= 0.6


@in_virtual_time
async def test_attempts_are_bounded() -> None:
    provider = scripted(down())
    with pytest.raises(ProviderUnavailable, match="It is down"):
        await guarded(provider, attempts=4).search(Query("q", 5))
    assert len(provider.at) == 4


@in_virtual_time
async def test_the_providers_own_retry_after_is_waited_for() -> None:
    provider = scripted(down(retry_after=7), A)
    assert await guarded(provider, deadline=12).search(Query("q", 5)) == tuple(A)
    assert provider.at[1] - provider.at[0] == pytest.approx(7)


@in_virtual_time
async def test_a_retry_after_beyond_the_deadline_is_not_waited_for_but_rested() -> None:
    provider = scripted(down(retry_after=90), A)
    guard = guarded(provider, deadline=12)
    begin = now()
    with pytest.raises(ProviderUnavailable):
        await guard.search(Query("q", 5))
    assert now() == begin
    with pytest.raises(ProviderUnavailable, match="left alone for 90 s"):
        await guard.search(Query("q", 5))
    await asyncio.sleep(90)
    assert await guard.search(Query("q", 5)) == tuple(A)
    assert len(provider.at) == 2


@pytest.mark.parametrize(
    "error",
    [CredentialsRefused("Wrong key."), Broken("Not JSON."), ValueError("a defect")],
    ids=lambda error: type(error).__name__,
)
def test_what_waiting_does_not_mend_is_not_tried_again(error: Exception) -> None:
    @in_virtual_time
    async def run() -> None:
        provider = scripted(error, A)
        with pytest.raises(type(error)):
            await guarded(provider).search(Query("q", 5))
        assert len(provider.at) == 1

    run()


# ---------------------------------------------------------------- deadline


@in_virtual_time
async def test_a_provider_that_hangs_is_given_up_at_the_deadline() -> None:
    provider = scripted(3_600.0, A)
    begin = now()
    with pytest.raises(ProviderUnavailable, match="did not answer within 12 s"):
        await guarded(provider, deadline=12).search(Query("q", 5))
    assert now() - begin == pytest.approx(12)
    assert provider.cancelled == 1


@in_virtual_time
async def test_the_deadline_spans_all_attempts() -> None:
    provider = scripted(4.0, down(), 4.0, down(), 4.0, down(), 4.0, A)
    begin = now()
    with pytest.raises(ProviderUnavailable, match="within 10 s"):
        await guarded(provider, deadline=10, attempts=9).search(Query("q", 5))
    assert now() - begin == pytest.approx(10)


# ---------------------------------------------------------------- rate limit


@in_virtual_time
async def test_calls_beyond_the_burst_are_spread_out() -> None:
    provider = scripted(A)
    guard = guarded(provider, rate=2, burst=2)
    begin = now()
    await asyncio.gather(*(guard.search(Query(f"q{i}", 5)) for i in range(5)))
    assert [at - begin for at in provider.at] == pytest.approx([0, 0, 0.5, 1.0, 1.5])


@in_virtual_time
async def test_standing_in_line_takes_nothing_from_the_deadline() -> None:
    provider = scripted(4.0, A)
    guard = guarded(provider, rate=0.1, burst=1, deadline=5)
    assert (
        await asyncio.gather(*(guard.search(Query(f"q{i}", 5)) for i in range(5))) == [tuple(A)] * 5
    )


@in_virtual_time
async def test_who_stood_in_line_for_one_that_has_failed_meanwhile_does_not_ask_it() -> None:
    provider = scripted(down())
    guard = guarded(provider, rate=1, burst=1, attempts=1, failures=2, rest=30)
    outcomes = await asyncio.gather(
        *(guard.search(Query(f"q{i}", 5)) for i in range(4)), return_exceptions=True
    )
    assert all("It is down." in str(each) for each in outcomes)
    assert len(provider.at) == 2


@in_virtual_time
async def test_who_would_stand_in_line_for_too_long_is_told_at_once() -> None:
    provider = scripted(A)
    guard = guarded(provider, rate=1, burst=1, patience=2, failures=1)
    begin = now()

    async def ask(i: int) -> str:
        try:
            await guard.search(Query(f"q{i}", 5))
        except ProviderUnavailable as error:
            return f"{error.sentence} {now() - begin:g}"
        return "found"

    told = await asyncio.gather(*(ask(i) for i in range(6)))
    assert told[:3] == ["found"] * 3
    assert told[-1] == "Too many searches are waiting for it: try again in a moment. 0"
    assert await guard.search(Query("later", 5)) == tuple(A)  # our own limit opens no breaker


@given(
    rate=st.floats(0.5, 50),
    burst=st.integers(1, 20),
    gaps=st.lists(st.floats(0, 2), min_size=1, max_size=80),
)
def test_no_window_holds_more_than_burst_and_rate_allow(
    rate: float, burst: int, gaps: list[float]
) -> None:
    time = [100.0]
    limit = RateLimit(rate, burst, lambda: time[0])
    starts = []
    for gap in gaps:
        time[0] += gap
        wait = limit.reserve(1_000_000)
        assert wait is not None
        starts.append(time[0] + wait)
    assert starts == sorted(starts)
    for i, begin in enumerate(starts):
        for j in range(i, len(starts)):
            assert j - i + 1 <= burst + (starts[j] - begin) * rate + 1e-6


@pytest.mark.parametrize(("rate", "burst"), [(0, 1), (-1, 1), (1, 0)])
def test_a_limit_that_lets_nothing_through_is_refused(rate: float, burst: int) -> None:
    with pytest.raises(ValueError, match="rate"):
        RateLimit(rate, burst, now)


# ---------------------------------------------------------------- circuit breaker


@in_virtual_time
async def test_a_provider_that_keeps_failing_is_left_alone_and_tried_again_later() -> None:
    provider = scripted(*[down()] * 3, A)
    guard = guarded(provider, attempts=1, failures=3, rest=30)
    for i in range(3):
        with pytest.raises(ProviderUnavailable, match="It is down"):
            await guard.search(Query(f"q{i}", 5))
    with pytest.raises(ProviderUnavailable, match="left alone for 30 s") as caught:
        await guard.search(Query("q", 5))
    assert caught.value.retry_after == pytest.approx(30)
    assert len(provider.at) == 3
    await asyncio.sleep(30)
    assert await guard.search(Query("q", 5)) == tuple(A)
    assert await guard.search(Query("r", 5)) == tuple(A)


@pytest.mark.parametrize(
    ("last", "said"),
    [
        (down(), "It is down. It failed repeatedly and is left alone for 30 s."),
        (Broken("It sent no JSON."), "It sent no JSON. It failed repeatedly and is left alone"),
        (ValueError("a defect"), "It failed repeatedly and is left alone"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_it_last_failed_of_is_said_while_it_is_left_alone(last: Exception, said: str) -> None:
    @in_virtual_time
    async def run() -> None:
        guard = guarded(scripted(Broken("Older."), last), attempts=1, failures=2, rest=30)
        with pytest.raises(Broken):
            await guard.search(Query("q0", 5))
        with pytest.raises(type(last)):
            await guard.search(Query("q1", 5))
        with pytest.raises(ProviderUnavailable) as caught:
            await guard.search(Query("q", 5))
        assert caught.value.sentence.startswith(said)

    run()


@pytest.mark.parametrize(
    ("events", "seconds"),
    [
        ("fff", 30),  # failures in a row
        ("ffsffsff", None),  # a success in between
        ("fff 12", 18),
        ("fff 30", None),  # one probe may go, and no other
        ("fff 30?", 30),
        ("fff 30?s f", None),  # it succeeds
        ("fff 30?f", 30),  # it fails
        ("fff 30?c", None),  # it is given up
        ("p", 90),  # a pause that the provider asked for
    ],
)
def test_the_breaker_opens_after_failures_and_lets_one_probe_through(
    events: str, seconds: float | None
) -> None:
    """f: a failure, s: a success, c: a cancelled call, ?: may a call go, and seconds that pass."""
    clock = [100.0]
    breaker = Breaker(3, 30, lambda: clock[0])
    for event in re.findall(r"[a-z?]|\d+", events):
        match event:
            case "f":
                breaker.record_failure()
            case "p":
                breaker.record_failure(rest=90)
            case "s":
                breaker.record_success()
            case "c":
                breaker.record_cancellation()
            case "?":
                assert breaker.refused_for() is None
            case passed:
                clock[0] += float(passed)
    assert breaker.refused_for() == seconds


@pytest.mark.parametrize(
    ("error", "opens"),
    [
        (lambda: down(), True),
        (lambda: Broken("Not JSON."), True),
        (lambda: CredentialsRefused("Wrong key."), False),
        (lambda: PageUnreadable("No such page."), False),
    ],
    ids=["Unavailable", "Broken", "CredentialsRefused", "PageUnreadable"],
)
def test_only_failures_of_the_provider_open_it(
    error: Callable[[], FootnoteError], opens: bool
) -> None:
    @in_virtual_time
    async def run() -> None:
        provider = reading(error(), error(), A)
        guard = guarded(provider, attempts=1, failures=2)
        for i in range(2):
            with pytest.raises(FootnoteError):
                await guard.read(f"https://scripted.example/{i}")
        if opens:
            with pytest.raises(ProviderUnavailable, match="left alone"):
                await guard.search(Query("q", 5))
        else:
            assert await guard.search(Query("q", 5)) == tuple(A)

    run()


# ---------------------------------------------------------------- cache


@pytest.mark.parametrize(
    ("script", "ttl", "found"),
    [
        ((A, B), 900, [A, A, B]),
        (([], A), 900, [[], [], A]),  # that nothing was found is known, too
        ((down(), A, B), 900, [None, A, A]),  # a failure is not
        ((A, B, []), 0, [A, B, []]),
    ],
)
def test_a_search_is_kept_for_its_time(
    script: tuple[list[Hit] | Exception, ...], ttl: float, found: list[list[Hit] | None]
) -> None:
    """Three searches: two at once, one a second after the time is over."""

    @in_virtual_time
    async def run() -> None:
        guard = guarded(scripted(*script), attempts=1, ttl=ttl)
        outcomes: list[list[Hit] | None] = []
        for wait in (0.0, 0.0, ttl + 1.0 if found[0] is not None else 0.0):
            await asyncio.sleep(wait)
            try:
                outcomes.append([*await guard.search(Query("q", 5))])
            except ProviderUnavailable:
                outcomes.append(None)
        assert outcomes == found

    run()


@in_virtual_time
async def test_whatever_differs_between_two_queries_makes_two_searches() -> None:
    provider = scripted(A)
    guard = guarded(provider)
    queries = [
        Query("q", 5),
        Query("q", 6),
        Query("r", 5),
        Query("q", 5, language="de"),
        Query("q", 5, region="DE"),
        Query("q", 5, freshness="day"),
        Query("q", 5, domains=("a.example",)),
    ]
    for query in [*queries, *queries]:
        await guard.search(query)
    assert provider.queries == queries


# ---------------------------------------------------------------- single flight


@in_virtual_time
async def test_equal_searches_at_once_share_one_call() -> None:
    provider = scripted(1.0, A)
    guard = guarded(provider)
    found = await asyncio.gather(*(guard.search(Query("q", 5)) for _ in range(20)))
    assert found == [tuple(A)] * 20
    assert len(provider.at) == 1


@in_virtual_time
async def test_who_is_cancelled_leaves_the_others_their_call() -> None:
    provider = scripted(2.0, A)
    guard = guarded(provider)
    leaver = asyncio.create_task(guard.search(Query("q", 5)))
    stayer = asyncio.create_task(guard.search(Query("q", 5)))
    await asyncio.sleep(1)
    leaver.cancel()
    assert await stayer == tuple(A)
    assert leaver.cancelled()
    assert provider.cancelled == 0


@pytest.mark.parametrize("steps", range(6))
def test_the_last_to_be_cancelled_takes_the_call_along(steps: int) -> None:
    """A caller that comes afterwards, however soon, begins a new call."""

    @in_virtual_time
    async def run() -> None:
        provider = scripted(60.0, A)
        guard = guarded(provider, deadline=100)
        waiting = [asyncio.create_task(guard.search(Query("q", 5))) for _ in range(3)]
        await asyncio.sleep(1)
        for task in waiting:
            task.cancel()
        for _ in range(steps):
            await asyncio.sleep(0)
        assert await guard.search(Query("q", 5)) == tuple(A)
        assert {task.cancelled() for task in waiting} == {True}

    run()


@in_virtual_time
async def test_a_cancelled_probe_does_not_keep_the_breaker_shut() -> None:
    provider = scripted(down(), 60.0, A)
    guard = guarded(provider, attempts=1, failures=1, rest=30, deadline=100)
    with pytest.raises(ProviderUnavailable):
        await guard.search(Query("q", 5))
    await asyncio.sleep(31)
    probe = asyncio.create_task(guard.search(Query("q", 5)))
    await asyncio.sleep(1)
    probe.cancel()
    await asyncio.gather(probe, return_exceptions=True)
    await asyncio.sleep(0)
    assert await guard.search(Query("q", 5)) == tuple(A)


# ---------------------------------------------------------------- reading and closing


@in_virtual_time
async def test_reads_go_through_the_same_guard() -> None:
    provider = reading(down(), A)
    guard = guarded(provider)
    page = await guard.read("https://scripted.example/x")
    assert page.text == "a."
    assert len(provider.at) == 2


@in_virtual_time
async def test_only_a_page_reader_reads() -> None:
    with pytest.raises(PageUnreadable):
        await guarded(scripted(A)).read("https://scripted.example/x")


@in_virtual_time
async def test_closing_cancels_what_is_under_way() -> None:
    provider = scripted(60.0, A)
    guard = guarded(provider)
    task = asyncio.create_task(guard.search(Query("q", 5)))
    await asyncio.sleep(1)
    await guard.aclose()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert provider.closed
