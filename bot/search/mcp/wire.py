"""Bounded transports to a Model Context Protocol server: a program, or HTTP.

The protocol's package reads everything a server sends. Here a server may send at most
``MOST_BYTES`` per call; lines that are not protocol messages, such as logs, are dropped.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import anyio
import httpx2
import mcp_types as types
from anyio.abc import ByteReceiveStream, Process
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.stdio import get_default_environment
from mcp.os.posix.utilities import terminate_posix_process_tree
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from mcp.shared.message import SessionMessage

from bot.core.egress import Egress
from bot.core.logs import get_logger
from bot.core.readership import McpServer, fill_variables

MOST_BYTES = 8_000_000  # per call
CHUNK = 65_536
END_SECONDS = 1.0  # for a program to end by itself, and again after SIGTERM
LOG = 2_000  # characters kept of a program's log
_GONE = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError, OSError)

Streams = tuple[
    MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]
]

log = get_logger()


@dataclass(slots=True)
class Meter:
    """Counts the bytes a server sends; ``trouble`` says why its connection was given up."""

    left: int = MOST_BYTES
    trouble: str = ""
    refused: int = 0  # the HTTP status with which it refused our credentials

    def begin(self) -> None:
        """Reset the counts for a new call."""
        self.left, self.refused = MOST_BYTES, 0

    def take(self, size: int) -> bool:
        """Count bytes; returns False if there are too many."""
        self.left -= size
        if self.left < 0 and not self.trouble:
            self.trouble = f"It sent more than {MOST_BYTES // 1_000_000} MB: that is not read."
        return self.left >= 0


# ---------------------------------------------------------------- a program


@asynccontextmanager
async def program(
    command: Sequence[str], environment: Mapping[str, str], meter: Meter
) -> AsyncIterator[Streams]:
    """Start a program that speaks the protocol on its standard input and output.

    It gets only paths and the like from our environment. Raises ``OSError``.
    """
    process = await anyio.open_process(
        list(command),
        env={**get_default_environment(), **environment},
        start_new_session=True,
    )
    assert process.stdin is not None  # noqa: S101 - all three are pipes
    assert process.stdout is not None  # noqa: S101
    assert process.stderr is not None  # noqa: S101
    stdin = process.stdin
    to_us, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    sent, to_it = anyio.create_memory_object_stream[SessionMessage](0)

    async def listen(stdout: ByteReceiveStream) -> None:
        line = bytearray()
        async with to_us:
            with suppress(*_GONE):
                while True:
                    chunk = await stdout.receive(CHUNK)
                    if not meter.take(len(chunk)):
                        return
                    first, *others = chunk.split(b"\n")
                    line += first
                    for other in others:
                        if (message := _message(bytes(line))) is not None:
                            await to_us.send(SessionMessage(message))
                        line = bytearray(other)

    async def speak() -> None:
        with suppress(*_GONE):
            async for message in to_it:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                await stdin.send(f"{text}\n".encode("utf-8", "replace"))

    async def hear(stderr: ByteReceiveStream) -> None:
        end = b""
        with suppress(*_GONE):
            while True:
                end = (end + await stderr.receive(CHUNK))[-LOG:]
        if said := end.decode("utf-8", "replace").strip():
            log.info("mcp_server_ended", command=command[0], said=said)

    async with anyio.create_task_group() as group:
        group.start_soon(listen, process.stdout)
        group.start_soon(speak)
        group.start_soon(hear, process.stderr)
        try:
            yield received, sent
        finally:
            with anyio.CancelScope(shield=True):
                await _end(process)
                for stream in (received, sent, to_us, to_it):
                    await stream.aclose()
            group.cancel_scope.cancel()


def _message(line: bytes) -> types.JSONRPCMessage | None:
    """Parse a reply or a request (which is refused later); None for notifications, which are not
    needed here, and for any other line."""
    if not line.lstrip().startswith(b"{"):
        return None
    try:
        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        return None
    return None if isinstance(message, types.JSONRPCNotification) else message


async def _end(process: Process) -> None:
    """Close its input, as the protocol requires; then end it and its child processes."""
    if process.stdin is not None:
        with suppress(*_GONE):
            await process.stdin.aclose()
    with anyio.move_on_after(END_SECONDS):
        # Its wait() also waits for all processes that hold its pipes.
        while process.returncode is None:  # noqa: ASYNC110
            await anyio.sleep(0.01)
    if os.name == "posix":
        with suppress(ProcessLookupError):
            await terminate_posix_process_tree(process, END_SECONDS)
    elif process.returncode is None:
        process.kill()
    with anyio.move_on_after(END_SECONDS):
        await process.aclose()


# ---------------------------------------------------------------- HTTP


def metered_client(
    headers: Mapping[str, str],
    seconds: float,
    meter: Meter,
    auth: httpx2.Auth | None = None,
    *,
    egress: Egress,
) -> httpx2.AsyncClient:
    """Return an HTTP client that counts the bytes of responses; ``egress`` is its route.

    ``seconds`` limits connecting; a response may take as long as its caller waits.
    """

    async def ask(request: httpx2.Request) -> None:
        request.headers["Accept-Encoding"] = "identity"  # compressed, a few bytes could become many

    async def count(response: httpx2.Response) -> None:
        if response.status_code in (401, 403):
            meter.refused = response.status_code
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise httpx2.DecodingError("compressed unasked", request=response.request)
        assert isinstance(response.stream, httpx2.AsyncByteStream)  # noqa: S101 - not read yet
        response.stream = _Counted(response.stream, meter, response.request)

    return httpx2.AsyncClient(
        transport=egress.transport(httpx2),
        headers=dict(headers),
        timeout=httpx2.Timeout(seconds, read=None),
        event_hooks={"request": [ask], "response": [count]},
        auth=auth,
    )


class _Tokens:
    """The tokens of one connection, kept in memory while it lasts."""

    def __init__(self) -> None:
        self._tokens: OAuthToken | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self._tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self._tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return None  # it is in the settings

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Do nothing: no client is ever registered."""


def authentication(server: McpServer) -> httpx2.Auth | None:
    """Return authentication with tokens from the configured issuer only; None without one."""
    oauth = server.oauth
    if oauth is None:
        return None
    secret = fill_variables(server.name, {"secret": oauth.client_secret})["secret"]
    return ClientCredentialsOAuthProvider(
        server.url,
        _Tokens(),
        oauth.client_id,
        secret,
        scope=oauth.scope or None,
        issuer=oauth.issuer,
    )


class _Counted(httpx2.AsyncByteStream):
    def __init__(
        self, inner: httpx2.AsyncByteStream, meter: Meter, request: httpx2.Request
    ) -> None:
        self._inner = inner
        self._meter = meter
        self._request = request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._inner:
            if not self._meter.take(len(chunk)):
                raise httpx2.ReadError(self._meter.trouble, request=self._request)
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()
