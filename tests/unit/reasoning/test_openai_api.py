"""The Chat Completions API: what is sent, what comes back, and errors by meaning."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
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
from bot.operation.configuration import load_settings
from bot.reasoning.calls import (
    CachePoint,
    ModelReply,
    ModelTurn,
    Request,
    SearchResult,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    UserTurn,
    Words,
    user_turn,
)
from bot.reasoning.model_service import TooLong
from bot.reasoning.openai import OpenAISettings, openai_service
from bot.reasoning.openai_api import OpenAIEndpoint
from bot.reasoning.reasoner import price_of, reasoners
from tests.fakes.claude import Fail, Fault, Reply, says, tool
from tests.fakes.claude_stage import Relay
from tests.fakes.openai import FakeOpenAI

Opened = tuple[FakeOpenAI, OpenAIEndpoint]
OpenServer = Callable[..., Opened]


def openai_settings(**given: Any) -> OpenAISettings:
    settings = load_settings(**given)
    assert isinstance(settings, OpenAISettings)
    return settings


@pytest.fixture(autouse=True)
def retries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.reasoning.model_service.RETRIES", 1)


@pytest.fixture
async def server(relay: tuple[Relay, str]) -> AsyncIterator[OpenServer]:
    """Opens a fake and its client: ``server(brain, **settings)``; ``fake`` are its options."""
    opened: list[OpenAIEndpoint] = []

    def make(brain: Any = None, *, fake: dict[str, Any] | None = None, **given: Any) -> Opened:
        app, url = relay
        api = FakeOpenAI(**({"brain": brain} if brain is not None else {}), **(fake or {}))
        app.app = api
        values = {"openai_base_url": f"{url}/v1", "model": "openai:gpt-a"}
        opened.append(openai_service(openai_settings(**{**values, **given})))
        return api, opened[-1]

    yield make
    for endpoint in opened:
        await endpoint.aclose()


OBJECT = {
    "type": "object",
    "properties": {"a": {"type": "string"}},
    "required": ["a"],
    "additionalProperties": False,
}
REQUEST = Request("gpt-a", 100, "Be brief.", user_turn("Hello"), thinks=True)
SECRET = "sk-secret-123456"


def raw(*chunks: dict[str, Any], done: bool = True) -> Reply:
    """A reply of just these chunks."""
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
    return Reply(raw="".join([*lines, "data: [DONE]\n\n" if done else ""]).encode())


def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "1", "object": "chat.completion.chunk", "created": 1, "choices": [choice]}


async def failed(endpoint: OpenAIEndpoint, request: Request = REQUEST) -> FootnoteError:
    with pytest.raises(FootnoteError) as raised:
        await endpoint.complete(request)
    return raised.value


# ---------------------------------------------------------------- what is sent


async def test_a_key_that_changes_in_its_file_goes_with_the_next_call(
    server: OpenServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "key"
    file.write_text("sk-old")
    monkeypatch.setenv("OPENAI_API_KEY_FILE", str(file))
    _, endpoint = server([says("Well.")], fake={"key": "sk-new"})
    with pytest.raises(CredentialsRefused):
        await endpoint.complete(REQUEST)
    file.write_text("sk-new")
    await endpoint.complete(REQUEST)


async def test_a_conversation_with_tools_is_sent_in_the_order_that_the_api_wants(
    server: OpenServer,
) -> None:
    page = SearchResult("https://e.example", "Page 1", ("1.1 Tall.",), (("number", 1),))
    call = ToolCall("c1", "search", {"queries": ["é"]})
    turns = (
        *user_turn("How tall?"),
        ModelTurn(({"type": "thinking", "thinking": "hm"}, Text("I search."), call)),
        UserTurn((ToolResult("c1", (page,)), Words("Left: 1 search."), CachePoint())),
    )
    api, endpoint = server([says("330 m.")])
    await endpoint.complete(replace(REQUEST, turns=turns, system_for_marks="Cite by [n]."))
    [sent] = api.calls
    assert api.problems == []
    assert [m["role"] for m in sent["messages"]] == ["system", "user", "assistant", "tool", "user"]
    assert sent["messages"][0]["content"] == "Cite by [n]."
    assert sent["messages"][2]["content"] == "I search."
    assert json.loads(sent["messages"][2]["tool_calls"][0]["function"]["arguments"]) == call.input
    assert sent["messages"][3]["content"] == '<page number="1">\n1.1 Tall.\n</page>'
    assert sent["messages"][4]["content"] == "Left: 1 search."


async def test_a_call_that_was_no_json_can_be_sent_back(server: OpenServer) -> None:
    api, endpoint = server([says(tool("search", '{"queries": ["a', "c1")), says("Well.")])
    reply = await endpoint.complete(REQUEST)
    [call] = reply.content
    assert isinstance(call, ToolCall)
    assert call.unparsed == '{"queries": ["a'
    results = UserTurn((ToolResult("c1", (Words("Again."),), failed=True),))
    await endpoint.complete(
        replace(REQUEST, turns=(*REQUEST.turns, ModelTurn(reply.content), results))
    )
    assert api.problems == []


@pytest.mark.parametrize(
    ("optional", "is_strict"), [({}, True), ({"b": {"type": "string"}}, False)]
)
async def test_schemas_are_strict_where_every_property_is_required(
    server: OpenServer, optional: dict[str, Any], is_strict: bool
) -> None:
    schema = {**OBJECT, "properties": {**OBJECT["properties"], **optional}}  # type: ignore[dict-item]
    api, endpoint = server([says("{}")])
    tools = (Tool("search", "Searches.", schema),)
    await endpoint.complete(replace(REQUEST, schema=schema, tools=tools))
    [sent] = api.calls
    assert ("strict" in sent["response_format"]["json_schema"]) == is_strict
    assert ("strict" in sent["tools"][0]["function"]) == is_strict


@pytest.mark.parametrize(
    ("request_", "sent"),
    [
        (REQUEST, None),
        (replace(REQUEST, effort="high"), "high"),
        (replace(REQUEST, thinks=False), "none"),
    ],
)
async def test_how_much_it_thinks(server: OpenServer, request_: Request, sent: str | None) -> None:
    api, endpoint = server([says("ok")])
    await endpoint.complete(request_)
    assert api.calls[0].get("reasoning_effort") == sent


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("feature", "words", "changes"),
    [
        ("response_format", "'response_format' is not supported", {"schema": OBJECT}),
        ("strict", "strict: Extra inputs are not permitted", {"schema": OBJECT}),
        ("stream_options", "stream_options: Extra inputs are not permitted", {}),
        ("reasoning_effort", "Unrecognized argument: reasoning_effort", {"effort": "low"}),
        ("max_tokens", "max_tokens: Extra inputs are not permitted", {}),
    ],
)
async def test_a_refused_feature_is_left_out_from_then_on(
    server: OpenServer, feature: str, words: str, changes: dict[str, Any]
) -> None:
    api, endpoint = server(fake={"refuses": {feature: words}})
    for _ in range(2):
        await endpoint.complete(replace(REQUEST, **changes))
    assert api.statuses == [400, 200, 200]


async def test_the_other_name_of_the_limit_is_tried_where_both_are_named(
    server: OpenServer,
) -> None:
    words = (
        "Unsupported parameter: 'max_tokens' is not supported with this model. "
        "Use 'max_completion_tokens' instead."
    )
    api, endpoint = server(fake={"refuses": {"max_tokens": words}})
    await endpoint.complete(REQUEST)
    assert [("max_tokens" in each) for each in api.calls] == [True, False]
    assert api.calls[1]["max_completion_tokens"] == 100


async def test_an_effort_that_a_model_does_not_know_is_made_less_bold(server: OpenServer) -> None:
    words = "Unsupported value: 'reasoning_effort' does not support 'none' with this model."
    api, endpoint = server(fake={"refuses": {"effort none": words}})
    await endpoint.complete(replace(REQUEST, thinks=False))
    assert [each.get("reasoning_effort") for each in api.calls] == ["none", "minimal"]


async def test_without_a_schema_the_prompt_describes_it(server: OpenServer) -> None:
    words = "response_format is not supported by this model"
    api, endpoint = server(fake={"refuses": {"response_format": words}})
    await endpoint.complete(replace(REQUEST, schema=OBJECT))
    assert json.dumps(OBJECT) in api.calls[1]["messages"][0]["content"]


# ---------------------------------------------------------------- what comes back


@pytest.mark.parametrize("size", [1, 7, 1000])
async def test_a_reply_is_put_together_however_it_is_cut(server: OpenServer, size: int) -> None:
    blocks = (
        {"type": "text", "text": "Grüße, 世界 👩‍🔬"},
        tool("search", {"queries": ["é"]}, "c1"),
    )
    _, endpoint = server([says(*blocks)], fake={"size": size})
    reply = await endpoint.complete(REQUEST)
    assert reply.content == (
        Text("Grüße, 世界 👩‍🔬"),
        ToolCall("c1", "search", {"queries": ["é"]}),
    )
    assert (reply.stop_reason, reply.model, reply.plain) == ("tool_use", "gpt-a", True)
    assert reply.input_tokens > 0
    assert reply.cache_read_tokens > 0
    assert reply.output_tokens > 0


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("<think>I could [1]\n</think>\n\nIt is tall.", "It is tall."),
        ("<thinner> is a word.", "<thinner> is a word."),
        ("<th", "<th"),
        ("It is tall <think>so</think>.", "It is tall <think>so</think>."),
        ("<think>never ends", ""),
    ],
)
async def test_thoughts_in_tags_before_the_reply_are_left_out(
    server: OpenServer, written: str, shown: str, size: int
) -> None:
    _, endpoint = server([says(written)], fake={"size": size})
    reply = await endpoint.complete(REQUEST)
    assert "".join(each.text for each in reply.content if isinstance(each, Text)) == shown


@pytest.mark.parametrize(
    ("finish", "stop_reason"),
    [("length", "max_tokens"), ("content_filter", "refusal"), ("stop", "end_turn")],
)
async def test_why_it_stopped(server: OpenServer, finish: str, stop_reason: str) -> None:
    _, endpoint = server([raw(chunk({"content": "Well"}), chunk({}, finish))])
    assert (await endpoint.complete(REQUEST)).stop_reason == stop_reason


async def test_a_refusal_in_words_is_one(server: OpenServer) -> None:
    _, endpoint = server([raw(chunk({"refusal": "I cannot."}), chunk({}, "stop"))])
    reply = await endpoint.complete(REQUEST)
    assert (reply.stop_reason, reply.stop_details) == ("refusal", {"explanation": "I cannot."})


async def test_calls_without_a_name_and_an_end_of_their_own(server: OpenServer) -> None:
    """As small servers send them: no id, all at once, and an end like any other."""
    call = {"index": 0, "function": {"name": "read", "arguments": '{"ids": [1]}'}}
    _, endpoint = server([raw(chunk({"tool_calls": [call]}), chunk({}, "stop"))])
    reply = await endpoint.complete(REQUEST)
    [made] = reply.content
    assert isinstance(made, ToolCall)
    assert made.id.startswith("call_")
    assert (made.name, made.input, reply.stop_reason) == ("read", {"ids": [1]}, "tool_use")


async def test_tokens_that_are_not_counted_are_estimated(server: OpenServer) -> None:
    words = "stream_options: Extra inputs are not permitted"
    _, endpoint = server(fake={"refuses": {"stream_options": words}})
    reply = await endpoint.complete(replace(REQUEST, turns=user_turn("word " * 300)))
    assert 300 <= reply.input_tokens <= 900
    assert reply.output_tokens > 0


async def test_a_price_is_what_the_settings_say(server: OpenServer) -> None:
    prices = {"gpt-a": {"input": 1, "output": 2, "cache_write": 0, "cache_read": 0.5}}
    settings = openai_settings(model="openai:gpt-a", prices=prices)
    reply = ModelReply("gpt-a", (), "end_turn", 1_000_000, 1_000_000, 1_000_000)
    assert price_of(settings, reply) == 3.5
    assert price_of(openai_settings(model="openai:gpt-a"), reply) is None


# ---------------------------------------------------------------- what fails


@pytest.mark.parametrize("kind", ["cut", "reset", "end", "error"])
async def test_a_broken_stream_is_sent_again(server: OpenServer, kind: Any) -> None:
    broken = says("x" * 200, fault=Fault(kind, after=4))
    api, endpoint = server([broken, says("whole")])
    reply = await endpoint.complete(REQUEST)
    assert reply.content == (Text("whole"),)
    assert len(api.calls) == 2
    assert len(reply.attempts) == 2


@pytest.mark.parametrize(
    ("fail", "kind", "words"),
    [
        (Fail(401, "Incorrect API key"), CredentialsRefused, "OPENAI_API_KEY was not accepted"),
        (Fail(429, "No money", type="insufficient_quota"), CredentialsRefused, "cannot pay"),
        (Fail(429, "Slow down", type="requests"), ModelUnavailable, "is busy"),
        (Fail(500, "Oops"), ModelUnavailable, "has a problem of its own"),
        (Fail(404, "The model gpt-a does not exist"), InvalidSetting, "FOOTNOTE_MODEL"),
        (Fail(404, "Not Found"), InvalidSetting, "correct OPENAI_BASE_URL (with /v1)"),
        (Fail(400, "messages.0: odd"), ModelBroken, "messages.0: odd"),
        (Fail(400, "gpt-a does not support tools"), InvalidSetting, "cannot call tools"),
        (
            Fail(400, "This model's maximum context length is 8192 tokens."),
            TooLong,
            "ask for less",
        ),
    ],
)
async def test_an_error_says_what_to_do(
    server: OpenServer, fail: Fail, kind: type[FootnoteError], words: str
) -> None:
    _, endpoint = server([fail, fail], openai_api_key=SECRET)
    error = await failed(endpoint)
    assert isinstance(error, kind)
    assert words in error.sentence


async def test_the_key_is_never_shown(server: OpenServer) -> None:
    _, endpoint = server([Fail(401, f"Incorrect API key: {SECRET}")], openai_api_key=SECRET)
    error = await failed(endpoint)
    assert SECRET not in f"{error.sentence} {error.detail} {error!r} {endpoint!r}"


async def test_what_is_no_api_is_named(server: OpenServer) -> None:
    _, endpoint = server([raw(done=True)] * 3)
    assert "does not answer as the OpenAI API does" in (await failed(endpoint)).sentence


# ---------------------------------------------------------------- settings


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"model": "openai:gpt-a", "openai_base_url": None}, "OPENAI_API_KEY is not set"),
        ({"model": "openai:"}, "set it to openai:NAME"),
        ({"reasoner": "openai"}, "set FOOTNOTE_MODEL=openai:NAME"),
        ({"model": "openai:gpt-a", "openai_base_url": "localhost"}, "OPENAI_BASE_URL"),
    ],
)
async def test_settings_that_cannot_work_are_refused_at_once(
    given: dict[str, Any], words: str
) -> None:
    address = {"openai_base_url": "http://127.0.0.1:9/v1"}

    async def checked() -> None:
        await reasoners()["openai"].check(openai_settings(**{**address, **given}))

    with pytest.raises(InvalidSetting, match=words):
        await checked()


@pytest.mark.parametrize("lists", [True, False])
async def test_doctor_finds_the_models_without_a_call(server: OpenServer, lists: bool) -> None:
    api, endpoint = server(fake={"lists": lists}, small_model="openai:gpt-b")
    check = reasoners()["openai"].check
    assert await check(endpoint.settings) == "gpt-a and gpt-b answered"
    assert api.calls == []


async def test_doctor_names_a_model_that_is_not_there(server: OpenServer) -> None:
    _, endpoint = server(model="openai:gpt-z")
    with pytest.raises(InvalidSetting, match="knows no model gpt-z"):
        await reasoners()["openai"].check(endpoint.settings)
