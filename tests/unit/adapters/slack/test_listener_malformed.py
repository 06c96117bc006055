"""Payloads that lack what they should have: acknowledged at once, so never delivered again."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
from structlog.testing import capture_logs

from tests.fakes.slack import FakeSlack
from tests.fakes.slack_delivery import COMMAND, EVENT, INTERACTION, Delivery
from tests.fakes.slack_events import callback
from tests.unit.adapters.slack.serving import Served
from tests.unit.adapters.slack.test_platform import http_bot

__all__ = ["http_bot"]

Json = dict[str, Any]

SAID: Json = {"type": "message", "user": "U1", "text": "<@U0FOOTBOT> why?", "ts": "1.000100"}
IN_CHANNEL: Json = {"channel": "C1", "channel_type": "channel"}
EVENTS: dict[str, Json] = {
    "app_mention": {**SAID, **IN_CHANNEL, "type": "app_mention"},
    "message": {**SAID, **IN_CHANNEL},
    "changed": {
        "type": "message",
        "subtype": "message_changed",
        "hidden": True,
        "ts": "2.0",
        **IN_CHANNEL,
        "message": SAID,
        "previous_message": {**SAID, "text": "what?"},
    },
    "deleted": {
        "type": "message",
        "subtype": "message_deleted",
        "hidden": True,
        "ts": "2.0",
        **IN_CHANNEL,
        "deleted_ts": "1.000100",
        "previous_message": SAID,
    },
    "reaction": {
        "type": "reaction_added",
        "user": "U1",
        "reaction": "x",
        "item_user": "U1",
        "item": {"type": "message", "channel": "C1", "ts": "1.000100"},
    },
    "stopped": {
        "type": "agent_session_stopped",
        "user": "U1",
        "channel": "C1",
        "thread_ts": "1.000100",
    },
    "home": {"type": "app_home_opened", "user": "U1", "channel": "D1", "tab": "home"},
}
ASK: Json = {
    "command": "/ask",
    "text": "",
    "user_id": "U1",
    "channel_id": "C1",
    "trigger_id": "1.2",
}
PRESS: Json = {
    "type": "block_actions",
    "user": {"id": "U1"},
    "channel": {"id": "C1"},
    "container": {"type": "message", "message_ts": "1.000100", "channel_id": "C1"},
    "actions": [{"type": "button", "action_id": "footnote_deeper", "value": "nope"}],
}
SHORTCUT: Json = {
    "type": "message_action",
    "callback_id": "research_this",
    "user": {"id": "U1"},
    "channel": {"id": "C1"},
    "message": {"type": "message", "user": "U1", "text": "", "ts": "1.000100"},
}

ODD: tuple[Any, ...] = (None, 7, "weird", [])


def places(node: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to everything in a payload."""
    inside = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in inside:
        yield (*here, key)
        if isinstance(value, dict | list):
            yield from places(value, (*here, key))


def spoilt(payload: Json, place: tuple[Any, ...]) -> Iterator[Json]:
    """The payload without what is at a place, and with something odd there."""
    for odd in (..., *ODD):
        copy = deepcopy(payload)
        node: Any = copy
        for key in place[:-1]:
            node = node[key]
        if odd is ...:
            del node[place[-1]]
        else:
            node[place[-1]] = odd
        yield copy


def enveloped(slack: FakeSlack, event: Json) -> Json:
    """The event in the envelope it travels in, however odd it is."""
    return {**callback(slack.workspace, {"event_ts": "1.0"}), "event": event}


async def every_one_is_acknowledged(slack: FakeSlack, kind: str, payloads: list[Json]) -> None:
    sent = [slack.deliver(Delivery(kind, payload)) for payload in payloads]
    for delivery in sent:
        await delivery.over()
        assert delivery.acked, delivery.payload
        assert len(delivery.attempts) == 1, delivery.payload


@pytest.mark.parametrize("name", EVENTS)
async def test_events_that_cannot_be_read_are_acknowledged(
    bot: Served, slack: FakeSlack, name: str
) -> None:
    event = EVENTS[name]
    payloads = [enveloped(slack, odd) for place in places(event) for odd in spoilt(event, place)]
    whole = enveloped(slack, event)
    await every_one_is_acknowledged(slack, EVENT, payloads + list(spoilt(whole, ("event",))))


@pytest.mark.parametrize(
    ("kind", "payload"), [(COMMAND, ASK), (INTERACTION, PRESS), (INTERACTION, SHORTCUT)]
)
async def test_commands_and_presses_that_cannot_be_read_are_acknowledged(
    bot: Served, slack: FakeSlack, kind: str, payload: Json
) -> None:
    payloads = [odd for place in places(payload) for odd in spoilt(payload, place)]
    payloads = [one for one in payloads if one.get("type", "") == payload.get("type", "")]
    await every_one_is_acknowledged(slack, kind, payloads)


@pytest.mark.parametrize("missing", ["ts", "channel", "type"])
async def test_by_http_they_are_answered_with_200_and_one_line_in_the_log(
    http_bot: Served, slack: FakeSlack, missing: str
) -> None:
    event = {key: value for key, value in EVENTS["message"].items() if key != missing}
    with capture_logs() as logs:
        delivery = slack.deliver(Delivery(EVENT, enveloped(slack, event)))
        await delivery.over()
    assert [attempt.status for attempt in delivery.attempts] == [200]
    loud = [line for line in logs if line["log_level"] in ("warning", "error")]
    assert [line["event"] for line in loud] == ["Slack sent an unreadable payload, dropped"]
    assert await http_bot.rows("messages") == []


@pytest.mark.parametrize("ack_seconds", [30.0])  # a busy machine may need more than Slack's 3
@pytest.mark.parametrize("slip", [KeyError("ts"), TypeError("odd"), ValueError("odd")])
async def test_a_slip_of_the_core_is_no_malformed_payload(
    http_bot: Served, slack: FakeSlack, slip: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A payload that failed while it was being accepted may succeed when it comes again."""
    receive, slips = http_bot.reception.receive, [slip]

    async def slipping(*args: Any, **options: Any) -> Any:
        if slips:
            raise slips.pop()
        return await receive(*args, **options)

    monkeypatch.setattr(http_bot.reception, "receive", slipping)
    said = await slack.say("U1", "C1", f"{slack.mention} how tall is it?").acknowledged(60.0)
    # It is told of twice, as a message and as a mention, and takes up what it hears of first.
    statuses = [[attempt.status for attempt in one.attempts] for one in said.deliveries]
    assert sorted(statuses) == [[200], [500, 200]]
    assert len(await http_bot.questions(1)) == 1


@pytest.mark.parametrize("ack_seconds", [30.0])
async def test_a_slip_of_the_core_at_a_command_is_not_hidden(
    http_bot: Served, slack: FakeSlack, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def slipping(*args: Any, **options: Any) -> Any:
        await asyncio.sleep(0)
        raise KeyError("odd")

    monkeypatch.setattr(http_bot.reception, "receive", slipping)
    (delivery,) = slack.command("U1", "C1", "/ask", "how tall is it?").deliveries
    await delivery.over()
    assert [attempt.status for attempt in delivery.attempts] == [500]
