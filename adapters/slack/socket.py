"""Socket Mode: one connection, made again whenever it is gone.

The SDK answers Slack's own requests to reconnect. What it does not survive well (a cut network, an
address that ran out) is watched from outside: then it is thrown away, and a new one is made.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Any

from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse

from adapters.slack.calls import Calls, Json, sdk_logger, until_reached
from adapters.slack.incoming import MALFORMED, note
from bot.logs import get_logger
from bot.platform import Connection

PING_SECONDS = 5.0  # a silent connection is given up after one and a half of them
CONNECT_SECONDS = 15.0
DRAIN_SECONDS = 3.0  # Slack waits no longer for an acknowledgement
LOOK_SECONDS = 0.25
GONE_SECONDS = 0.5  # without a connection, until a new one is made
RECONNECTING_SECONDS = 15.0  # the same while the SDK is at it

GONE = "Slack's Socket Mode connection is gone: another one is being made."
NOT_MADE = "Slack's Socket Mode does not connect: it is tried on."

log = get_logger()


async def open_address(calls: Calls, app_token: str, connection: Connection) -> str:
    """A fresh WebSocket address; raises as ``until_reached``."""

    async def call() -> Json:
        return await calls.once("apps.connections.open", app_token=app_token)

    return str((await until_reached(call, "SLACK_APP_TOKEN", connection))["url"])


async def listen(
    app: AsyncApp,
    calls: Calls,
    app_token: str,
    connected: Callable[[], None],
    connection: Connection,
) -> None:
    """Receive events until cancelled; ``connected`` is called each time they arrive again, and
    ``connection`` is told whenever they do not.

    Cancelled, it lets what is being taken in be acknowledged first. Raises ``CredentialsRefused``
    and ``PostRefused``.
    """
    taking: set[asyncio.Task[Any]] = set()
    while True:
        address = await open_address(calls, app_token, connection)
        handler = AsyncSocketModeHandler(
            app, app_token, logger=sdk_logger(), web_client=calls.client, ping_interval=PING_SECONDS
        )
        client = handler.client
        client.proxy = calls.client.proxy  # in place of what the SDK finds in the environment
        client.wss_uri = address
        client.socket_mode_request_listeners = [_tracked(handler, taking)]
        client.auto_reconnect_enabled = client.default_auto_reconnect_enabled = False
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                await handler.connect_async()  # type: ignore[no-untyped-call]
            connected()
            await _until_gone(client)
            connection.away(GONE)
            log.info("Socket Mode connection is gone, making another")
        except asyncio.CancelledError:
            if taking:
                await asyncio.wait(taking, timeout=DRAIN_SECONDS)
            raise
        except TimeoutError:
            connection.away(NOT_MADE)
            log.warning("Socket Mode does not connect, trying on")
        finally:
            await handler.close_async()  # type: ignore[no-untyped-call]


def _tracked(
    handler: AsyncSocketModeHandler, taking: set[asyncio.Task[Any]]
) -> Callable[[AsyncBaseSocketModeClient, SocketModeRequest], Awaitable[None]]:
    """The handler, which shows in ``taking`` what it is at."""

    async def handle(client: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
        if (task := asyncio.current_task()) is not None:
            taking.add(task)
            task.add_done_callback(taking.discard)
        try:
            await handler.handle(client, request)  # type: ignore[arg-type]
        except MALFORMED as error:  # of bolt, which met it before any listener did
            note(error)
            await client.send_socket_mode_response(SocketModeResponse(request.envelope_id))

    return handle


async def _until_gone(client: SocketModeClient) -> None:
    """Returns once there has been no connection for too long."""
    alive = monotonic()
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        if await client.is_connected():
            alive = monotonic()
            continue
        reconnecting = client.connect_operation_lock.locked()
        if monotonic() - alive > (RECONNECTING_SECONDS if reconnecting else GONE_SECONDS):
            return
