"""Events reach the app once per connection, again when unacknowledged, and signed over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from slack_bolt.adapter.starlette.async_handler import AsyncSlackRequestHandler
from slack_bolt.app.async_app import AsyncApp
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.fakes.server import serve
from tests.fakes.slack import FakeSlack
from tests.fakes.slack_delivery import COMMAND, INTERACTION
from tests.fakes.slack_events import callback, message_posted
from tests.fakes.slack_stage import ADA, GENERAL, client_of, furnished, refusal
from tests.fakes.slack_workspace import Json


@pytest.fixture
def slack() -> Iterator[FakeSlack]:
    with furnished(redelivery=(0.0, 0.05)) as fake:
        yield fake


@pytest.fixture
def hasty() -> Iterator[FakeSlack]:
    """A Slack that soon gives up waiting for an acknowledgement."""
    with furnished(redelivery=(0.0, 0.05), ack_seconds=0.2) as fake:
        yield fake


class RawApp:
    """A Socket Mode app without an SDK: what arrived, and acknowledgement at will."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket

    async def next(self) -> Json:
        frame: Json = await self.socket.receive_json(timeout=60)
        return frame

    async def ack(self, envelope: Json, **payload: Any) -> None:
        await self.socket.send_json({"envelope_id": envelope["envelope_id"], **payload})


@asynccontextmanager
async def raw(slack: FakeSlack) -> AsyncIterator[RawApp]:
    opened = await client_of(slack, slack.app_token).apps_connections_open(
        app_token=slack.app_token
    )
    async with aiohttp.ClientSession() as session, session.ws_connect(opened["url"]) as socket:
        app = RawApp(socket)
        hello = await app.next()
        assert (hello["type"], hello["connection_info"]) == ("hello", {"app_id": slack.app_id})
        yield app


async def test_a_socket_needs_a_ticket(slack: FakeSlack) -> None:
    reply = await refusal(client_of(slack, "xapp-wrong").api_call("apps.connections.open"))
    assert reply["error"] == "invalid_auth"
    async with aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.WSServerHandshakeError, match="403"):
            await session.ws_connect(f"{slack.base}/link/?ticket=forged")


async def test_an_event_without_acknowledgement_comes_again(hasty: FakeSlack) -> None:
    async with raw(hasty) as app:
        [delivery] = hasty.say(ADA, GENERAL, "hello").deliveries
        envelopes = [await app.next() for _ in range(3)]
        await app.ack(envelopes[2])
        await delivery.over()
    assert [e["retry_attempt"] for e in envelopes] == [0, 1, 2]
    assert [e["retry_reason"] for e in envelopes] == ["", "timeout", "timeout"]
    assert len({e["payload"]["event_id"] for e in envelopes}) == 1
    assert len({e["envelope_id"] for e in envelopes}) == 3
    assert [attempt.failure for attempt in delivery.attempts] == ["timeout", "timeout", None]


async def test_what_slack_would_not_understand_is_kept(slack: FakeSlack) -> None:
    async with raw(slack) as app:
        said = slack.say(ADA, GENERAL, "hello")
        await app.socket.send_str("hello?")
        await app.socket.send_json({"envelope_id": "unknown"})
        await app.ack(await app.next(), payload={"text": "not asked for"})
        await said.acknowledged()
    assert len(slack.sockets.strange) == 3


async def test_an_event_goes_to_exactly_one_of_several_connections(slack: FakeSlack) -> None:
    async with raw(slack) as one, raw(slack) as two:
        said = [slack.say(ADA, GENERAL, str(number)) for number in range(10)]

        async def take(app: RawApp) -> list[str]:
            texts = []
            for _ in range(5):
                envelope = await app.next()
                texts.append(envelope["payload"]["event"]["text"])
                await app.ack(envelope)
            return texts

        both = await asyncio.gather(take(one), take(two))
        for doing in said:
            await doing.acknowledged()
    assert sorted([*both[0], *both[1]]) == [str(number) for number in range(10)]


async def test_an_event_on_a_broken_connection_comes_again_on_another(slack: FakeSlack) -> None:
    async with raw(slack) as first:
        [delivery] = slack.say(ADA, GENERAL, "hello").deliveries
        await first.next()
        slack.cut_sockets()
        async with raw(slack) as second:
            envelope = await second.next()
            assert envelope["retry_attempt"] == 1
            await second.ack(envelope)
            await delivery.acknowledged()
    assert delivery.attempts[0].failure == "connection_failed"


# --- signed HTTP ---


def web_app(slack: FakeSlack, seen: list[Json]) -> Starlette:
    app = AsyncApp(client=client_of(slack), signing_secret=slack.signing_secret)

    @app.event("message")
    async def message(body: Json) -> None:
        seen.append(body)

    @app.command("/ask")
    async def ask(ack: Any, body: Json) -> None:
        seen.append(body)
        await ack("On it")

    @app.action("go")
    async def go(ack: Any, body: Json) -> None:
        seen.append(body)
        await ack()

    handler = AsyncSlackRequestHandler(app)

    async def endpoint(request: Request) -> Response:
        return await handler.handle(request)

    return Starlette(routes=[Route("/slack/events", endpoint, methods=["POST"])])


@pytest.mark.parametrize(
    ("wrong", "status"),
    [({}, 200), ({"secret": "not the secret"}, 401), ({"age": 301.0}, 401)],
)
@pytest.mark.parametrize("kind", ["event", COMMAND, INTERACTION])
async def test_bad_and_stale_signatures_are_refused_by_bolt(
    slack: FakeSlack, wrong: dict[str, Any], status: int, kind: str
) -> None:
    ws = slack.workspace
    asked = slack.command(ADA, GENERAL, "/ask").deliveries[0].payload
    slack.say(ADA, GENERAL, "hello")
    [message] = ws.in_channel(GENERAL)
    payloads: dict[str, Json] = {
        "event": callback(ws, message_posted(ws, message)),
        COMMAND: asked,
        INTERACTION: {
            "type": "block_actions",
            "team": {"id": slack.team},
            "user": {"id": ADA},
            "actions": [{"type": "button", "action_id": "go", "block_id": "b"}],
        },
    }
    delivery_kind = "events_api" if kind == "event" else kind
    with serve(web_app(slack, [])) as base:
        delivery = await asyncio.to_thread(
            lambda: slack.deliver_http(
                f"{base}/slack/events", payloads[kind], delivery_kind, attempt=1, **wrong
            )
        )
    assert delivery.attempts[0].status == status


@pytest.mark.parametrize(
    ("answer", "attempts"),
    [
        (Response(status_code=500), 3),
        (Response(status_code=500, headers={"X-Slack-No-Retry": "1"}), 1),
        (Response(status_code=302, headers={"Location": "/"}), 3),
        (Response(), 1),
    ],
)
async def test_http_events_come_again_until_taken(
    slack: FakeSlack, answer: Response, attempts: int
) -> None:
    marks: list[tuple[str | None, str | None]] = []

    async def endpoint(request: Request) -> Response:
        headers = request.headers
        marks.append((headers.get("x-slack-retry-num"), headers.get("x-slack-retry-reason")))
        return answer

    with serve(Starlette(routes=[Route("/", endpoint, methods=["POST"])])) as base:
        slack.deliver_to(f"{base}/")
        [delivery] = slack.say(ADA, GENERAL, "hello").deliveries
        await delivery.over()
    expected = [(None, None), ("1", "http_error"), ("2", "http_error")]
    assert marks == expected[:attempts]
    assert delivery.acked is (answer.status_code == 200)
