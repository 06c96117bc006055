"""Socket Mode: one connection, which is replaced whenever it is lost.

The SDK handles Slack's own requests to reconnect. It does not handle a broken network or an expired
address well, so this module watches the SDK's client and replaces it when its connection is lost.
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
from bot.core.logs import get_logger
from bot.service.platform import Connection

PING_SECONDS = 5.0  # a connection is given up after 1.5 intervals of silence
CONNECT_SECONDS = 15.0
DRAIN_SECONDS = 3.0  # Slack's time limit for an acknowledgement
LOOK_SECONDS = 0.25
GONE_SECONDS = 0.5  # time without a connection until a new one is made
RECONNECTING_SECONDS = 15.0  # the same while the SDK is reconnecting

GONE = "Slack's Socket Mode connection is gone: another one is being made."
NOT_MADE = "Slack's Socket Mode does not connect: it is tried on."

log = get_logger()


async def open_address(calls: Calls, app_token: str, connection: Connection) -> str:
    """Return a new WebSocket address. Raises as ``until_reached`` does."""

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
    """Receive events until cancelled. Call ``connected`` whenever a connection is made, and report
    to ``connection`` whenever it is lost.

    When cancelled, it first waits until the events being handled are acknowledged. Raises
    ``CredentialsRefused`` and ``PostRefused``.
    """
    taking: set[asyncio.Task[Any]] = set()
    while True:
        address = await open_address(calls, app_token, connection)
        handler = AsyncSocketModeHandler(
            app, app_token, logger=sdk_logger(), web_client=calls.client, ping_interval=PING_SECONDS
        )
        client = handler.client
        client.proxy = calls.client.proxy  # instead of the proxy from the environment
        client.wss_uri = address
        client.socket_mode_request_listeners = [_tracked(handler, taking)]
        client.auto_reconnect_enabled = client.default_auto_reconnect_enabled = False
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                await handler.connect_async()  # type: ignore[no-untyped-call]
            connected()
            await _until_gone(client)
            connection.mark_unreachable(GONE)
            log.info("Socket Mode connection is gone, making another")
        except asyncio.CancelledError:
            if taking:
                await asyncio.wait(taking, timeout=DRAIN_SECONDS)
            raise
        except TimeoutError:
            connection.mark_unreachable(NOT_MADE)
            log.warning("Socket Mode does not connect, trying on")
        finally:
            await handler.close_async()  # type: ignore[no-untyped-call]


def _tracked(
    handler: AsyncSocketModeHandler, taking: set[asyncio.Task[Any]]
) -> Callable[[AsyncBaseSocketModeClient, SocketModeRequest], Awaitable[None]]:
    """Wrap the handler so that ``taking`` holds the tasks that are handling events."""

    async def handle(client: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
        if (task := asyncio.current_task()) is not None:
            taking.add(task)
            task.add_done_callback(taking.discard)
        try:
            await handler.handle(client, request)  # type: ignore[arg-type]
        except MALFORMED as error:  # raised by bolt, before any listener ran
            note(error)
            await client.send_socket_mode_response(SocketModeResponse(request.envelope_id))

    return handle


async def _until_gone(client: SocketModeClient) -> None:
    """Return once there has been no connection for too long."""
    alive = monotonic()
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        if await client.is_connected():
            alive = monotonic()
            continue
        reconnecting = client.connect_operation_lock.locked()
        if monotonic() - alive > (RECONNECTING_SECONDS if reconnecting else GONE_SECONDS):
            return
