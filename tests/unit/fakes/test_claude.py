"""The fake Claude is strict where the real one is, counts as it does, and can fail as it can."""

from __future__ import annotations

import io
from base64 import b64encode
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest
from PIL import Image

from tests.fakes.claude import FakeClaude, Reply, says, thinking, tool
from tests.fakes.claude_cache import PromptCache
from tests.fakes.claude_models import minimum_cacheable
from tests.fakes.claude_stage import Relay
from tests.fakes.pictures import drawn
from tests.fakes.server import serve

MODEL = "claude-sonnet-5-5"
USER = {"role": "user", "content": "Hello"}
MARK = {"cache_control": {"type": "ephemeral"}}
OBJECT = {"type": "object", "additionalProperties": False}
SEARCH = {"name": "search", "input_schema": OBJECT}
GOOD: dict[str, Any] = {"model": MODEL, "max_tokens": 10, "messages": [USER]}


def words(value: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": value, **more}


def user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def result(id: str, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": "ok", **more}


def found(**more: Any) -> dict[str, Any]:
    block = {"type": "search_result", "source": "u", "title": "t", "content": [words("x")]}
    return {**block, **more}


def image(data: bytes | str, kind: str = "image/png") -> dict[str, Any]:
    encoded = data if isinstance(data, str) else b64encode(data).decode()
    return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": encoded}}


def plain(width: int, height: int) -> bytes:
    file = io.BytesIO()
    Image.new("1", (width, height)).save(file, "PNG")
    return file.getvalue()


PICTURE = drawn("Error E4711")
CALL = tool("search", {}, "c1")
ASKED = [USER, assistant(CALL)]
FORMAT = {"output_config": {"format": {"type": "json_schema", "schema": OBJECT}}}


@pytest.fixture(scope="module")
def relay() -> Iterator[tuple[Relay, str]]:
    app = Relay()
    with serve(app) as url:
        yield app, url


@pytest.fixture
async def http(relay: tuple[Relay, str]) -> AsyncIterator[httpx.AsyncClient]:
    relay[0].app = FakeClaude()
    headers = {"x-api-key": "k", "anthropic-version": "2026-10-21"}
    async with httpx.AsyncClient(base_url=relay[1], headers=headers, timeout=60) as client:
        yield client


async def post(http: httpx.AsyncClient, body: Any, **more: Any) -> tuple[int, str]:
    """The status, and the error's words or the reply's text."""
    response = await http.post("/v1/messages", json=body, **more)
    answer = response.json()
    if response.is_success:
        return response.status_code, "".join(b.get("text", "") for b in answer["content"])
    assert answer["type"] == "error"
    return response.status_code, answer["error"]["message"]


# ---------------------------------------------------------------- what is accepted

ACCEPTED: list[dict[str, Any]] = [
    {},
    {"system": "Be brief.", "stop_sequences": ["x"], "metadata": {"user_id": "u"}},
    {"system": [words("a", **MARK)], "messages": [user(words("b", **MARK))]},
    {"tools": [{**SEARCH, "strict": True, **MARK}]},
    {"tools": [SEARCH], "messages": [*ASKED, user(result("c1"), words("go on"))]},
    {"tools": [SEARCH], "messages": [*ASKED, user(result("c1", content=[words("x")]))]},
    {"messages": [user(found(citations={"enabled": True}), words("?"))]},
    {"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}},
    {"messages": [USER, assistant(thinking("hm"), words("a")), USER]},
    {"messages": [user(image(PICTURE), words("?"))]},
    {"messages": [user(*[image(plain(2_000, 2_000))] * 21, words("?"))]},
    {"messages": [user(image(plain(8_000, 8)), words("?"))]},
    FORMAT,
]


@pytest.mark.parametrize("changes", ACCEPTED)
async def test_a_good_request_is_answered(http: httpx.AsyncClient, changes: dict[str, Any]) -> None:
    assert (await post(http, {**GOOD, **changes}))[0] == 200


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"temperature": 1.0}, "temperature: Extra inputs are not permitted"),
    ({"max_tokens": None}, "max_tokens"),
    ({"messages": [user(image(PICTURE, "image/jpeg"))]}, "appears to be a image/png image"),
    ({"messages": [user(image(PICTURE, "image/bmp"))]}, "messages.0.content.0"),
    ({"messages": [user(image(PICTURE[:300]))]}, "Could not process image"),
    ({"messages": [user(image(b"text"))]}, "Could not process image"),
    ({"messages": [user(image("not base64!"))]}, "invalid base64"),
    ({"messages": [user(image(PICTURE.ljust(7_600_000, b"0")))]}, "image exceeds 10 MB"),
    ({"messages": [user(image(plain(8_001, 8)))]}, "exceed max allowed size: 8000"),
    ({"messages": [user(*[image(plain(2_001, 8))] * 21)]}, "exceed max allowed size: 2000"),
    ({"messages": [user(*[image(plain(8, 8))] * 101)]}, "at most 100 images"),
    ({"messages": [USER, assistant(image(PICTURE)), USER]}, "for user messages"),
    ({"max_tokens": 0}, "max_tokens"),
    ({"messages": []}, "at least one message"),
    ({"messages": [assistant(words("a")), USER]}, "first message must use the user role"),
    ({"messages": [USER, USER]}, "roles must alternate"),
    ({"messages": [USER, assistant(words("a"))]}, "prefill"),
    ({"messages": [{"role": "user", "content": ""}]}, "non-empty"),
    ({"messages": [user()]}, "non-empty"),
    ({"messages": [user(words(""))]}, "text content blocks must be non-empty"),
    ({"messages": [user(words(" \n"))]}, "non-whitespace"),
    ({"messages": [user(words("a", txt="b"))]}, "messages.0.content.0.txt: Extra inputs"),
    ({"messages": [user({"type": "text"})]}, "messages.0.content.0.text: Field required"),
    ({"messages": [user({"type": "poem", "text": "x"})]}, "messages.0.content"),
    ({"messages": [user(words("a", citations=[{"type": "x"}]))]}, "messages.0.content.0"),
    ({"messages": [user(CALL)]}, "tool_use blocks are for assistant messages"),
    ({"messages": [*ASKED, user(words("so?"))], "tools": [SEARCH]}, "without `tool_result` blocks"),
    ({"messages": [USER, assistant(words("a")), user(result("c9"))], "tools": [SEARCH]}, "c9"),
    ({"messages": [*ASKED, user(words("x"), result("c1"))], "tools": [SEARCH]}, "come first"),
    ({"messages": [*ASKED, user(result("c1"), result("c1"))], "tools": [SEARCH]}, "single result"),
    ({"messages": [*ASKED, user(result("c1"))]}, "must define tools"),
    (
        {
            "messages": [*ASKED, user(result("c1")), *ASKED[1:], user(result("c1"))],
            "tools": [SEARCH],
        },
        "unique",
    ),
    ({"tools": [SEARCH, SEARCH]}, "Tool names must be unique"),
    ({"tools": [{**SEARCH, "name": "no spaces"}]}, "should match pattern"),
    (
        {"tools": [{"name": "x", "input_schema": {"type": "object", "properties": 3}}]},
        "input_schema",
    ),
    (
        {"tools": [{"name": "x", "input_schema": {"type": "object"}, "strict": True}]},
        "additionalProperties",
    ),
    (
        {
            "tools": [
                {
                    **SEARCH,
                    "strict": True,
                    "input_schema": {
                        **OBJECT,
                        "properties": {"a": {"type": "array", "maxItems": 4}},
                    },
                }
            ]
        },
        "'maxItems' is not supported",
    ),
    ({"tools": [SEARCH], "tool_choice": {"type": "any"}}, "not supported for this model"),
    ({"tool_choice": {"type": "auto"}}, "while providing tools"),
    (
        {
            "output_config": {
                "format": {"type": "json_schema", "schema": {"type": "string", "minLength": 1}}
            }
        },
        "'minLength' is not supported",
    ),
    ({"thinking": {"type": "enabled", "budget_tokens": 2000}}, "max_tokens` must be greater"),
    ({"thinking": {"type": "disabled"}}, "between_tools"),
    (
        {
            "messages": [
                USER,
                assistant({"type": "thinking", "thinking": "a", "signature": "b"}, words("a")),
                USER,
            ]
        },
        "Invalid `signature`",
    ),
    ({"messages": [user(*[words("a", **MARK)] * 5)]}, "A maximum of 4 blocks with cache_control"),
    ({"messages": [user(found(citations={"enabled": True}), found())]}, "all or none"),
    ({"messages": [user(found(content=[]))]}, "at least one text block"),
    ({"messages": [user(found(title=""))]}, "non-empty"),
    ({"messages": [user(found(citations={"enabled": True}))], **FORMAT}, "together with citations"),
]


@pytest.mark.parametrize(("changes", "complaint"), REFUSED)
async def test_a_bad_request_is_refused_with_what_is_wrong(
    http: httpx.AsyncClient, changes: dict[str, Any], complaint: str
) -> None:
    status, said = await post(http, {**GOOD, **changes})
    assert status == 400
    assert complaint in said


@pytest.mark.parametrize(
    ("headers", "status"),
    [({"x-api-key": ""}, 401), ({"anthropic-version": ""}, 200)],
)
async def test_headers_are_looked_at(
    http: httpx.AsyncClient, headers: dict[str, str], status: int
) -> None:
    assert (await post(http, GOOD, headers=headers))[0] == status


async def test_the_version_header_is_needed(http: httpx.AsyncClient) -> None:
    del http.headers["anthropic-version"]
    assert (await post(http, GOOD))[1] == "anthropic-version: header is required"


async def test_no_json_is_a_bad_request(http: httpx.AsyncClient) -> None:
    response = await http.post("/v1/messages", content=b"{")
    assert response.status_code == 400


async def test_an_unknown_model_is_not_found(http: httpx.AsyncClient) -> None:
    assert await post(http, {**GOOD, "model": "gpt"}) == (404, "model: gpt")


async def test_a_thinking_block_keeps_its_past(
    relay: tuple[Relay, str], http: httpx.AsyncClient
) -> None:
    relay[0].app = FakeClaude([says(thinking("unique"), "a"), says("b"), says("c")])
    await post(http, GOOD)
    later = [USER, assistant(thinking("unique"), words("a")), USER]
    assert (await post(http, {**GOOD, "messages": later}))[0] == 200
    changed = {**GOOD, "messages": later, "system": "Changed."}
    assert "cannot be used after" in (await post(http, changed))[1]


# ---------------------------------------------------------------- counting and caching


def asked(*contents: tuple[str, bool], model: str = MODEL, **more: Any) -> dict[str, Any]:
    """A conversation of single blocks, each with whether it is marked."""
    messages = [
        {
            "role": "user" if at % 2 == 0 else "assistant",
            "content": [words(value, **(MARK if marked else {}))],
        }
        for at, (value, marked) in enumerate(contents)
    ]
    return {"model": model, "max_tokens": 1, "messages": messages, **more}


LONG = "word " * 1_000


def test_a_prefix_is_written_once_and_then_read() -> None:
    cache = PromptCache(1024)
    first = cache.count(asked((LONG, True)))
    assert (first.read, first.fresh) == (0, 0)
    assert first.written == first.total > 1024
    second = cache.count(asked((LONG, False), ("ok", False), ("more", True)))
    assert second.read == first.total
    assert second.written == second.total - first.total


def test_a_changed_prefix_is_a_miss() -> None:
    cache = PromptCache(1024)
    cache.count(asked((LONG, True)))
    assert cache.count(asked((LONG + "!", True))).read == 0
    assert cache.count(asked((LONG, True), model="claude-opus-5-5")).read == 0
    assert cache.count(asked((LONG, True), system="x")).read == 0
    assert cache.count(asked((LONG, True), thinking={"type": "adaptive"})).read == 0
    assert cache.count(asked((LONG, True))).read > 0


def test_tools_and_system_survive_a_change_of_thinking() -> None:
    cache = PromptCache(512)
    system = [words(LONG, **MARK)]
    cache.count(asked((LONG, True), system=system))
    kept = cache.count(asked((LONG, True), system=system, thinking={"type": "adaptive"}))
    assert 0 < kept.read < kept.total


def test_a_short_prefix_is_not_cached_and_nothing_is_said() -> None:
    cache = PromptCache(1024)
    cache.count(asked(("short", True)))
    again = cache.count(asked(("short", True)))
    assert (again.read, again.written) == (0, 0)
    assert again.fresh == again.total


def test_an_entry_is_looked_for_up_to_twenty_blocks_back() -> None:
    cache = PromptCache(512)
    start = (LONG, True)
    cache.count(asked(start))
    near = [("x", False)] * 18
    assert cache.count(asked((LONG, False), *near, ("end", True))).read > 0
    cache = PromptCache(512)
    cache.count(asked(start))
    assert cache.count(asked((LONG, False), *near, ("x", False), ("end", True))).read == 0


def test_an_entry_lives_five_minutes_from_its_last_use() -> None:
    times = iter((0.0, 299.0, 598.0, 899.0))
    cache = PromptCache(512, lambda: next(times))
    reads = [cache.count(asked((LONG, True))).read > 0 for _ in range(4)]
    assert reads == [False, True, True, False]


def test_minimums_are_those_of_the_models() -> None:
    models = ("claude-sonnet-5-5", "claude-sonnet-4-6", "claude-opus-4-7", "claude-haiku-4-5")
    assert [minimum_cacheable(m) for m in models] == [512, 1024, 2048, 4096]


# ---------------------------------------------------------------- scripts, faults, latency


async def test_a_brain_that_raises_is_heard(
    relay: tuple[Relay, str], http: httpx.AsyncClient
) -> None:
    def brain(request: Any) -> Reply:
        raise ValueError("ouch")

    relay[0].app = FakeClaude(brain)
    status, said = await post(http, GOOD)
    assert (status, "ouch" in said) == (400, True)
