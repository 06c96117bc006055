"""Slack's way out in what only Slack has: streams, sessions, commands, and how they break."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adapters.slack import limits
from adapters.slack.calls import Timing
from adapters.slack.trail import EVENT_TYPE
from bot.answers import Answer, Citation, PlanView, StepView
from bot.errors import FootnoteError, PlatformUnavailable, PostRefused
from bot.messages import Attachment, RunOptions, Thread
from tests.contract.slack_stage import ADA, BOB, CHANNEL, QUICK, SlackStage, slack_stage
from tests.contract.stages import Desk
from tests.fakes.slack import FakeSlack

URL = "https://example.org/tower"
NUMBERED = ((1, URL),)


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[SlackStage]:
    async with slack_stage(tmp_path) as stage:
        yield stage


@pytest.fixture
def slack(stage: SlackStage) -> FakeSlack:
    return stage.slack


@pytest.fixture
def desk(stage: SlackStage) -> Desk:
    return Desk(stage.ask("How tall is it?"))


def a_plan(*titles: str, state: str = "running") -> PlanView:
    steps = [
        StepView(f"s{n}", "question", title, state)  # type: ignore[arg-type]
        for n, title in enumerate(titles or ("tower height",))
    ]
    return PlanView("How tall is it?", tuple(steps), NUMBERED)


def an_answer(text: str = "It is 330 m tall [1].", run: str = "run0a1b2c3d") -> Answer:
    citation = Citation(1, URL, "The Tower", "It is 330 m tall.", "hash", 0, 5)
    return Answer("answered", text, "How tall is the tower?", run, (citation,), ("height",))


def methods(slack: FakeSlack) -> list[str]:
    return [call.method for call in slack.calls()]


def paragraphs(count: int, words: int = 150) -> str:
    return "\n\n".join(f"Paragraph {n}. {'word ' * words}end [1]." for n in range(count))


# ---------------------------------------------------------------- streaming


async def test_an_ordinary_answer_takes_few_calls(
    stage: SlackStage, slack: FakeSlack, desk: Desk
) -> None:
    reply = await stage.poster().open(desk.run(), None)
    reply.progress(a_plan())
    await stage.until(desk.message, "tower height")
    await reply.finish(an_answer())
    assert methods(slack) == ["agents.sessions.setStatus", "chat.startStream", "chat.stopStream"]
    session = slack.session(CHANNEL, desk.message.thread.thread)
    assert session is not None
    assert session.history == ["processing", "active"]
    assert session.title == "How tall is it?"


async def test_a_streamed_reply_is_a_plan_with_tasks_and_sources(
    stage: SlackStage, desk: Desk
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
    assert (post.display, post.stream_state) == ("plan", "stopped")
    assert post.plan_title == "How tall is the tower?"
    (task,) = post.tasks
    assert task["status"] == "complete"
    assert task["sources"] == [{"type": "url", "url": URL, "text": "The Tower"}]


async def test_details_are_said_once_however_often_a_task_changes(
    stage: SlackStage, desk: Desk
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


async def test_text_is_streamed_with_links_and_is_not_sent_twice(
    stage: SlackStage, slack: FakeSlack, desk: Desk
) -> None:
    reply = await stage.poster().open(desk.run(), None)
    reply.progress(a_plan())
    reply.stream("It is 330 m tall [1].\n\nIt stands")
    await stage.until(desk.message, f"tall [[1]]({URL}).")
    reply.stream("It is 330 m tall [1].\n\nIt stands in Paris [1].\n\nAnd")
    await stage.until(desk.message, "in Paris")
    await reply.finish(an_answer("It is 330 m tall [1].\n\nIt stands in Paris [1].\n\nAnd so."))
    (post,) = stage.posts(desk.message)
    assert post.stream_state == "stopped"  # and not replaced
    assert [post.seen.count(words) for words in ("330 m tall [", "in Paris", "And so.")] == [1] * 3


async def test_every_post_names_its_run(stage: SlackStage, desk: Desk) -> None:
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
    stage: SlackStage, slack: FakeSlack, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.slack.streaming.STREAM_SECONDS_USED", 0.0)
    reply = await stage.poster().open(desk.run(), None)
    for number in range(3):
        reply.progress(a_plan(*(f"question {n}" for n in range(number + 1))))
        await stage.until(desk.message, f"question {number}")
    await slack.until(lambda: len(stage.posts(desk.message)) == 1)
    monkeypatch.undo()
    await reply.finish(an_answer())
    (post,) = stage.posts(desk.message)
    assert [task["title"] for task in post.tasks] == ["question 0", "question 1", "question 2"]
    assert post.seen.count("330 m tall") == 2  # the answer and its quote


@pytest.mark.parametrize("written", ["", "It is 330 m tall [1].\n\nAnd"])
@pytest.mark.parametrize("goes_on", [True, False])
async def test_a_stream_that_slack_ended_is_no_loss(
    stage: SlackStage, slack: FakeSlack, desk: Desk, written: str, goes_on: bool
) -> None:
    reply = await stage.poster().open(desk.run(), None)
    reply.progress(a_plan("first thing"))
    reply.stream(written)
    await stage.until(desk.message, "330 m tall" if written else "first thing")
    slack.advance(limits.STREAM_SECONDS + 1)
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
    stage: SlackStage, slack: FakeSlack, desk: Desk
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


async def test_a_plan_that_never_ends_leaves_room_for_the_answer(
    stage: SlackStage, slack: FakeSlack, desk: Desk
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
    stage: SlackStage, slack: FakeSlack, desk: Desk
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
    stage: SlackStage, slack: FakeSlack, desk: Desk, method: str
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


async def test_a_doubt_marked_at_the_end_is_in_the_answer(stage: SlackStage, desk: Desk) -> None:
    reply = await stage.poster().open(desk.run(), None)
    reply.progress(a_plan())
    reply.stream("It opened in 1889.\n\nAnd")
    await stage.until(desk.message, "1889")
    await reply.finish(an_answer("It opened in 1889 ⚠.\n\nAnd so on [1]."))
    (shown,) = stage.shown(desk.message)
    assert shown.count("It opened in 1889") == 1
    assert "1889 ⚠." in shown


# ---------------------------------------------------------------- what is refused


async def test_a_refusal_of_the_workspace_is_found_out_once_for_all_processes(
    stage: SlackStage, slack: FakeSlack
) -> None:
    slack.refuse_streaming("missing_scope")
    slack.refuse("agents.sessions.setStatus", "feature_disabled")
    for number in range(3):
        desk = Desk(stage.ask(f"Question {number}?"), run_id=f"run{number}")
        reply = await stage.poster().open(desk.run(), None)
        reply.progress(a_plan())
        await stage.until(desk.message, "tower height")
        await reply.finish(an_answer(run=desk.run_id))
        assert "330 m tall" in stage.shown(desk.message)[0]
    assert methods(slack).count("chat.startStream") == 1
    assert methods(slack).count("agents.sessions.setStatus") == 1
    facts = await stage.workspaces.facts("slack", slack.team)
    assert facts["streaming"]["refused"] == "missing_scope"
    assert facts["sessions"]["refused"] == "feature_disabled"


async def test_a_refused_stream_costs_no_time(
    stage: SlackStage, slack: FakeSlack, desk: Desk
) -> None:
    slack.refuse_streaming("missing_scope")
    slack.refuse("agents.sessions.setStatus", "feature_disabled")
    began = asyncio.get_running_loop().time()
    reply = await stage.poster(replace(QUICK, between=5.0)).open(desk.run(), None)
    await stage.until(desk.message, "Researching")
    assert asyncio.get_running_loop().time() - began < 1.0
    await reply.finish(an_answer())


async def test_a_refusal_of_one_channel_concerns_no_other(
    stage: SlackStage, slack: FakeSlack
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
    assert "streaming" not in await stage.workspaces.facts("slack", slack.team)


async def test_without_a_native_stop_there_is_a_button_until_the_end(
    stage: SlackStage, slack: FakeSlack, desk: Desk
) -> None:
    slack.refuse_streaming("missing_scope")
    slack.refuse("agents.sessions.setStatus", "feature_disabled")
    reply = await stage.poster().open(desk.run(), None)
    await stage.until(desk.message, "Stop")
    slack.press(ADA, stage.posts(desk.message)[0], "footnote_stop", desk.run_id)
    await reply.finish(an_answer())
    assert "Stop" not in stage.buttons(desk.message)


async def test_with_a_native_stop_there_is_no_button(
    stage: SlackStage, slack: FakeSlack, desk: Desk
) -> None:
    slack.refuse_streaming("missing_scope")
    reply = await stage.poster().open(desk.run(), None)
    reply.progress(a_plan())
    await stage.until(desk.message, "tower height")
    assert "Stop" not in stage.buttons(desk.message)
    await reply.finish(an_answer())


@pytest.mark.parametrize("kind", ["context_actions", "rich_text"])
async def test_blocks_that_a_workspace_refuses_cost_no_answer(
    stage: SlackStage, slack: FakeSlack, desk: Desk, kind: str
) -> None:
    # It refuses each method as often as it would for this kind of block.
    times = 1 if kind == "context_actions" else 2
    slack.refuse("chat.stopStream", "invalid_blocks", times=1)
    slack.refuse("chat.update", "invalid_blocks", times=times)
    slack.refuse("chat.postMessage", "invalid_blocks", times=times)
    reply = await stage.poster().open(desk.run(), None)
    reply.progress(a_plan())
    await stage.until(desk.message, "tower height")
    await reply.finish(an_answer())
    (shown,) = stage.shown(desk.message)
    assert "It is 330 m tall" in shown
    assert URL in str(stage.posts(desk.message)[0].blocks)


@pytest.mark.parametrize("code", ["message_not_found", "edit_window_closed"])
async def test_a_message_that_cannot_be_changed_is_followed_by_another(
    stage: SlackStage, slack: FakeSlack, desk: Desk, code: str
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
    stage: SlackStage, slack: FakeSlack, desk: Desk, code: str, words: str
) -> None:
    slack.refuse("agents.sessions.setStatus", code)
    with pytest.raises(PostRefused) as refused:
        await stage.poster().open(desk.run(), None)
    assert words in refused.value.sentence


# ---------------------------------------------------------------- rates


async def test_many_runs_at_once_stay_within_slacks_rates(tmp_path: Path) -> None:
    async with slack_stage(tmp_path) as stage:
        stage.slack._api._limits.clear()  # Slack's own, per minute
        poster = stage.poster(replace(QUICK, pace=1.0, patience=90.0))
        desks = [Desk(stage.ask(f"Question {n}?"), run_id=f"run{n}") for n in range(12)]

        async def work(desk: Desk) -> None:
            reply = await poster.open(desk.run(), None)
            for number in range(20):
                reply.progress(a_plan(*(f"question {n}" for n in range(number))))
                reply.stream(paragraphs(number, 10))
                await asyncio.sleep(0.01)
            await reply.finish(an_answer(paragraphs(20, 10), run=desk.run_id))

        async with asyncio.timeout(60):
            await asyncio.gather(*map(work, desks))
        for desk in desks:
            assert len(stage.shown(desk.message)) == 1
            assert not stage.at_work(desk.message)
        assert [call.error for call in stage.slack.calls() if call.status == 429] == []


async def test_a_rush_of_questions_leaves_no_status_at_work(
    stage: SlackStage, slack: FakeSlack
) -> None:
    slack.storm("agents.sessions.setStatus", 2, retry_after=1)
    poster = stage.poster()
    desks = [Desk(stage.ask(f"Question {n}?"), run_id=f"run{n}") for n in range(4)]

    async def work(desk: Desk) -> None:
        reply = await poster.open(desk.run(), None)
        await reply.finish(an_answer(run=desk.run_id))

    await asyncio.gather(*map(work, desks))
    for desk in desks:
        assert len(stage.shown(desk.message)) == 1
        assert not stage.at_work(desk.message)


async def test_the_status_that_a_killed_attempt_set_is_ended_though_there_is_a_rush(
    stage: SlackStage, slack: FakeSlack, desk: Desk
) -> None:
    slack.refuse_streaming("feature_not_enabled")
    poster = stage.poster(replace(QUICK, stream_delay=60.0))
    killed = await poster.open(desk.run(), None)
    await killed.abandon()
    assert stage.shown(desk.message) == []
    assert stage.at_work(desk.message)
    slack.storm("agents.sessions.setStatus", 1)
    reply = await poster.open(desk.run(), desk.saved)
    await reply.finish(an_answer())
    assert not stage.at_work(desk.message)


async def test_an_answer_waits_out_a_storm(stage: SlackStage, slack: FakeSlack, desk: Desk) -> None:
    poster = stage.poster(replace(QUICK, patience=20.0))
    reply = await poster.open(desk.run(), None)
    reply.progress(a_plan())
    await stage.until(desk.message, "tower height")
    slack.storm("chat.stopStream", 2)
    began = asyncio.get_running_loop().time()
    await reply.finish(an_answer())
    assert asyncio.get_running_loop().time() - began >= 2.0
    assert "330 m tall" in stage.shown(desk.message)[0]


async def test_a_storm_longer_than_patience_leaves_the_answer_for_later(
    stage: SlackStage, slack: FakeSlack, desk: Desk
) -> None:
    reply = await stage.poster().open(desk.run(), None)
    slack.storm("chat.postMessage", 1, retry_after=40)
    with pytest.raises(PlatformUnavailable) as limited:
        await reply.finish(an_answer())
    assert limited.value.retry_after == 40


async def test_a_slow_slack_holds_up_neither_run_nor_first_step(
    stage: SlackStage, slack: FakeSlack, desk: Desk
) -> None:
    slack.slow(0.6)
    began = asyncio.get_running_loop().time()
    reply = await stage.poster(replace(QUICK, first_sign=0.1)).open(desk.run(), None)
    assert asyncio.get_running_loop().time() - began < 0.5
    slack.up()
    await reply.finish(an_answer())
    assert "330 m tall" in stage.shown(desk.message)[0]
    assert not stage.at_work(desk.message)


# ---------------------------------------------------------------- commands


def a_command(stage: SlackStage) -> tuple[Desk, dict[str, Any]]:
    done = stage.slack.command(ADA, CHANNEL, "/ask", "How tall is <!channel> & co?")
    asked = stage.ask("unused")
    thread = Thread("slack", stage.slack.team, CHANNEL, "pending-77")
    message = replace(
        asked, event_id=f"{CHANNEL}:command:77", thread=thread, text="How tall is <!channel> & co?"
    )
    state = {"command": {"channel": CHANNEL, "user": ADA, "response_url": done.response_url}}
    return Desk(message), state


async def test_a_command_begins_a_thread_with_its_question(stage: SlackStage) -> None:
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
    stage: SlackStage, slack: FakeSlack, question: str
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
    stage: SlackStage, slack: FakeSlack, dies: str
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
    stage: SlackStage, slack: FakeSlack
) -> None:
    desk, state = a_command(stage)
    slack.refuse("chat.postMessage", "not_in_channel")
    with pytest.raises(PostRefused):
        await stage.poster().open(desk.run(), state)
    (told,) = slack.response_urls.received(state["command"]["response_url"])
    assert "not allowed to write" in told["text"]


# ---------------------------------------------------------------- history and files


async def test_a_long_thread_is_read_in_pages_to_its_latest_messages(
    stage: SlackStage, slack: FakeSlack, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.slack.trail.PAGE_MESSAGES", 7)
    monkeypatch.setattr("adapters.slack.history.MESSAGES", 20)
    for number in range(30):
        stage.say_in(desk.message, f"said {number}")
    later = Desk(stage.ask_in(desk.message, "And how old?"))
    said = await stage.poster().history(later.run())
    assert [message.text for message in said] == [f"said {n}" for n in range(10, 30)]
    assert methods(slack).count("conversations.replies") > 3
    assert methods(slack).count("users.info") == 1


async def test_a_restricted_app_waits_for_history_no_longer_than_it_may(
    stage: SlackStage, slack: FakeSlack, desk: Desk
) -> None:
    slack.restrict_reading()
    for number in range(30):
        stage.say_in(desk.message, f"said {number}")
    later = Desk(stage.ask_in(desk.message, "And how old?"))
    async with asyncio.timeout(5):
        with pytest.raises(FootnoteError) as late:
            await stage.poster().history(later.run())
    assert "in time" in late.value.sentence


async def test_direct_messages_have_no_history_to_read(
    stage: SlackStage, slack: FakeSlack, desk: Desk
) -> None:
    thread = Thread("slack", slack.team, slack.im(ADA), "1700000000.000100")
    message = replace(desk.message, thread=thread, event_id="D1:1700000001.000100")
    assert list(await stage.poster().history(Desk(message).run())) == []
    assert "conversations.replies" not in methods(slack)


async def test_research_about_a_message_reads_the_thread_around_it(
    stage: SlackStage, desk: Desk
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
async def test_the_token_goes_to_slack_only(stage: SlackStage, desk: Desk, url: str) -> None:
    file = Attachment("x.txt", "text/plain", url)
    with pytest.raises(PostRefused):
        await stage.poster().download(desk.run(), file, 1_000)


async def test_a_file_without_the_right_to_read_it_is_refused_with_the_scope(
    stage: SlackStage, slack: FakeSlack, desk: Desk
) -> None:
    file = stage.share("towers.txt", b"All about towers.")
    slack.workspace.scopes.discard("files:read")
    with pytest.raises(PostRefused) as refused:
        await stage.poster().download(desk.run(), file, 1_000)
    assert "files:read" in refused.value.sentence


# ---------------------------------------------------------------- options


async def test_a_deep_run_offers_no_deeper_one(stage: SlackStage, desk: Desk) -> None:
    desk.options = RunOptions(depth="deep")
    reply = await stage.poster().open(desk.run(), None)
    await reply.finish(an_answer())
    assert "Dig deeper" not in stage.buttons(desk.message)


async def test_the_interface_speaks_the_askers_language(stage: SlackStage, desk: Desk) -> None:
    desk.message = replace(desk.message, locale="zh-TW")
    reply = await stage.poster().open(desk.run(), None)
    await reply.finish(an_answer())
    assert "Sources" not in stage.shown(desk.message)[0]


def test_nothing_is_waited_for_longer_than_a_person_would() -> None:
    timing = Timing()
    assert timing.first_sign <= 3.0
    assert timing.stream_delay < 1.0
