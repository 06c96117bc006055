"""The fake's streams live and end as Slack's do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.fakes.slack import FakeSlack
from tests.fakes.slack_limits import UNLIMITED
from tests.fakes.slack_stage import ADA, ELSEWHERE, GENERAL, call, furnished, refusal
from tests.fakes.slack_workspace import Json

SECTION = {"type": "section", "text": {"type": "mrkdwn", "text": "x"}}


@pytest.fixture
def slack() -> Iterator[FakeSlack]:
    with furnished(rate_limits=UNLIMITED) as fake:
        yield fake


def task(**changes: Any) -> Json:
    return {"type": "task_update", "id": "1", "title": "T", "status": "pending", **changes}


def text(words: str) -> Json:
    return {"type": "markdown_text", "text": words}


async def start(slack: FakeSlack, **changes: Any) -> Json:
    """A stream in a new thread of the channel; what names it from then on."""
    args = {
        "channel": GENERAL,
        "thread_ts": slack.say(ADA, GENERAL, "q").ts,
        "recipient_user_id": ADA,
        "recipient_team_id": slack.team,
        "task_display_mode": "plan",
        **changes,
    }
    reply = await call(slack, "chat.startStream", **args)
    return {"channel": reply["channel"], "ts": reply["ts"]}


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"recipient_user_id": None}, "missing_recipient_user_id"),
        ({"recipient_team_id": None}, "missing_recipient_team_id"),
        ({"recipient_user_id": "U404"}, "user_not_found"),
        ({"recipient_team_id": "T404"}, "team_not_found"),
        ({"thread_ts": None}, "invalid_arguments"),
        ({"thread_ts": "1700000000.000100"}, "thread_not_found"),
        ({"channel": ELSEWHERE}, "not_in_channel"),
        ({"task_display_mode": "grid"}, "invalid_arguments"),
        ({"markdown_text": "x"}, "invalid_arguments"),
    ],
)
async def test_a_stream_that_slack_would_not_start(
    slack: FakeSlack, changes: Json, error: str
) -> None:
    assert (await refusal(start(slack, **changes)))["error"] == error


BAD_CHUNKS: list[tuple[Json, str]] = [
    ({"type": "song"}, "invalid_chunks"),
    ({"type": "markdown_text"}, "invalid_chunks"),
    ({"type": "markdown_text", "text": 1}, "invalid_chunks"),
    ({"type": "markdown_text", "text": "x", "colour": "red"}, "invalid_chunks"),
    ({"type": "plan_update"}, "invalid_chunks"),
    (task(status="done"), "invalid_chunks"),
    (task(id=""), "invalid_chunks"),
    (task(title=""), "invalid_chunks"),
    (task(details="x" * 257), "invalid_chunks"),
    (task(output="x" * 257), "invalid_chunks"),
    (task(sources=[{"type": "url", "url": "https://a.example/"}]), "invalid_chunks"),
    (task(sources=[{"type": "url", "url": "ftp://a", "text": "a"}]), "invalid_chunks"),
    (text("x" * 12_001), "invalid_chunks"),
]


@pytest.mark.parametrize(("chunk", "error"), BAD_CHUNKS)
async def test_a_bad_chunk_is_refused_with_all_that_came_with_it(
    slack: FakeSlack, chunk: Json, error: str
) -> None:
    stream = await start(slack)
    reply = await refusal(call(slack, "chat.appendStream", **stream, chunks=[text("a"), chunk]))
    assert reply["error"] == error
    assert slack.messages(GENERAL)[-1].blocks == ()


async def test_a_stream_holds_so_much_and_no_more(slack: FakeSlack) -> None:
    stream = await start(slack, chunks=[text("x" * 11_999)])
    await call(slack, "chat.appendStream", **stream, chunks=[text("y")])
    for method in ("chat.appendStream", "chat.stopStream"):
        reply = await refusal(call(slack, method, **stream, chunks=[text("z")]))
        assert reply["error"] == "msg_too_long"
    await call(slack, "chat.stopStream", **stream)


async def test_tasks_count_towards_what_a_stream_holds(slack: FakeSlack) -> None:
    stream = await start(slack, chunks=[text("x" * 11_900), task(details="y" * 90)])
    reply = await refusal(call(slack, "chat.appendStream", **stream, chunks=[task(title="z" * 20)]))
    assert reply["error"] == "msg_too_long"


async def test_stopping_shows_the_last_words_then_the_blocks_and_frees_the_session(
    slack: FakeSlack,
) -> None:
    stream = await start(slack)
    root = slack.messages(GENERAL)[-1].thread_ts
    place = {"channel_id": GENERAL, "thread_ts": root}
    await call(slack, "agents.sessions.setStatus", **place, status="processing")
    conflict = call(slack, "chat.update", **stream, text="no")
    assert (await refusal(conflict))["error"] == "streaming_state_conflict"
    metadata = {"event_type": "run", "event_payload": {"id": "7"}}
    await call(
        slack,
        "chat.stopStream",
        **stream,
        chunks=[text("end")],
        blocks=[SECTION],
        metadata=metadata,
    )
    message = slack.messages(GENERAL)[-1]
    assert [block["type"] for block in message.blocks] == ["markdown", "section"]
    assert (message.stream_state, message.metadata) == ("stopped", metadata)
    assert root is not None
    session = slack.session(GENERAL, root)
    assert session is not None
    assert session.history == ["processing", "active"]
    await call(slack, "chat.update", **stream, text="changed", blocks=[SECTION])
    assert slack.messages(GENERAL)[-1].text == "changed"


@pytest.mark.parametrize(
    ("args", "error"),
    [
        ({}, "no_text"),
        ({"session_status": "busy"}, "invalid_arguments"),
        ({"blocks": [{"type": "carpet"}]}, "invalid_blocks"),
        ({"metadata": {"event_type": "a"}}, "invalid_metadata_format"),
    ],
)
async def test_a_refused_stop_leaves_the_stream_running(
    slack: FakeSlack, args: Json, error: str
) -> None:
    stream = await start(slack)
    assert (await refusal(call(slack, "chat.stopStream", **stream, **args)))["error"] == error
    await call(slack, "chat.appendStream", **stream, chunks=[text("still here")])
    await call(slack, "chat.stopStream", **stream)


async def test_an_append_needs_content_and_an_own_streaming_message(slack: FakeSlack) -> None:
    stream = await start(slack)
    reply = await refusal(call(slack, "chat.appendStream", **stream))
    assert reply["error"] == "markdown_text_or_chunks_required"
    said = slack.say(ADA, GENERAL, "mine")
    posted = await call(slack, "chat.postMessage", channel=GENERAL, text="x")
    for ts, error in (
        (said.ts, "message_not_owned_by_app"),
        (posted["ts"], "message_not_in_streaming_state"),
        ("1700000000.000100", "message_not_found"),
    ):
        append = call(slack, "chat.appendStream", channel=GENERAL, ts=ts, chunks=[text("x")])
        assert (await refusal(append))["error"] == error


@pytest.mark.parametrize("way", ["stopped", "five minutes", "expired"])
async def test_an_ended_stream_does_not_grow(slack: FakeSlack, way: str) -> None:
    stream = await start(slack, chunks=[text("a")])
    if way == "stopped":
        await call(slack, "chat.stopStream", **stream)
    elif way == "expired":
        slack.expire_streams()
    else:
        slack.advance(299)
        await call(slack, "chat.appendStream", **stream, chunks=[text("b")])
        slack.advance(1)
    for method in ("chat.appendStream", "chat.stopStream"):
        reply = await refusal(call(slack, method, **stream, chunks=[text("c")]))
        assert reply["error"] == "message_not_in_streaming_state"
    assert not slack.messages(GENERAL)[-1].streaming
    await call(slack, "chat.update", **stream, text="the rest")


async def test_the_stop_button_ends_the_streams_of_its_thread(slack: FakeSlack) -> None:
    stream = await start(slack, chunks=[text("a")])
    root = slack.messages(GENERAL)[-1].thread_ts
    assert root is not None
    with pytest.raises(AssertionError, match="no Stop button"):
        slack.stop_session(ADA, GENERAL, root)
    place = {"channel_id": GENERAL, "thread_ts": root}
    await call(slack, "agents.sessions.setStatus", **place, status="processing")
    [told] = slack.stop_session(ADA, GENERAL, root).deliveries
    assert told.event["streaming_message_ts"] == [stream["ts"]]
    reply = await refusal(call(slack, "chat.appendStream", **stream, chunks=[text("b")]))
    assert reply["error"] == "stopped_by_user"
    session = slack.session(GENERAL, root)
    assert session is not None
    assert session.status == "processing"
