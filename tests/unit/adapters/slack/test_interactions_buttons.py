"""The controls under an answer, and the message shortcut."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.slack import format as controls
from adapters.slack.interactions import CONTROLS, meaning_of
from bot.core.messages import Answer
from bot.core.texts import texts_for
from bot.service.buttons import Feedback, FollowUp, OnRun, Press
from bot.storage.workspaces import REASONS, Reason
from tests.fakes.slack import FakeSlack
from tests.fakes.slack_people import Doing
from tests.fakes.slack_screen import plain
from tests.fakes.slack_workspace import BOT_ID, BOT_USER, Message
from tests.unit.adapters.slack.serving import Served, served

NONSENSE = f"{controls.REASON}_nonsense"  # the id of a control that means nothing


def a_button(action_id: str, value: str) -> dict[str, Any]:
    text = {"type": "plain_text", "text": action_id}
    return {"type": "button", "action_id": action_id, "value": value, "text": text}


def reasons_of(run: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = controls.reason_blocks(run, texts_for("en"))[1]["elements"]
    return found


def a_menu(*values: str) -> dict[str, Any]:
    text = {"type": "plain_text", "text": "And next?"}
    return {
        "type": "static_select",
        "action_id": controls.FOLLOW_UP,
        "placeholder": text,
        "options": [{"text": text, "value": value} for value in values],
    }


async def an_answer(bot: Served, slack: FakeSlack) -> tuple[str, str]:
    """Ask something; returns the run and the ts of a message with buttons about it."""
    said = await slack.say("U1", "C1", f"{slack.mention} how tall is the tower?").acknowledged()
    await bot.questions(1)
    run = bot.poster.replies[0].run.id
    buttons = [
        a_button(controls.DEEPER, run),
        a_button(controls.WATCH, run),
        a_button(controls.STOP, run),
        a_button(controls.DETAILS, run),
        a_menu(f"{run}:0"),
        a_button(NONSENSE, "nonsense"),
    ]
    blocks = [{"type": "actions", "block_id": "b", "elements": buttons}]
    answer = Answer("answered", "330 m", "How tall?", run=run)
    (feedback,) = controls.closing(answer, texts_for("en"), depth="deep", asker="U1")
    blocks.append({"block_id": "c", **feedback})
    ts = slack.workspace.clock.ts()
    reply = Message("C1", ts, BOT_USER, "330 m", said.ts, blocks=blocks, bot_id=BOT_ID)
    slack.workspace.keep(reply)
    return run, ts


async def told(slack: FakeSlack, doing: Doing) -> str:
    """The text shown to the person who pressed; the message with the button stays."""
    await doing.acknowledged()
    assert doing.response_url is not None
    url = doing.response_url
    (answer,) = await slack.until(lambda: slack.response_urls.received(url))
    assert answer["response_type"] == "ephemeral"
    assert answer["replace_original"] is False
    return str(answer["text"])


async def test_the_last_feedback_is_kept_and_slack_shows_it(bot: Served, slack: FakeSlack) -> None:
    run, reply = await an_answer(bot, slack)
    for verdict in ("bad", "good"):
        pressed = slack.press("U2", reply, controls.FEEDBACK, f"{verdict}:{run}", channel="C1")
        await pressed.acknowledged()
    (kept,) = await bot.rows("feedback")
    assert (kept["run_id"], kept["author_id"], kept["verdict"]) == (run, "U2", "good")
    asked = [one for one in slack.messages("C1") if one.ephemeral_to == "U2"]
    assert slack.response_urls.received(str(pressed.response_url)) == []
    assert len(asked) <= 1, "only what was wrong is asked"


async def test_an_answer_is_deleted_by_its_asker_only(bot: Served, slack: FakeSlack) -> None:
    run, reply = await an_answer(bot, slack)
    await bot.ended(1)
    message = slack.workspace.find("C1", reply)
    assert message is not None
    trash = message.blocks[-1]["elements"][-1]
    assert trash["visible_to_user_ids"] == ["U1"]
    trash["visible_to_user_ids"] = ["U2"]  # what is shown protects nothing
    pressed = slack.press("U2", reply, controls.DELETE, channel="C1")
    assert "只有提問的人" in await told(slack, pressed)
    assert [row["text"] != "" for row in await bot.rows("messages")] == [True]

    trash["visible_to_user_ids"] = ["U1"]
    await slack.press("U1", reply, controls.DELETE, channel="C1").acknowledged()
    assert [row["text"] for row in await bot.rows("messages")] == [""]
    await bot.until(lambda: [id for id, _ in bot.poster.removed] == [run])


@pytest.mark.parametrize("reason", REASONS)
async def test_who_was_not_helped_may_say_why(
    bot: Served, slack: FakeSlack, reason: Reason
) -> None:
    run, reply = await an_answer(bot, slack)
    pressed = slack.press("U2", reply, controls.FEEDBACK, f"bad:{run}", channel="C1")
    assert "有什麼問題" in await told(slack, pressed)
    (kept,) = await bot.rows("feedback")
    assert (kept["run_id"], kept["verdict"], kept["reason"]) == (run, "bad", "")

    (question,) = [one for one in slack.messages("C1") if one.ephemeral_to == "U2"]
    assert len(question.elements()) == len(REASONS)
    chosen = slack.press("U2", question, f"{controls.REASON}_{reason}")
    await chosen.acknowledged()
    (answer,) = await slack.until(lambda: slack.response_urls.received(str(chosen.response_url)))
    assert answer["replace_original"] is True
    (thanks,) = [one for one in slack.messages("C1") if one.ephemeral_to == "U2"]
    assert "謝謝" in thanks.text
    assert thanks.elements() == []
    (kept,) = await bot.rows("feedback")
    assert (kept["author_id"], kept["verdict"], kept["reason"]) == ("U2", "bad", reason)


async def test_a_reason_for_an_answer_that_is_gone_is_told(bot: Served, slack: FakeSlack) -> None:
    await an_answer(bot, slack)
    asked = [{"type": "actions", "block_id": "b", "elements": reasons_of("gone")}]
    question = Message("C1", slack.workspace.clock.ts(), BOT_USER, "Why?", blocks=asked)
    question.bot_id, question.ephemeral_to = BOT_ID, "U1"
    slack.workspace.keep(question)
    pressed = slack.press("U1", question.ts, f"{controls.REASON}_wrong", channel="C1")
    await pressed.acknowledged()
    (answer,) = await slack.until(lambda: slack.response_urls.received(str(pressed.response_url)))
    assert "no longer exists" in answer["text"]


async def test_watch_this_watches_it_for_the_presser(bot: Served, slack: FakeSlack) -> None:
    _, reply = await an_answer(bot, slack)
    await bot.ended(1)
    pressed = slack.press("U1", reply, controls.WATCH, channel="C1")
    assert "when the answer changes" in await told(slack, pressed)
    (row,) = await bot.rows("watches")
    assert (row["author_id"], row["schedule"], row["state"]) == ("U1", "daily", "watching")


async def test_a_suggestion_that_is_gone_is_told(bot: Served, slack: FakeSlack) -> None:
    _, reply = await an_answer(bot, slack)
    await bot.ended(1)
    pressed = slack.press("U1", reply, controls.FOLLOW_UP, channel="C1")
    assert "suggestion no longer exists" in await told(slack, pressed)


async def test_a_denied_press_is_told_why(slack: FakeSlack, tmp_path: Path) -> None:
    async with served(slack, tmp_path, deny_users="U2") as bot:
        _, reply = await an_answer(bot, slack)
        pressed = slack.press("U2", reply, controls.DEEPER, channel="C1")
        assert "不在" in await told(slack, pressed)
        assert len(await bot.rows("runs")) == 1


async def test_a_press_that_carries_nonsense_is_acknowledged(bot: Served, slack: FakeSlack) -> None:
    _, reply = await an_answer(bot, slack)
    await slack.press("U1", reply, NONSENSE, channel="C1").acknowledged()
    assert await bot.rows("feedback") == []


# ---------------------------------------------------------------- sources, and how it was found


async def test_the_details_are_a_modal_for_the_presser(bot: Served, slack: FakeSlack) -> None:
    run, reply = await an_answer(bot, slack)
    await bot.ended(1)
    pressed = await slack.press("U1", reply, controls.DETAILS, channel="C1").acknowledged()
    (view,) = slack.workspace.modals
    assert run in plain(view["blocks"])
    assert slack.response_urls.received(str(pressed.response_url)) == []


async def test_an_answer_is_explained_only_where_it_stands(bot: Served, slack: FakeSlack) -> None:
    run, _ = await an_answer(bot, slack)
    await bot.ended(1)
    slack.add_channel("C7", "elsewhere", members=["U2"])
    blocks = [{"type": "actions", "block_id": "b", "elements": [a_button(controls.DETAILS, run)]}]
    ts = slack.workspace.clock.ts()
    slack.workspace.keep(Message("C7", ts, BOT_USER, "330 m", blocks=blocks, bot_id=BOT_ID))
    pressed = slack.press("U2", ts, controls.DETAILS, channel="C7")
    await told(slack, pressed)
    assert slack.workspace.modals == []


async def test_details_without_an_answer_are_explained(slow_bot: Served, slack: FakeSlack) -> None:
    _, reply = await an_answer(slow_bot, slack)
    pressed = slack.press("U1", reply, controls.DETAILS, channel="C1")
    assert "no longer exists" in await told(slack, pressed)


async def test_details_that_slack_does_not_take_any_more_are_explained(
    bot: Served, slack: FakeSlack
) -> None:
    _, reply = await an_answer(bot, slack)
    await bot.ended(1)
    slack.refuse("views.open", "expired_trigger_id")
    pressed = slack.press("U1", reply, controls.DETAILS, channel="C1")
    assert "did not work" in await told(slack, pressed)


# ---------------------------------------------------------------- Research this


async def test_a_message_is_researched_in_its_thread(bot: Served, slack: FakeSlack) -> None:
    file = slack.add_file("U2", "notes.txt", b"Tower notes")
    said = slack.say("U2", "C1", "the *tower* at https://example.org is tall", files=[file])
    pressed = await slack.shortcut("U1", "research_this", "C1", said.ts).acknowledged()
    (message,) = await bot.questions(1)
    assert bot.poster.replies[0].saved == {
        "command": {"channel": "C1", "user": "U1", "response_url": pressed.response_url}
    }
    assert message.text == "the **tower** at https://example.org is tall"
    assert message.author.name == "ada"
    assert message.links == ("https://example.org",)
    assert [one.name for one in message.attachments] == ["notes.txt"]
    assert message.thread.thread == said.ts


async def test_the_facts_of_a_message_are_checked_in_its_thread(
    bot: Served, slack: FakeSlack
) -> None:
    said = slack.say("U2", "C1", "The tower is 300 m tall.")
    await slack.shortcut("U1", "research_this", "C1", said.ts).acknowledged()
    await slack.shortcut("U1", "check_facts", "C1", said.ts).acknowledged()
    researched, checked = await bot.questions(2)
    assert (researched.text, researched.thread) == (checked.text, checked.thread)
    styles = [reply.run.options.style for reply in bot.poster.replies]
    assert sorted(styles) == ["auto", "check"]


async def test_a_reply_is_researched_in_the_thread_it_is_in(bot: Served, slack: FakeSlack) -> None:
    root = slack.say("U2", "C1", "look at this")
    said = slack.say("U2", "C1", "the tower is tall", root.ts)
    await slack.shortcut("U1", "research_this", "C1", said.ts).acknowledged()
    assert (await bot.questions(1))[0].thread.thread == root.ts


async def test_a_double_click_is_one_question_and_another_person_is_another(
    bot: Served, slack: FakeSlack
) -> None:
    said = slack.say("U2", "C1", "the tower is tall")
    for user in ("U1", "U1", "U2"):
        await slack.shortcut(user, "research_this", "C1", said.ts).acknowledged()
    assert [one.author.id for one in await bot.questions(2)] == ["U1", "U2"]
    assert len(await bot.rows("runs")) == 2


@pytest.mark.parametrize("ours", [True, False])
async def test_what_footnote_posted_is_researched_with_what_it_was_made_from(
    bot: Served, slack: FakeSlack, ours: bool
) -> None:
    run, reply = await an_answer(bot, slack)
    await bot.ended(1)
    answer = Answer("answered", "330 m", "How tall?", run, documents=("file:///hr/tower.md",))
    await bot.store.save_answer(run, 1, answer)
    first = (await bot.questions(1))[0].thread.thread
    said = reply if ours else slack.say("U2", "C1", "Is it?", first).ts
    await slack.shortcut("U1", "research_this", "C1", said).acknowledged()
    asked = (await bot.questions(2))[1]
    assert asked.thread.thread == first
    assert asked.made_from.urls == (answer.documents if ours else ())


async def test_a_message_without_words_is_told(bot: Served, slack: FakeSlack) -> None:
    message = Message("C1", slack.workspace.clock.ts(), "U2", "")
    slack.workspace.keep(message)
    doing = slack.shortcut("U1", "research_this", "C1", message.ts)
    assert "What would you like to know?" in await told(slack, doing)


@pytest.mark.parametrize("kind", ["shortcut", "deeper"])
async def test_what_cannot_be_kept_is_told(bot: Served, slack: FakeSlack, kind: str) -> None:
    _, reply = await an_answer(bot, slack)
    bot.reception.failures = 1
    if kind == "shortcut":
        doing = slack.shortcut("U1", "research_this", "C1", reply)
    else:
        doing = slack.press("U1", reply, controls.DEEPER, channel="C1")
    assert "try again" in await told(slack, doing)
    assert len(await bot.rows("runs")) == 1


@pytest.mark.parametrize("kind", ["shortcut", "deeper"])
async def test_what_takes_long_to_keep_is_kept_and_not_told_to_be_repeated(
    bot: Served, slack: FakeSlack, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.slack.deferred.ACK_SECONDS", 0.1)
    _, reply = await an_answer(bot, slack)
    bot.reception.let_on = asyncio.Event()
    if kind == "shortcut":
        doing = slack.shortcut("U1", "research_this", "C1", reply)
    else:
        doing = slack.press("U1", reply, controls.DEEPER, channel="C1")
    await doing.acknowledged()
    assert len(await bot.rows("runs")) == 1
    bot.reception.let_on.set()
    await bot.questions(2)
    assert slack.response_urls.received(str(doing.response_url)) == []


async def test_a_press_that_fails_late_is_told_then(
    bot: Served, slack: FakeSlack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.slack.deferred.ACK_SECONDS", 0.1)
    _, reply = await an_answer(bot, slack)
    bot.reception.let_on, bot.reception.failures = asyncio.Event(), 1
    doing = await slack.press("U1", reply, controls.DEEPER, channel="C1").acknowledged()
    assert slack.response_urls.received(str(doing.response_url)) == []
    bot.reception.let_on.set()
    assert "try again" in await told(slack, doing)


# ---------------------------------------------------------------- the values of the controls


RUNS = st.text("0123456789abcdef", min_size=12, max_size=12)


@given(RUNS, st.integers(0, 9))
def test_what_a_control_carries_comes_back(run: str, number: int) -> None:
    for action, value, press in (
        (controls.FEEDBACK, f"good:{run}", Feedback(run, "good")),
        (controls.FEEDBACK, f"bad:{run}", Feedback(run, "bad")),
        (controls.DELETE, run, OnRun("delete", run)),
        (controls.DEEPER, run, OnRun("deeper", run)),
        (controls.DETAILS, run, OnRun("details", run)),
        (controls.STOP, run, OnRun("stop", run)),
        (controls.FOLLOW_UP, f"{run}:{number}", FollowUp(run, number)),
    ):
        assert meaning_of(action, value) == press
        assert CONTROLS.fullmatch(action)


@pytest.mark.parametrize(
    ("action", "value"),
    [
        ("footnote_feedback", "abc"),
        ("footnote_feedback", "fine:abc"),
        ("footnote_feedback", "good:"),
        ("footnote_delete", "a b"),
        ("footnote_details", "a b"),
        ("footnote_deeper", ""),
        ("footnote_deeper", "a b"),
        ("footnote_stop", "abc:1"),
        ("footnote_follow-ups", "abc"),
        ("footnote_follow-ups", "abc:-1"),
        ("footnote_follow-ups", "abc:999999"),
        ("other", "abc"),
    ],
)
def test_nonsense_means_nothing(action: str, value: str) -> None:
    assert meaning_of(action, value) is None


@given(st.text(), st.text())
def test_nothing_that_is_sent_breaks_it(action: str, value: str) -> None:
    assert isinstance(meaning_of(action, value), Press | None)
