"""The way in of Slack: real bolt on a strict fake, over real sockets, into the real core."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from adapters.slack.listener import only_me
from bot.core.messages import Message
from bot.service.reception import Address
from tests.fakes.slack import FakeSlack
from tests.fakes.slack_delivery import EVENT, Delivery
from tests.fakes.slack_events import callback, message_posted
from tests.fakes.slack_stage import call
from tests.unit.adapters.slack.serving import MANIFEST, Served, served

# ---------------------------------------------------------------- ways in


async def test_a_mention_becomes_a_question(bot: Served, slack: FakeSlack) -> None:
    said = await slack.say("U1", "C1", f"{slack.mention} how tall is the *Tower*?").acknowledged()
    (message,) = await bot.questions(1)
    assert message.text == "how tall is the **Tower**?"
    assert message.author.name == "ada"
    assert message.thread.key == f"slack:{slack.team}:C1:{said.ts}"
    assert message.event_id == f"C1:{said.ts}"


async def test_a_mention_that_arrives_as_two_events_is_one_question(
    bot: Served, slack: FakeSlack
) -> None:
    said = await slack.say("U1", "C1", f"{slack.mention} how tall is it?").acknowledged()
    assert len(said.deliveries) == 2
    assert len(await bot.rows("runs")) == 1


async def test_a_mention_is_heard_where_only_mentions_are_sent(
    bot: Served, slack: FakeSlack
) -> None:
    """An operator may leave the scopes for reading channels out."""
    slack.workspace.scopes.discard("channels:history")
    said = await slack.say("U1", "C1", f"{slack.mention} how tall is it?").acknowledged()
    assert [delivery.event["type"] for delivery in said.deliveries] == ["app_mention"]
    assert [message.text for message in await bot.questions(1)] == ["how tall is it?"]


@pytest.mark.parametrize("user", ["U1", "U9"], ids=["own team", "another team"])
async def test_files_that_arrive_after_their_mention_are_brought_to_the_core(
    bot: Served, slack: FakeSlack, monkeypatch: pytest.MonkeyPatch, user: str
) -> None:
    """Only the ``message`` event has them, and it may come long after the mention began a run."""
    received: list[tuple[str, str, list[str]]] = []
    receive = bot.reception.receive

    async def noting(message: Message, address: Address, **more: Any) -> Any:
        files = [one.name for one in message.attachments]
        received.append((message.event_id, address, files))
        return await receive(message, address, **more)

    monkeypatch.setattr(bot.reception, "receive", noting)
    slack.workspace.scopes.discard("channels:history")
    if user == "U9":
        slack.add_stranger(user, "eve", "T9OTHER")
        slack.workspace.channels["C1"].members.add(user)
    file = slack.add_file(user, "notes.txt", b"Tower notes")
    said = slack.say(user, "C1", f"{slack.mention} what do my notes say?", files=[file])
    await said.acknowledged()
    await bot.questions(1)
    slack.workspace.scopes.add("channels:history")
    posted = slack.workspace.find("C1", said.ts)
    assert posted is not None
    late = slack.tell(message_posted(slack.workspace, posted))
    assert late is not None
    await late.acknowledged()
    again = slack.redeliver(said.deliveries[0])  # of the mention: without files it says nothing new
    await again.acknowledged()
    id = f"C1:{said.ts}"
    assert received == [(id, "footnote", []), (id, "footnote", ["notes.txt"])]
    assert len(await bot.rows("runs")) == 1


async def test_files_alone_are_a_question_about_them(bot: Served, slack: FakeSlack) -> None:
    file = slack.add_file("U1", "notes.txt", b"Tower notes")
    await slack.say("U1", "C1", slack.mention, files=[file]).acknowledged()
    assert [one.text for one in await bot.questions(1)] == ["What does notes.txt say?"]


async def test_direct_messages_begin_a_thread_each(bot: Served, slack: FakeSlack) -> None:
    first = await slack.say("U1", slack.im("U1"), "how tall is it?").acknowledged()
    second = await slack.say("U1", slack.im("U1"), "who built it?").acknowledged()
    third = await slack.say("U1", slack.im("U1"), "and when?", first.ts).acknowledged()
    threads = {message.text: message.thread.thread for message in await bot.questions(3)}
    assert threads == {
        "how tall is it?": first.ts,
        "who built it?": second.ts,
        "and when?": first.ts,
    }
    assert third.ts not in threads.values()


async def test_a_reply_in_its_thread_needs_no_mention(bot: Served, slack: FakeSlack) -> None:
    first = await slack.say("U1", "C1", f"{slack.mention} how tall is it?").acknowledged()
    await slack.say("U2", "C1", "and how old?", first.ts).acknowledged()
    follow_up = (await bot.questions(2))[1]
    assert (follow_up.text, follow_up.author.name) == ("and how old?", "grace")
    assert follow_up.thread.thread == first.ts


async def test_followups_can_be_limited_to_mentions(slack: FakeSlack, tmp_path: Path) -> None:
    async with served(slack, tmp_path, followups="mention") as bot:
        first = await slack.say("U1", "C1", f"{slack.mention} how tall is it?").acknowledged()
        await slack.say("U2", "C1", "and how old?", first.ts).acknowledged()
        await slack.say("U2", "C1", f"{slack.mention} how old?", first.ts).acknowledged()
        assert [one.text for one in await bot.questions(2)] == ["how tall is it?", "how old?"]
        assert "and how old?" in [row["text"] for row in await bot.rows("messages")]


async def test_what_is_said_to_others_in_its_thread_is_only_heard(
    bot: Served, slack: FakeSlack
) -> None:
    first = await slack.say("U1", "C1", f"{slack.mention} how tall is it?").acknowledged()
    await slack.say("U1", "C1", "<@U2> did you know?", first.ts).acknowledged()
    assert len(await bot.rows("runs")) == 1
    assert "@grace did you know?" in [row["text"] for row in await bot.rows("messages")]


async def test_what_others_talk_about_is_none_of_its_business(
    bot: Served, slack: FakeSlack
) -> None:
    said = await slack.say("U1", "C1", "lunch?").acknowledged()
    await slack.say("U2", "C1", "at noon", said.ts).acknowledged()
    assert await bot.rows("messages") == []
    assert slack.calls("users.info") == []


@pytest.mark.parametrize(
    ("user", "text", "locale"),
    [("U1", "什麼是光合作用？", "en-US"), ("U2", "how tall is it?", "zh-TW")],
)
async def test_the_locale_and_the_time_zone_are_the_askers(
    bot: Served, slack: FakeSlack, user: str, text: str, locale: str
) -> None:
    await slack.say(user, "C1", f"{slack.mention} {text}").acknowledged()
    assert [message.locale for message in await bot.questions(1)] == [locale]
    assert [reply.run.options.zone for reply in bot.poster.replies] == ["Asia/Tokyo"]


async def test_mentioned_people_go_by_their_names(bot: Served, slack: FakeSlack) -> None:
    await slack.say("U1", "C1", f"{slack.mention} what did <@U2> publish?").acknowledged()
    assert [one.text for one in await bot.questions(1)] == ["what did @grace publish?"]


@pytest.mark.parametrize("ack_seconds", [30.0])  # a busy machine may need more than Slack's 3
async def test_slow_names_hold_nothing_up(
    bot: Served, slack: FakeSlack, monkeypatch: pytest.MonkeyPatch
) -> None:
    slack.slow(60.0, "users.info")
    monkeypatch.setattr("adapters.slack.teams.PATIENCE_SECONDS", 0.3)
    said = await slack.say("U1", "C1", f"{slack.mention} 法国的首都是哪里？").acknowledged()
    (message,) = await bot.questions(1)
    assert (message.author.name, message.locale) == ("U1", "zh")
    assert all(delivery.ack_seconds for delivery in said.deliveries)  # within 10 s, not 60
    # Once they are slow, the next does not wait at all, however patient it would be.
    monkeypatch.setattr("adapters.slack.teams.PATIENCE_SECONDS", 60.0)
    again = await slack.say("U2", "C1", f"{slack.mention} how tall is it?").acknowledged()
    assert all(delivery.ack_seconds for delivery in again.deliveries)


async def test_names_are_asked_for_once(bot: Served, slack: FakeSlack) -> None:
    for number in range(3):
        await slack.say("U1", "C1", f"{slack.mention} question {number}").acknowledged()
    await bot.questions(3)
    assert len(slack.calls("users.info")) == 1


# ---------------------------------------------------------------- what is no question


async def test_joins_are_ignored(bot: Served, slack: FakeSlack) -> None:
    slack.add_user("U3", "eve")
    joined = slack.join("U3", "C1")
    for delivery in joined.deliveries:
        await delivery.over()
    assert await bot.rows("messages") == []


async def test_an_empty_mention_is_told_how_to_ask(bot: Served, slack: FakeSlack) -> None:
    await slack.say("U1", "C1", slack.mention).acknowledged()
    whisper = await bot.whisper("U1", "C1")
    assert "What would you like to know?" in whisper
    await slack.say("U2", "C1", slack.mention).acknowledged()
    assert "想知道什麼" in await bot.whisper("U2", "C1")
    assert len(slack.calls("chat.postEphemeral")) == 2


async def test_a_denied_asker_is_told_privately_and_once(slack: FakeSlack, tmp_path: Path) -> None:
    async with served(slack, tmp_path, deny_users="U1") as bot:
        await slack.say("U1", "C1", f"{slack.mention} how tall is it?").acknowledged()
        assert "not on the list" in await bot.whisper("U1", "C1")
        assert await bot.rows("runs") == []
        assert len(slack.calls("chat.postEphemeral")) == 1
        assert slack.calls("chat.postMessage") == []


async def test_denied_direct_messages_are_answered_where_they_stand(
    slack: FakeSlack, tmp_path: Path
) -> None:
    async with served(slack, tmp_path, direct_messages=False):
        said = await slack.say("U1", slack.im("U1"), "how tall is it?").acknowledged()
        await slack.until(lambda: slack.replies(slack.im("U1"), said.ts))
        assert "does not take direct messages" in slack.screen(slack.im("U1"), said.ts)


async def test_unknown_events_are_acknowledged(slack: FakeSlack, tmp_path: Path) -> None:
    """An app may be subscribed to more than the manifest says."""
    async with served(slack, tmp_path):
        event = {"type": "team_rename", "name": "New", "event_ts": slack.workspace.clock.ts()}
        delivery = slack.deliver(Delivery(EVENT, callback(slack.workspace, event)))
        await delivery.acknowledged()


@pytest.mark.parametrize("followups", ["thread", "mention"])
async def test_a_private_follow_up_needs_a_mention_where_all_do(
    slack: FakeSlack, tmp_path: Path, followups: str
) -> None:
    async with served(slack, tmp_path, followups=followups) as bot:
        said = await slack.say("U1", "C1", f"{slack.mention} how tall is it?").acknowledged()
        await bot.ended(1)
        await slack.say("U1", "C1", "only me: why?", thread_ts=said.ts).acknowledged()
        await slack.say("U1", "C1", f"{slack.mention} and how old?").acknowledged()
        asked = {message.text for message in await bot.questions(3 - (followups == "mention"))}
        assert ("why?" in asked) is (followups == "thread")


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("only me: why?", "why?"),
        ("Only to me:why?", "why?"),
        (" just for me : why: this?", "why: this?"),
        ("只给我看：为什么？", "为什么？"),
        ("仅限我：为什么？", "为什么？"),
        ("只回答我:為什麼？", "為什麼？"),
        ("僅限我：為什麼？", "為什麼？"),
        ("only me:", ""),
        ("only me", None),
        ("is it only me: or what?", None),
        ("only men: why?", None),
    ],
)
def test_the_words_for_a_private_answer(text: str, question: str | None) -> None:
    assert only_me(text) == question


@pytest.mark.parametrize("text", [":thumbsup:", ":+1::skin-tone-3: :tada:", "👍", "!?"])
async def test_an_emoji_in_its_thread_is_no_question(
    bot: Served, slack: FakeSlack, text: str
) -> None:
    first = await slack.say("U1", "C1", f"{slack.mention} how tall is it?").acknowledged()
    await slack.say("U1", "C1", text, first.ts).acknowledged()
    assert len(await bot.rows("runs")) == 1
    assert slack.calls("chat.postEphemeral") == []


async def test_who_may_not_ask_is_told_once_in_a_thread(slack: FakeSlack, tmp_path: Path) -> None:
    async with served(slack, tmp_path, deny_users="U2") as bot:
        first = await slack.say("U1", "C1", f"{slack.mention} how tall is it?").acknowledged()
        for text in ("I know that", "and how old?", "who built it?"):
            await slack.say("U2", "C1", text, first.ts).acknowledged()
        assert "不在" in await bot.whisper("U2", "C1", first.ts)
        await slack.say("U2", "C1", f"{slack.mention} how old is it?", first.ts).acknowledged()
        await slack.until(lambda: len(slack.calls("chat.postEphemeral")) == 2)


async def test_strangers_are_looked_up_once(bot: Served, slack: FakeSlack) -> None:
    """People of other organizations in shared channels cannot be looked up."""
    slack.refuse("users.info", "user_not_found")
    for number in range(3):
        await slack.say("U1", "C1", f"{slack.mention} question {number}").acknowledged()
    assert [one.author.name for one in await bot.questions(3)] == ["U1"] * 3
    assert len(slack.calls("users.info")) == 1


async def test_looking_people_up_pauses_while_slack_limits_it(
    bot: Served, slack: FakeSlack
) -> None:
    slack.storm("users.info", 5)
    for number in range(3):
        await slack.say("U1", "C1", f"{slack.mention} question {number}").acknowledged()
    await bot.questions(3)
    assert len(slack.calls("users.info")) == 1


async def test_edits_and_deletions_elsewhere_are_none_of_its_business(
    bot: Served, slack: FakeSlack
) -> None:
    said = await slack.say("U1", "C1", "lunch?").acknowledged()
    await slack.edit("C1", said.ts, "dinner?").acknowledged()
    await slack.delete("C1", said.ts).acknowledged()
    assert await bot.rows("messages") == []
    assert slack.calls("users.info") == []


# ---------------------------------------------------------------- edits and deletions


async def test_a_link_preview_is_no_edit(bot: Served, slack: FakeSlack) -> None:
    said = await slack.say("U1", "C1", f"{slack.mention} sum up https://example.org").acknowledged()
    await bot.questions(1)
    await slack.unfurl("C1", said.ts, "https://example.org").acknowledged()
    (run,) = await bot.rows("runs")
    assert run["attempt"] == 1
    assert len(bot.asked) == 1


async def test_a_mention_added_later_is_a_question(bot: Served, slack: FakeSlack) -> None:
    said = await slack.say("U1", "C1", "how tall is it?").acknowledged()
    await slack.edit("C1", said.ts, f"{slack.mention} how tall is it?").acknowledged()
    assert [one.text for one in await bot.questions(1)] == ["how tall is it?"]


async def test_an_empty_mention_can_be_filled_in(bot: Served, slack: FakeSlack) -> None:
    said = await slack.say("U1", "C1", slack.mention).acknowledged()
    await slack.edit("C1", said.ts, f"{slack.mention} how tall is it?").acknowledged()
    assert [one.text for one in await bot.questions(1)] == ["how tall is it?"]


async def test_an_emptied_question_keeps_its_answer(bot: Served, slack: FakeSlack) -> None:
    said = await slack.say("U1", "C1", f"{slack.mention} how tall is it?").acknowledged()
    await bot.questions(1)
    await slack.edit("C1", said.ts, slack.mention).acknowledged()
    assert len(bot.asked) == 1
    assert slack.calls("chat.postEphemeral") == []


@pytest.mark.parametrize("has_replies", [False, True])
async def test_a_deleted_question_takes_its_answer_along(
    bot: Served, slack: FakeSlack, has_replies: bool
) -> None:
    """With replies Slack leaves a tombstone and tells of a change, else of a deletion."""
    said = await slack.say("U1", "C1", f"{slack.mention} how tall is it?").acknowledged()
    await bot.questions(1)
    if has_replies:
        await slack.say("U2", "C1", "<@U1> good question", said.ts).acknowledged()
    await slack.delete("C1", said.ts).acknowledged()
    await bot.until(lambda: bot.poster.removed)
    assert next(row["text"] for row in await bot.rows("messages")) == ""


# ---------------------------------------------------------------- stopping


async def test_stop_with_nothing_to_stop_says_so(bot: Served, slack: FakeSlack) -> None:
    said = await slack.say("U1", "C1", f"{slack.mention} how tall is it?").acknowledged()
    await bot.ended(1)
    await slack.say("U1", "C1", f"{slack.mention} stop", said.ts).acknowledged()
    assert "Nothing is running here" in await bot.whisper("U1", "C1", said.ts)
    assert len(slack.calls("chat.postEphemeral")) == 1


async def test_stop_between_direct_threads_means_what_was_asked_in_them(
    slow_bot: Served, slack: FakeSlack
) -> None:
    await slack.say("U1", slack.im("U1"), "how tall is it?").acknowledged()
    await slow_bot.questions(1)
    await slack.say("U1", slack.im("U1"), "stop").acknowledged()
    assert await slow_bot.ended(1) == ["stopped"]
    assert len(await slow_bot.rows("runs")) == 1


@pytest.mark.parametrize("name", ["octagonal_sign", "x", "no_entry_sign::skin-tone-3"])
async def test_a_stop_sign_on_the_question_stops(
    slow_bot: Served, slack: FakeSlack, name: str
) -> None:
    said = await slack.say("U1", "C1", f"{slack.mention} how tall is it?").acknowledged()
    await slow_bot.questions(1)
    await slack.react("U2", "C1", said.ts, name).acknowledged()
    assert await slow_bot.ended(1) == ["stopped"]


async def test_a_stop_sign_on_the_reply_stops(slow_bot: Served, slack: FakeSlack) -> None:
    said = await slack.say("U1", "C1", f"{slack.mention} how tall is it?").acknowledged()
    await slow_bot.questions(1)
    run_id = slow_bot.poster.replies[0].run.id
    posted = await call(
        slack,
        "chat.postMessage",
        channel="C1",
        thread_ts=said.ts,
        text="Researching",
        metadata={"event_type": "footnote_run", "event_payload": {"run": run_id, "part": 0}},
    )
    await slack.react("U2", "C1", posted["ts"], "octagonal_sign").acknowledged()
    assert await slow_bot.ended(1) == ["stopped"]


async def test_other_reactions_are_only_reactions(slow_bot: Served, slack: FakeSlack) -> None:
    said = await slack.say("U1", "C1", f"{slack.mention} how tall is it?").acknowledged()
    await slow_bot.questions(1)
    await slack.react("U2", "C1", said.ts, "thumbsup").acknowledged()
    assert await slow_bot.states() == ["running"]


# ---------------------------------------------------------------- nothing is lost, nothing twice


async def test_a_redelivered_event_does_nothing_after_a_restart(
    slack: FakeSlack, tmp_path: Path
) -> None:
    async with served(slack, tmp_path) as bot:
        said = await slack.say("U1", "C1", f"{slack.mention} how tall is it?").acknowledged()
        await bot.ended(1)
    async with served(slack, tmp_path) as bot:
        for delivery in said.deliveries:
            await slack.redeliver(delivery).acknowledged()
        assert len(await bot.rows("runs")) == 1
        assert bot.asked == []


@pytest.mark.parametrize("ack_seconds", [0.8])
async def test_what_could_not_be_kept_is_not_acknowledged(bot: Served, slack: FakeSlack) -> None:
    """Slack delivers it again, and then it is kept, unless it was before."""
    bot.reception.failures = 2
    said = await slack.say("U1", "C1", f"{slack.mention} how tall is it?").acknowledged()
    message = next(one for one in said.deliveries if one.event["type"] == "message")
    assert len(message.attempts) > 1
    assert [one.text for one in await bot.questions(1)] == ["how tall is it?"]
    assert len(await bot.rows("runs")) == 1


async def test_what_could_not_be_kept_is_taken_as_soon_as_it_can_be(tmp_path: Path) -> None:
    """Long before Slack delivers it again."""
    with FakeSlack(MANIFEST, ack_seconds=0.8, redelivery=(3_600.0,)) as slack:
        slack.add_user("U1", "ada")
        slack.add_channel("C1", "general", members=["U1"])
        async with served(slack, tmp_path) as bot:
            bot.reception.failures = 3
            said = [slack.say("U1", "C1", f"{slack.mention} question {n}") for n in range(2)]
            assert {one.text for one in await bot.questions(2)} == {"question 0", "question 1"}
            assert len(await bot.rows("runs")) == 2
            assert not all(delivery.acked for one in said for delivery in one.deliveries)


@pytest.mark.parametrize("ack_seconds", [0.8])
async def test_after_the_last_delivery_the_asker_is_told(bot: Served, slack: FakeSlack) -> None:
    bot.reception.failures = 99
    said = slack.say("U1", "C1", f"{slack.mention} how tall is it?")
    message = next(one for one in said.deliveries if one.event["type"] == "message")
    await message.over()
    assert message.given_up
    assert "could not save your question" in await bot.whisper("U1", "C1")
