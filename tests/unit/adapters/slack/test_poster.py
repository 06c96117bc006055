"""Slack's way out in what only Slack has: streams, sessions, commands, and how they break."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from adapters.slack.incoming import EVENT_TYPE
from bot.core.errors import PostRefused
from bot.core.messages import Answer, Citation, PlanView, StepView
from tests.contract.harness import Desk
from tests.contract.slack_harness import ADA, BOB, CHANNEL, SlackHarness
from tests.fakes.slack import FakeSlack
from tests.fakes.slack_limits import STREAM_SECONDS
from tests.fakes.slack_screen import Shown
from tests.unit.adapters.slack.way_out import (
    NUMBERED,
    URL,
    a_plan,
    an_answer,
    desk,
    methods,
    paragraphs,
    slack,
    stage,
)

__all__ = ["desk", "slack", "stage"]


# ---------------------------------------------------------------- streaming


async def test_an_ordinary_answer_takes_few_calls(
    stage: SlackHarness, slack: FakeSlack, desk: Desk
) -> None:
    reply = await stage.poster().open(desk.run(), None)
    reply.progress(a_plan())
    await stage.until(desk.message, "tower height")
    await reply.finish(an_answer())
    assert methods(slack) == [
        "agents.sessions.setStatus",
        "users.info",  # once an hour: a stream names its reader's team
        "chat.startStream",
        "chat.stopStream",
    ]
    session = slack.session(CHANNEL, desk.message.thread.thread)
    assert session is not None
    assert session.history == ["processing", "active"]
    assert session.title == "How tall is it?"


async def test_a_streamed_reply_is_a_plan_with_tasks_and_sources(
    stage: SlackHarness, desk: Desk
) -> None:
    reply = await stage.poster().open(desk.run(), None)
    steps = (
        StepView("s1", "search", "tower height", "done"),
        StepView("s2", "read", "The Tower", "done", sources=(URL,)),
    )
    reply.progress(PlanView("How tall is it?", steps, NUMBERED))
    await stage.until(desk.message, "tower height")
    await reply.finish(an_answer())
    (post,) = stage.posts(desk.message)
    assert post.stream_state == "stopped"
    assert post.plan_title == "How tall is the tower?"
    (task,) = post.tasks
    assert task["status"] == "complete"
    assert task["sources"] == [{"type": "url", "url": URL, "text": "The Tower"}]


async def test_details_are_said_once_however_often_a_task_changes(
    stage: SlackHarness, desk: Desk
) -> None:
    reply = await stage.poster().open(desk.run(), None)
    for number in range(4):
        step = StepView("s", "search", "towers", "failed", detail="Brave did not answer.")
        more = StepView(f"r{number}", "rewrite", f"step {number}", "done")
        reply.progress(PlanView("How tall is it?", (step, more), NUMBERED))
        await stage.until(desk.message, "Understanding")
    await reply.finish(an_answer())
    (post,) = stage.posts(desk.message)
    assert [task["details"] for task in post.tasks if task["id"] == "s"] == [
        "Brave did not answer."
    ]


async def test_every_post_names_its_run(stage: SlackHarness, desk: Desk) -> None:
    reply = await stage.poster().open(desk.run(), None)
    reply.progress(a_plan())
    await stage.until(desk.message, "tower height")
    await reply.finish(an_answer(paragraphs(40)))
    posts = stage.posts(desk.message)
    assert len(posts) > 1
    for number, post in enumerate(posts):
        payload = {"run": desk.run_id, "part": number}
        assert post.metadata == {"event_type": EVENT_TYPE, "event_payload": payload}


async def test_a_stream_is_continued_before_slack_ends_it(
    stage: SlackHarness, slack: FakeSlack, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.slack.reply.STREAM_SECONDS_USED", 0.0)
    reply = await stage.poster().open(desk.run(), None)
    for number in range(3):
        reply.progress(a_plan(*(f"question {n}" for n in range(number + 1))))
        await stage.until(desk.message, f"question {number}")
    await slack.until(lambda: len(stage.posts(desk.message)) == 1)
    monkeypatch.undo()
    await reply.finish(an_answer())
    (post,) = stage.posts(desk.message)
    assert [task["title"] for task in post.tasks] == ["question 0", "question 1", "question 2"]
    assert post.seen.count("330 m tall") == 1  # a quote that stands in the answer comes once


@pytest.mark.parametrize("written", ["", "It is 330 m tall [1].\n\nAnd"])
@pytest.mark.parametrize("goes_on", [True, False])
async def test_a_stream_that_slack_ended_is_no_loss(
    stage: SlackHarness, slack: FakeSlack, desk: Desk, written: str, goes_on: bool
) -> None:
    reply = await stage.poster().open(desk.run(), None)
    reply.progress(a_plan("first thing"))
    reply.stream(written)
    await stage.until(desk.message, "330 m tall" if written else "first thing")
    slack.advance(STREAM_SECONDS + 1)
    if goes_on:
        reply.progress(a_plan("first thing", "second thing"))
        reply.stream("It is 330 m tall [1].\n\nAnd it is old [1].\n\nIn")
        await stage.until(desk.message, "it is old")
    await reply.finish(an_answer("It is 330 m tall [1].\n\nAnd it is old [1].\n\nIndeed."))
    shown = "\n".join(stage.shown(desk.message))
    for words in ("330 m tall [", "it is old", "Indeed.", "The Tower"):
        assert shown.count(words) == 1
    assert not stage.at_work(desk.message)


async def test_an_answer_longer_than_a_stream_goes_on_in_another(
    stage: SlackHarness, slack: FakeSlack, desk: Desk
) -> None:
    text = paragraphs(40)
    reply = await stage.poster().open(desk.run(), None)
    reply.progress(a_plan())
    for end in range(2_000, len(text), 2_000):
        reply.stream(text[:end])
        done = text[:end].count("end [1].\n\nParagraph") - 1
        if done >= 0:
            await stage.until(desk.message, f"Paragraph {done}.")
    await reply.finish(an_answer(text))
    posts = stage.posts(desk.message)
    assert [post.stream_state for post in posts] == ["stopped"] * len(posts)
    assert len(posts) > 2
    shown = "\n".join(post.seen for post in posts)
    assert all(shown.count(f"Paragraph {n}.") == 1 for n in range(40))
    assert all(call.ok for call in slack.calls())


TABLE = "| Tower | Height |\n|---|---:|\n" + "".join(f"| T{n} [1] | {n} m |\n" for n in range(30))


def shape(post: Shown) -> list[str]:
    return [block["type"] for block in post.blocks]


async def test_a_table_is_streamed_whole_once_it_has_ended(
    stage: SlackHarness, slack: FakeSlack, desk: Desk
) -> None:
    text = f"These are tall:\n\n{TABLE}\nAll of them are old [1].\n\n{TABLE}"
    reply = await stage.poster().open(desk.run(), None)
    reply.progress(a_plan())
    for end in range(40, len(text), 150):
        reply.stream(text[:end])
        if end > len(TABLE) + 100:
            await stage.until(desk.message, "T29")
    await reply.finish(an_answer(text))
    (post,) = stage.posts(desk.message)
    # Slack shows one table a message: the second stays as it was written.
    assert shape(post)[:4] == ["plan", "markdown", "table", "markdown"]
    assert post.stream_state == "stopped"
    table = post.blocks[2]
    assert len(table["rows"]) == 31
    assert table["column_settings"][1] == {"is_wrapped": True, "align": "right"}
    assert table["rows"][1][0]["elements"][0]["elements"][1] == {
        "type": "link",
        "url": URL,
        "text": "[1]",
    }
    shown = "\n".join(stage.shown(desk.message))
    assert shown.count("T29") == 2
    assert "All of them are old" in shown
    assert all(call.ok for call in slack.calls())


async def test_a_table_that_is_longer_than_slack_allows_stays_markdown(
    stage: SlackHarness, slack: FakeSlack, desk: Desk
) -> None:
    rows = "".join(f"| T{n} | {n} m |\n" for n in range(100))
    reply = await stage.poster().open(desk.run(), None)
    reply.progress(a_plan())
    await stage.until(desk.message, "tower height")
    await reply.finish(an_answer(f"| Tower | Height |\n|---|---|\n{rows}"))
    (post,) = stage.posts(desk.message)
    assert "table" not in shape(post)
    assert "| T99 | 99 m |" in post.seen
    assert all(call.ok for call in slack.calls())


async def test_where_tables_are_not_offered_an_answer_keeps_its_markdown(
    stage: SlackHarness, slack: FakeSlack, desk: Desk
) -> None:
    slack.lack_blocks("table")
    reply = await stage.poster().open(desk.run(), None)
    reply.progress(a_plan())
    await stage.until(desk.message, "tower height")
    await reply.finish(an_answer(f"These are tall:\n\n{TABLE}\nOld [1]."))
    (post,) = stage.posts(desk.message)
    assert "table" not in shape(post)
    assert "| 29 m |" in post.seen
    assert "context_actions" in shape(post)


async def test_a_plan_that_never_ends_leaves_room_for_the_answer(
    stage: SlackHarness, slack: FakeSlack, desk: Desk
) -> None:
    reply = await stage.poster().open(desk.run(), None)
    for number in range(120):
        titles = [f"round {number} of the question {'x' * 60} {n}" for n in range(12)]
        reply.progress(a_plan(*titles))
        await asyncio.sleep(0.005)
    await reply.finish(an_answer(paragraphs(6)))
    assert all(call.ok for call in slack.calls())
    (post,) = stage.posts(desk.message)
    assert all(f"Paragraph {n}." in post.seen for n in range(6))


async def test_a_stopped_run_is_shown_though_its_stream_takes_no_more(
    stage: SlackHarness, slack: FakeSlack, desk: Desk
) -> None:
    reply = await stage.poster().open(desk.run(), None)
    reply.progress(a_plan())
    await stage.until(desk.message, "tower height")
    slack.stop_session(ADA, CHANNEL, desk.message.thread.thread)
    reply.progress(a_plan("tower height", "more"))
    await reply.finish(replace(an_answer("It was 330 m tall [1]."), status="stopped"))
    (post,) = stage.posts(desk.message)
    assert "It was 330 m tall" in post.seen
    assert not stage.at_work(desk.message)


@pytest.mark.parametrize("method", ["chat.startStream", "chat.appendStream", "chat.stopStream"])
async def test_an_answer_lost_on_the_way_back_doubles_nothing(
    stage: SlackHarness, slack: FakeSlack, desk: Desk, method: str
) -> None:
    slack.cut(method)
    reply = await stage.poster().open(desk.run(), None)
    reply.progress(a_plan())
    await stage.until(desk.message, "tower height")
    reply.stream("It is 330 m tall [1].\n\nAnd")
    await stage.until(desk.message, "330 m tall [")
    reply.stream("It is 330 m tall [1].\n\nAnd it is old [1].\n\nIn")
    await reply.finish(an_answer("It is 330 m tall [1].\n\nAnd it is old [1].\n\nIndeed."))
    (shown,) = stage.shown(desk.message)
    for words in ("330 m tall [", "it is old", "Indeed."):
        assert shown.count(words) == 1
    assert not stage.at_work(desk.message)


# ---------------------------------------------------------------- what is refused


async def test_a_refusal_of_the_workspace_is_found_out_once(
    stage: SlackHarness, slack: FakeSlack
) -> None:
    slack.refuse_streaming("missing_scope")
    slack.refuse("agents.sessions.setStatus", "feature_disabled")
    poster = stage.poster()
    for number in range(3):
        desk = Desk(stage.ask(f"Question {number}?"), run_id=f"run{number}")
        reply = await poster.open(desk.run(), None)
        reply.progress(a_plan())
        await stage.until(desk.message, "tower height")
        await reply.finish(an_answer(run=desk.run_id))
        assert "330 m tall" in stage.shown(desk.message)[0]
    assert methods(slack).count("chat.startStream") == 1
    assert methods(slack).count("agents.sessions.setStatus") == 1


async def test_a_refusal_of_one_channel_concerns_no_other(
    stage: SlackHarness, slack: FakeSlack
) -> None:
    slack.add_channel("C2", "random", members=[ADA, BOB])
    slack.refuse_streaming("channel_type_not_supported", channel="C2")
    poster = stage.poster()
    states = []
    for number, channel in enumerate(["C2", "C2", "C1"]):
        desk = Desk(stage.ask("How tall is it?", channel), run_id=f"run{number}")
        reply = await poster.open(desk.run(), None)
        reply.progress(a_plan())
        await stage.until(desk.message, "tower height")
        await reply.finish(an_answer(run=desk.run_id))
        states += [post.stream_state for post in stage.posts(desk.message)]
    assert states == [None, None, "stopped"]
    assert methods(slack).count("chat.startStream") == 2


async def test_without_a_native_stop_there_is_a_button_until_the_end(
    stage: SlackHarness, slack: FakeSlack, desk: Desk
) -> None:
    slack.refuse_streaming("missing_scope")
    slack.refuse("agents.sessions.setStatus", "feature_disabled")
    reply = await stage.poster().open(desk.run(), None)
    await stage.until(desk.message, "Stop")
    slack.press(ADA, stage.posts(desk.message)[0], "footnote_stop", desk.run_id)
    await reply.finish(an_answer())
    assert "Stop" not in stage.buttons(desk.message)


@pytest.mark.parametrize("kind", ["actions", "rich_text"])
async def test_blocks_that_a_workspace_refuses_cost_no_answer(
    stage: SlackHarness, slack: FakeSlack, desk: Desk, kind: str
) -> None:
    slack.lack_blocks(kind)
    reply = await stage.poster().open(desk.run(), None)
    reply.progress(a_plan())
    await stage.until(desk.message, "tower height")
    await reply.finish(an_answer())
    (shown,) = stage.shown(desk.message)
    assert "It is 330 m tall" in shown
    assert URL in str(stage.posts(desk.message)[0].blocks)


@pytest.mark.parametrize("code", ["message_not_found", "edit_window_closed"])
async def test_a_message_that_cannot_be_changed_is_followed_by_another(
    stage: SlackHarness, slack: FakeSlack, desk: Desk, code: str
) -> None:
    slack.refuse_streaming("missing_scope")
    reply = await stage.poster().open(desk.run(), None)
    reply.progress(a_plan())
    await stage.until(desk.message, "tower height")
    slack.refuse("chat.update", code)
    await reply.finish(an_answer())
    assert "330 m tall" in stage.shown(desk.message)[-1]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("is_archived", "archived"),
        ("channel_not_found", "invite"),
        ("account_inactive", "SLACK_BOT_TOKEN"),
        ("thread_not_found", "gone"),
    ],
)
async def test_a_closed_place_is_told_before_the_research_begins(
    stage: SlackHarness, slack: FakeSlack, desk: Desk, code: str, words: str
) -> None:
    slack.refuse("agents.sessions.setStatus", code)
    with pytest.raises(PostRefused) as refused:
        await stage.poster().open(desk.run(), None)
    assert words in refused.value.sentence


async def test_where_a_channel_is_closed_meanwhile_the_asker_is_told_directly(
    stage: SlackHarness, slack: FakeSlack, desk: Desk
) -> None:
    reply = await stage.poster().open(desk.run(), None)
    reply.progress(a_plan())
    await stage.until(desk.message, "tower height")
    slack.workspace.channels[desk.message.thread.channel].archived = True
    with pytest.raises(PostRefused):
        await reply.finish(an_answer())
    told = [call for call in slack.calls("chat.postMessage") if call.ok][-1].args
    assert told["channel"] == desk.message.author.id
    assert told["text"].startswith(f"<#{desk.message.thread.channel}>: ")
    assert "“How tall is it?”" in told["text"]


async def test_a_stream_that_ends_leaves_no_task_open(
    stage: SlackHarness, slack: FakeSlack, desk: Desk
) -> None:
    reply = await stage.poster().open(desk.run(), None)
    for word in ("part", "again"):  # most of what a plan may say is said
        titles = [f"{word} {n} {'x' * 180}" for n in range(18)]
        reply.progress(a_plan(*titles))
        await stage.until(desk.message, f"{word} 17")
    reply.progress(a_plan(*titles, state="done"))
    await reply.finish(an_answer())
    (post,) = stage.posts(desk.message)
    assert post.stream_state == "stopped"
    assert len(post.tasks) >= len(titles)
    assert {task["status"] for task in post.tasks} <= {"complete", "error"}


# ---------------------------------------------------------------- options


# ---------------------------------------------------------------- what Slack finds too long


def a_long_answer() -> Answer:
    """An answer whose text fits into a message alone, but not with its line of sources."""
    text = paragraphs(14)
    urls = [f"https://towers.example/{'x' * 400}/{number}" for number in range(2, 8)]
    more = [Citation(n, url, f"Tower {n}", "q", "hash", 0, 1) for n, url in enumerate(urls, 2)]
    marks = " ".join(f"Also [{cited.number}]." for cited in more)
    answer = an_answer(f"{text}\n\n{marks}")
    return replace(answer, citations=(*answer.citations, *more))


@pytest.mark.parametrize("streams", [True, False])
async def test_an_answer_above_the_limit_of_blocks_is_split(
    stage: SlackHarness, slack: FakeSlack, desk: Desk, streams: bool
) -> None:
    if not streams:
        slack.refuse_streaming("missing_scope")
    reply = await stage.poster().open(desk.run(), None)
    reply.progress(a_plan())
    await stage.until(desk.message, "tower height")
    await reply.finish(a_long_answer())
    shown = stage.shown(desk.message)
    assert len(shown) > 1
    whole = "\n".join(shown)
    assert [n for n in range(14) if f"Paragraph {n}." not in whole] == []
    assert "Tower 7" in shown[-1]
    assert "…" not in whole
    refused = [call.error for call in slack.calls() if call.error == "msg_blocks_too_long"]
    assert len(refused) <= streams  # only the end of a stream is tried whole


@pytest.mark.parametrize("refusals", [1, 4, 5])
async def test_a_message_that_is_refused_as_too_long_becomes_shorter_ones(
    stage: SlackHarness, slack: FakeSlack, desk: Desk, refusals: int
) -> None:
    """After four sizes it is tried without the blocks below it, after that there is a sentence."""
    slack.refuse_streaming("missing_scope")
    reply = await stage.poster().open(desk.run(), None)
    reply.progress(a_plan())
    await stage.until(desk.message, "tower height")
    slack.refuse("chat.update", "msg_blocks_too_long", times=refusals)
    if refusals < 5:
        await reply.finish(an_answer(paragraphs(12)))
        whole = "\n".join(stage.shown(desk.message))
        assert [n for n in range(12) if f"Paragraph {n}." not in whole] == []
        assert ("[Dig deeper]" in whole) is (refusals < 4)
    else:
        with pytest.raises(PostRefused):
            await reply.finish(an_answer(paragraphs(12)))
        (shown,) = stage.shown(desk.message)
        assert "did not accept the answer to “How tall is it?” (msg_blocks_too_long)" in shown


@pytest.mark.parametrize("code", ["msg_blocks_too_long", "no_permission"])
async def test_where_even_a_sentence_is_refused_the_asker_is_told_directly(
    stage: SlackHarness, slack: FakeSlack, desk: Desk, code: str
) -> None:
    reply = await stage.poster().open(desk.run(), None)
    reply.progress(a_plan())
    await stage.until(desk.message, "tower height")
    for method in ("chat.stopStream", "chat.update", "chat.postMessage"):
        slack.refuse(method, code, channel=CHANNEL)
    with pytest.raises(PostRefused):
        await reply.finish(an_answer())
    (told,) = slack.messages(slack.im(ADA))
    assert f"<#{CHANNEL}>" in told.text
    assert "did not accept the answer" in told.text


async def test_an_answer_stays_if_its_amendment_is_refused(
    stage: SlackHarness, slack: FakeSlack, desk: Desk
) -> None:
    reply = await stage.poster().open(desk.run(), None)
    await reply.finish(an_answer())
    slack.refuse("chat.update", "msg_blocks_too_long", times=5)
    with pytest.raises(PostRefused):
        await reply.finish(an_answer("It is 331 m tall [1]."))
    (shown,) = stage.shown(desk.message)
    assert "It is 330 m tall" in shown
