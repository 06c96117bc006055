"""A loopback web, and fetchers that may read it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from typing import Any

import pytest
import stamina

from bot.operation.configuration import load_settings
from bot.pages.extract import from_bytes
from bot.pages.fetch import Fetcher
from bot.pages.page import Reading
from bot.pages.workers import Workers
from tests.fakes.server import serve
from tests.fakes.web import Web

OpenFetcher = Callable[..., Fetcher]


async def to_loopback(host: str, port: int) -> Sequence[str]:
    """Every name is this machine."""
    return ["127.0.0.1"]


class Here(Workers):
    """Extraction in this process, for tests about something else: no process to start."""

    def warm(self) -> None:
        pass

    async def extract(self, data: bytes, media_type: str | None, name: str) -> Reading:
        return from_bytes(data, media_type, name)


@pytest.fixture
async def open_fetcher() -> AsyncIterator[OpenFetcher]:
    """Opens fetchers with these settings, and closes them when the test is over.

    Unless told otherwise they may go to 127.0.0.1, and extract in this process.
    """
    async with AsyncExitStack() as stack:

        def opened(*, workers: Workers | None = None, **settings: Any) -> Fetcher:
            settings.setdefault("fetch_allow", ("127.0.0.1",))
            settings.setdefault("robots", "ignore")
            fetcher = Fetcher(
                load_settings(**settings), resolver=to_loopback, workers=workers or Here()
            )
            stack.push_async_callback(fetcher.aclose)
            return fetcher

        yield opened


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[Web, str]]:
    """One server for all tests: starting and stopping one takes longer than most of them."""
    web = Web()
    with serve(web) as base:
        yield web, base


@pytest.fixture
def web(served: tuple[Web, str]) -> Web:
    served[0].forget()
    return served[0]


@pytest.fixture
def base(web: Web, served: tuple[Web, str]) -> str:
    return served[1]


@pytest.fixture
def no_waiting() -> Iterator[None]:
    """Retries come at once, as many as they would be."""
    with stamina.set_testing(True, attempts=100, cap=True):
        yield
