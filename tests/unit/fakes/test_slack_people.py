"""The fake Slack tells the app in Slack's own shapes what people do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import aiohttp
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from slack_sdk.errors import SlackApiError

from tests.fakes.slack import FakeSlack
from tests.fakes.slack_limits import read_manifest
from tests.fakes.slack_people import Doing
from tests.fakes.slack_screen import as_sent, plain, rich_text, unescape
from tests.fakes.slack_stage import ADA, BOB, ELSEWHERE, GENERAL, SECRET, call, furnished
from tests.fakes.slack_workspace import Json


@pytest.fixture
def slack() -> Iterator[FakeSlack]:
    with furnished() as fake:
        yield fake


def told(doing: Doing) -> list[str]:
    """Type and subtype of each event."""
    events = [delivery.event for delivery in doing.deliveries]
    return [":".join(filter(None, (e["type"], e.get("subtype")))) for e in events]


@pytest.mark.parametrize(
    ("typed", "sent"),
    [
        ("a < b & c > d", "a &lt; b &amp; c &gt; d"),
        ("see https://a.example/x?a=1&b=2.", "see <https://a.example/x?a=1&amp;b=2>."),
        ("[a page](https://a.example/)", "<https://a.example/|a page>"),
        ("<@U1> and <!here>", "<@U1> and <!here>"),
        ("<b>bold</b>", "&lt;b&gt;bold&lt;/b&gt;"),
        ("查 https://a.example/路", "查 <https://a.example/路>"),
    ],
)
def test_what_is_typed_arrives_in_slacks_markup(typed: str, sent: str) -> None:
    assert as_sent(typed) == sent


@given(st.text(alphabet=st.characters(exclude_characters="[]()@#!")))
def test_words_without_markup_survive_the_way_there_and_back(words: str) -> None:
    assume("http" not in words and "mailto" not in words)
    sent = as_sent(words)
    assert not set(sent) & {"<", ">"}
    assert unescape(sent) == words
    assert plain(rich_text(sent, "b")) == words


def test_the_rich_text_block_has_the_same_words_unescaped() -> None:
    block = rich_text(as_sent("<@U1> a & b [p](https://a.example/) https://b.example/"), "b")
    assert block["elements"][0]["elements"] == [
        {"type": "user", "user_id": "U1"},
        {"type": "text", "text": " a & b "},
        {"type": "link", "url": "https://a.example/", "text": "p"},
        {"type": "text", "text": " "},
        {"type": "link", "url": "https://b.example/"},
    ]


def test_a_mention_is_told_twice_in_a_channel_and_once_in_a_direct_message(
    slack: FakeSlack,
) -> None:
    file = slack.add_file(ADA, "a.md", b"x")
    said = slack.say(ADA, GENERAL, f"{slack.mention} hi", files=[file])
    mention, message = (delivery.event for delivery in said.deliveries)
    assert told(said) == ["app_mention", "message:file_share"]
    assert mention["ts"] == message["ts"] == said.ts
    assert ("files" in mention, message["files"][0]["name"]) == (False, "a.md")
    assert message["channel_type"] == "channel"
    direct = slack.say(ADA, slack.im(ADA), f"{slack.mention} hi")
    assert told(direct) == ["message"]
    assert direct.deliveries[0].event["channel_type"] == "im"
    assert slack.say(ADA, ELSEWHERE, f"{slack.mention} hi").deliveries == ()


def test_a_reply_names_its_thread_and_its_parents_author(slack: FakeSlack) -> None:
    root = slack.say(ADA, GENERAL, "root").ts
    reply = slack.say(BOB, GENERAL, "reply", root)
    nested = slack.say(BOB, GENERAL, "to the reply", reply.ts)
    for doing in (reply, nested):
        event = doing.deliveries[0].event
        assert (event["thread_ts"], event["parent_user_id"]) == (root, ADA)


def test_edits_and_previews_are_changes_that_tell_what_was(slack: FakeSlack) -> None:
    said = slack.say(ADA, GENERAL, "one https://a.example/")
    edited = slack.edit(GENERAL, said.ts, "two")
    preview = slack.unfurl(GENERAL, said.ts, "https://a.example/")
    assert told(edited) == told(preview) == ["message:message_changed"]
    event = edited.deliveries[0].event
    assert event["previous_message"]["text"] == "one <https://a.example/>"
    assert (event["message"]["text"], event["message"]["edited"]["user"]) == ("two", ADA)
    event = preview.deliveries[0].event
    assert event["message"]["text"] == event["previous_message"]["text"] == "two"
    assert event["message"]["attachments"][0]["from_url"] == "https://a.example/"


async def test_a_deleted_question_with_replies_leaves_a_tombstone(slack: FakeSlack) -> None:
    alone = slack.say(ADA, GENERAL, "alone")
    event = slack.delete(GENERAL, alone.ts).deliveries[0].event
    assert (event["subtype"], event["deleted_ts"]) == ("message_deleted", alone.ts)
    assert event["previous_message"]["text"] == "alone"
    asked = slack.say(ADA, GENERAL, "asked")
    answer = await call(
        slack, "chat.postMessage", channel=GENERAL, thread_ts=asked.ts, text="answer"
    )
    event = slack.delete(GENERAL, asked.ts).deliveries[0].event
    assert (event["subtype"], event["message"]["subtype"]) == ("message_changed", "tombstone")
    assert event["previous_message"]["text"] == "asked"
    await call(slack, "chat.delete", channel=GENERAL, ts=answer["ts"])
    assert slack.messages(GENERAL) == []


async def test_the_apps_own_doings_are_told_too(slack: FakeSlack) -> None:
    posted = await call(slack, "chat.postMessage", channel=GENERAL, text="one")
    await call(slack, "chat.update", channel=GENERAL, ts=posted["ts"], text="two")
    await call(slack, "chat.delete", channel=GENERAL, ts=posted["ts"])
    events = [delivery.event for delivery in slack.deliveries]
    subtypes = [event.get("subtype") for event in events]
    assert subtypes == [None, "message_changed", "message_deleted"]
    assert (events[0]["bot_id"], events[0]["user"]) == (slack.bot_id, slack.bot_user)


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


def test_shortcuts_reactions_joins_and_panes_are_told(slack: FakeSlack) -> None:
    said = slack.say(ADA, GENERAL, "read https://a.example/")
    shortcut = slack.shortcut(BOB, "research", GENERAL, said.ts).deliveries[0].payload
    assert (shortcut["type"], shortcut["callback_id"]) == ("message_action", "research")
    assert shortcut["message"]["text"] == "read <https://a.example/>"
    reaction = slack.react(BOB, GENERAL, said.ts, "octagonal_sign").deliveries[0].event
    assert reaction["item"] == {"type": "message", "channel": GENERAL, "ts": said.ts}
    assert told(slack.join(BOB, SECRET)) == ["member_joined_channel", "message:channel_join"]
    pane = slack.start_assistant(ADA, looking_at=GENERAL)
    thread = pane.deliveries[0].event["assistant_thread"]
    assert thread["channel_id"] == slack.im(ADA)
    assert thread["context"]["channel_id"] == GENERAL
    inside = slack.say(ADA, slack.im(ADA), "hi", pane.ts).deliveries[0].event
    assert (inside["thread_ts"], inside["channel_type"]) == (pane.ts, "im")
    assert told(slack.open_home(ADA)) == ["app_home_opened"]


async def test_a_home_is_published(slack: FakeSlack) -> None:
    section = {
        "type": "section",
        "text": {"type": "mrkdwn", "text": "x"},
        "accessory": button("a", "1"),
    }
    view = {"type": "home", "blocks": [section]}
    published = await call(slack, "views.publish", user_id=ADA, view=view)
    assert slack.open_home(ADA).deliveries[0].event["view"]["id"] == published["view"]["id"]
    with pytest.raises(SlackApiError, match="hash_conflict"):
        await call(slack, "views.publish", user_id=ADA, view=view, hash="old")


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
    bot_events: [app_mention, message.channels, assistant_thread_started]
  interactivity: {is_enabled: true}
"""


async def test_only_what_the_manifest_asks_for_is_told() -> None:
    with furnished(MANIFEST) as slack:
        said = slack.say(ADA, GENERAL, f"{slack.mention} hi")
        assert told(said) == ["app_mention"]
        # message.channels is subscribed to but lacks its scope; reactions are neither
        assert slack.react(BOB, GENERAL, said.ts, "eyes").deliveries == ()
        assert slack.start_assistant(ADA).deliveries == ()  # it is not an agent
        kinds = [event["type"] for event in slack.unsent]
        assert kinds == ["message", "reaction_added", "assistant_thread_started"]
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


def test_a_screen_reads_like_the_thread(slack: FakeSlack) -> None:
    file = slack.add_file(ADA, "a.md", b"x")
    root = slack.say(ADA, GENERAL, "one <two>", files=[file]).ts
    slack.edit(GENERAL, root, "one & two")
    slack.say(BOB, GENERAL, "three", root)
    assert slack.screen(GENERAL, root) == (f"{ADA}, edited, file a.md:\none & two\n\n{BOB}:\nthree")


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


async def test_a_guest_is_one_of_us_with_fewer_rights(slack: FakeSlack) -> None:
    slack.workspace.users[BOB].is_ultra_restricted = True
    known = (await call(slack, "users.info", user=BOB))["user"]
    assert known["is_restricted"]
    assert known["is_ultra_restricted"]
    assert known["team_id"] == slack.team
