"""An embeddings endpoint: how it is chosen, what is sent to it, and what its troubles mean."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
import stamina
from starlette.responses import JSONResponse, PlainTextResponse, Response

from bot.core.errors import (
    Broken,
    CredentialsRefused,
    FootnoteError,
    InvalidSetting,
    ProviderUnavailable,
    Refused,
)
from bot.core.extras import EXTRAS
from bot.operation.configuration import load_settings
from bot.search import embedder as endpoint
from bot.search.embedder import Endpoint, base_of, cut, make_embedder, open_embedder
from bot.text.terms import estimate
from tests.fakes.embeddings import KEY, MODEL, FakeEmbeddings, vector_of
from tests.fakes.engines import refusal
from tests.fakes.server import serve


@pytest.fixture(autouse=True)
def _no_waiting() -> Iterator[None]:
    with stamina.set_testing(True, attempts=100, cap=True):
        yield


@asynccontextmanager
async def opened(fake: FakeEmbeddings, **values: Any) -> AsyncIterator[Endpoint]:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(fake.app)) as client:
        yield Endpoint("http://embeddings.example", MODEL, lambda: client, **values)
    assert fake.complaints == []


@pytest.mark.parametrize(
    ("configured", "base"),
    [
        ("http://host:8000", "http://host:8000/v1"),
        ("http://host:8000/", "http://host:8000/v1"),
        ("https://host/v1", "https://host/v1"),
        ("https://host/v1/", "https://host/v1"),
        ("https://host/v1/embeddings", "https://host/v1"),
        ("https://host/embeddings", "https://host/v1"),
        ("https://gateway/openai/team-7", "https://gateway/openai/team-7"),
        ("https://gateway/openai/team-7/embeddings", "https://gateway/openai/team-7"),
    ],
)
def test_the_address_may_be_given_in_any_form(configured: str, base: str) -> None:
    assert base_of(configured) == base


async def test_questions_and_passages_have_their_prefixes() -> None:
    fake = FakeEmbeddings()
    async with opened(fake, query_prefix="query: ", passage_prefix="passage: ") as embedder:
        await embedder.embed_question("How?")
        await embedder.embed_passages(["So."])

    assert [asked.values for asked in fake.asked] == [
        {"model": MODEL, "input": ["query: How?"]},
        {"model": MODEL, "input": ["passage: So."]},
    ]


async def test_what_is_too_long_for_the_model_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "MOST_TOKENS", 40)
    fake = FakeEmbeddings()
    async with opened(fake) as embedder:
        await embedder.embed_passages(["word " * 100, "车" * 100, "short"])

    assert [estimate(text) for text in fake.embedded] == [40, 40, 2]
    assert cut("", 40) == ""


async def test_many_passages_go_in_several_requests() -> None:
    fake = FakeEmbeddings()
    texts = [f"passage {number}" for number in range(150)]
    async with opened(fake) as embedder:
        vectors = await embedder.embed_passages(texts)

    assert sorted(len(asked.values["input"]) for asked in fake.asked) == [22, 32, 32, 32, 32]
    assert vectors == [pytest.approx(vector_of(text), abs=1e-6) for text in texts]


async def test_a_slow_server_gets_smaller_requests_from_then_on() -> None:
    sizes: list[int] = []

    async def slow(request: httpx.Request) -> httpx.Response:
        texts = json.loads(request.content)["input"]
        sizes.append(len(texts))
        if len(texts) > 10:
            raise httpx.ReadTimeout("it takes its time", request=request)
        data = [{"index": i, "embedding": list(vector_of(text))} for i, text in enumerate(texts)]
        return httpx.Response(200, json={"data": data})

    async with httpx.AsyncClient(transport=httpx.MockTransport(slow)) as client:
        embedder = Endpoint("http://embeddings.example", MODEL, lambda: client)
        assert len(await embedder.embed_passages(["text"] * 32)) == 32
        first, sizes[:] = list(sizes), []
        assert len(await embedder.embed_passages(["text"] * 32)) == 32

    assert first == [32, 16, 8, 8, 16, 8, 8]
    assert sizes == [8, 8, 8, 8]


async def test_a_server_that_never_answers_is_given_up() -> None:
    requests = 0

    async def silent(request: httpx.Request) -> httpx.Response:
        nonlocal requests
        requests += 1
        raise httpx.ReadTimeout("nothing", request=request)

    async with httpx.AsyncClient(transport=httpx.MockTransport(silent)) as client:
        embedder = Endpoint("http://embeddings.example", MODEL, lambda: client)
        with pytest.raises(ProviderUnavailable, match="in time"):
            await embedder.embed_passages(["text"] * 2)

    assert requests == 1 + endpoint.ATTEMPTS, "both together once, then the first by itself"


async def test_a_request_that_is_never_accepted_is_not_halved_for_ever() -> None:
    fake = FakeEmbeddings(most_characters=0)
    async with opened(fake) as embedder:
        with pytest.raises(Refused, match="FOOTNOTE_EMBEDDINGS_MODEL"):
            await embedder.embed_passages(["x" * 1_000, "y" * 1_000])

    assert len(fake.asked) == 1 + 1 + endpoint.CUTS


# ---------------------------------------------------------------- troubles


async def trouble(*answers: Response, key: str = "") -> FootnoteError:
    fake = FakeEmbeddings(key=KEY)
    fake.failures.extend(answers)
    async with opened(fake, key=key) as embedder:
        with pytest.raises(FootnoteError) as caught:
            await embedder.embed_passages(["So."])
    return caught.value


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (refusal(402, {"error": {}}), Refused, "quota"),
        (refusal(404, {"error": {}}), Refused, "FOOTNOTE_EMBEDDINGS_MODEL"),
        (refusal(302, {}, location="http://elsewhere.example"), Broken, "FOOTNOTE_EMBEDDINGS_URL"),
        (PlainTextResponse("<html>"), Broken, "cannot be read"),
        (JSONResponse({"data": []}), Broken, "cannot be read"),
        (JSONResponse({"data": [{"embedding": [0.0, 0.0]}]}), Broken, "cannot be read"),
        (JSONResponse({"data": [{"embedding": ["a"]}]}), Broken, "cannot be read"),
        (JSONResponse({"data": [{"embedding": "%%%%"}]}), Broken, "cannot be read"),
        (JSONResponse({"data": [{"embedding": None}]}), Broken, "cannot be read"),
        (JSONResponse({"data": ["x"]}), Broken, "cannot be read"),
        (JSONResponse({"data": [{"embedding": [1.0], "index": 3}]}), Broken, "cannot be read"),
        (Response(b'{"data": [{"embedding": [1e400]}]}'), Broken, "cannot be read"),
    ],
)
async def test_an_answer_that_waiting_does_not_change_is_final(
    answer: Response, kind: type[FootnoteError], words: str
) -> None:
    error = await trouble(answer, key=KEY)

    assert isinstance(error, kind)
    assert words in error.sentence


@pytest.mark.parametrize("key", ["", "wrong-key"])
async def test_a_key_that_is_not_accepted_is_named_and_not_shown(key: str) -> None:
    error = await trouble(key=key)

    assert isinstance(error, CredentialsRefused)
    assert ("FOOTNOTE_EMBEDDINGS_API_KEY" if key else "FOOTNOTE_EMBEDDINGS_URL") in error.sentence
    assert "wrong-key" not in str(error)


async def test_passages_are_tried_again_until_the_endpoint_answers() -> None:
    fake = FakeEmbeddings()
    fake.failures.extend([refusal(503, {}), refusal(429, {}, retry_after="7"), refusal(500, {})])
    async with opened(fake) as embedder:
        assert len(await embedder.embed_passages(["So."])) == 1

    assert len(fake.asked) == 4


async def test_an_endpoint_that_asks_for_an_hour_is_not_waited_for() -> None:
    fake = FakeEmbeddings()
    fake.failures.append(refusal(429, {}, retry_after="3600"))
    async with opened(fake) as embedder:
        with pytest.raises(ProviderUnavailable) as caught:
            await embedder.embed_passages(["So."])

    assert caught.value.retry_after == 3600
    assert len(fake.asked) == 1


async def test_a_question_is_tried_once() -> None:
    fake = FakeEmbeddings()
    fake.failures.append(refusal(503, {}))
    async with opened(fake) as embedder:
        with pytest.raises(ProviderUnavailable):
            await embedder.embed_question("How?")

    assert len(fake.asked) == 1


async def test_nobody_waits_long_for_the_vector_of_a_question(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(endpoint, "QUESTION_SECONDS", 0.01)

    async def silent(request: httpx.Request) -> httpx.Response:
        await asyncio.Event().wait()
        raise AssertionError("it never answers")

    async with httpx.AsyncClient(transport=httpx.MockTransport(silent)) as client:
        embedder = Endpoint("http://embeddings.example", MODEL, lambda: client)
        with pytest.raises(ProviderUnavailable, match="does not answer in time"):
            await embedder.embed_question("How?")


async def test_one_batch_that_fails_ends_the_others() -> None:
    requests = 0

    async def first_refused(request: httpx.Request) -> httpx.Response:
        nonlocal requests
        requests += 1
        if requests == 1:
            return httpx.Response(401, json={})
        await asyncio.Event().wait()
        raise AssertionError("it never answers")

    async with httpx.AsyncClient(transport=httpx.MockTransport(first_refused)) as client:
        embedder = Endpoint("http://embeddings.example", MODEL, lambda: client)
        with pytest.raises(CredentialsRefused):
            await embedder.embed_passages(["text"] * 300)

    assert requests <= endpoint.AT_ONCE + 1, "of five"


def test_the_model_changes_with_all_that_changes_vectors() -> None:
    values: list[dict[str, Any]] = [
        {},
        {"query_prefix": "query: "},
        {"passage_prefix": "query: "},
    ]
    models = {
        Endpoint("http://e.example", MODEL, httpx.AsyncClient, **each).model for each in values
    }
    moved = Endpoint("http://elsewhere.example", MODEL, httpx.AsyncClient, key="other").model

    assert len(models) == len(values)
    assert moved in models, "the same model at another address gives the same vectors"


URL = "http://embeddings.example"


def test_there_is_none_by_default() -> None:
    assert make_embedder(load_settings(), httpx.AsyncClient) is None
    assert not load_settings().has_embedder


def test_an_address_without_a_model_is_refused() -> None:
    with pytest.raises(InvalidSetting, match="name the model"):
        make_embedder(load_settings(embeddings_url=URL), httpx.AsyncClient)


def test_an_endpoint_needs_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EXTRAS, "vectors", ("not_installed",))
    with pytest.raises(InvalidSetting, match=r"footnote-bot\[vectors\]"):
        make_embedder(load_settings(embeddings_url=URL, embeddings_model=MODEL), httpx.AsyncClient)


async def test_an_endpoint_gets_all_its_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeEmbeddings(key=KEY)
    monkeypatch.setenv("FOOTNOTE_EMBEDDINGS_QUERY_PREFIX", "query: ")
    monkeypatch.setenv("FOOTNOTE_EMBEDDINGS_API_KEY", KEY)
    monkeypatch.setenv("FOOTNOTE_EMBEDDINGS_MODEL", MODEL)
    with serve(fake.app) as url:
        monkeypatch.setenv("FOOTNOTE_EMBEDDINGS_URL", url)
        async with open_embedder(load_settings()) as embedder:
            assert embedder is not None
            await embedder.embed_question("How?")

    assert fake.embedded == ["query: How?"]
    assert fake.complaints == []
