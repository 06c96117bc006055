"""The Claude API: errors by meaning, retries, cut streams, counts, features refused."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.core.errors import (
    CredentialsRefused,
    FootnoteError,
    InvalidSetting,
    ModelBroken,
    ModelUnavailable,
)
from bot.reasoning.calls import ModelReply, ModelTurn, Request, Text, Tool, ToolCall, user_turn
from bot.reasoning.claude import claude_service
from bot.reasoning.claude_api import NAMED
from bot.reasoning.model_service import TooLong, refused_feature
from tests.fakes.claude import Fail, Fault, Reply, says, thinking, tool
from tests.fakes.claude_stage import KEY, OpenStage, Stage, blocks_of, claude_settings

MODEL = "claude-sonnet-5-5"
REQUEST = Request(MODEL, 100, "Be brief.", user_turn("Hello"), thinks=True)
SOON = 0.01  # seconds


async def ask(on: Stage, **changes: Any) -> ModelReply:
    return await on.endpoint.complete(replace(REQUEST, **changes))


async def error_of(on: Stage, **changes: Any) -> FootnoteError:
    with pytest.raises(FootnoteError) as raised:
        await ask(on, **changes)
    return raised.value


@pytest.fixture
def unused_port() -> int:
    with socket.socket() as probe_socket:
        probe_socket.bind(("127.0.0.1", 0))
        return int(probe_socket.getsockname()[1])


# ---------------------------------------------------------------- a good reply


@pytest.mark.parametrize("tokens_per_event", [1, 4, 1000])
async def test_a_reply_is_put_together_however_it_is_cut(
    stage: OpenStage, tokens_per_event: int
) -> None:
    content = [
        thinking("Let me see. " * 9),
        {"type": "text", "text": "Grüße, 世界 👩‍🔬 " * 9},
        tool("search", {"queries": ["é"], "deep": {"er": [1, None, "x" * 50]}}, "c1"),
    ]
    on = stage([says(*content)], tokens_per_event=tokens_per_event)
    reply = await ask(on)
    assert reply.content == blocks_of(*content)
    assert (reply.stop_reason, reply.model) == ("tool_use", MODEL)
    assert reply.input_tokens > 0
    assert reply.output_tokens == on.fake.requests[0].usage["output_tokens"]


async def test_a_key_that_changes_in_its_file_goes_with_the_next_call(
    stage: OpenStage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In both headers, since the endpoint is not Anthropic's own."""
    file = tmp_path / "key"
    file.write_text(f"{KEY}\n")
    monkeypatch.setenv("ANTHROPIC_API_KEY_FILE", str(file))
    on = stage([says("One."), says("Two."), says("Three.")], key=KEY)
    await ask(on)
    on.fake.key = "sk-ant-another"
    file.write_text("sk-ant-another\n")
    await ask(on)
    file.unlink()  # as for the moment in which it is replaced
    await ask(on)
    assert on.statuses == [200, 200, 200]


async def test_one_connection_serves_many_calls(stage: OpenStage) -> None:
    on = stage()
    ports = set()
    for _ in range(3):
        await ask(on)
    for request in on.fake.requests:
        ports.add(request.client)
    assert len(ports) == 1


# ---------------------------------------------------------------- errors by meaning

ERRORS = [
    (Fail(401, "invalid API key"), CredentialsRefused, "ANTHROPIC_API_KEY was not accepted"),
    (Fail(403, "no access"), CredentialsRefused, "no access"),
    (Fail(402, "no credit"), CredentialsRefused, "cannot pay for this request: no credit"),
    (Fail(400, "Your credit balance is too low"), CredentialsRefused, "credit balance is too low"),
    (
        Fail(404, f"model: {MODEL}"),
        InvalidSetting,
        f"knows no model {MODEL}: set FOOTNOTE_MODEL to",
    ),
    (Fail(400, f"The model {MODEL} does not exist"), InvalidSetting, "set FOOTNOTE_MODEL to"),
    (Fail(404, "", raw=b"<html>Not Found</html>"), InvalidSetting, "correct ANTHROPIC_BASE_URL"),
    (Fail(400, "messages.0: something odd"), ModelBroken, "messages.0: something odd"),
    (Fail(413, "Request exceeds the maximum size"), TooLong, "ask for less"),
    (Fail(400, "prompt is too long: 9 > 8"), TooLong, "prompt is too long: 9 > 8"),
]


@pytest.mark.parametrize(("fail", "kind", "words"), ERRORS)
async def test_an_error_says_what_happened_and_what_to_do(
    stage: OpenStage, fail: Fail, kind: type[FootnoteError], words: str
) -> None:
    on = stage([fail])
    error = await error_of(on)
    assert type(error) is kind
    assert words in error.sentence
    assert len(on.fake.requests) == 1  # trying again would give the same answer
    assert "\n" not in error.sentence


async def test_the_small_model_is_named_by_its_own_setting(stage: OpenStage) -> None:
    on = stage(small_model="claude-tiny")
    assert "FOOTNOTE_SMALL_MODEL" in (await error_of(on, model="claude-tiny")).sentence


async def test_one_name_for_both_models_names_both_settings(stage: OpenStage) -> None:
    on = stage(model="x", small_model="x")
    assert "FOOTNOTE_MODEL and FOOTNOTE_SMALL_MODEL" in (await error_of(on, model="x")).sentence


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 529])
async def test_what_passes_is_tried_again(stage: OpenStage, status: int) -> None:
    on = stage([Fail(status, retry_after=SOON), Fail(status, retry_after=SOON), says("ok")])
    assert (await ask(on)).content == (Text("ok"),)
    assert on.statuses == [status, status, 200]


@pytest.mark.parametrize(
    ("status", "words"),
    [(429, "is busy"), (529, "is busy"), (500, "has a problem of its own")],
)
async def test_what_does_not_pass_is_given_up(stage: OpenStage, status: int, words: str) -> None:
    on = stage([Fail(status, retry_after=SOON)] * 9)
    error = await error_of(on)
    assert isinstance(error, ModelUnavailable)
    assert words in error.sentence
    assert "3 attempts" in error.sentence
    assert error.retry_after == pytest.approx(SOON)
    assert on.statuses == [status] * 3


async def test_retry_after_is_waited_for(stage: OpenStage) -> None:
    on = stage([Fail(429, retry_after=0.3), says("ok")])
    started = time.monotonic()
    await ask(on)
    assert time.monotonic() - started >= 0.3


async def test_a_wait_longer_than_a_call_is_not_waited_for(stage: OpenStage) -> None:
    on = stage([Fail(429, retry_after=3600)], model_timeout=60.0)
    started = time.monotonic()
    error = await error_of(on)
    assert time.monotonic() - started < 60
    assert isinstance(error, ModelUnavailable)
    assert error.retry_after == 3600


async def test_an_endpoint_that_is_not_there(
    unused_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.reasoning.model_service.RETRIES", 0)
    endpoint = claude_service(
        claude_settings(
            anthropic_api_key=KEY,
            anthropic_base_url=f"http://127.0.0.1:{unused_port}",
        )
    )
    with pytest.raises(ModelUnavailable, match=f"127.0.0.1:{unused_port} cannot be reached"):
        await endpoint.complete(REQUEST)
    await endpoint.aclose()


async def test_an_endpoint_that_never_answers(
    stage: OpenStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.reasoning.model_service.RETRIES", 0)
    on = stage(model_timeout=0.2, first_token=30.0)
    error = await error_of(on)
    assert isinstance(error, ModelUnavailable)
    assert "FOOTNOTE_MODEL_TIMEOUT" in error.sentence


@pytest.mark.parametrize(
    "raw",
    [b"<html>Welcome to the proxy</html>", b"", b"event: ping\ndata: {}\n\n"],
    ids=["html", "nothing", "pings only"],
)
async def test_something_that_is_no_messages_api(stage: OpenStage, raw: bytes) -> None:
    on = stage([Reply(raw=raw)] * 3)
    error = await error_of(on)
    assert isinstance(error, ModelUnavailable)
    assert "check ANTHROPIC_BASE_URL" in error.sentence


async def test_a_stream_of_nonsense(stage: OpenStage) -> None:
    on = stage([Reply(raw=b"event: message_start\ndata: {nonsense\n\n")])
    error = await error_of(on)
    assert isinstance(error, ModelBroken)


@pytest.mark.parametrize(
    "event",
    [
        {"type": "message_start"},
        {"type": "content_block_start", "index": 0},
        {"type": "content_block_start", "index": 0, "content_block": {"text": "x"}},
        {"type": "content_block_delta", "index": 0},
        {"type": "message_delta"},
    ],
)
async def test_an_event_with_something_missing(stage: OpenStage, event: dict[str, Any]) -> None:
    raw = f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
    on = stage([Reply(raw=raw)] * 3)
    error = await error_of(on)
    assert isinstance(error, ModelBroken | ModelUnavailable)
    assert "ANTHROPIC_BASE_URL" in error.sentence or "cut" in error.sentence


async def test_a_call_without_an_id_gets_one(stage: OpenStage) -> None:
    events: list[dict[str, Any]] = [
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "tool_use", "name": "read"},
        },
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "input_json_delta", "partial_json": "{}"},
        },
        {"type": "odd_event", "index": 7},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "odd_delta"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_stop"},
    ]
    raw = "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events).encode()
    on = stage([Reply(raw=raw)])
    [block] = (await ask(on)).content
    assert isinstance(block, ToolCall)
    assert block.id.startswith("toolu_")
    assert (block.name, block.input) == ("read", {})


# ---------------------------------------------------------------- streams that break


@pytest.mark.parametrize("kind", ["cut", "reset", "end", "error", "stall"])
async def test_a_broken_stream_is_sent_again(stage: OpenStage, kind: Any) -> None:
    fault = Fault(kind, after=4, seconds=30.0)
    patience = 1.0 if kind == "stall" else 60.0
    on = stage([says("x" * 200, fault=fault), says("whole")], model_timeout=patience)
    reply = await ask(on)
    assert reply.content == (Text("whole"),)
    assert len(on.fake.requests) == 2
    assert reply.input_tokens == 2 * on.fake.requests[1].usage["input_tokens"]  # both were paid


async def test_a_stream_that_always_breaks_is_given_up(stage: OpenStage) -> None:
    on = stage([says("x" * 200, fault=Fault("cut"))] * 9)
    error = await error_of(on)
    assert isinstance(error, ModelUnavailable)
    assert "was cut" in error.sentence
    assert len(on.fake.requests) == 3


async def test_an_overload_in_mid_stream_is_named(stage: OpenStage) -> None:
    on = stage([says("x" * 200, fault=Fault("error"))] * 3)
    assert "is busy" in (await error_of(on)).sentence


async def test_an_error_of_ours_in_mid_stream_is_not_tried_again(stage: OpenStage) -> None:
    on = stage([says("x" * 200, fault=Fault("error", status=400, message="odd"))])
    error = await error_of(on)
    assert isinstance(error, ModelBroken)
    assert len(on.fake.requests) == 1


async def test_pauses_shorter_than_the_timeout_are_waited_out(stage: OpenStage) -> None:
    on = stage([says("x" * 200, fault=Fault("stall", seconds=0.2))], model_timeout=5.0)
    await ask(on)
    assert len(on.fake.requests) == 1


async def test_a_cancelled_call_stays_cancelled(stage: OpenStage) -> None:
    on = stage(first_token=30.0)
    task = asyncio.create_task(ask(on))
    while not on.fake.requests:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


# ---------------------------------------------------------------- what the API counts


def _events(usage: dict[str, Any], ending: dict[str, Any]) -> bytes:
    message: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-5-5",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    delta = {"stop_reason": "end_turn", "stop_sequence": None}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": message},
        {"type": "message_delta", "delta": delta, "usage": ending},
        {"type": "message_stop"},
    ]
    return "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events).encode()


async def test_cache_writes_for_an_hour_and_the_place_of_work_are_kept(stage: OpenStage) -> None:
    usage = {
        "input_tokens": 7,
        "output_tokens": 1,
        "cache_read_input_tokens": 20,
        "cache_creation_input_tokens": 300,
        "cache_creation": {"ephemeral_5m_input_tokens": 100, "ephemeral_1h_input_tokens": 200},
        "inference_geo": "us",
    }
    on = stage([Reply(raw=_events(usage, {"output_tokens": 40}))])
    reply = await ask(on)
    assert (reply.input_tokens, reply.output_tokens, reply.cache_read_tokens) == (7, 40, 20)
    assert (reply.cache_write_tokens, reply.hour_write_tokens, reply.geo) == (300, 200, "us")
    assert reply.cut == ()


async def test_counts_at_the_end_replace_those_at_the_beginning(stage: OpenStage) -> None:
    first = {"input_tokens": 7, "output_tokens": 1, "cache_read_input_tokens": 0}
    last = {"input_tokens": 9, "output_tokens": 4, "cache_read_input_tokens": 5}
    reply = await ask(stage([Reply(raw=_events(first, last))]))
    assert (reply.input_tokens, reply.output_tokens, reply.cache_read_tokens) == (9, 4, 5)


async def test_attempts_that_broke_off_are_counted_one_by_one(stage: OpenStage) -> None:
    on = stage([says("x" * 200, fault=Fault("cut", after=4)), says("whole")])
    reply = await ask(on)
    [cut] = reply.cut
    first, second = (request.usage for request in on.fake.requests)
    assert cut.input == first["input_tokens"]
    assert reply.input_tokens - cut.input == second["input_tokens"]
    assert reply.output_tokens - cut.output == second["output_tokens"]


async def test_what_a_call_that_fails_had_counted_is_told(stage: OpenStage) -> None:
    on = stage([says("x" * 200, fault=Fault("cut", after=4))] * 3)
    lost: list[ModelReply] = []
    with pytest.raises(ModelUnavailable):
        await on.endpoint.complete(REQUEST, lost.append)
    [reply] = lost
    assert reply.input_tokens == sum(request.usage["input_tokens"] for request in on.fake.requests)
    assert len(reply.cut) == 2


OBJECT = {"type": "object", "additionalProperties": False}
ADAPTIVE = {"thinks": True}
JSON = {"schema": OBJECT}
TOOL = {"tools": (Tool("search", "Searches.", OBJECT),)}
LOW = {"effort": "low"}
FEATURES: list[tuple[str, str, dict[str, Any]]] = [
    ("thinking", "thinking: Extra inputs are not permitted", ADAPTIVE),
    ("thinking", "adaptive thinking is not supported on this model", ADAPTIVE),
    ("effort", "This model does not support the effort parameter.", LOW),
    ("format", "output_config.format: Extra inputs are not permitted", JSON),
    ("strict", "tools.0.custom.strict: Extra inputs are not permitted", TOOL),
    ("cache_control", "system.0.cache_control: Extra inputs are not permitted", {}),
]


@pytest.mark.parametrize(("feature", "words", "changes"), FEATURES)
async def test_a_refused_feature_is_left_out_from_then_on(
    stage: OpenStage, feature: str, words: str, changes: dict[str, Any]
) -> None:
    on = stage(refuses={feature: words})
    await ask(on, **changes)
    await ask(on, **changes)
    assert on.statuses == [400, 200, 200]
    sent = [set(body) | {str(body).count(feature) > 0} for body in on.fake.calls]
    assert [True in one for one in sent] == [True, False, False]


async def test_all_features_may_be_refused(stage: OpenStage) -> None:
    everything: dict[str, Any] = {}
    for _, _, changes in FEATURES:
        everything |= changes
    on = stage(refuses={feature: words for feature, words, _ in FEATURES})
    await ask(on, **everything)
    assert on.statuses == [400] * 5 + [200]


async def test_calls_that_are_refused_at_once_all_learn(stage: OpenStage) -> None:
    on = stage(refuses={"thinking": "thinking: Extra inputs are not permitted"}, first_token=0.05)
    replies = await asyncio.gather(*(ask(on, **ADAPTIVE) for _ in range(5)))
    assert len(replies) == 5
    assert on.statuses.count(200) == 5


async def test_what_one_model_refuses_another_still_gets(stage: OpenStage) -> None:
    on = stage()
    await ask(on, model="claude-haiku-4-5")
    await ask(on)
    assert [body.get("thinking") for body in on.fake.calls] == [
        {"type": "adaptive"},
        None,
        {"type": "adaptive"},
    ]


@pytest.mark.parametrize(
    ("model", "sent"),
    [
        ("claude-sonnet-5", [{"type": "disabled"}]),
        ("claude-sonnet-5-5", [{"type": "disabled"}, {"type": "between_tools"}]),
        ("claude-opus-5-5", [{"type": "disabled"}, None]),
    ],
)
async def test_thinking_is_turned_off_as_far_as_the_model_lets_it(
    stage: OpenStage, model: str, sent: list[Any]
) -> None:
    on = stage()
    await ask(on, model=model, thinks=False)
    assert [body.get("thinking") for body in on.fake.calls] == sent


async def test_a_model_that_thinks_between_tools_only_at_low_effort(stage: OpenStage) -> None:
    on = stage()
    await ask(on, thinks=False, effort="max")
    assert on.statuses == [400, 400, 200]
    assert on.fake.calls[-1]["output_config"] == {"effort": "max"}


@pytest.mark.parametrize(
    ("words", "used", "feature"),
    [
        ("Input tag 'search_result' found", {"search_result"}, "search_result"),
        ("citations are not supported", {"search_result"}, "search_result"),
        ("thinking: no", {"effort"}, None),
        ("output_config: no", {"effort", "format"}, "format"),
        ("output_config: no", {"effort"}, "effort"),
        ("The compiled grammar is too large.", {"effort", "format"}, "format"),
        ("Schema is too complex for compilation.", {"format"}, "format"),
        ("Invalid date format", {"format"}, None),
        (
            "Invalid `signature` in `thinking` block",
            {"thinking", "thinking_blocks"},
            "thinking_blocks",
        ),
        ("thinking: no", {"thinking", "thinking_blocks"}, "thinking"),
        ("", {"format", "strict"}, None),
    ],
)
def test_words_name_a_feature_that_was_used(words: str, used: Any, feature: str | None) -> None:
    assert refused_feature(words, used, NAMED) == feature


async def test_thoughts_that_are_not_taken_back_are_left_out(stage: OpenStage) -> None:
    foreign = {"type": "thinking", "thinking": "hm", "signature": "of another account"}
    hello, reply, silent = (
        user_turn("Hello")[0],
        ModelTurn((foreign, Text("Hi"))),
        ModelTurn((foreign,)),
    )
    on = stage()
    await ask(on, turns=(hello, reply, hello, silent, hello))
    assert on.statuses == [400, 200]
    sent = on.fake.calls[1]["messages"]
    assert sent[1]["content"] == [{"type": "text", "text": "Hi"}]
    assert sent[3]["content"] == [{"type": "text", "text": "(no reply)"}]
