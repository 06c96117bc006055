"""An OpenAI-compatible embeddings endpoint that checks what it is sent.

Request and answer as in https://platform.openai.com/docs/api-reference/embeddings/create. A text's
vector is the sum of one fixed random vector for each of its terms, words that mean the same
(``ALIKE``) having the same one, so that texts of like meaning are near each other.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from starlette.responses import JSONResponse, Response

from bot.core.errors import FootnoteError
from bot.search.embedder import Vector, unit
from bot.text.terms import keywords
from tests.fakes.engines import Asked, FakeEngine

MODEL = "fake-embedder"
KEY = "key-of-the-embedder"
DIMENSIONS = 64
ALIKE = {
    "automobil": "car",
    "vehicl": "car",
    "physician": "doctor",
    "purchas": "buy",
    "汽车": "car",
    "医生": "doctor",
}


def vector_of(text: str, dimensions: int = DIMENSIONS) -> Vector:
    """The vector that the endpoint gives a text."""
    words = [ALIKE.get(word, word) for word in keywords(text)] or [text]
    return unit(map(sum, zip(*(_of_word(word, dimensions) for word in words), strict=True)))


@cache
def _of_word(word: str, dimensions: int) -> tuple[float, ...]:
    numbers = random.Random(word)
    return tuple(numbers.gauss() for _ in range(dimensions))


@dataclass
class FakeEmbeddings(FakeEngine):
    """``most_texts`` and ``most_characters`` are what it takes in a request, and of a text."""

    key: str = ""
    most_texts: int = 2_048
    most_characters: int = 100_000
    dimensions: int = DIMENSIONS
    embedded: list[str] = field(default_factory=list)

    def answer(self, method: str, request: Asked) -> Response:
        body = request.values
        if (method, request.path) != ("POST", "/v1/embeddings"):
            self.complaints.append(f"{method} {request.path}")
            return _error(404, "Invalid URL")
        if request.headers.get("authorization", "") != (f"Bearer {self.key}" if self.key else ""):
            return _error(401, "Incorrect API key provided")
        self.check(body, {"model": str, "input": list})
        if body.get("model") != MODEL:
            return _error(404, f"The model `{body.get('model')}` does not exist")
        texts = body.get("input")
        if not isinstance(texts, list) or not texts:
            self.complaints.append(f"input={texts!r}")
            return _error(400, "'$.input' is invalid")
        if not all(isinstance(text, str) and text for text in texts):
            self.complaints.append("an input that is no text, or empty")
            return _error(400, "'$.input' is invalid")
        if len(texts) > self.most_texts:
            return _error(422, f"batch size {len(texts)} > maximum {self.most_texts}")
        if any(len(text) > self.most_characters for text in texts):
            return _error(400, "This model's maximum context length is exceeded")
        self.embedded += texts
        return JSONResponse(self._result(texts))

    def _result(self, texts: list[str]) -> Mapping[str, Any]:
        data = [
            {
                "object": "embedding",
                "index": place,
                "embedding": [3.0 * x for x in vector_of(text, self.dimensions)],  # any length
            }
            for place, text in enumerate(texts)
        ]
        random.Random(len(texts)).shuffle(data)  # ``index`` tells the order, nothing else
        usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
        return {"object": "list", "data": data, "model": MODEL, "usage": usage}


def _error(status: int, message: str) -> JSONResponse:
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": None}
    return JSONResponse({"error": error}, status)


@dataclass
class MemoryEmbedder:
    """The same vectors without a network. ``failing`` is raised instead of the next ones."""

    model: str = "0" * 32
    name: str = "memory"
    dimensions: int = DIMENSIONS
    failing: FootnoteError | None = None
    embedded: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    async def embed_question(self, text: str) -> Vector:
        if self.failing is not None:
            raise self.failing
        self.asked.append(text)
        return vector_of(text, self.dimensions)

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        if self.failing is not None:
            raise self.failing
        self.embedded += texts
        return [vector_of(text, self.dimensions) for text in texts]
