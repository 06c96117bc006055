"""The context of a question: the command it came by, what was said before, and files."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from bot.core.errors import FootnoteError, PlatformUnavailable, PostRefused
from bot.core.messages import Attachment, Thread
from tests.contract.harness import Desk
from tests.contract.slack_harness import ADA, CHANNEL, QUICK, SlackHarness
from tests.fakes.slack import FakeSlack
from tests.fakes.slack_people import pasted_table
from tests.fakes.slack_workspace import App
from tests.unit.adapters.slack.way_out import (
    a_plan,
    an_answer,
    desk,
    methods,
    slack,
    stage,
)

__all__ = ["desk", "slack", "stage"]


# ---------------------------------------------------------------- commands


def a_command(stage: SlackHarness) -> tuple[Desk, dict[str, Any]]:
    done = stage.slack.command(ADA, CHANNEL, "/ask", "How tall is <!channel> & co?")
    asked = stage.ask("unused")
    thread = Thread("slack", stage.slack.team, CHANNEL, "pending-77")
    message = replace(
        asked, event_id=f"{CHANNEL}:command:77", thread=thread, text="How tall is <!channel> & co?"
    )
    state = {"command": {"channel": CHANNEL, "user": ADA, "response_url": done.response_url}}
    return Desk(message), state


async def test_a_command_begins_a_thread_with_its_question(stage: SlackHarness) -> None:
    desk, state = a_command(stage)
    reply = await stage.poster().open(desk.run(), state)
    reply.progress(a_plan())
    await reply.finish(an_answer())
    (thread,) = desk.moved
    root, answer = stage.slack.messages(CHANNEL, thread.thread)
    assert "ada asked: How tall is" in root.seen
    assert "& co?" in root.seen
    assert "<!channel>" not in root.seen + root.text
    assert "330 m tall" in answer.seen


@pytest.mark.parametrize(
    "question",
    [
        "why " * 5_000,
        "\u4e3a\u4ec0\u4e48" * 6_600,
        "a.io/b " * 2_850,
        "<@U " * 5_000,
        "why?\n\n" * 3_300,
    ],
)
async def test_a_commands_long_question_is_shown_in_part(
    stage: SlackHarness, slack: FakeSlack, question: str
) -> None:
    desk, state = a_command(stage)
    desk = Desk(replace(desk.message, text=question))
    reply = await stage.poster().open(desk.run(), state)
    await reply.finish(an_answer())
    root, answer = stage.slack.messages(CHANNEL, desk.moved[0].thread)
    (block,) = root.blocks
    assert 5_000 < len(block["text"]) <= 12_000
    assert block["text"].endswith("…")
    assert "330 m tall" in answer.seen
    assert slack.response_urls.received(state["command"]["response_url"]) == []


@pytest.mark.parametrize("dies", ["before it is known where", "before the run has its thread"])
async def test_a_commands_question_is_posted_once(
    stage: SlackHarness, slack: FakeSlack, dies: str
) -> None:
    class Killed(BaseException):
        pass

    desk, state = a_command(stage)
    run = desk.run()

    async def move(thread: Thread) -> None:
        raise Killed

    if "where" in dies:
        slack.cut("chat.postMessage")
        timing = replace(QUICK, patience=0.0)
        with pytest.raises(PlatformUnavailable):
            await stage.poster(timing).open(run, state)
    else:
        with pytest.raises(Killed):
            await stage.poster().open(replace(run, move=move), state)
    reply = await stage.poster().open(desk.run(), desk.saved)
    await reply.finish(an_answer())
    roots = [one for one in slack.messages(CHANNEL) if "asked: How tall" in one.seen]
    assert len(roots) == 1
    assert desk.moved[-1].thread == roots[0].ts


async def test_a_command_where_footnote_may_not_write_is_told_to_the_asker(
    stage: SlackHarness, slack: FakeSlack
) -> None:
    desk, state = a_command(stage)
    slack.refuse("chat.postMessage", "not_in_channel")
    with pytest.raises(PostRefused):
        await stage.poster().open(desk.run(), state)
    (told,) = slack.response_urls.received(state["command"]["response_url"])
    assert "not allowed to write" in told["text"]


# ---------------------------------------------------------------- suggestions


def a_suggestion(stage: SlackHarness) -> Desk:
    """The run of a suggestion that somebody pressed in an answer's thread."""
    asked = stage.ask("How tall is it?")
    return Desk(
        replace(asked, event_id="run0:follow-up:0a1b2c", text="How <!channel> old & wide is it?"),
        run_id="run1",
    )


def questions(slack: FakeSlack, desk: Desk) -> list[str]:
    shown = slack.replies(CHANNEL, desk.message.thread.thread)
    return [one.seen for one in shown if "asked: How" in one.seen]


async def test_a_pressed_suggestion_is_shown_before_its_answer(stage: SlackHarness) -> None:
    desk = a_suggestion(stage)
    reply = await stage.poster().open(desk.run(), None)
    reply.progress(a_plan())
    await reply.finish(an_answer())
    question, answer = stage.posts(desk.message)
    assert question.seen.startswith("ada asked: How")
    assert "old & wide is it?" in question.seen
    assert question.pings == []
    assert "330 m tall" in answer.seen


@pytest.mark.parametrize("cut", [False, True])
async def test_a_pressed_suggestion_is_shown_once(
    stage: SlackHarness, slack: FakeSlack, cut: bool
) -> None:
    desk = a_suggestion(stage)
    if cut:  # it arrives, and that is not known
        slack.cut("chat.postMessage")
        with pytest.raises(PlatformUnavailable):
            await stage.poster().open(desk.run(), None)
    else:
        reply = await stage.poster().open(desk.run(), None)
        await reply.abandon()
    for _ in range(2):
        reply = await stage.poster().open(desk.run(), desk.saved)
        await reply.finish(an_answer())
    assert len(questions(slack, desk)) == 1
    assert len(stage.posts(desk.message)) == 2


async def test_a_suggestion_waits_for_its_turn_and_is_shown_then(
    stage: SlackHarness, slack: FakeSlack
) -> None:
    desk = a_suggestion(stage)
    slack.storm("chat.postMessage", 1, retry_after=30)
    with pytest.raises(PlatformUnavailable):
        await stage.poster().open(desk.run(), None)
    reply = await stage.poster().open(desk.run(), desk.saved)
    await reply.finish(an_answer())
    assert len(questions(slack, desk)) == 1


async def test_what_was_shown_of_a_suggestion_goes_with_its_answer(stage: SlackHarness) -> None:
    desk = a_suggestion(stage)
    reply = await stage.poster().open(desk.run(), None)
    await reply.finish(an_answer())
    for _ in range(2):
        await stage.poster().remove(desk.run(), desk.saved)
    assert stage.posts(desk.message) == []


# ---------------------------------------------------------------- history and files


async def test_a_long_thread_is_read_in_pages_to_its_latest_messages(
    stage: SlackHarness, slack: FakeSlack, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.slack.delivery.PAGE_MESSAGES", 7)
    monkeypatch.setattr("adapters.slack.poster.MESSAGES", 20)
    for number in range(30):
        stage.say_in(desk.message, f"said {number}")
    later = Desk(stage.ask_in(desk.message, "And how old?"))
    said = await stage.poster().history(later.run())
    assert [message.text for message in said] == [f"said {n}" for n in range(10, 30)]
    assert methods(slack).count("conversations.replies") > 3
    assert methods(slack).count("users.info") == 1


async def test_a_restricted_app_waits_for_history_no_longer_than_it_may(
    stage: SlackHarness, slack: FakeSlack, desk: Desk
) -> None:
    slack.restrict_reading()
    for number in range(30):
        stage.say_in(desk.message, f"said {number}")
    later = Desk(stage.ask_in(desk.message, "And how old?"))
    async with asyncio.timeout(60):
        with pytest.raises(FootnoteError) as late:
            await stage.poster().history(later.run())
    assert "in time" in late.value.sentence


async def test_what_apps_show_in_blocks_and_attachments_was_said_in_the_thread(
    stage: SlackHarness, slack: FakeSlack, desk: Desk
) -> None:
    thread = desk.message.thread.thread
    blocks = [{"type": "section", "block_id": "s", "text": {"type": "mrkdwn", "text": "*Full*"}}]
    slack.say_as_app(App("B9", "Alarms"), CHANNEL, "New alarm", thread, blocks=blocks)
    pager = App("B8", "Pager", user="U8")
    slack.say_as_app(pager, CHANNEL, "", thread, attachments=[{"id": 1, "text": "Since <@U1>"}])
    later = Desk(stage.ask_in(desk.message, "And how old?"))
    said = list(await stage.poster().history(later.run()))[-2:]
    assert [(one.author.name, one.text) for one in said] == [
        ("Alarms", "**Full**"),
        ("Pager", "Since @ada"),
    ]


async def test_forwards_tables_and_files_were_said_in_the_thread(
    stage: SlackHarness, slack: FakeSlack, desk: Desk
) -> None:
    slack.add_stranger("U9", "eve", "T9OTHER")
    slack.workspace.channels[CHANNEL].members.add("U9")
    thread = desk.message.thread.thread
    theirs = slack.add_file("U9", "theirs.txt", b"x")
    gone = slack.add_file("U9", "gone.txt", b"x")
    gone.deleted = True
    table = pasted_table([["Lift"], ["A"]])
    said = slack.say("U9", CHANNEL, "", thread, files=[theirs, gone], attachments=[table])
    shared = slack.forwarded(CHANNEL, said.ts)
    slack.say(ADA, CHANNEL, "See:", thread, attachments=[shared])
    later = Desk(stage.ask_in(desk.message, "And how old?"))
    by_eve, by_ada = list(await stage.poster().history(later.run()))[-2:]
    assert by_eve.text == "| Lift |\n| --- |\n| A |"
    assert by_ada.text.startswith("See:\n\n> Eve, #")
    assert by_ada.text.endswith(":\n> | Lift |\n> | --- |\n> | A |")
    for message in (by_eve, by_ada):
        files = [(file.name, file.unread) for file in message.attachments]
        assert files == [("theirs.txt", ""), (gone.id, "file-gone")]


async def test_direct_messages_have_no_history_to_read(
    stage: SlackHarness, slack: FakeSlack, desk: Desk
) -> None:
    thread = Thread("slack", slack.team, slack.im(ADA), "1700000000.000100")
    message = replace(desk.message, thread=thread, event_id="D1:1700000001.000100")
    assert list(await stage.poster().history(Desk(message).run())) == []
    assert "conversations.replies" not in methods(slack)


async def test_research_about_a_message_reads_the_thread_around_it(
    stage: SlackHarness, desk: Desk
) -> None:
    stage.say_in(desk.message, "I was there")
    about = replace(desk.message, event_id=f"{desk.message.event_id}:research:U1")
    said = await stage.poster().history(Desk(about).run())
    assert [message.text for message in said] == ["I was there"]


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/files-pri/T1-F1/x.txt",
        "https://slack.com.evil.example/x.txt",
        "https://evil.example/slack.com",
        "http://files.slack.com/x.txt",
        "https://files.slack.com:8443/x.txt",
        "https://user@evil.example:443/x.txt",
        "file:///etc/passwd",
        "nonsense",
    ],
)
async def test_the_token_goes_to_slack_only(stage: SlackHarness, desk: Desk, url: str) -> None:
    file = Attachment("x.txt", "text/plain", url)
    with pytest.raises(PostRefused):
        await stage.poster().download(desk.run(), file, 1_000)


async def test_a_file_without_the_right_to_read_it_is_refused_with_the_scope(
    stage: SlackHarness, slack: FakeSlack, desk: Desk
) -> None:
    file = stage.share("towers.txt", b"All about towers.")
    slack.workspace.scopes.discard("files:read")
    with pytest.raises(PostRefused) as refused:
        await stage.poster().download(desk.run(), file, 1_000)
    assert "files:read" in refused.value.sentence
