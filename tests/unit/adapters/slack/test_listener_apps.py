"""Other apps: what they say is read, what they begin is answered, and they never go on for ever."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from adapters.slack.incoming import SHARED, Place, parse_message
from adapters.slack.teams import Home, app_of
from bot.service import access
from tests.fakes.slack import FakeSlack
from tests.fakes.slack_delivery import EVENT, Delivery
from tests.fakes.slack_events import callback, message_changed, message_posted
from tests.fakes.slack_people import Doing
from tests.fakes.slack_workspace import BOT_ID, BOT_USER, App, Message
from tests.unit.adapters.slack.serving import Served, served

FLOW = App("B9FLOW", "Morning workflow")  # without a user
PAGER = App("B8PAGER", "Pager", user="U8PAGER")


def a_section(text: str) -> dict[str, Any]:
    return {"type": "section", "block_id": "s", "text": {"type": "mrkdwn", "text": text}}


# ---------------------------------------------------------------- what begins a conversation


@pytest.mark.parametrize("app", [FLOW, PAGER], ids=["workflow", "bot"])
@pytest.mark.parametrize("place", ["text", "blocks", "attachments"])
async def test_an_app_that_begins_a_conversation_is_answered(
    bot: Served, slack: FakeSlack, app: App, place: str
) -> None:
    words = f"{slack.mention} how tall is the *Tower*?"
    kinds: dict[str, dict[str, Any]] = {
        "text": {"text": words},
        "blocks": {"text": "A new message", "blocks": [a_section(words)]},
        "attachments": {"attachments": [{"id": 1, "text": words}]},
    }
    said = await slack.say_as_app(app, "C1", **kinds[place]).acknowledged()
    (message,) = await bot.questions(1)
    assert message.text == "how tall is the **Tower**?"
    assert message.author.name == app.name
    assert message.thread.thread == said.ts
    assert len(said.deliveries) == 2
    assert len(await bot.rows("runs")) == 1


async def test_an_app_is_heard_where_only_mentions_are_sent(bot: Served, slack: FakeSlack) -> None:
    slack.workspace.scopes.discard("channels:history")
    await slack.say_as_app(FLOW, "C1", f"{slack.mention} how tall is it?").acknowledged()
    assert [message.text for message in await bot.questions(1)] == ["how tall is it?"]


async def test_an_app_that_may_not_ask_is_told_nothing(slack: FakeSlack, tmp_path: Path) -> None:
    async with served(slack, tmp_path, deny_users="B9FLOW") as bot:
        await slack.say_as_app(FLOW, "C1", f"{slack.mention} how tall is it?").acknowledged()
        await slack.say_as_app(PAGER, "C1", f"{slack.mention} how old?").acknowledged()
        assert [message.text for message in await bot.questions(1)] == ["how old?"]
        assert slack.calls("chat.postEphemeral") == slack.calls("chat.postMessage") == []


# ---------------------------------------------------------------- no end of questions


async def test_what_apps_say_in_threads_is_heard_and_not_answered(
    bot: Served, slack: FakeSlack
) -> None:
    said = await slack.say("U1", "C1", f"{slack.mention} how tall is it?").acknowledged()
    for words in (f"{slack.mention} and how old?", "It rains.", "", ":rain_cloud:"):
        await slack.say_as_app(PAGER, "C1", words, said.ts).acknowledged()
    assert len(await bot.rows("runs")) == 1
    kept = [row["text"] for row in await bot.rows("messages")]
    assert kept == ["how tall is it?", "and how old?", "It rains."]


async def test_apps_in_threads_of_others_are_none_of_its_business(
    bot: Served, slack: FakeSlack
) -> None:
    said = await slack.say("U1", "C1", "lunch?").acknowledged()
    await slack.say_as_app(PAGER, "C1", f"{slack.mention} at noon?", said.ts).acknowledged()
    await slack.say_as_app(PAGER, "C1", "Menu of today").acknowledged()
    assert await bot.rows("messages") == []


async def test_its_own_messages_are_never_questions(bot: Served, slack: FakeSlack) -> None:
    """Bolt drops them by the user; here what tells is missing one by one."""
    ws = slack.workspace
    text = f"{slack.mention} how tall is it?"
    metadata = {"event_type": "footnote_run", "event_payload": {"run": "r1", "part": 0}}
    for user, bot_id, told in (
        (BOT_USER, BOT_ID, None),
        ("", BOT_ID, None),
        (BOT_USER, "B7", None),
        ("", "B7", metadata),
    ):
        message = Message("C1", ws.clock.ts(), user, text, bot_id=bot_id)
        event = message_posted(ws, ws.keep(message))
        event = {**event, **({"metadata": told} if told else {})}
        if not user:
            del event["user"]
        await slack.deliver(Delivery(EVENT, callback(ws, event))).acknowledged()
    assert await bot.rows("messages") == []


async def test_an_app_asks_so_often_and_no_more(
    bot: Served, slack: FakeSlack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access, "APP_QUESTIONS", 2)
    said: list[Doing] = []
    for number in range(4):
        words = f"{slack.mention} question {number}"
        said.append(await slack.say_as_app(FLOW, "C1", words).acknowledged())
    for doing in said:  # delivered again they count once
        for delivery in doing.deliveries:
            await slack.redeliver(delivery).acknowledged()
    await slack.say_as_app(PAGER, "C1", f"{slack.mention} mine").acknowledged()
    await slack.say("U1", "C1", f"{slack.mention} and mine").acknowledged()
    asked = [row["text"] for row in await bot.rows("messages")]
    assert asked == ["question 0", "question 1", "mine", "and mine"]


# ---------------------------------------------------------------- guests among apps


@pytest.mark.parametrize(
    ("event", "guest"),
    [
        ({"bot_id": "B1", "is_ext_shared_channel": False}, False),
        ({"bot_id": "B1", "is_ext_shared_channel": True}, True),
        ({"bot_id": "B1"}, True),
        ({"bot_id": "B1", "bot_profile": {"team_id": "T1"}}, False),
        ({"bot_id": "B1", "bot_profile": {"team_id": "T2"}}, True),
        ({"bot_id": "B1", "user_team": "T1", "team": "T2"}, False),
        ({"bot_id": "B1", "team": "T2"}, True),
    ],
)
def test_an_app_that_another_team_can_have_installed_is_a_guest(
    event: dict[str, Any], guest: bool
) -> None:
    place = Place.of_event(event, event.get(SHARED))
    message = parse_message({"ts": "1.1", **event}, "C1", place)
    assert app_of(message, Home("T1")).guest is guest


# ---------------------------------------------------------------- as the subject of others


async def test_research_this_reads_the_blocks_of_an_app(bot: Served, slack: FakeSlack) -> None:
    blocks = [
        {"type": "header", "block_id": "h", "text": {"type": "plain_text", "text": "Disk full"}},
        a_section("The disk of <https://db1.example.org|db1> is full."),
    ]
    said = await slack.say_as_app(FLOW, "C1", "Alarm", blocks=blocks).acknowledged()
    await slack.shortcut("U1", "research_this", "C1", said.ts).acknowledged()
    (message,) = await bot.questions(1)
    assert message.text == "Disk full\nThe disk of [db1](https://db1.example.org) is full."
    assert message.links == ("https://db1.example.org",)
    assert message.author.id == "U1"


# ---------------------------------------------------------------- edits without an author


@pytest.mark.parametrize("known", ["before", "editor", "nowhere"])
async def test_an_edit_that_does_not_name_its_author_is_an_edit(
    bot: Served, slack: FakeSlack, known: str
) -> None:
    said = await slack.say("U1", "C1", f"{slack.mention} how tall is it?").acknowledged()
    await bot.ended(1)
    await edited(slack, said, f"{slack.mention} how wide is it?", known)
    assert [row["text"] for row in await bot.rows("messages")] == ["how wide is it?"]


@pytest.mark.parametrize(("known", "asked"), [("before", 1), ("editor", 1), ("nowhere", 0)])
async def test_an_edit_asks_for_the_first_time_where_its_author_is_known(
    bot: Served, slack: FakeSlack, known: str, asked: int
) -> None:
    said = await slack.say("U1", "C1", "lunch?").acknowledged()
    await edited(slack, said, f"{slack.mention} lunch?", known)
    assert [row["author_id"] for row in await bot.rows("messages")] == ["U1"] * asked


async def edited(slack: FakeSlack, said: Doing, text: str, known: str) -> None:
    """Deliver an edit of a message in which only one part of the event names the author."""
    ws = slack.workspace
    message = ws.find("C1", said.ts)
    assert message is not None
    before = ws.message_json(message)
    message.text = text
    event = message_changed(ws, message, before)
    del event["message"]["user"]
    if known != "before":
        del event["previous_message"]["user"]
    if known == "editor":
        event["message"]["edited"] = {"user": "U1", "ts": event["ts"]}
    await slack.deliver(Delivery(EVENT, callback(ws, event))).acknowledged()
