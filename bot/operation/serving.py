"""The lasting processes, which run until they are stopped, and tell systemd how they are.

``footnote serve`` runs every platform whose tokens are set; ``footnote worker`` processes questions
that other processes accept.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import AsyncExitStack
from types import FrameType
from typing import Any

from bot.core.errors import FootnoteError, InvalidSetting, Unavailable
from bot.core.logs import get_logger
from bot.core.measurements import Indexing, Observed
from bot.core.messages import CONSOLE
from bot.core.settings import Settings
from bot.operation.app import open_app
from bot.operation.console_access import has_console
from bot.operation.health import Readiness, health_routes, http_endpoint
from bot.operation.metrics import metrics_routes
from bot.rights.rights import Rights, RuleChanges
from bot.search.background_indexing import documents_being_indexed
from bot.search.vector_filling import vectors_being_made
from bot.service.access import shut_to_console
from bot.service.deletion import Maintenance
from bot.service.dispatch.dispatcher import CONCURRENCY, DRAIN_SECONDS, Role
from bot.service.platform import Platform, listening_platforms, platforms, posting_platforms
from bot.service.reception import Reception
from bot.service.standing_service import StandingRounds
from bot.storage.database import SERVING_PATIENCE, START_PATIENCE, open_database
from bot.storage.postgres import Connecting
from bot.storage.removal import Keep, Retention
from bot.storage.store import Store
from bot.storage.workspaces import Workspaces

REACH_SECONDS = 5.0  # for platforms to accept their tokens before work begins without them
# States for systemd.
READY, ENDING, ALIVE = "READY=1", "STOPPING=1", "WATCHDOG=1"

log = get_logger()


async def serve(settings: Settings, tell: Callable[[str], None], *, role: Role = "serve") -> None:
    """Run until SIGINT or SIGTERM, then drain.

    ``role`` is "serve", or "listen" to leave the work to workers. ``tell`` prints a line in the
    terminal. Raises ``InvalidSetting`` if no platform is configured or none can work, and
    ``StorageUnavailable``.
    """
    names = listening_platforms(settings)
    console = has_console(settings)
    if console:
        names.append(CONSOLE)
    if not names:
        raise InvalidSetting(
            "No platform is configured and FOOTNOTE_CONSOLE is off: set SLACK_BOT_TOKEN and "
            "SLACK_APP_TOKEN, or DISCORD_TOKEN; the README shows how to get them."
        )
    async with AsyncExitStack() as stack:
        store, observed, opened = await _open_platforms(settings, names, stack)
        indexing = observed.documents
        await stack.enter_async_context(documents_being_indexed(settings, tell, indexing))
        await stack.enter_async_context(vectors_being_made(settings))
        posters = {platform.name: platform.poster for platform in opened}
        app = await stack.enter_async_context(
            open_app(settings, posters, store=store, role=role, observed=observed)
        )
        reception = Reception(settings, store, app.service, app.dispatcher, posters)
        stack.push_async_callback(reception.aclose)
        state = Readiness(
            store.database,
            {platform.name: platform.connection for platform in opened},
            dispatcher=app.dispatcher,
            documents=indexing,
        )
        routes = [route for platform in opened for route in platform.routes]
        # The console handles all remaining paths, and protects the metrics when it is open.
        numbers = metrics_routes(settings, store.database, observed, is_guarded=console)
        routes = [*health_routes(state), *numbers, *routes]
        address = await stack.enter_async_context(
            http_endpoint(settings.http_host, settings.http_port, routes, root=settings.root)
        )
        # Handle signals before the first line says that it runs.
        with termination_signals() as ending:
            tell(f"Listening for HTTP on {address}.")
            if console:
                tell(f"The console is at {address}/ : open it in a browser.")
                for why in shut_to_console(settings):
                    tell(f"No one may ask in the console. {why}.")
            elif settings.console != "off":
                tell(
                    "The console stays shut, since others may reach it: set FOOTNOTE_CONSOLE_TOKEN."
                )
            retention = Retention(store.database, Keep.of(settings))
            changes = RuleChanges(store.database, settings, Rights(settings))
            maintenance = Maintenance(retention, reception.forgetter, changes)
            await stack.enter_async_context(maintenance.at_work())
            await indexing.wait_until_counted()
            standing_rounds = StandingRounds(
                settings, store, app.service, app.dispatcher, posters.keys()
            )
            await stack.enter_async_context(standing_rounds.at_work())
            left = await app.dispatcher.resume()
            if left:
                tell(f"Resuming {len(left)} unfinished question(s).")
            # Before the platforms connect: one that is away for hours must not time out the start.
            await stack.enter_async_context(alive())
            await _listen(opened, reception, state, tell, ending)
        notify(ENDING)
        indexing.stop()
        tell("Ending: working questions are finished or kept for the next start.")
        # Inside the stack, so that health, metrics and pages work until the last question is done.
        await reception.aclose()
        await app.dispatcher.drain(DRAIN_SECONDS)


async def work(
    settings: Settings,
    tell: Callable[[str], None],
    *,
    health_port: int | None = None,
    concurrency: int = CONCURRENCY,
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
        store, observed, opened = await _open_platforms(settings, names, stack)
        indexing = observed.documents
        reaching = [asyncio.create_task(platform.reach()) for platform in opened]
        stack.push_async_callback(_cancelled, reaching)
        done, _ = await asyncio.wait(reaching, timeout=REACH_SECONDS)
        for task in done:
            task.result()  # raises the error of a platform that refuses its token
        await stack.enter_async_context(documents_being_indexed(settings, tell, indexing))
        await indexing.wait_until_counted()
        await stack.enter_async_context(vectors_being_made(settings))
        posters = {platform.name: platform.poster for platform in opened}
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
            {platform.name: platform.connection for platform in opened},
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
            await stack.enter_async_context(alive())
            await _until_terminated(ending, _refused(reaching))
        notify(ENDING)
        indexing.stop()
        state.ending = True
        tell("Ending: working questions are finished or left to another worker.")
        # Inside the stack, so that health and metrics work until the last question is done.
        await app.dispatcher.drain(DRAIN_SECONDS)


async def _refused(reaching: list[asyncio.Task[None]]) -> None:
    """Raise the error of a platform once it refuses its token; never returns otherwise."""
    await asyncio.gather(*reaching)
    await asyncio.Event().wait()


async def _cancelled(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _open_platforms(
    settings: Settings, names: Sequence[str], stack: AsyncExitStack
) -> tuple[Store, Observed, list[Platform]]:
    """Open the store, the counters of this process's calls and the platforms with these names, all
    of which ``stack`` closes. Raises ``InvalidSetting`` and ``StorageUnavailable``."""
    database = await open_database(
        settings.database,
        connecting=Connecting.of(settings),
        patience=SERVING_PATIENCE,
        start_patience=START_PATIENCE,
    )
    stack.push_async_callback(database.close)
    observed = Observed()
    observed.documents = Indexing(bool(settings.docs))
    workspaces = Workspaces(database)
    opened = [
        await stack.enter_async_context(platforms()[name].open(settings, workspaces, observed))
        for name in names
    ]
    observed.connections = {platform.name: platform.connection for platform in opened}
    return Store(database), observed, opened


@contextlib.contextmanager
def termination_signals() -> Iterator[asyncio.Event]:
    """Yield an event that SIGINT or SIGTERM sets; outside the block, they end the process at
    once."""
    ending = asyncio.Event()
    loop = asyncio.get_running_loop()

    def end(number: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(ending.set)

    # Not add_signal_handler: it delivers signals through the pipe by which threads wake the loop.
    # If the pipe is full, as while indexing thousands of documents, the signal is lost.
    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield ending
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


async def _until_terminated(ending: asyncio.Event, failing: Coroutine[Any, Any, None]) -> None:
    """Return once ``ending`` is set; raises what ``failing`` raises before."""
    end = asyncio.create_task(ending.wait())
    failure = asyncio.create_task(failing)
    try:
        await asyncio.wait({end, failure}, return_when=asyncio.FIRST_COMPLETED)
        if failure.done():
            failure.result()
    finally:
        for task in (end, failure):
            task.cancel()
        await asyncio.gather(end, failure, return_exceptions=True)


async def _listen(
    platforms: list[Platform],
    reception: Reception,
    state: Readiness,
    tell: Callable[[str], None],
    ending: asyncio.Event,
) -> None:
    """Run all platforms concurrently until ``ending``; a failing one does not affect the others.

    Raises the last platform's error if all have failed.
    """
    running = {
        asyncio.create_task(_run(platform, reception, tell)): platform for platform in platforms
    }
    # If chats are configured, end when they have all failed, even if the console still works.
    essential = {one for one in platforms if one.name != CONSOLE} or set(platforms)
    failure: FootnoteError | None = None
    end = asyncio.create_task(ending.wait())
    try:
        while not end.done() and not essential.isdisjoint(running.values()):
            done, _ = await asyncio.wait({end, *running}, return_when=asyncio.FIRST_COMPLETED)
            for task in done - {end}:
                platform = running.pop(task)  # type: ignore[arg-type]
                failure = _failure(task, platform)
                platform.connection.mark_failed(failure.sentence)
                tell(f"{platform.name} does not work: {failure.sentence}")
    finally:
        state.ending = True
        for task in (end, *running):
            task.cancel()
        await asyncio.gather(end, *running, return_exceptions=True)
    if failure is not None and not ending.is_set():
        raise failure


async def _run(platform: Platform, reception: Reception, tell: Callable[[str], None]) -> None:
    is_announced = False

    def ready() -> None:
        nonlocal is_announced
        if not is_announced:
            is_announced = True
            tell(f"{platform.name} is connected.")

    await platform.run(reception, ready)


def _failure(task: asyncio.Task[object], platform: Platform) -> FootnoteError:
    error = task.exception()
    if isinstance(error, FootnoteError):
        return error
    if error is not None:
        log.error("platform broke", platform=platform.name, error=repr(error))
        log.debug("platform broke here", exc_info=error)
    return Unavailable(
        f"The connection to {platform.name} broke ({type(error).__name__}): "
        "start again; FOOTNOTE_LOG_LEVEL=debug shows where."
    )


# ---------------------------------------------------------------- systemd


def notify(state: str) -> None:
    """Send a state to systemd, as a datagram to the socket that the environment names, if it does.

    https://www.freedesktop.org/software/systemd/man/latest/sd_notify.html
    """
    path = os.environ.get("NOTIFY_SOCKET")
    if not path:
        return
    if path.startswith("@"):  # an abstract socket of Linux
        path = f"\0{path[1:]}"
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as teller:
            teller.setblocking(False)  # a full socket must not hold up the event loop
            teller.connect(path)
            teller.send(state.encode())
    except OSError as error:
        log.warning("systemd not notified", state=state, error=str(error))


@contextlib.asynccontextmanager
async def alive() -> AsyncIterator[None]:
    """Tell systemd that the process is ready and, as often as its watchdog requires, that the event
    loop is alive."""
    notify(READY)
    beating = asyncio.create_task(_beat(int(os.environ.get("WATCHDOG_USEC") or 0) / 1_000_000))
    try:
        yield
    finally:
        beating.cancel()
        await asyncio.gather(beating, return_exceptions=True)


async def _beat(limit: float) -> None:
    """Send a sign of life three times per ``limit`` seconds; 0: no watchdog."""
    while limit:
        notify(ALIVE)
        await asyncio.sleep(limit / 3)
