"""The fake Slack tells the app in Slack's own shapes what people do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError

from tests.fakes.slack import FakeSlack
from tests.fakes.slack_limits import read_manifest
from tests.fakes.slack_people import Doing
from tests.fakes.slack_stage import ADA, BOB, GENERAL, SECRET, call, furnished
from tests.fakes.slack_workspace import Json


@pytest.fixture
def slack() -> Iterator[FakeSlack]:
    with furnished() as fake:
        yield fake


def told(doing: Doing) -> list[str]:
    """Type and subtype of each event."""
    events = [delivery.event for delivery in doing.deliveries]
    return [":".join(filter(None, (e["type"], e.get("subtype")))) for e in events]


def button(action_id: str, value: str) -> Json:
    label = {"type": "plain_text", "text": value}
    return {"type": "button", "text": label, "action_id": action_id, "value": value}


async def test_only_what_is_there_can_be_pressed(slack: FakeSlack) -> None:
    blocks = [{"type": "actions", "elements": [button("a", "1"), button("b", "2")]}]
    asked = slack.say(ADA, GENERAL, "q").ts
    args: Json = {"channel": GENERAL, "thread_ts": asked, "text": "x", "blocks": blocks}
    posted = await call(slack, "chat.postMessage", **args)
    [shown] = slack.replies(GENERAL, asked)
    press = slack.press(BOB, shown, "b").deliveries[0].payload
    assert press["container"] == {
        "type": "message",
        "message_ts": posted["ts"],
        "channel_id": GENERAL,
        "is_ephemeral": False,
        "thread_ts": asked,
    }
    [action] = press["actions"]
    assert (action["action_id"], action["value"], press["user"]["id"]) == ("b", "2", BOB)
    assert press["message"]["ts"] == posted["ts"]
    with pytest.raises(AssertionError, match="there is: a, b"):
        slack.press(BOB, shown, "c")
    with pytest.raises(AssertionError, match="there is no a"):
        slack.press(BOB, shown, "a", "2")


async def test_responses_are_shown_and_checked(slack: FakeSlack) -> None:
    asked = slack.command(ADA, GENERAL, "/ask", "why?")
    assert asked.response_url is not None
    async with aiohttp.ClientSession() as session:

        async def respond(**body: Any) -> int:
            assert asked.response_url is not None
            async with session.post(asked.response_url, json=body) as answer:
                return answer.status

        assert await respond(text="") == 500
        assert await respond(text="x", blocks=[{"type": "carpet"}]) == 500
        assert await respond(text="x", colour="red") == 500
        assert await respond(text="only you") == 200
        assert await respond(text="all", response_type="in_channel") == 200
        assert [await respond(text="again") for _ in range(4)] == [200, 200, 200, 404]
        shown = [(one.text, one.ephemeral_to) for one in slack.messages(GENERAL)]
        assert shown[:2] == [("only you", ADA), ("all", None)]
        assert len(slack.response_urls.received(asked.response_url)) == 5
        asked = slack.command(ADA, GENERAL, "/ask")
        slack.advance(1_801)
        assert await respond(text="late") == 404


MANIFEST = """
display_information: {name: Footnote}
features:
  bot_user: {display_name: Footnote}
  slash_commands:
    - {command: /ask, description: Ask, should_escape: true}
  shortcuts:
    - {name: Research this, type: message, callback_id: research, description: d}
oauth_config:
  scopes:
    bot: [app_mentions:read, chat:write, commands]
settings:
  event_subscriptions:
    bot_events: [app_mention, message.channels]
  interactivity: {is_enabled: true}
"""


async def test_only_what_the_manifest_asks_for_is_told() -> None:
    with furnished(MANIFEST) as slack:
        said = slack.say(ADA, GENERAL, f"{slack.mention} hi")
        assert told(said) == ["app_mention"]
        # message.channels is subscribed to but lacks its scope; reactions are neither
        assert slack.react(BOB, GENERAL, said.ts, "eyes").deliveries == ()
        kinds = [event["type"] for event in slack.unsent]
        assert kinds == ["message", "reaction_added"]
        command = slack.command(ADA, GENERAL, "/ask", "<@U1ADA> & co").deliveries[0].payload
        assert command["text"] == "<@U1ADA> &amp; co"
        slack.shortcut(ADA, "research", GENERAL, said.ts)
        with pytest.raises(AssertionError, match="no command /stop"):
            slack.command(ADA, GENERAL, "/stop")
        with pytest.raises(AssertionError, match="no shortcut other"):
            slack.shortcut(ADA, "other", GENERAL, said.ts)
        with pytest.raises(AssertionError, match="no messages tab"):
            slack.say(ADA, slack.im(ADA), "hi")
        view = {"type": "home", "blocks": [{"type": "divider"}]}
        with pytest.raises(SlackApiError, match="not_enabled"):
            await call(slack, "views.publish", user_id=ADA, view=view)
        with pytest.raises(SlackApiError, match="messages_tab_disabled"):
            await call(slack, "chat.postMessage", channel=ADA, text="hi")


@pytest.mark.parametrize(
    ("manifest", "fault"),
    [
        ("[]", "mapping"),
        ("features: {}", "names its app"),
        (
            "{display_information: {name: F}, oauth_config: {scopes: {bot: [chat:write]}}}",
            "bot_user",
        ),
        (
            "{display_information: {name: F}, features: {slash_commands: [{command: /a}]}}",
            "commands",
        ),
    ],
)
def test_manifests_slack_would_not_take_are_refused(manifest: str, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        read_manifest(manifest)


# ---------------------------------------------------------------- people of other teams


async def test_somebody_of_another_team_is_told_apart(slack: FakeSlack) -> None:
    eve = slack.add_stranger("U9EVE", "eve", "T9OTHER", enterprise="E9ORG")
    slack.workspace.channels[GENERAL].members.add(eve)
    known = (await call(slack, "users.info", user=eve))["user"]
    assert (known["team_id"], known["is_stranger"]) == ("T9OTHER", True)
    assert known["enterprise_user"]["enterprise_id"] == "E9ORG"
    assert "is_admin" not in known
    slack.say(eve, GENERAL, f"{slack.mention} hello")
    envelope = slack.deliveries[-1].payload
    event = envelope["event"]
    assert (event["team"], event["user_team"]) == ("T9OTHER", "E9ORG")
    assert (envelope["team_id"], envelope["is_ext_shared_channel"]) == ("T9OTHER", True)
    assert envelope["authorizations"][0]["team_id"] == slack.team
    slack.say(ADA, GENERAL, "hello")
    event = slack.deliveries[-1].payload["event"]
    assert (event["user_team"], event["source_team"]) == (slack.team, "T9OTHER")
    slack.say(ADA, SECRET, "hello")
    assert "user_team" not in slack.deliveries[-1].payload["event"]


async def test_somebody_of_another_team_has_no_commands_of_ours(slack: FakeSlack) -> None:
    eve = slack.add_stranger("U9EVE", "eve", "T9OTHER")
    slack.workspace.channels[GENERAL].members.add(eve)
    with pytest.raises(AssertionError, match="not installed in the team"):
        slack.command(eve, GENERAL, "/ask", "why?")
    with pytest.raises(ValueError, match="another team"):
        slack.add_stranger("U8EVE", "eve", slack.team)
