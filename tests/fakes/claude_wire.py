"""Writes the fake Claude's bytes to the socket, and cuts them off on the way."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import struct
from collections.abc import Coroutine, Mapping
from typing import Any

from tests.fakes.claude_replies import Fault, error_event


async def read_body(receive: Any) -> bytes:
    parts = []
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return b""
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(parts)


async def while_connected(work: Coroutine[Any, Any, None], receive: Any) -> None:
    """Do the work, unless the client goes away: then nobody is left to answer."""
    working = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(receive())
    try:
        await asyncio.wait({working, gone}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        gone.cancel()
        if not working.done():
            working.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await working


async def start(send: Any, status: int, headers: Mapping[str, str]) -> None:
    encoded = [(k.encode("latin-1"), v.encode("latin-1")) for k, v in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": encoded})


async def part(send: Any, data: bytes) -> None:
    await send({"type": "http.response.body", "body": data, "more_body": True})


async def end(send: Any) -> None:
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def send_all(send: Any, status: int, headers: Mapping[str, str], data: bytes) -> None:
    await start(send, status, {**headers, "content-length": str(len(data))})
    await send({"type": "http.response.body", "body": data, "more_body": False})


async def send_json(
    send: Any, status: int, value: Any, headers: Mapping[str, str] | None = None
) -> None:
    data = json.dumps(value, ensure_ascii=False).encode()
    await send_all(send, status, {"content-type": "application/json", **(headers or {})}, data)


async def break_off(send: Any, fault: Fault) -> None:
    """End a response that has begun in the way the fault says."""
    if fault.kind == "end":
        await end(send)
        return
    if fault.kind == "error":
        await part(send, error_event(fault.status, fault.message))
        await end(send)
        return
    # uvicorn hands out a method of the request's cycle, which knows the socket.
    transport = send.__self__.transport
    if fault.kind == "reset":
        lingering = struct.pack("ii", 1, 0)  # close() then resets instead of saying goodbye
        transport.get_extra_info("socket").setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, lingering
        )
        transport.abort()
    else:
        transport.close()
    await asyncio.sleep(0.01)  # let the loss of the connection be noticed, or uvicorn complains
