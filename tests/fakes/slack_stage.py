"""A furnished fake workspace, and the shortest ways to call it with the real SDK."""

from __future__ import annotations

from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from tests.fakes.slack import FakeSlack
from tests.fakes.slack_workspace import Json

ADA, BOB = "U1ADA", "U2BOB"
GENERAL, SECRET, ELSEWHERE = "C1GENERAL", "G1SECRET", "C9ELSEWHERE"


@contextmanager
def furnished(*args: Any, **options: Any) -> Iterator[FakeSlack]:
    """Two people; a public and a private channel with the app, and one without it."""
    with FakeSlack(*args, **options) as slack:
        slack.add_user(ADA, "ada")
        slack.add_user(BOB, "bob", locale="zh-CN")
        slack.add_channel(GENERAL, "general", members=[ADA, BOB])
        slack.add_channel(SECRET, "secret", "group", members=[ADA])
        slack.add_channel(ELSEWHERE, "elsewhere", members=[ADA], bot=False)
        slack.im(ADA)
        yield slack


def client_of(slack: FakeSlack, token: str | None = None) -> AsyncWebClient:
    token = slack.bot_token if token is None else token
    # Without the SDK's own retries: by default it repeats a call whose connection broke.
    return AsyncWebClient(token=token, base_url=slack.api_url, retry_handlers=[])


async def call(slack: FakeSlack, method: str, **args: Any) -> Json:
    """The reply to a JSON call; raises ``SlackApiError``."""
    reply = await client_of(slack).api_call(method, json=args)
    assert isinstance(reply.data, dict)
    return reply.data


async def refusal(work: Awaitable[Any]) -> Json:
    """The refusing reply; fails when the call is not refused."""
    with pytest.raises(SlackApiError) as refused:
        await work
    reply = refused.value.response.data
    assert isinstance(reply, dict)
    return reply
