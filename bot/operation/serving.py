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
from collections.abc import (
    AsyncIterator,
    Callable,
    Collection,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, field
from functools import cache, partial
from types import FrameType
from typing import Any

from bot.core.errors import (
    CredentialsRefused,
    FootnoteError,
    Invalid,
    InvalidSetting,
    Unavailable,
)
from bot.core.logs import get_logger
from bot.core.measurements import Indexing, Observed
from bot.core.messages import CONSOLE
from bot.core.settings import Settings
from bot.operation.app import open_app
from bot.operation.console_access import has_console
from bot.operation.health import Readiness, health_routes, http_endpoint, open_listener
from bot.operation.kept_settings import KeptSettings
from bot.operation.metrics import metrics_routes
from bot.rights.rights import Rights, RuleChanges
from bot.search.background_indexing import documents_being_indexed
from bot.search.vector_filling import vectors_being_made
from bot.service.access import shut_to_console
from bot.service.background import cancelled
from bot.service.deletion import Maintenance
from bot.service.dispatch.dispatcher import CONCURRENCY, DRAIN_SECONDS, Role
from bot.service.platform import (
    Connection,
    Platform,
    listening_platforms,
    platforms,
    posting_platforms,
)
from bot.service.reception import Reception
from bot.service.standing_service import StandingRounds
from bot.storage.database import SERVING_PATIENCE, START_PATIENCE, Database, database_of
from bot.storage.removal import Keep, Retention
from bot.storage.store import Store
from bot.storage.workspaces import Workspaces

REACH_SECONDS = 5.0  # for platforms to accept their tokens before work begins without them
# States for systemd.
READY, ENDING, ALIVE = "READY=1", "STOPPING=1", "WATCHDOG=1"

log = get_logger()

_database = partial(database_of, patience=SERVING_PATIENCE, start_patience=START_PATIENCE)


@dataclass
class _Process:
    """The state kept across a restart in place. ``ending`` is set by a signal, ``restart`` by the
    console.

    ``listener`` is the socket of the HTTP endpoint. ``listens`` is True once the process has to be
    drained to end. ``uses_kept`` is True if settings of the console are in use, ``unusable`` is why
    they made the start fail.
    """

    lasting: ExitStack
    ending: asyncio.Event = field(default_factory=asyncio.Event)
    restart: asyncio.Event = field(default_factory=asyncio.Event)
    listener: socket.socket | None = None
    listens: bool = False
    uses_kept: bool = False
    unusable: str = ""


async def serve(settings: Settings, tell: Callable[[str], None], *, role: Role = "serve") -> None:
    """Run until SIGINT or SIGTERM, then drain. When a setting is kept in the console, drain and
    open everything again at the same address.

    ``role`` is "serve", or "listen" to leave the work to workers. ``tell`` prints a line in the
    terminal. Raises ``InvalidSetting`` if no platform is configured or none can work, and
    ``StorageUnavailable``.
    """
    listening_platforms(settings), has_console(settings)  # refuse wrong ones before anything opens
    with ExitStack() as lasting:
        process = _Process(lasting)
        while not process.ending.is_set():
            serving = asyncio.create_task(_serve_once(settings, tell, role, process))
            end = asyncio.create_task(process.ending.wait())
            try:
                await asyncio.wait({serving, end}, return_when=asyncio.FIRST_COMPLETED)
                if end.done() and not process.listens:
                    serving.cancel()  # nothing to drain, and opening may take long
                await asyncio.wait({serving})
            finally:
                await cancelled([serving, end])
            if serving.cancelled():
                return
            if (error := serving.exception()) is None:
                if not process.restart.is_set():
                    return
                process.restart.clear()
                process.unusable = ""
            elif isinstance(error, (Invalid, CredentialsRefused)) and process.uses_kept:
                process.unusable = error.sentence
                tell(f"What was set in the console cannot be used: {error.sentence}")
            else:
                raise error


async def _serve_once(
    given: Settings, tell: Callable[[str], None], role: Role, process: _Process
) -> None:
    """Serve until the process ends or restarts; ``given`` are the settings without those that the
    console keeps."""
    process.listens = process.uses_kept = False
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(_database(given))
        settings = given if process.unusable else await _with_kept(given, database)
        process.uses_kept = settings is not given
        needed = listening_platforms(given)
        names = listening_platforms(settings)
        console = has_console(settings)
        if console:
            names.append(CONSOLE)
        if not names:
            raise InvalidSetting(
                "No platform is configured and FOOTNOTE_CONSOLE is off: set SLACK_BOT_TOKEN and "
                "SLACK_APP_TOKEN, or DISCORD_TOKEN; the README shows how to get them."
            )
        observed, opened, connections = await _open_platforms(
            settings, names, database, stack, [*needed, CONSOLE]
        )
        observed.unusable = process.unusable
        store, indexing = Store(database), observed.documents
        await stack.enter_async_context(documents_being_indexed(settings, tell, indexing))
        await stack.enter_async_context(vectors_being_made(settings))
        posters = {platform.name: platform.poster for platform in opened}
        app = await stack.enter_async_context(
            open_app(settings, posters, store=store, role=role, observed=observed)
        )
        reception = Reception(
            settings,
            store,
            app.service,
            app.dispatcher,
            posters,
            given=given,
            restart=process.restart,
        )
        stack.push_async_callback(reception.aclose)
        state = Readiness(database, connections, dispatcher=app.dispatcher, documents=indexing)
        routes = [route for platform in opened for route in platform.routes]
        # The console handles all remaining paths, and protects the metrics when it is open.
        numbers = metrics_routes(settings, database, observed, is_guarded=console)
        routes = [*health_routes(state), *numbers, *routes]
        is_first = process.listener is None
        if process.listener is None:
            listener = open_listener(settings.http_host, settings.http_port)
            process.listener = process.lasting.enter_context(listener)
        address = await stack.enter_async_context(
            http_endpoint(
                settings.http_host,
                settings.http_port,
                routes,
                root=settings.root,
                listener=process.listener,
            )
        )
        if is_first:  # handle signals before the first line says that it runs
            process.lasting.enter_context(termination_signals(process.ending))
        process.listens = True
        tell(f"Listening for HTTP on {address}.")
        if console:
            tell(f"The console is at {address}/ : open it in a browser.")
            for why in shut_to_console(settings):
                tell(f"No one may ask in the console. {why}.")
        elif settings.console != "off":
            tell("The console stays shut, since others may reach it: set FOOTNOTE_CONSOLE_TOKEN.")
        retention = Retention(database, Keep.of(settings))
        changes = RuleChanges(database, settings, Rights(settings))
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
        await _listen(opened, reception, state, tell, process, ends_with_chats=bool(needed))
        indexing.stop()
        if process.ending.is_set() or not process.restart.is_set():
            process.lasting.close()  # from now on, a signal ends the process at once
            notify(ENDING)
            tell("Ending: working questions are finished or kept for the next start.")
        else:
            tell("Settings were changed in the console: starting with them.")
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
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(_database(settings))
        settings = await _with_kept(settings, database)
        names = posting_platforms(settings)
        if not names:
            raise InvalidSetting(
                "There is no platform to post in: set the same SLACK_BOT_TOKEN or DISCORD_TOKEN as "
                "where `footnote serve` runs."
            )
        observed, opened, connections = await _open_platforms(
            settings, names, database, stack, names
        )
        store, indexing = Store(database), observed.documents
        reaching = [asyncio.create_task(platform.reach()) for platform in opened]
        stack.push_async_callback(cancelled, reaching)
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
            database, connections, listens=False, dispatcher=app.dispatcher, documents=indexing
        )
        if health_port is not None:
            numbers = metrics_routes(settings, database, observed)
            routes = [*health_routes(state), *numbers]
            endpoint = http_endpoint(settings.http_host, health_port, routes)
            tell(f"Listening for HTTP on {await stack.enter_async_context(endpoint)}.")
        # Handle signals before the line that says it runs.
        with termination_signals() as ending:
            tell(f"Working on questions from {', '.join(names)}, {concurrency} at once.")
            await stack.enter_async_context(alive())
            end = asyncio.create_task(ending.wait())
            stack.push_async_callback(cancelled, [end])
            left: set[asyncio.Task[Any]] = {end, *reaching}
            while not end.done():
                done, left = await asyncio.wait(left, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    task.result()  # raises the error of a platform that refuses its token
        notify(ENDING)
        indexing.stop()
        state.ending = True
        tell("Ending: working questions are finished or left to another worker.")
        # Inside the stack, so that health and metrics work until the last question is done.
        await app.dispatcher.drain(DRAIN_SECONDS)


async def _with_kept(given: Settings, database: Database) -> Settings:
    """Return the settings with those kept in the console, and log those that cannot be used."""
    kept = await KeptSettings(given, database).read()
    for problem in kept.problems.values():
        log.warning("a setting of the console is not used", why=problem)
    return kept.settings


async def _open_platforms(
    settings: Settings,
    names: Sequence[str],
    database: Database,
    stack: AsyncExitStack,
    needed: Collection[str],
) -> tuple[Observed, list[Platform], Mapping[str, Connection]]:
    """Open the counters of this process's calls and the platforms with these names, which ``stack``
    closes; returns them with the connections of all platforms. One that cannot be opened has
    failed; raises its ``InvalidSetting`` if it is ``needed``."""
    observed = Observed()
    observed.documents = Indexing(bool(settings.docs))
    opened: list[Platform] = []
    connections = {name: Connection() for name in names}
    for name in names:
        opening = platforms()[name].open
        try:
            platform = await stack.enter_async_context(
                opening(settings, Workspaces(database), observed)
            )
        except Invalid as error:
            if name in needed:
                raise
            connections[name].mark_failed(error.said)
        else:
            opened.append(platform)
            connections[name] = platform.connection
    observed.connections = connections
    return observed, opened, connections


@contextlib.contextmanager
def termination_signals(ending: asyncio.Event | None = None) -> Iterator[asyncio.Event]:
    """Yield an event (by default a new one) that SIGINT or SIGTERM sets; outside the block, they
    end the process at once."""
    ending = ending or asyncio.Event()
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


async def _listen(
    platforms: list[Platform],
    reception: Reception,
    state: Readiness,
    tell: Callable[[str], None],
    process: _Process,
    *,
    ends_with_chats: bool,
) -> None:
    """Run all platforms concurrently until the process ends or restarts; a failing one does not
    affect the others.

    Raises the last platform's error if all have failed, or with ``ends_with_chats`` all chats.
    """
    running: dict[asyncio.Task[None], Platform] = {}
    for platform in platforms:
        # A cached function announces only the first connection.
        ready = cache(partial(tell, f"{platform.name} is connected."))
        running[asyncio.create_task(platform.run(reception, ready))] = platform
    # Chats of the console's own settings may fail: there they can be corrected.
    essential = {one for one in platforms if one.name != CONSOLE or not ends_with_chats}
    failure: FootnoteError | None = None
    ends = {asyncio.create_task(one.wait()) for one in (process.ending, process.restart)}
    try:
        while not any(end.done() for end in ends) and not essential.isdisjoint(running.values()):
            done, _ = await asyncio.wait({*ends, *running}, return_when=asyncio.FIRST_COMPLETED)
            for task in done - ends:
                platform = running.pop(task)  # type: ignore[arg-type]
                failure = _failure(task, platform)
                platform.connection.mark_failed(failure.said)
                tell(f"{platform.name} does not work: {failure.sentence}")
    finally:
        state.ending = True
        await cancelled([*ends, *running])
    if failure is not None and not process.ending.is_set() and not process.restart.is_set():
        raise failure


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
        await cancelled([beating])


async def _beat(limit: float) -> None:
    """Send a sign of life three times per ``limit`` seconds; 0: no watchdog."""
    while limit:
        notify(ALIVE)
        await asyncio.sleep(limit / 3)
