"""Questions that are sent more than once, by whoever keeps a cookie or not."""

from __future__ import annotations

import asyncio
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.web.asking import ids_by
from tests.unit.adapters.web.conftest import Browser, OpenConsole, Running

QUESTION = {"question": "How tall is the tower?"}
NAMED = {"Idempotency-Key": "k1"}
TOKEN = "a-token-of-the-tests"
BEHIND_PROXY = {"console_user_header": "X-User"}


async def post(running: Running, **headers: str) -> Any:
    """By a program that keeps nothing: each request is its first."""
    browser = await running.browser()
    answer = await browser.client.post("/api/questions", json=QUESTION, headers=headers | NAMED)
    assert answer.status_code == 202, answer.text
    return answer.json()


@pytest.mark.parametrize(
    ("settings", "headers"),
    [
        ({}, {}),
        ({"console_token": TOKEN}, {"Authorization": f"Bearer {TOKEN}"}),
        (BEHIND_PROXY, {"X-User": "ada"}),
    ],
)
async def test_a_program_without_cookies_may_repeat_its_request(
    open_console: OpenConsole, settings: dict[str, str], headers: dict[str, str]
) -> None:
    running = await open_console(**settings)
    first, again = await post(running, **headers), await post(running, **headers)
    assert (first["new"], again["new"]) == (True, False)
    assert (first["run"], first["thread"]) == (again["run"], again["thread"])


async def test_the_time_zone_of_the_browser_is_kept_with_a_question(browser: Browser) -> None:
    zones = {"-540.Asia/Tokyo": "Asia/Tokyo", "-60": "UTC+01:00", "nothing": "UTC"}
    for cookie, zone in zones.items():
        browser.client.cookies.set("footnote_offset", cookie)
        run = await browser.running.store.run(await browser.ask())
        assert run is not None
        assert run.options.zone == zone


async def test_the_names_of_one_person_say_nothing_to_another(open_console: OpenConsole) -> None:
    running = await open_console(**BEHIND_PROXY)
    ada, bob = await post(running, **{"X-User": "ada"}), await post(running, **{"X-User": "bob"})
    assert (ada["new"], bob["new"]) == (True, True)
    assert ada["thread"] != bob["thread"]


async def test_requests_that_come_at_once_are_one_question(here: Running) -> None:
    taken = await asyncio.gather(*(post(here) for _ in range(5)))
    assert len({one["run"] for one in taken}) == len({one["thread"] for one in taken}) == 1
    assert sum(one["new"] for one in taken) == 1
    await here.ended(taken[0]["run"])


@given(st.lists(st.tuples(st.text(), st.text()), min_size=2, max_size=4, unique=True))
def test_other_names_are_other_questions(pairs: list[tuple[str, str]]) -> None:
    for one, other in combinations([ids_by(*pair) for pair in pairs if "\0" not in pair[0]], 2):
        assert one[0] != other[0]
        assert one[1] != other[1]
