"""The protocol of an embedder, and the choice of one by the settings."""

from __future__ import annotations

import array
import hashlib
import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Protocol, TypeAlias

from bot.errors import InvalidSetting
from bot.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import httpx

Vector: TypeAlias = "array.array[float]"
"""A vector of unit length as 32-bit floats (type code ``f``)."""


class Embedder(Protocol):
    """A model that gives texts vectors whose dot product is the cosine of their angle.

    ``model`` identifies it: it changes whenever a text would get another vector. ``name`` is what
    people call it. Both methods raise ``Unavailable`` (try again later), ``Refused`` (a wrong key,
    a request that is not accepted), ``InvalidSetting`` or ``Broken`` (vectors that cannot be used).
    """

    @property
    def name(self) -> str: ...

    @property
    def model(self) -> str: ...

    async def embed_question(self, text: str) -> Vector:
        """The vector of a question, made to be close to those of passages that answer it."""
        ...

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """The vectors of passages, in their order. Any number of texts of any length: batches are
        the embedder's affair, and what is too long for the model is cut."""
        ...

    async def aclose(self) -> None: ...


def unit(numbers: Iterable[float]) -> Vector:
    """Numbers as a vector of length 1. Raises ``ValueError`` where that is impossible."""
    vector = array.array("f", numbers)
    length = math.sqrt(math.fsum(x * x for x in vector))
    if not math.isfinite(length) or length < 1e-12:
        raise ValueError("a vector without a direction")
    return array.array("f", [x / length for x in vector])


def fingerprint(*parts: str) -> str:
    """A short text that is another one when any of the parts is."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def make_embedder(
    settings: Settings, client: Callable[[], httpx.AsyncClient], threads: int = 0
) -> Embedder | None:
    """The embedder of the settings, or None where they ask for none.

    ``client`` is called when a request is to be made; ``threads`` is how many a model in this
    process uses (0: as many as there are processors). Raises ``InvalidSetting`` for settings that
    contradict each other.
    """
    if settings.embeddings_url and settings.embeddings_model_dir:
        raise InvalidSetting(
            "FOOTNOTE_EMBEDDINGS_URL and FOOTNOTE_EMBEDDINGS_MODEL_DIR are both set: keep one."
        )
    if settings.embeddings_model_dir:
        from bot.search.embedding.onnx_model import OnnxModel

        return OnnxModel(
            settings.embeddings_model_dir,
            pooling=settings.embeddings_pooling,
            query_prefix=settings.embeddings_query_prefix,
            passage_prefix=settings.embeddings_passage_prefix,
            max_tokens=settings.embeddings_max_tokens,
            threads=threads,
        )
    if not settings.embeddings_url:
        return None
    if not settings.embeddings_model:
        raise InvalidSetting(
            "FOOTNOTE_EMBEDDINGS_URL is set without FOOTNOTE_EMBEDDINGS_MODEL: name the model."
        )
    from bot.search.embedding.endpoint import USUAL_TOKENS, Endpoint

    key = settings.embeddings_api_key
    return Endpoint(
        settings.embeddings_url,
        settings.embeddings_model,
        client,
        key=key.get_secret_value() if key else "",
        tells_type=settings.embeddings_input_type,
        query_prefix=settings.embeddings_query_prefix or "",
        passage_prefix=settings.embeddings_passage_prefix or "",
        max_tokens=settings.embeddings_max_tokens or USUAL_TOKENS,
    )


@asynccontextmanager
async def open_embedder(settings: Settings, threads: int = 0) -> AsyncIterator[Embedder | None]:
    """``make_embedder`` with an HTTP client of its own, closed at the end."""
    clients: list[httpx.AsyncClient] = []

    def client() -> httpx.AsyncClient:
        import httpx

        if not clients:
            clients.append(httpx.AsyncClient())
        return clients[0]

    embedder = make_embedder(settings, client, threads)
    try:
        yield embedder
    finally:
        if embedder is not None:
            await embedder.aclose()
        for each in clients:
            await each.aclose()
