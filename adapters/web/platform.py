"""The web console as a platform, which `footnote serve` runs."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from starlette.routing import BaseRoute, Mount

from adapters.web.access.gate import session_key
from adapters.web.console import Console
from adapters.web.limits import (
    SECONDS_BETWEEN_INDEXINGS,
    SECONDS_BETWEEN_SAVES,
    SECONDS_BETWEEN_SAVES_ALONE,
)
from adapters.web.live import Live
from adapters.web.mcp import McpEndpoint
from adapters.web.poster import WebPoster
from bot.core.errors import FootnoteError
from bot.core.logs import get_logger
from bot.core.measurements import Observed
from bot.core.settings import Settings
from bot.service.platform import Connection
from bot.service.reception import Reception
from bot.storage.workspaces import Workspaces

log = get_logger()


class WebPlatform:
    """See ``bot.service.platform.Platform``. Opened by ``open_web``."""

    name = "web"

    def __init__(self, console: Console) -> None:
        self._console = console
        self._mcp = McpEndpoint(console)
        self.connection = Connection()
        alone = console.database.dialect == "sqlite"
        between = SECONDS_BETWEEN_SAVES_ALONE if alone else SECONDS_BETWEEN_SAVES
        self.poster = WebPoster(console.live, console.files, between)

    @property
    def routes(self) -> Sequence[BaseRoute]:
        from adapters.web.app import console_app  # a worker needs no pages

        everything = Mount("/", app=console_app(self._console, self._mcp.routes))
        # Starlette's own pattern does not match paths with a newline, which need a response too.
        everything.path_regex = re.compile(r"^/(?P<path>.*)$", re.DOTALL)
        return [everything]

    async def reach(self) -> None:
        """Do nothing: posting needs only the database, which is open."""
        self.connection.mark_connected()

    async def run(self, reception: Reception, ready: Callable[[], None]) -> None:
        self._console.reception = reception
        self.connection.mark_connected()
        ready()
        words = asyncio.create_task(self._index_words())
        try:
            async with self._mcp.at_work():
                try:
                    await asyncio.Event().wait()
                finally:
                    self._console.reception = None  # before callers are released
        finally:
            words.cancel()
            await asyncio.gather(words, return_exceptions=True)
            await self._console.live.aclose()  # open event streams would delay the end
            await self._console.aclose()

    async def _index_words(self) -> None:
        """Index the words of older conversations in the background."""
        try:
            more = 1
            while more:
                more = await self._console.words.index()
                await asyncio.sleep(SECONDS_BETWEEN_INDEXINGS)
        except FootnoteError as error:
            log.warning("conversations not indexed", error=str(error))


@asynccontextmanager
async def open_web(
    settings: Settings, workspaces: Workspaces, observed: Observed | None = None
) -> AsyncIterator[WebPlatform]:
    """Open the console. Raises ``StorageUnavailable``."""
    key = await session_key(workspaces)
    live = Live(workspaces.database)
    observed = observed or Observed()
    observed.streams = lambda: live.onlookers
    try:
        console = Console(settings, workspaces.database, live, key, observed)
        yield WebPlatform(console)
    finally:
        await live.aclose()
