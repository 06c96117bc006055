"""Requests to Discord: their pace in virtual time, and the limits it documents."""

from __future__ import annotations

import asyncio

import aiohttp
import pytest
import yarl
from multidict import CIMultiDict

from adapters.discord import limits
from adapters.discord.rest import paced
from tests.fakes import discord_limits as documented
from tests.fakes.discord_traffic import GLOBAL_LIMIT
from tests.fakes.discord_webhooks import FOLLOWUPS_ELSEWHERE
from tests.fakes.virtual_time import in_virtual_time, now

# ---------------------------------------------------------------- pace

MESSAGES = yarl.URL("https://discord.com/api/v10/channels/1/messages")
WEBHOOK = yarl.URL("https://discord.com/api/v10/webhooks/1/token/messages/@original")


async def sent(requests: int, url: yarl.URL = MESSAGES, stall: float = 0.0) -> list[float]:
    """When each of the requests leaves; the event loop stands still for ``stall`` seconds."""
    trace = paced(aiohttp.TraceConfig(), now)
    began, times = now(), list[float]()

    async def send() -> None:
        about = aiohttp.TraceRequestStartParams("GET", url, CIMultiDict())
        await trace.on_request_start[0](None, None, about)  # type: ignore[arg-type]
        times.append(now() - began)

    async with asyncio.TaskGroup() as group:
        for _ in range(requests):
            group.create_task(send())
        await asyncio.sleep(1.0)
        asyncio.get_running_loop().advance(stall)  # type: ignore[attr-defined]
    return times


def most_in_a_second(times: list[float]) -> int:
    return max(sum(one <= other < one + 1 for other in times) for one in times)


@in_virtual_time
async def test_requests_leave_within_the_limit_on_all_of_them_and_nearly_use_it() -> None:
    times = await sent(200)
    assert 0.6 * GLOBAL_LIMIT < most_in_a_second(times) < GLOBAL_LIMIT
    assert times[-1] < 6.0


@in_virtual_time
async def test_an_event_loop_that_stood_still_does_not_send_the_delayed_ones_together() -> None:
    times = await sent(200, stall=2.0)
    assert most_in_a_second(times) < GLOBAL_LIMIT


@in_virtual_time
async def test_webhooks_do_not_wait() -> None:
    assert await sent(100, WEBHOOK) == [0.0] * 100


# ---------------------------------------------------------------- limits


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (limits.NONCE, documented.NONCE),
        (limits.TEXT, documented.TEXT),
        (limits.INPUT, documented.INPUT),
        (limits.UPLOADS, documented.UPLOADS),
        (limits.CHOICES, documented.CHOICES),
        (limits.CHOICE_NAME, documented.CHOICE),
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
    assert limits.PART < limits.TEXT


def test_edits_stay_below_what_discord_allows() -> None:
    requests, seconds = 5, 5.0  # per channel, as Discord is seen to apply it
    assert limits.SECONDS_BETWEEN_EDITS * requests > seconds
