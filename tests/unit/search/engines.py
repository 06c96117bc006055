"""Opening a provider over the fake of its engine, for the tests of single providers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx

from bot.operation.configuration import load_settings
from bot.search.registry import declarations
from tests.fakes.engines import KEY, FakeEngine

KEYS = {"serper_api_key": KEY, "brave_search_api_key": KEY, "tavily_api_key": KEY}


@asynccontextmanager
async def opened(name: str, engine: FakeEngine, **values: object) -> AsyncIterator[Any]:
    """The provider as the settings build it, without what ``Guarded`` adds."""
    settings = load_settings(**{f"{name}_url": "https://engine.example", **KEYS, **values})
    async with httpx.AsyncClient(transport=httpx.ASGITransport(engine.app)) as client:
        yield declarations()[name].build(settings, lambda: client)
