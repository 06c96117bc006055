"""``footnote worker``: processes questions that other processes accept, and posts the answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack

from bot.app import open_app
from bot.dispatch import choice
from bot.errors import InvalidSetting
from bot.health import Readiness, health_routes, http_endpoint
from bot.metrics import metrics_routes
from bot.platform import Platform, posting_platforms
from bot.search.background_indexing import documents_being_indexed
from bot.search.vector_filling import vectors_being_made
from bot.serving import open_platforms, termination_signals, until_terminated
from bot.settings import Settings
from bot.systemd import ENDING, notify, ready

REACH_SECONDS = 5.0  # for platforms to accept their tokens before work begins without them


async def work(
    settings: Settings,
    tell: Callable[[str], None],
    *,
    health_port: int | None = None,
    concurrency: int = choice.CONCURRENCY,
) -> None:
    """Run until SIGINT or SIGTERM, then drain. Opens no gateway, and a port only for health checks.

    ``tell`` prints a line in the terminal. Raises ``InvalidSetting`` if there is no platform to
    post to, ``CredentialsRefused`` if one does not accept its token, and ``StorageUnavailable``.
    """
    names = posting_platforms(settings)
    if not names:
        raise InvalidSetting(
            "There is no platform to post in: set the same SLACK_BOT_TOKEN or DISCORD_TOKEN as "
            "where `footnote serve` runs."
        )
    async with AsyncExitStack() as stack:
        store, observed, platforms = await open_platforms(settings, names, stack)
        indexing = observed.documents
        reaching = _Reaching(platforms)
        stack.push_async_callback(reaching.aclose)
        await reaching.soon()
        await stack.enter_async_context(documents_being_indexed(settings, tell, indexing))
        await indexing.wait_until_counted()
        await stack.enter_async_context(vectors_being_made(settings))
        posters = {platform.name: platform.poster for platform in platforms}
        app = await stack.enter_async_context(
            open_app(
                settings,
                posters,
                store=store,
                role="work",
                observed=observed,
                concurrency=concurrency,
            )
        )
        state = Readiness(
            store.database,
            {platform.name: platform.connection for platform in platforms},
            listens=False,
            dispatcher=app.dispatcher,
            documents=indexing,
        )
        if health_port is not None:
            numbers = metrics_routes(settings, store.database, observed)
            routes = [*health_routes(state), *numbers]
            endpoint = http_endpoint(settings.http_host, health_port, routes)
            tell(f"Listening for HTTP on {await stack.enter_async_context(endpoint)}.")
        # Handle signals before the line that says it runs.
        with termination_signals() as ending:
            tell(f"Working on questions from {', '.join(names)}, {concurrency} at once.")
            await stack.enter_async_context(ready())
            await until_terminated(ending, reaching.refused())
        notify(ENDING)
        indexing.stop()
        state.ending = True
        tell("Ending: working questions are finished or left to another worker.")
        # Inside the stack, so that health and metrics work until the last question is done.
        await app.dispatcher.drain(choice.DRAIN_SECONDS)


class _Reaching:
    """Checks that platforms accept their tokens; waits in the background for those that are
    away."""

    def __init__(self, platforms: list[Platform]) -> None:
        self._tasks = {asyncio.create_task(platform.reach()) for platform in platforms}

    async def soon(self) -> None:
        """Wait up to ``REACH_SECONDS``; raises the error of a platform that refuses its token."""
        done, _ = await asyncio.wait(self._tasks, timeout=REACH_SECONDS)
        for task in done:
            task.result()

    async def refused(self) -> None:
        """Raise the error of a platform once it refuses its token; never returns otherwise."""
        await asyncio.gather(*self._tasks)
        await asyncio.Event().wait()

    async def aclose(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
