"""Creates the embedder that the settings configure."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from bot.core.egress import Egress
from bot.core.errors import InvalidSetting
from bot.core.plugins import need
from bot.core.settings import Settings
from bot.search.embedding.embedder import Embedder

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import httpx


def make_embedder(settings: Settings, client: Callable[[], httpx.AsyncClient]) -> Embedder | None:
    """Create the embedder of the settings, or return None if they configure none.

    ``client`` is called when a request is made. Raises ``InvalidSetting`` if the model's name, or
    the extra, is missing.
    """
    if not settings.embeddings_url:
        return None
    if not settings.embeddings_model:
        raise InvalidSetting(
            "FOOTNOTE_EMBEDDINGS_URL is set without FOOTNOTE_EMBEDDINGS_MODEL: name the model."
        )
    need("vectors", "Searching documents by meaning")
    from bot.search.embedding.endpoint import Endpoint

    key = settings.embeddings_api_key
    return Endpoint(
        settings.embeddings_url,
        settings.embeddings_model,
        client,
        key=key.get_secret_value() if key else "",
        query_prefix=settings.embeddings_query_prefix,
        passage_prefix=settings.embeddings_passage_prefix,
    )


@asynccontextmanager
async def open_embedder(settings: Settings) -> AsyncIterator[Embedder | None]:
    """``make_embedder`` with its own HTTP client, which is closed at the end."""
    clients: list[httpx.AsyncClient] = []

    def client() -> httpx.AsyncClient:
        import httpx

        if not clients:
            clients.append(httpx.AsyncClient(transport=Egress.of(settings).transport(httpx)))
        return clients[0]

    try:
        yield make_embedder(settings, client)
    finally:
        for each in clients:
            await each.aclose()
