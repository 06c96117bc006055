"""What people send besides words arrives in the core: forwards, tables, files, bare mentions."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.fakes.slack import FakeSlack
from tests.fakes.slack_people import pasted_table
from tests.fakes.slack_workspace import BOT_ID, App
from tests.unit.adapters.slack.serving import Served

PRICES = [["Lift", "Price"], ["A", "120"]]
IN_MARKDOWN = "| Lift | Price |\n| --- | --- |\n| A | 120 |"


@pytest.fixture(autouse=True)
def another_channel(slack: FakeSlack) -> None:
    slack.add_channel("C2", "ops", members=["U1", "U2"], bot=False)


def said_by_grace(slack: FakeSlack, text: str = "The Tower ~sinks~ grows.") -> dict[str, Any]:
    said = slack.say("U2", "C2", text)
    return slack.forwarded("C2", said.ts)


def today(slack: FakeSlack) -> str:
    at = datetime.fromtimestamp(slack.workspace.clock.now(), UTC)
    return f"{at.day} {at:%B %Y}"


# ---------------------------------------------------------------- forwards and tables


async def test_a_forward_with_a_comment_is_read_with_its_author_and_place(
    bot: Served, slack: FakeSlack
) -> None:
    shared = said_by_grace(slack)
    await slack.say("U1", "C1", f"{slack.mention} is it?", attachments=[shared]).acknowledged()
    (message,) = await bot.questions(1)
    quoted = f"> Grace, #ops, {today(slack)}:\n> The Tower ~~sinks~~ grows."
    assert message.text == f"is it?\n\n{quoted}"
    assert message.author.id == "U1"


async def test_a_forward_alone_is_a_question_in_a_direct_message(
    bot: Served, slack: FakeSlack
) -> None:
    shared = said_by_grace(slack, "How tall is https://example.org/tower ?")
    await slack.say("U1", slack.im("U1"), "", attachments=[shared]).acknowledged()
    (message,) = await bot.questions(1)
    assert message.text.endswith("\n> How tall is https://example.org/tower ?")
    assert message.links == ("https://example.org/tower",)


async def test_a_mention_that_is_only_quoted_does_not_ask(bot: Served, slack: FakeSlack) -> None:
    shared = said_by_grace(slack, f"{slack.mention} how tall is it?")
    await slack.say("U1", "C1", "look", attachments=[shared]).acknowledged()
    await slack.say("U1", "C1", f"> {slack.mention} how tall?\nhm").acknowledged()
    await slack.say("U1", "C1", f"{slack.mention} and how old?").acknowledged()
    assert [message.text for message in await bot.questions(1)] == ["and how old?"]


async def test_a_pasted_table_is_read(bot: Served, slack: FakeSlack) -> None:
    table = pasted_table(PRICES)
    await slack.say("U1", "C1", f"{slack.mention} which?", attachments=[table]).acknowledged()
    assert [message.text for message in await bot.questions(1)] == [f"which?\n\n{IN_MARKDOWN}"]


async def test_a_preview_that_slack_adds_does_not_ask_again_but_a_message_shown_does(
    bot: Served, slack: FakeSlack
) -> None:
    said = await slack.say("U1", "C1", f"{slack.mention} https://a.io so?").acknowledged()
    await bot.ended(1)
    await slack.unfurl("C1", said.ts, "https://a.io").acknowledged()
    assert [row["text"] for row in await bot.rows("messages")] == ["https://a.io so?"]
    shared = {**said_by_grace(slack, "It is."), "is_share": False}
    await slack.unfurl("C1", said.ts, "", shown=shared).acknowledged()
    (kept,) = [row["text"] for row in await bot.rows("messages")]
    assert kept.startswith("https://a.io so?\n\n> Grace, #ops,")


async def test_research_this_reads_a_forward(bot: Served, slack: FakeSlack) -> None:
    said = slack.say("U2", "C1", "", attachments=[said_by_grace(slack, "It is 330 m tall.")])
    await slack.shortcut("U1", "research_this", "C1", said.ts).acknowledged()
    (message,) = await bot.questions(1)
    assert message.text.endswith(":\n> It is 330 m tall.")


# ---------------------------------------------------------------- files


async def test_a_file_of_another_team_is_looked_up(bot: Served, slack: FakeSlack) -> None:
    slack.add_stranger("U9", "eve", "T9OTHER")
    slack.workspace.channels["C1"].members.add("U9")
    file = slack.add_file("U9", "notes.txt", b"Tower notes")
    await slack.say("U9", "C1", f"{slack.mention} what is it?", files=[file]).acknowledged()
    (message,) = await bot.questions(1)
    (read,) = message.attachments
    assert (read.name, read.media_type, read.unread) == ("notes.txt", "text/plain", "")
    assert read.download.endswith("/download/notes.txt")


@pytest.mark.parametrize("refusal", ["file_not_found", "missing_scope"])
async def test_a_file_that_slack_does_not_tell_of_is_named_to_the_asker(
    bot: Served, slack: FakeSlack, refusal: str
) -> None:
    slack.add_stranger("U9", "eve", "T9OTHER")
    slack.workspace.channels["C1"].members.add("U9")
    slack.refuse("files.info", refusal)
    file = slack.add_file("U9", "notes.txt", b"Tower notes")
    await slack.say("U9", "C1", slack.mention, files=[file]).acknowledged()
    assert f"could not read the file {file.id}" in await bot.whisper("U9", "C1")
    await slack.say("U9", "C1", f"{slack.mention} how tall?", files=[file]).acknowledged()
    (message,) = await bot.questions(1)
    assert [each.unread for each in message.attachments] == ["file-not-shown"]


@pytest.mark.parametrize(
    ("mode", "why"), [("external", "stored in another service"), ("hidden_by_limit", "hidden")]
)
async def test_a_file_that_cannot_be_read_is_not_a_question(
    bot: Served, slack: FakeSlack, mode: str, why: str
) -> None:
    file = slack.add_file("U1", "notes.txt", b"")
    file.mode = mode
    await slack.say("U1", "C1", slack.mention, files=[file]).acknowledged()
    assert why in await bot.whisper("U1", "C1")
    assert await bot.rows("runs") == []


# ---------------------------------------------------------------- bare mentions


async def test_a_bare_mention_asks_the_message_above(bot: Served, slack: FakeSlack) -> None:
    root = await slack.say("U1", "C1", "A riddle:").acknowledged()
    table, file = pasted_table(PRICES), slack.add_file("U2", "a.txt", b"x")
    await slack.say(
        "U2", "C1", "which, <@U1>?", root.ts, files=[file], attachments=[table]
    ).acknowledged()
    await slack.say("U1", "C1", slack.mention, root.ts).acknowledged()
    (message,) = await bot.questions(1)
    quoted = "\n".join(f"> {line}" for line in IN_MARKDOWN.splitlines())
    assert message.text == f"> grace:\n> which, @ada?\n>\n{quoted}"
    assert [each.name for each in message.attachments] == ["a.txt"]
    assert (message.author.id, message.thread.thread) == ("U1", root.ts)


async def test_a_bare_mention_below_an_app_asks_what_the_app_said(
    bot: Served, slack: FakeSlack
) -> None:
    said = await slack.say_as_app(App("B9FLOW", "Pager"), "C1", "The disk is full.").acknowledged()
    await slack.say("U1", "C1", f"{slack.mention}!", said.ts).acknowledged()
    assert [message.text for message in await bot.questions(1)] == ["> Pager:\n> The disk is full."]


async def test_a_bare_mention_alone_gets_the_sentence(bot: Served, slack: FakeSlack) -> None:
    await slack.say("U1", "C1", slack.mention).acknowledged()
    assert "What would you like to know?" in await bot.whisper("U1", "C1")
    assert await bot.rows("runs") == []


async def test_a_bare_mention_waits_until_slack_lets_the_thread_be_read(
    bot: Served, slack: FakeSlack
) -> None:
    root = await slack.say("U2", "C1", "How tall is it?").acknowledged()
    slack.storm("conversations.replies", 1, retry_after=2)
    said = slack.say("U1", "C1", slack.mention, root.ts)
    await said.acknowledged()
    assert [message.text for message in await bot.questions(1)] == ["> grace:\n> How tall is it?"]


# ---------------------------------------------------------------- people who write through an app

ZAPIER = App("B7ZAP", "Zapier", user="U1")


async def test_a_person_who_writes_through_an_app_is_the_person(
    bot: Served, slack: FakeSlack
) -> None:
    said = await slack.say_as_app(ZAPIER, "C1", f"{slack.mention} how tall is it?").acknowledged()
    await slack.say_as_app(ZAPIER, "C1", "and how old is it?", said.ts).acknowledged()
    await slack.say_as_app(ZAPIER, slack.im("U1"), "how wide is it?").acknowledged()
    asked = await bot.questions(3)
    assert {message.author.name for message in asked} == {"ada"}
    assert {message.text for message in asked} == {
        "how tall is it?",
        "and how old is it?",
        "how wide is it?",
    }


async def test_a_person_who_writes_through_footnotes_own_app_is_not_heard(
    bot: Served, slack: FakeSlack
) -> None:
    own = App(BOT_ID, "Footnote", user="U1")
    await slack.say_as_app(own, "C1", f"{slack.mention} how tall is it?").acknowledged()
    await slack.say_as_app(own, slack.im("U1"), "how tall is it?").acknowledged()
    assert await bot.rows("messages") == []


async def test_a_person_who_writes_through_an_app_asks_so_often_and_no_more(
    bot: Served, slack: FakeSlack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.service.access.APP_QUESTIONS", 2)
    place = slack.im("U1")
    for number in range(4):
        await slack.say_as_app(ZAPIER, place, f"question {number}").acknowledged()
    asked = [row["text"] for row in await bot.rows("messages")]
    assert asked == ["question 0", "question 1"]
