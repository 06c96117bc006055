"""Answers that mean the same in all search engines, asked of each of them."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.responses import PlainTextResponse, Response

from bot.core.errors import (
    Broken,
    CredentialsRefused,
    FootnoteError,
    InvalidSetting,
    ProviderUnavailable,
    Refused,
)
from bot.operation.configuration import load_settings
from bot.search.engines import MAX_REPLY_BYTES
from bot.search.provider import Hit, Query
from bot.search.providers import tavily
from bot.search.registry import declarations
from tests.fakes.engines import KEY, FakeEngine, refusal
from tests.fakes.server import serve
from tests.fakes.web_engines import FakeBrave, FakeSearxng, FakeSerper, FakeTavily
from tests.unit.search.engines import KEYS, opened

ENGINES: dict[str, Callable[[], FakeEngine]] = {
    "searxng": FakeSearxng,
    "serper": FakeSerper,
    "brave": FakeBrave,
    "tavily": FakeTavily,
}
SETTING = {
    "searxng": "FOOTNOTE_SEARXNG_URL",
    "serper": "SERPER_API_KEY",
    "brave": "BRAVE_SEARCH_API_KEY",
    "tavily": "TAVILY_API_KEY",
}


@pytest.fixture(params=sorted(ENGINES))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def refused(name: str, answer: Response) -> FootnoteError:
    engine = ENGINES[name]()
    engine.failures.append(answer)
    async with opened(name, engine) as provider:
        with pytest.raises(FootnoteError) as caught:
            await provider.search(Query("tides", 5))
    assert len(engine.asked) == 1, "trying again is the business of others"
    return caught.value


async def test_a_key_that_is_not_accepted_names_its_setting(name: str) -> None:
    error = await refused(name, refusal(401, {"message": "no"}))
    assert isinstance(error, CredentialsRefused)
    assert SETTING[name] in error.sentence
    assert KEY not in str(error)


@pytest.mark.parametrize("name", ["brave", "serper", "tavily"])
async def test_a_key_that_changes_in_its_file_goes_with_the_next_request(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "key"
    file.write_text("an-old-key\n")
    monkeypatch.setenv(f"{SETTING[name]}_FILE", str(file))
    async with opened(name, ENGINES[name](), **dict.fromkeys(KEYS)) as provider:
        with pytest.raises(CredentialsRefused):
            await provider.search(Query("tides", 5))
        file.write_text(f"{KEY}\n")
        await provider.search(Query("tides", 5))


async def test_403_is_final(name: str) -> None:
    assert isinstance(await refused(name, PlainTextResponse("no", 403)), Refused)


@pytest.mark.parametrize("status", [402, 432, 433])
async def test_a_spent_quota_says_so_and_is_left_alone_for_long(name: str, status: int) -> None:
    error = await refused(name, refusal(status, {}))
    assert isinstance(error, ProviderUnavailable)
    assert "is used up: raise the plan's limit" in error.sentence
    assert error.retry_after == 3_600


@pytest.mark.parametrize(("header", "seconds"), [("12", 12.0), ("soon", None), ("", None)])
async def test_too_many_requests_carry_the_engines_own_wait(
    name: str, header: str, seconds: float | None
) -> None:
    error = await refused(name, refusal(429, {}, retry_after=header))
    assert isinstance(error, ProviderUnavailable)
    assert error.retry_after == seconds


@pytest.mark.parametrize("status", [500, 502, 503, 504, 520])
async def test_an_engine_that_is_down_may_be_asked_again(name: str, status: int) -> None:
    error = await refused(name, PlainTextResponse("<html>down</html>", status))
    assert isinstance(error, ProviderUnavailable)
    assert str(status) in error.sentence


@pytest.mark.parametrize("status", [400, 404, 405, 413, 418, 422])
async def test_other_refusals_are_final(name: str, status: int) -> None:
    assert isinstance(await refused(name, refusal(status, {"message": "bad"})), Refused)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_not_followed(name: str, status: int) -> None:
    """The key stays with the configured host."""
    error = await refused(name, Response("", status, {"location": "http://127.0.0.1/steal"}))
    assert isinstance(error, Broken)
    assert f"check FOOTNOTE_{name.upper()}_URL" in error.sentence


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[1, 2]", b'"text"', b"null", b"{", b"\xff\xfe", b"[" * 100_000]
)
async def test_a_result_that_is_no_json_object_is_broken(name: str, body: bytes) -> None:
    assert isinstance(await refused(name, Response(body)), Broken)


MOST = max(MAX_REPLY_BYTES, tavily.MAX_REPLY_BYTES)


async def test_an_endless_answer_is_not_read_to_its_end(name: str) -> None:
    error = await refused(name, Response(b"[" + b" " * MOST))
    assert isinstance(error, Broken)
    assert "bytes" in error.detail


async def test_an_engine_that_hangs_up_is_unavailable(name: str) -> None:
    def hang_up(request: httpx.Request) -> httpx.Response:
        raise httpx.RemoteProtocolError("closed")

    async with httpx.AsyncClient(transport=httpx.MockTransport(hang_up)) as client:
        configured = load_settings(**{f"{name}_url": "https://e.example"}, **KEYS)
        provider = declarations()[name].build(configured, lambda: client)
        with pytest.raises(ProviderUnavailable, match="cannot be reached"):
            await provider.search(Query("tides", 5))


async def test_an_engine_that_is_silent_is_unavailable(name: str) -> None:
    def be_silent(request: httpx.Request) -> httpx.Response:
        raise httpx.ReadTimeout("silence")

    async with httpx.AsyncClient(transport=httpx.MockTransport(be_silent)) as client:
        configured = load_settings(**{f"{name}_url": "https://e.example"}, **KEYS)
        provider = declarations()[name].build(configured, lambda: client)
        with pytest.raises(ProviderUnavailable, match="does not answer in time"):
            await provider.search(Query("tides", 5))


@pytest.mark.parametrize("place", ["no address", "http://[::1", "ftp://e.example", "//e.example"])
async def test_an_address_that_is_none_is_an_error_by_meaning(name: str, place: str) -> None:
    async with httpx.AsyncClient() as client:

        async def search() -> None:
            configured = load_settings(**{f"{name}_url": place}, **KEYS)
            await declarations()[name].build(configured, lambda: client).search(Query("tides", 5))

        with pytest.raises((InvalidSetting, Broken, ProviderUnavailable)) as caught:
            await search()
    assert f"FOOTNOTE_{name.upper()}_URL" in caught.value.sentence


# ---------------------------------------------------------------- any JSON

_NAMES = st.sampled_from(
    [
        "results",
        "web",
        "organic",
        "answerBox",
        "knowledgeGraph",
        "infoboxes",
        "unresponsive_engines",
        "url",
        "link",
        "title",
        "snippet",
        "description",
        "content",
        "extra_snippets",
        "id",
        "infobox",
        "descriptionLink",
        "error",
        "code",
        "message",
    ]
)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_NAMES, inner, max_size=5),
    max_leaves=25,
)
_URL = st.sampled_from(
    ["https://a.example/", "http://b.example", "javascript:alert(1)", "//c", "file:///etc/passwd"]
)
_RESULT = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("title", "snippet", "description", "content"), _JSON)
).flatmap(lambda rest: _URL.map(lambda url: {**rest, "url": url, "link": url}))
_ANSWER = st.one_of(
    st.dictionaries(_NAMES, _JSON, max_size=6),
    st.lists(st.one_of(_RESULT, _JSON), max_size=6).map(
        lambda all_: {"results": all_, "organic": all_, "web": {"results": all_}}
    ),
)


@given(answer=_ANSWER, status=st.sampled_from([200, 200, 200, 400, 422, 429]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
async def test_any_json_gives_web_pages_or_an_error_by_meaning(
    name: str, answer: dict[str, Any], status: int
) -> None:
    body = json.dumps(answer).encode()
    transport = httpx.MockTransport(lambda request: httpx.Response(status, content=body))
    async with httpx.AsyncClient(transport=transport) as client:
        configured = load_settings(**{f"{name}_url": "https://e.example"}, **KEYS)
        provider: Any = declarations()[name].build(configured, lambda: client)
        hits: list[Hit] = []
        with contextlib.suppress(FootnoteError):
            hits = await provider.search(Query("tides", 5))
        with contextlib.suppress(FootnoteError):
            assert isinstance(await provider.report(), str)
    assert len(hits) <= 5
    for hit in hits:
        assert hit.url.startswith(("https://", "http://"))
        assert hit.title == " ".join(hit.title.split()) != ""
        assert hit.snippet == " ".join(hit.snippet.split())


# ---------------------------------------------------------------- over a socket


async def test_each_engine_is_asked_over_a_socket_as_its_api_wants(name: str) -> None:
    engine = ENGINES[name]()
    with serve(engine.app) as url:
        configured = load_settings(**{f"{name}_url": url}, **KEYS)
        async with httpx.AsyncClient() as client:
            provider = declarations()[name].build(configured, lambda: client)
            hits = await provider.search(Query("Journal of Tides", 3, "en", "GB", "year"))
    assert hits[0].title == "Journal of Tides"
    assert engine.complaints == []
    assert engine.asked[0].headers["accept"] == "application/json"


def test_the_fakes_complain_of_what_the_apis_do_not_take(name: str) -> None:
    engine = ENGINES[name]()
    rules: Any = engine
    assert engine.check({"zzz": 1, "q": 7, "query": 7}, rules.ALLOWED)
    assert engine.complaints
