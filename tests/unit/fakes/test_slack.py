"""The fake Slack, met by the real slack_sdk and slack_bolt over real sockets."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from tests.fakes.slack import FakeSlack
from tests.fakes.slack_workspace import Json

FEEDBACK: Json = {
    "type": "actions",
    "elements": [
        {"type": "button", "action_id": id, "value": id, "text": {"type": "plain_text", "text": id}}
        for id in ("good", "bad")
    ],
}


@pytest.fixture
def slack() -> Iterator[FakeSlack]:
    with FakeSlack() as fake:
        fake.add_user("U1", "ada")
        fake.add_channel("C1", "general", members=["U1"])
        yield fake


@asynccontextmanager
async def connected(slack: FakeSlack, app: AsyncApp) -> AsyncIterator[AsyncSocketModeHandler]:
    handler = AsyncSocketModeHandler(app, slack.app_token, ping_interval=0.2)
    await handler.connect_async()  # type: ignore[no-untyped-call]
    try:
        yield handler
    finally:
        await handler.close_async()  # type: ignore[no-untyped-call]


def bolt(slack: FakeSlack) -> AsyncApp:
    return AsyncApp(client=AsyncWebClient(token=slack.bot_token, base_url=slack.api_url))


async def test_a_mention_is_answered_by_a_stream_with_a_plan_and_feedback(slack: FakeSlack) -> None:
    app = bolt(slack)

    @app.event("app_mention")
    async def answer(event: Json, client: AsyncWebClient) -> None:
        place: Any = {"channel": event["channel"]}
        task = {"type": "task_update", "id": "1", "title": "Search"}
        stream = await client.chat_startStream(
            **place,
            thread_ts=event["ts"],
            recipient_user_id=event["user"],
            recipient_team_id=slack.team,
            task_display_mode="plan",
            chunks=[
                {"type": "plan_update", "title": "Plan"},
                {**task, "status": "in_progress", "details": "one "},
            ],
        )
        source = {"type": "url", "url": "https://a.example/", "text": "A page"}
        await client.chat_appendStream(
            **place,
            ts=stream["ts"],
            chunks=[
                {**task, "status": "complete", "details": "two", "sources": [source]},
                {"type": "markdown_text", "text": "**Ada** did"},
            ],
        )
        await client.chat_stopStream(**place, ts=stream["ts"], blocks=[FEEDBACK])

    @app.event("message")
    async def ignore() -> None:
        pass

    pressed: list[Json] = []

    @app.action("bad")
    async def feedback(ack: Any, action: Json) -> None:
        await ack()
        pressed.append(action)

    async with connected(slack, app):
        said = slack.say("U1", "C1", f"{slack.mention} who wrote <the> first?")
        await said.acknowledged()
        names = [delivery.event["type"] for delivery in said.deliveries]
        assert names == ["app_mention", "message"]
        assert len({delivery.event_id for delivery in said.deliveries}) == 2
        [answer_shown] = await slack.until(
            lambda: [one for one in slack.replies("C1", said.ts) if one.stream_state == "stopped"]
        )
        [task] = answer_shown.tasks
        assert (task["status"], task["details"]) == ("complete", "one two")
        assert slack.screen("C1", said.ts).endswith(
            "Plan\n[complete] Search\none two\nA page\n**Ada** did\n[good]\n[bad]"
        )
        press = slack.press("U1", answer_shown, "bad")
        await press.acknowledged()
    assert [action["value"] for action in pressed] == ["bad"]
