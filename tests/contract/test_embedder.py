"""The contract of every embedder; a new one starts here: add it to ``EMBEDDERS``."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import httpx
import pytest

from bot.search.embedder import Embedder, Endpoint, Vector
from tests.fakes.embeddings import KEY, MODEL, FakeEmbeddings
from tests.fakes.server import serve

Opener = Callable[[], AbstractAsyncContextManager[Embedder]]


@asynccontextmanager
async def endpoint() -> AsyncIterator[Embedder]:
    fake = FakeEmbeddings(key=KEY)
    with serve(fake.app) as url:
        async with httpx.AsyncClient() as client:
            yield Endpoint(url, MODEL, lambda: client, key=KEY)
    assert fake.complaints == []


@asynccontextmanager
async def narrow_endpoint() -> AsyncIterator[Embedder]:
    """An endpoint that takes few texts at once, and short ones."""
    fake = FakeEmbeddings(most_texts=8, most_characters=600)
    with serve(fake.app) as url:
        async with httpx.AsyncClient() as client:
            yield Endpoint(f"{url}/v1/", MODEL, lambda: client)
    assert fake.complaints == []


EMBEDDERS = [
    pytest.param(endpoint, id="Endpoint"),
    pytest.param(narrow_endpoint, id="Endpoint, narrow"),
]


@pytest.fixture(params=EMBEDDERS)
async def embedder(request: pytest.FixtureRequest) -> AsyncIterator[Embedder]:
    open_: Opener = request.param
    async with open_() as opened:
        yield opened


def dot(one: Vector, other: Vector) -> float:
    return math.fsum(x * y for x, y in zip(one, other, strict=True))


async def test_vectors_have_one_length_in_both_senses(embedder: Embedder) -> None:
    vectors = await embedder.embed_passages(["A car is a vehicle.", "Bread is baked."])
    vectors.append(await embedder.embed_question("What is a car?"))

    assert {len(vector) for vector in vectors} == {len(vectors[0])}
    assert [dot(vector, vector) for vector in vectors] == pytest.approx([1.0] * 3, abs=1e-5)


async def test_a_question_is_nearer_to_what_answers_it(embedder: Embedder) -> None:
    question = await embedder.embed_question("What does it cost to buy an automobile?")
    right, wrong = await embedder.embed_passages(
        ["The purchase price of a car is 20,000 euros.", "The bread is baked at five o'clock."]
    )

    assert dot(question, right) > dot(question, wrong) + 0.1


async def test_a_vector_depends_on_its_own_text_alone(embedder: Embedder) -> None:
    texts = [f"Passage {number} speaks of {'many ' * (number % 9)}cars." for number in range(70)]

    together = await embedder.embed_passages(texts)

    for place in (0, 8, 41, 69):
        (alone,) = await embedder.embed_passages([texts[place]])
        assert dot(alone, together[place]) > 0.999
    assert len(together) == len(texts)


async def test_a_text_of_any_length_has_a_vector(embedder: Embedder) -> None:
    long = "The car is red. " * 5_000

    vectors = await embedder.embed_passages([long, "x" * 50_000, "车" * 9_000, "."])

    assert len(vectors) == 4
    assert dot(vectors[0], (await embedder.embed_passages(["The car is red. " * 4]))[0]) > 0.5


async def test_no_texts_have_no_vectors(embedder: Embedder) -> None:
    assert await embedder.embed_passages([]) == []


async def test_it_has_a_name_and_says_which_model_it_is(embedder: Embedder) -> None:
    assert embedder.name
    assert len(bytes.fromhex(embedder.model)) == 16
