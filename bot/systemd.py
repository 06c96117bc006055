"""Notifies systemd that a process is ready, alive or ending.

The protocol is a datagram to the socket that the environment names:
https://www.freedesktop.org/software/systemd/man/latest/sd_notify.html
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bot.logs import get_logger

log = get_logger()

READY = "READY=1"
ENDING = "STOPPING=1"
ALIVE = "WATCHDOG=1"


def notify(state: str) -> None:
    """Send a state to systemd, if the environment names its socket."""
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


@asynccontextmanager
async def ready() -> AsyncIterator[None]:
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
